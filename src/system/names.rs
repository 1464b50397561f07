//! File names as bytes. [`std::ffi::OsStr::as_encoded_bytes`] gives them on every system: on Unix
//! those on disk, on Windows UTF-8 with an extension for what is no text. This is the way back, and
//! that to the path of a `file:` address, which begins with `/` on every system.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use system::{from_address, from_bytes, to_address};

#[cfg(unix)]
mod system {
    use super::{OsString, Path, PathBuf};
    use std::os::unix::ffi::OsStringExt;

    /// Returns the name of these bytes.
    pub fn from_bytes(bytes: Vec<u8>) -> OsString {
        OsString::from_vec(bytes)
    }

    /// Path of an address.
    pub fn from_address(bytes: Vec<u8>) -> PathBuf {
        from_bytes(bytes).into()
    }

    /// Path for an address.
    pub fn to_address(path: &Path) -> Vec<u8> {
        path.as_os_str().as_encoded_bytes().to_vec()
    }
}

#[cfg(not(unix))]
mod system {
    use super::{OsString, Path, PathBuf};

    /// Returns the name of these bytes. What is no text becomes the replacement character: a file
    /// of such a name is listed and not found.
    pub fn from_bytes(bytes: Vec<u8>) -> OsString {
        match String::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into(),
        }
    }

    /// Path of an address: `/C:/name` is `C:\name`.
    pub fn from_address(bytes: Vec<u8>) -> PathBuf {
        let has_drive = matches!(*bytes, [b'/', drive, b':', ..] if drive.is_ascii_alphabetic());
        let path = if has_drive { bytes[1..].to_vec() } else { bytes };
        // Components are put together again with the separator of the system.
        PathBuf::from(from_bytes(path)).components().collect()
    }

    /// Path for an address: `C:\name` is `/C:/name`.
    pub fn to_address(path: &Path) -> Vec<u8> {
        let bytes = path.as_os_str().as_encoded_bytes();
        let first = (!bytes.starts_with(b"\\")).then_some(b'/');
        first.into_iter().chain(bytes.iter().map(|&b| if b == b'\\' { b'/' } else { b })).collect()
    }
}

/// The path of an address, percent-encoded: every byte that a URI has another meaning for is
/// escaped.
pub fn percent_encoded(path: &[u8]) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let encoded = |&byte: &u8| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    path.iter().map(encoded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_back_from_its_bytes() {
        for name in ["plain.py", "d\u{e9}j\u{e0}", "100%"] {
            let name = OsString::from(name);
            assert_eq!(from_bytes(name.as_encoded_bytes().to_vec()), name);
        }
    }

    #[test]
    fn what_has_a_meaning_in_an_address_is_escaped() {
        assert_eq!(percent_encoded(b"/a-b_c.d~e/1"), "/a-b_c.d~e/1");
        assert_eq!(percent_encoded(b"/a b?c#d%e:\xff"), "/a%20b%3Fc%23d%25e%3A%FF");
    }

    #[test]
    fn a_path_comes_back_from_its_address() {
        let path = Path::new(if cfg!(windows) { r"C:\a b\c.py" } else { "/a b/c.py" });
        let address = to_address(path);
        let whole: &[u8] = if cfg!(windows) { b"/C:/a b/c.py" } else { b"/a b/c.py" };
        assert_eq!((address.as_slice(), from_address(address.clone())), (whole, path.into()));
    }
}
