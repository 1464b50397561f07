//! File names as bytes. [`std::ffi::OsStr::as_encoded_bytes`] gives them on every system: on Unix
//! those on disk, on Windows UTF-8 with an extension for what is no text. This is the way back.

use std::ffi::OsString;

pub use system::from_bytes;

#[cfg(unix)]
mod system {
    use super::OsString;
    use std::os::unix::ffi::OsStringExt;

    /// Returns the name of these bytes.
    pub fn from_bytes(bytes: Vec<u8>) -> OsString {
        OsString::from_vec(bytes)
    }
}

#[cfg(not(unix))]
mod system {
    use super::OsString;

    /// Returns the name of these bytes. What is no text becomes the replacement character: a file
    /// of such a name is listed and not found.
    pub fn from_bytes(bytes: Vec<u8>) -> OsString {
        match String::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into(),
        }
    }
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
}
