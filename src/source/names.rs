//! Bijection between file names and text: every name on disk has one printable form, and every
//! printable form one name. No disk access.
//!
//! A UTF-8 name is its own form. In any other name each byte that is not part of UTF-8 is written
//! as `%XX`, and `%` as `%25`. A UTF-8 name that contains a possible escape (`%XX` with a byte from
//! 80 up, or an escape of that) gets an additional `25` behind the `%`, which decoding removes.
//! Each component is encoded separately.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use cograph_model::RepoPath;
use cograph_system::names::from_bytes;

/// Returns the printable form of a relative path; `None` if it is empty or has a component that is
/// not a plain name.
pub(super) fn from_os(path: &Path) -> Option<RepoPath> {
    let mut text = String::with_capacity(path.as_os_str().len());
    for component in path.components() {
        let std::path::Component::Normal(name) = component else { return None };
        if !text.is_empty() {
            text.push('/');
        }
        push_name(&mut text, name);
    }
    RepoPath::new(&text)
}

/// Returns the path on disk, relative to the root.
pub(super) fn to_os(path: &RepoPath) -> PathBuf {
    if !path.as_str().contains('%') {
        return PathBuf::from(path.as_str());
    }
    path.as_str().split('/').map(name_to_os).collect()
}

fn push_name(text: &mut String, name: &OsStr) {
    match name.to_str() {
        Some(plain) if !plain.contains('%') => text.push_str(plain),
        Some(plain) => {
            let mut rest = plain;
            while let Some(at) = rest.find('%') {
                text.push_str(&rest[..=at]);
                if escape(&rest.as_bytes()[at..]).is_some() {
                    text.push_str("25");
                }
                rest = &rest[at + 1..];
            }
            text.push_str(rest);
        }
        None => {
            for chunk in name.as_encoded_bytes().utf8_chunks() {
                text.push_str(&chunk.valid().replace('%', "%25"));
                for byte in chunk.invalid() {
                    text.push_str(&format!("%{byte:02X}"));
                }
            }
        }
    }
}

fn name_to_os(name: &str) -> OsString {
    let bytes = name.as_bytes();
    let starts = || (0..bytes.len()).filter(|&at| bytes[at] == b'%');
    if starts().any(|at| escape(&bytes[at..]) == Some(0)) {
        return from_bytes(decode(bytes));
    }
    let mut plain = Vec::with_capacity(bytes.len());
    let mut copied = 0;
    for at in starts() {
        if escape(&bytes[at..]).is_some() {
            plain.extend_from_slice(&bytes[copied..=at]);
            copied = at + "%25".len();
        }
    }
    plain.extend_from_slice(&bytes[copied..]);
    from_bytes(plain)
}

/// If the text is `%`, any number of `25`, and two hex digits of a byte from 80 up: returns that
/// number.
fn escape(text: &[u8]) -> Option<usize> {
    let mut rest = text.strip_prefix(b"%")?;
    let mut levels = 0;
    while let Some(inner) = rest.strip_prefix(b"25") {
        rest = inner;
        levels += 1;
    }
    hex(rest).filter(|&byte| byte >= 0x80).map(|_| levels)
}

fn decode(bytes: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match hex(bytes.get(at + 1..).unwrap_or_default()) {
            Some(byte) if bytes[at] == b'%' => {
                decoded.push(byte);
                at += "%XX".len();
            }
            _ => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    decoded
}

fn hex(text: &[u8]) -> Option<u8> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    Some(digit(*text.first()?)? << 4 | digit(*text.get(1)?)?)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::ffi::OsStrExt;

    fn form(name: &[u8]) -> String {
        from_os(Path::new(OsStr::from_bytes(name))).expect("a plain name").as_str().to_owned()
    }

    #[test]
    fn names_have_the_documented_forms() {
        assert_eq!(form(b"plain.py"), "plain.py");
        assert_eq!(form("d\u{e9}j\u{e0}/vu.py".as_bytes()), "d\u{e9}j\u{e0}/vu.py");
        assert_eq!(form(b"100%.py"), "100%.py");
        assert_eq!(form(b"a%20b"), "a%20b", "escapes of ASCII are not ours");
        assert_eq!(form(b"caf\xe9%.py"), "caf%E9%25.py");
        assert_eq!(form(b"caf%E9.py"), "caf%25E9.py");
        assert_eq!(form(b"caf%25E9.py"), "caf%2525E9.py");
    }

    proptest! {
        #[test]
        fn every_name_comes_back(name in proptest::collection::vec(prop_oneof![
            Just(b'%'), Just(b'2'), Just(b'5'), Just(b'E'), Just(b'9'),
            any::<u8>().prop_filter("no separators", |b| *b != 0 && *b != b'/'),
        ], 1..24)) {
            prop_assume!(name != b"." && name != b"..");
            let os = PathBuf::from(OsStr::from_bytes(&name));
            prop_assert_eq!(to_os(&from_os(&os).expect("a plain name")), os);
        }
    }
}
