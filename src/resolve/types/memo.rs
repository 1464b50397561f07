//! Memo of the types of expressions. Nearly all are of the file being resolved, and are stored by
//! position.

use super::ty::Ty;
use crate::model::facts::ExprId;
use crate::model::graph::FileId;
use rustc_hash::FxHashMap;

/// Memo of types by file and expression.
#[derive(Default)]
pub(in crate::resolve) struct Types {
    file: Option<FileId>,
    /// Types of that file, by expression id.
    own: Vec<Option<Ty>>,
    others: FxHashMap<(FileId, ExprId), Ty>,
}

impl Types {
    /// Creates an empty memo for a file with this number of expressions.
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
