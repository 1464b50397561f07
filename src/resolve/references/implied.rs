//! Calls by operators and subscripts: references only where the receiver's type has the member. The
//! types of most operands are of the library or unknown, and the name is no evidence.

use crate::model::facts::Site;
use crate::model::graph::{FileId, Resolution};
use crate::model::{SiteKind, Step, Verdict};
use crate::resolve::db::Db;
use crate::resolve::references::outcome::unresolved;

/// Returns the resolution of a call by an operator; others as they are.
pub(super) fn limited_to_members(
    db: &Db,
    file: FileId,
    site: &Site,
    found: Resolution,
) -> Resolution {
    let unit = db.program.known(file);
    let manifest = &unit.language.manifest;
    if site.kind != SiteKind::Call || !manifest.resolution.operator_calls {
        return found;
    }
    let is_unknown = matches!(found.verdict, Verdict::Unresolved | Verdict::External)
        || matches!(found.step, Step::ReceiverUnknown | Step::UniqueName);
    match is_unknown && manifest.names.is_operator(unit.text(site.name)) {
        true => unresolved(Step::LocalValue),
        false => found,
    }
}
