//! Types of lists of expressions: parts of a value, and arguments of a call.

use crate::db::Db;
use crate::db::ty::Ty;
use cograph_model::facts::{ExprId, Run};
use cograph_model::graph::FileId;

pub(crate) fn types_of(db: &Db, file: FileId, list: Run) -> Vec<Ty> {
    let items: &[ExprId] = &db.program.known(file).facts.lists[list.range()];
    items.iter().map(|item| db.ty(file, *item)).collect()
}
