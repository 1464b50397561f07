//! Names of objects below the address: pieces and manifests by their digests, references by branch.
//!
//! ```text
//! cograph-1/
//! ├── branches/<fingerprint>/<branch>   reference: commits and their manifests; swapped
//! ├── manifests/<digest>                files of one store, as units of pieces; immutable
//! └── pieces/<2 digits>/<digest>        compressed units; immutable
//! ```

use object_store::path::Path;

use crate::digest::Digest;

/// Version of the layout and of the encodings.
pub(crate) const LAYOUT: u32 = 1;
/// Directory of this layout.
const TOP: &str = "cograph-1";
/// Maximum length of the name of a branch.
const MAX_BRANCH: usize = 200;

/// Object of a piece.
pub(crate) fn piece(base: &Path, digest: Digest) -> Path {
    let name = digest.to_string();
    pieces(base).join(&name[..2]).join(name)
}

/// Directory of all pieces.
pub(crate) fn pieces(base: &Path) -> Path {
    base.clone().join(TOP).join("pieces")
}

/// Object of a manifest.
pub(crate) fn manifest(base: &Path, digest: Digest) -> Path {
    manifests(base).join(digest.to_string())
}

/// Directory of all manifests.
pub(crate) fn manifests(base: &Path) -> Path {
    base.clone().join(TOP).join("manifests")
}

/// Directory of all references.
pub(crate) fn branches(base: &Path) -> Path {
    base.clone().join(TOP).join("branches")
}

/// Directory of the references to stores with a fingerprint.
pub(crate) fn branches_of(base: &Path, fingerprint: u64) -> Path {
    branches(base).join(format!("{fingerprint:016x}"))
}

/// Object of the reference of a branch; none if no reference can have its name.
pub(crate) fn branch(base: &Path, fingerprint: u64, name: &str) -> Option<Path> {
    if name.is_empty() || name.len() > MAX_BRANCH {
        return None;
    }
    let mut encoded = String::new();
    for (at, byte) in name.bytes().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if is_plain || (byte == b'.' && at > 0) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("={byte:02X}"));
        }
    }
    Some(branches_of(base, fingerprint).join(encoded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_one_object_below_its_fingerprint() {
        let base = Path::from("team/project");
        let named = |name| branch(&base, 10, name).map(|path| path.to_string());
        let top = "team/project/cograph-1/branches/000000000000000a/";
        for (name, object) in [
            ("main", "main"),
            ("feature/x", "feature=2Fx"),
            ("../up", "=2E.=2Fup"),
            ("a=b", "a=3Db"),
            ("v1.2", "v1.2"),
        ] {
            assert_eq!(named(name), Some(format!("{top}{object}")));
        }
        assert_eq!((named(""), named(&"x".repeat(201))), (None, None));
    }
}
