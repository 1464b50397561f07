//! Memo of the types of expressions. Nearly all are of the file being resolved, and are stored by
//! position.

use super::memo::Memo;
use super::ty::Ty;
use cograph_model::facts::ExprId;
use cograph_model::graph::FileId;
use std::cell::RefCell;

/// Memo of types by file and expression.
#[derive(Default)]
pub(crate) struct ExpressionTypes {
    file: Option<FileId>,
    /// Types of that file, by expression id.
    own: RefCell<Vec<Option<Ty>>>,
    others: Memo<(FileId, ExprId), Ty>,
}

impl ExpressionTypes {
    /// Creates an empty memo for a file with this number of expressions.
    pub(super) fn of_file(file: FileId, exprs: usize) -> Self {
        Self { file: Some(file), own: RefCell::new(vec![None; exprs]), others: Memo::default() }
    }

    pub(crate) fn get(&self, file: FileId, expr: ExprId) -> Option<Ty> {
        match expr.get() {
            Some(position) if self.file == Some(file) => self.own.borrow()[position].clone(),
            _ => self.others.get(&(file, expr)),
        }
    }

    pub(crate) fn set(&self, file: FileId, expr: ExprId, ty: Ty) {
        match expr.get() {
            Some(position) if self.file == Some(file) => {
                self.own.borrow_mut()[position] = Some(ty);
            }
            _ => self.others.insert((file, expr), ty),
        }
    }
}
