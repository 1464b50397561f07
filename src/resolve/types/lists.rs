//! Types of lists of expressions: parts of a value, and arguments of a call.

use crate::db::Db;
use crate::db::ty::Ty;
use cograph_model::facts::{ExprId, Run};
use cograph_model::graph::FileId;

pub(crate) fn argument_types(db: &Db, file: FileId, args: Run) -> Vec<Ty> {
    let items: &[ExprId] = &db.program.known(file).facts.lists[args.range()];
    items.iter().map(|item| db.ty(file, *item)).collect()
}

pub(super) fn all(db: &Db, file: FileId, list: Run) -> Vec<Ty> {
    let items = &db.program.known(file).facts.lists[list.range()];
    items.iter().map(|item| db.ty(file, *item)).collect()
}
