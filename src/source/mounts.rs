//! Mounts in a repository: a file system mounted over a directory replaces its files without a
//! notification for the directory. The system's mount list signals changes, and has the type of
//! each file system.

use std::io;
use std::path::{Path, PathBuf};

use cograph_system::mounts::{self, MountList};
use cograph_system::names::from_bytes;

/// Types of file systems that can change without a local notification: network file systems, and
/// those served by programs.
const REMOTE: [&str; 14] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "ceph",
    "afs",
    "lustre",
    "gpfs",
    "glusterfs",
    "virtiofs",
    "vboxsf",
    "prl_fs",
];

/// Mounts at and below a root.
#[derive(Debug)]
pub struct Mounts {
    list: MountList,
    root: PathBuf,
    /// Mounts at the root and below it.
    inside: Vec<Mount>,
    /// Type of the file system that contains the root.
    around: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Mount {
    number: String,
    point: Vec<u8>,
    kind: String,
}

/// Returns the type of a remote file system that contains a repository or is mounted in it, if any.
pub fn remote_kind(root: &Path) -> Option<String> {
    if let Ok(mounts) = Mounts::of(root) {
        return mounts.remote().map(str::to_owned);
    }
    mounts::is_remote(root).then(|| "a remote file system".to_owned())
}

impl Mounts {
    /// Reads the current mounts. Later changes are detected by `have_changed`.
    pub fn of(root: &Path) -> io::Result<Self> {
        let mut mounts = Self {
            list: MountList::open()?,
            root: root.to_path_buf(),
            inside: Vec::new(),
            around: String::new(),
        };
        mounts.read()?;
        Ok(mounts)
    }

    /// True if the mounts in the repository have changed since the last call. One system call,
    /// unless the list has changed.
    pub fn have_changed(&mut self) -> io::Result<bool> {
        if !self.list.has_changed()? {
            return Ok(false);
        }
        let (inside, around) = (std::mem::take(&mut self.inside), std::mem::take(&mut self.around));
        self.read()?;
        Ok(inside != self.inside || around != self.around)
    }

    /// Returns the type of a remote file system that contains the repository or is mounted in it,
    /// if any.
    pub fn remote(&self) -> Option<&str> {
        let kinds =
            self.inside.iter().map(|mount| mount.kind.as_str()).chain([self.around.as_str()]);
        kinds
            .into_iter()
            .find(|kind| REMOTE.contains(kind) || kind.split('.').next() == Some("fuse"))
    }

    /// Returns the first mount point below the root.
    pub fn first_inside(&self) -> Option<PathBuf> {
        let inside = self.inside.iter().map(|mount| PathBuf::from(from_bytes(mount.point.clone())));
        inside.filter(|point| *point != self.root).min()
    }

    fn read(&mut self) -> io::Result<()> {
        let text = self.list.read()?;
        let root = self.root.as_os_str().as_encoded_bytes();
        let mut longest = 0;
        for mount in text.split(|&byte| byte == b'\n').filter_map(parse) {
            if is_at_or_below(&mount.point, root) {
                self.inside.push(mount);
            } else if is_at_or_below(root, &mount.point) && mount.point.len() >= longest {
                longest = mount.point.len();
                self.around = mount.kind;
            }
        }
        Ok(())
    }
}

fn is_at_or_below(path: &[u8], directory: &[u8]) -> bool {
    let directory = directory.strip_suffix(b"/").unwrap_or(directory);
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Parses a line of the list: number, parent, device, root, mount point, options, optional fields,
/// `-`, type, source, options.
fn parse(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&byte| byte == b' ');
    let number = String::from_utf8_lossy(fields.next()?).into_owned();
    let point = unescaped(fields.nth(3)?);
    let kind =
        String::from_utf8_lossy(fields.skip_while(|field| *field != b"-").nth(1)?).into_owned();
    Some(Mount { number, point, kind })
}

/// Decodes octal escapes of blanks, line ends and backslashes.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after
            .get(..3)
            .filter(|_| byte == b'\\')
            .and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(escaped) => {
                plain.push(escaped);
                rest = &after[3..];
            }
            None => {
                plain.push(byte);
                rest = after;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_list_is_understood() {
        let line = br"36 35 98:0 /mnt1 /srv/a\040b\134c rw,noatime master:1 shared:2 - fuse.sshfs host:/x rw,errors=continue";
        let mount = parse(line).expect("it is a line of the list");
        assert_eq!(
            (mount.number.as_str(), mount.point.as_slice(), mount.kind.as_str()),
            ("36", &br"/srv/a b\c"[..], "fuse.sshfs")
        );
        assert_eq!(parse(b""), None);
        assert!(
            is_at_or_below(b"/srv/a/b", b"/srv/a")
                && is_at_or_below(b"/srv/a", b"/srv/a")
                && is_at_or_below(b"/srv", b"/")
        );
        assert!(!is_at_or_below(b"/srv/ab", b"/srv/a") && !is_at_or_below(b"/srv", b"/srv/a"));
    }

    #[test]
    fn where_nothing_is_mounted_nothing_changes() {
        let place = tempfile::tempdir().expect("a temporary directory");
        // A system without the list has no mounts to test.
        let Ok(mut mounts) = Mounts::of(place.path()) else { return };
        assert!(mounts.inside.is_empty() && !mounts.around.is_empty());
        assert!(!mounts.have_changed().expect("the list can be read"));
    }
}
