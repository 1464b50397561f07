//! Walk over files for the tables of all files, with shared memos.

use crate::db::Db;
use crate::workspace::program::Program;
use cograph_model::graph::FileId;
use cograph_model::panics::guarded;

/// Does some work for each file. A panic costs what its file would have added since, and the memos.
pub(crate) fn each_file(
    program: &Program<'_>,
    files: &[FileId],
    mut work: impl FnMut(&Db, FileId),
) {
    let mut shared = Db::new(program, FileId(0));
    for &file in files {
        // Which declarations open a type depends on the file that asks: memos of one file are
        // none of another.
        let is_own = program.known(file).language.manifest.resolution.open_types;
        let own = is_own.then(|| Db::new(program, file));
        let db = own.as_ref().unwrap_or(&shared);
        db.begin(file);
        if let Err(message) = guarded(|| work(db, file)) {
            tracing::error!(
                path = program.path(file).as_str(),
                message,
                "what the file declares of types elsewhere stays unknown"
            );
            shared = Db::new(program, FileId(0));
        }
    }
}
