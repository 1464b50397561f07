//! Files without following links and without blocking, and their metadata.
//!
//! An [`OpenDirectory`] opens what is in it by a relative path: neither `..` nor a link, also one
//! that appears meanwhile, leads out of it. On Unix the system holds that. On Windows each
//! component is checked before the file is opened by its path, so a link that appears between the
//! two is followed; to make links takes a privilege there.

use std::io;

mod kind;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

pub use kind::{FileKind, FileStat};
#[cfg(unix)]
pub use unix::{
    OpenDirectory, absent, append_to, canonical, find, is_followed_link, is_pipe, is_special,
    is_without_reader, make_link, open, sync_directory,
};
#[cfg(not(unix))]
pub use windows::{
    OpenDirectory, absent, append_to, canonical, find, is_followed_link, is_pipe, is_special,
    is_without_reader, make_link, open, sync_directory,
};

/// True if there is no such file.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn what_is_in_a_directory_is_opened_and_found_and_nothing_else() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let top = place.path();
        fs::create_dir_all(top.join("in/sub")).expect("created");
        fs::write(top.join("in/sub/file"), "text").expect("written");
        fs::write(top.join("out"), "text").expect("written");
        let directory = OpenDirectory::open(&top.join("in")).expect("it exists");
        assert!(directory.open_file(Path::new("sub/file")).is_ok());
        for path in ["../out", "none", "sub/../../out", ""] {
            assert!(directory.open_file(Path::new(path)).is_err(), "{path}");
        }
        let look = |path: &str| directory.stat(Path::new(path)).map(|found| found.kind).ok();
        assert_eq!(
            (look("sub"), look("sub/file"), look("none")),
            (Some(FileKind::Directory), Some(FileKind::Regular), None)
        );
        let before = find(&top.join("out"), true).expect("it exists");
        fs::remove_file(top.join("out")).expect("removed");
        fs::write(top.join("out"), "text2").expect("written");
        assert_ne!(find(&top.join("out"), true).expect("it exists"), before);
        assert!(is_absent(&open(&top.join("none"), true).expect_err("it is not there")));
    }

    #[test]
    fn what_is_appended_to_is_made_and_keeps_what_it_has() {
        use std::io::Write;

        let place = tempfile::tempdir().expect("a temporary directory");
        let path = place.path().join("log");
        for line in ["one\n", "two\n"] {
            append_to(&path).expect("it can be made").write_all(line.as_bytes()).expect("written");
        }
        let text = io::read_to_string(open(&path, true).expect("it exists"));
        assert_eq!(text.expect("it is text"), "one\ntwo\n");
        let found = path.metadata().expect("it exists");
        assert!(!is_pipe(&found) && !is_special(&found));
        assert!(append_to(place.path()).is_err(), "a directory is no log");
    }

    #[test]
    fn a_directory_is_synced() {
        let place = tempfile::tempdir().expect("a temporary directory");
        sync_directory(place.path()).expect("it exists");
    }

    #[test]
    fn a_canonical_path_is_one_that_other_programs_take() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let path = canonical(&place.path().join("..")).expect("it exists");
        assert!(path.is_absolute() && !path.as_os_str().as_encoded_bytes().starts_with(b"\\\\?"));
        assert!(canonical(&place.path().join("none")).is_err());
    }
}
