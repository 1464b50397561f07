//! Files of a repository before anything is known between them: paths, keys, heads, facts read on
//! demand, and the project files of module systems.

pub(super) mod archive;
pub(super) mod project_file;
pub(super) mod table;
