//! Addresses of files, and strict decoding of URIs: malformed input is rejected. Text only;
//! existence is checked elsewhere.

use cograph_system::names;
use std::path::Path;

/// Decodes percent-encoding; none if an escape is malformed or the text contains what a URI cannot:
/// a space, a control character, an encoded NUL.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b'%' => 16 * digit(bytes.next()?)? + digit(bytes.next()?)?,
            b' ' | 0x7f => return None,
            byte if byte.is_ascii_control() => return None,
            byte => byte,
        };
        if byte == 0 {
            return None;
        }
        decoded.push(byte);
    }
    Some(decoded)
}

/// Decodes UTF-8 text.
pub(crate) fn decode_text(text: &str) -> Option<String> {
    String::from_utf8(decode(text)?).ok()
}

/// Address of a line of a file.
pub fn file_address(path: &Path, line: u64) -> String {
    format!("file://{}#{line}", names::percent_encoded(&names::to_address(path)))
}

fn digit(letter: u8) -> Option<u8> {
    char::from(letter).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_well_formed_is_decoded_and_nothing_else() {
        for (text, decoded) in [
            ("", Some("")),
            ("src/a.x", Some("src/a.x")),
            ("a%20b%2Fc%2fd", Some("a b/c/d")),
            ("%C3%A9", Some("é")),
            ("é", Some("é")),
            ("100%2525", Some("100%25")),
            ("%", None),
            ("%4", None),
            ("%zz", None),
            ("%+1", None),
            ("a%00b", None),
            ("a b", None),
            ("a\nb", None),
            ("%ff", None),
        ] {
            assert_eq!(decode_text(text).as_deref(), decoded, "{text:?}");
        }
        assert_eq!(decode("%ff"), Some(vec![0xff]), "a path need not be text");
    }
}
