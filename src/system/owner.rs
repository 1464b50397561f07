//! Whom a file belongs to and who may use it. On Windows access is by the lists of the user's
//! profile, in which the cache is, and nothing is checked: every file counts as this user's own.
//! And which variables of the environment name the directories of the user.

pub use system::{
    CACHE, HOME, create_private_directory, effective_user, follow_no_link, has_another,
    is_executable, may_create_in, owner_of, permissions, private_options, set_private,
};

/// Number of the superuser.
pub const SUPERUSER: u32 = 0;

#[cfg(unix)]
mod system {
    use std::fs::{DirBuilder, Metadata, OpenOptions, Permissions, set_permissions};
    use std::io;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
    use std::path::Path;

    /// Variables of the home directory: the first that is set counts.
    pub const HOME: &[&str] = &["HOME"];

    /// Variable of the directory for caches, if there is one that the system sets.
    pub const CACHE: Option<&str> = None;

    /// Number of the user of this process.
    pub fn effective_user() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    /// Number of the user whom a file belongs to.
    pub fn owner_of(found: &Metadata) -> u32 {
        found.uid()
    }

    /// True if a file belongs to another user.
    pub fn has_another(found: &Metadata) -> bool {
        found.uid() != effective_user()
    }

    /// Bits of the permissions of a file.
    pub fn permissions(found: &Metadata) -> u32 {
        found.mode() & 0o7777
    }

    /// True if a user may execute a file.
    pub fn is_executable(found: &Metadata) -> bool {
        found.mode() & 0o111 != 0
    }

    /// Options for files that only this user may read and write.
    pub fn private_options() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.mode(0o600);
        options
    }

    /// Lets an open fail at a link at the end of the path.
    pub fn follow_no_link(options: &mut OpenOptions) {
        let flag = rustix::fs::OFlags::NOFOLLOW.bits();
        options.custom_flags(i32::try_from(flag).unwrap_or_default());
    }

    /// Fails if this user may not create anything in a directory.
    pub fn may_create_in(directory: &Path) -> io::Result<()> {
        use rustix::fs::{Access, access};
        Ok(access(directory, Access::WRITE_OK | Access::EXEC_OK)?)
    }

    /// Creates a directory that only this user may use, and missing parents.
    pub fn create_private_directory(path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    /// Takes the permissions of all others; the owner keeps those in `mode`.
    pub fn set_private(path: &Path, mode: u32) -> io::Result<()> {
        set_permissions(path, Permissions::from_mode(mode & 0o700))
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{DirBuilder, Metadata, OpenOptions};
    use std::io;
    use std::path::Path;

    use super::SUPERUSER;

    /// Variables of the home directory: the first that is set counts.
    pub const HOME: &[&str] = &["HOME", "USERPROFILE"];

    /// Variable of the directory for caches, if there is one that the system sets.
    pub const CACHE: Option<&str> = Some("LOCALAPPDATA");

    /// Number that represents the user of this process.
    pub fn effective_user() -> u32 {
        SUPERUSER
    }

    /// Number that represents the user of this process.
    pub fn owner_of(_: &Metadata) -> u32 {
        SUPERUSER
    }

    /// False: the owner is not looked for.
    pub fn has_another(_: &Metadata) -> bool {
        false
    }

    /// Those of a private file.
    pub fn permissions(_: &Metadata) -> u32 {
        0o700
    }

    /// True: the name decides.
    pub fn is_executable(_: &Metadata) -> bool {
        true
    }

    /// Options for files with the access list of their directory.
    pub fn private_options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Without effect: to make a link takes a privilege.
    pub fn follow_no_link(_: &mut OpenOptions) {}

    /// Nothing is known before something is created.
    pub fn may_create_in(_: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Creates a directory with the access list of its parent, and missing parents.
    pub fn create_private_directory(path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).create(path)
    }

    /// Without effect.
    pub fn set_private(_: &Path, _: u32) -> io::Result<()> {
        Ok(())
    }
}
