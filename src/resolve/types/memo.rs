//! The types of expressions as far as they have been found out. Nearly all that are asked for are
//! of the file that is answered for: these stand by their position.

use super::ty::Ty;
use crate::model::facts::ExprId;
use crate::model::graph::FileId;
use rustc_hash::FxHashMap;

/// Types by file and expression.
#[derive(Default)]
pub(in crate::resolve) struct Types {
    file: Option<FileId>,
    /// Of that file.
    own: Vec<Option<Ty>>,
    others: FxHashMap<(FileId, ExprId), Ty>,
}

impl Types {
    /// None yet; most will be of a file with so many expressions.
    pub(in crate::resolve) fn of_file(file: FileId, exprs: usize) -> Self {
        Self { file: Some(file), own: vec![None; exprs], others: FxHashMap::default() }
    }

    pub(in crate::resolve) fn get(&self, file: FileId, expr: ExprId) -> Option<&Ty> {
        match expr.get() {
            Some(position) if self.file == Some(file) => self.own[position].as_ref(),
            _ => self.others.get(&(file, expr)),
        }
    }

    pub(in crate::resolve) fn set(&mut self, file: FileId, expr: ExprId, ty: Ty) {
        match expr.get() {
            Some(position) if self.file == Some(file) => self.own[position] = Some(ty),
            _ => drop(self.others.insert((file, expr), ty)),
        }
    }
}
