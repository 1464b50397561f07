//! Decoding of files: encodings, binary data, long lines. Pure.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_128;

use cograph_model::{Problem, ProblemKind, SkipReason};

/// Shown for a byte that is not UTF-8.
const REPLACEMENT: &str = "\u{fffd}";

pub(super) const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Text of a file. Lines, columns and offsets refer to it; they equal those of the file on disk
/// unless that is UTF-16.
#[derive(Debug)]
pub struct Text {
    /// Valid UTF-8. A byte order mark is kept, so that offsets are those of the file.
    pub bytes: Vec<u8>,
    /// Positions of replaced bytes.
    pub problems: Vec<Problem>,
}

/// Decodes the bytes of a file, or returns the reason why it is no text.
pub(super) fn decode(bytes: Vec<u8>, line_limit: usize) -> Result<Text, SkipReason> {
    let mut text = match utf16(&bytes) {
        Some(decoded) => Text { bytes: decoded?.into_bytes(), problems: Vec::new() },
        None if is_binary(&bytes) => return Err(SkipReason::Binary),
        None => Text { bytes, problems: Vec::new() },
    };
    replace_foreign_bytes(&mut text)?;
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', &text.bytes).chain([text.bytes.len()]);
    let lengths = ends.map(|end| end - std::mem::replace(&mut start, end + 1));
    let long: usize = lengths.filter(|length| *length > line_limit).sum();
    // A table on one line does not make the code around it unreadable.
    if long * 2 > text.bytes.len() {
        return Err(SkipReason::LongLine);
    }
    Ok(text)
}

/// Text of a file for display and search.
#[derive(PartialEq, Eq, Debug)]
pub struct Shown {
    /// The text, or the bytes of binary data.
    pub bytes: Vec<u8>,
    /// Hash and size of the bytes on disk, if the text is not those.
    pub original: Option<(u128, u64)>,
    /// True if bytes that are not UTF-8 were replaced.
    pub lossy: bool,
}

/// Decodes bytes for display, with lines of any length; binary data is unchanged except for a byte
/// order mark of UTF-8. The lines are those of [`decode`].
pub(super) fn decode_for_showing(bytes: Vec<u8>) -> Result<Shown, SkipReason> {
    let original = |bytes: &[u8]| Some((xxh3_128(bytes), bytes.len() as u64));
    if let Some(decoded) = utf16(&bytes) {
        let text = decoded?.into_bytes();
        return Ok(Shown { bytes: text, original: original(&bytes), lossy: false });
    }
    if is_binary(&bytes) {
        return Ok(match bytes.strip_prefix(UTF8_MARK) {
            Some(rest) => Shown { bytes: rest.to_vec(), original: original(&bytes), lossy: false },
            None => Shown { bytes, original: None, lossy: false },
        });
    }
    if std::str::from_utf8(&bytes).is_ok() {
        return Ok(Shown { bytes, original: None, lossy: false });
    }
    let mut text = Vec::with_capacity(bytes.len());
    let mut foreign = 0;
    for chunk in bytes.utf8_chunks() {
        text.extend_from_slice(chunk.valid().as_bytes());
        for _ in chunk.invalid() {
            text.extend_from_slice(REPLACEMENT.as_bytes());
        }
        foreign += chunk.invalid().len();
    }
    if is_foreign(foreign, bytes.len()) {
        return Err(SkipReason::Encoding);
    }
    Ok(Shown { bytes: text, original: original(&bytes), lossy: true })
}

/// True if too many bytes are not UTF-8 for the whole to be text.
fn is_foreign(foreign: usize, all: usize) -> bool {
    foreign * 3 > all
}

fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_some()
}

/// Decodes bytes with a byte order mark of UTF-16; `None` for all others.
fn utf16(bytes: &[u8]) -> Option<Result<String, SkipReason>> {
    let from_bytes: fn([u8; 2]) -> u16 = match bytes {
        // FF FE 00 00 is the byte order mark of UTF-32, which is not used for source: its zero
        // bytes make it binary.
        [0xff, 0xfe, 0, 0, ..] => return None,
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let units = bytes[2..].chunks_exact(2).map(|pair| from_bytes([pair[0], pair[1]]));
    let whole = bytes.len().is_multiple_of(2);
    let decoded: Result<String, _> = char::decode_utf16(units).collect();
    Some(match decoded {
        Ok(text) if whole && !text.contains('\0') => Ok(text),
        Ok(_) | Err(_) => Err(SkipReason::Encoding),
    })
}

/// Replaces every byte that is not UTF-8 (Latin-1 and the like) by `?`, so that all offsets are
/// kept. Text with more than one such byte in three is binary.
fn replace_foreign_bytes(text: &mut Text) -> Result<(), SkipReason> {
    if std::str::from_utf8(&text.bytes).is_ok() {
        return Ok(());
    }
    let mut replaced = Vec::with_capacity(text.bytes.len());
    let mut foreign = 0;
    let mut line = 1;
    let mut lines: Option<(u32, u32)> = None;
    for chunk in text.bytes.utf8_chunks() {
        replaced.extend_from_slice(chunk.valid().as_bytes());
        line += u32::try_from(chunk.valid().matches('\n').count()).unwrap_or(u32::MAX);
        if !chunk.invalid().is_empty() {
            replaced.extend(chunk.invalid().iter().map(|_| b'?'));
            foreign += chunk.invalid().len();
            lines = Some((lines.map_or(line, |(first, _)| first), line));
        }
    }
    if is_foreign(foreign, replaced.len()) {
        return Err(SkipReason::Encoding);
    }
    text.bytes = replaced;
    text.problems.extend(lines.map(|(first_line, last_line)| Problem {
        kind: ProblemKind::Encoding,
        first_line,
        last_line,
    }));
    Ok(())
}

impl Text {
    /// Returns the text as a string.
    pub fn as_str(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Result<(String, usize), SkipReason> {
        decode(bytes.to_vec(), 40).map(|text| (text.as_str().into_owned(), text.problems.len()))
    }

    fn plain(text: &str) -> Result<(String, usize), SkipReason> {
        Ok((text.to_owned(), 0))
    }

    #[test]
    fn encodings() {
        assert_eq!(text(b""), plain(""));
        assert_eq!(text(b"a\r\nb"), plain("a\r\nb"));
        assert_eq!(text(b"\xef\xbb\xbfa"), plain("\u{feff}a"));
        assert_eq!(text(b"\xff\xfea\0\xe9\0"), plain("a\u{e9}"));
        assert_eq!(text(b"\xfe\xff\0a\xd8\x3d\xde\0"), plain("a\u{1f600}"));
        assert_eq!(text(b"\xff\xfea"), Err(SkipReason::Encoding), "half a unit");
        assert_eq!(text(b"\xfe\xff\xd8\x00\0a"), Err(SkipReason::Encoding), "half a pair");
        assert_eq!(text(b"\xff\xfe\0\0a\0\0\0"), Err(SkipReason::Binary), "UTF-32");
        assert_eq!(text(b"x\0y"), Err(SkipReason::Binary));
        assert_eq!(
            text(b"\xe9\xe8\xe0 \xe9\xe8\xe0"),
            Err(SkipReason::Encoding),
            "hardly a byte of text"
        );
    }

    #[test]
    fn foreign_bytes_are_replaced_one_by_one_and_reported() {
        let decoded =
            decode(b"one\ncaf\xe9 au lait\n\nna\xefve\nend".to_vec(), 40).expect("mostly text");
        assert_eq!(decoded.as_str(), "one\ncaf? au lait\n\nna?ve\nend");
        assert_eq!(
            decoded.problems,
            [Problem { kind: ProblemKind::Encoding, first_line: 2, last_line: 4 }]
        );
    }

    #[test]
    fn what_is_shown_comes_from_the_bytes_on_disk() {
        let shown = |bytes: &[u8]| decode_for_showing(bytes.to_vec()).expect("it is text");
        let plain = shown(b"a\r\nb");
        assert_eq!((plain.bytes.as_slice(), plain.original), (&b"a\r\nb"[..], None));
        for (bytes, text, lossy) in [
            (&b"caf\xe9 au lait"[..], "caf\u{fffd} au lait", true),
            (b"\xff\xfea\0\xe9\0", "a\u{e9}", false),
            (b"\xfe\xff\0a\0b", "ab", false),
        ] {
            let shown = shown(bytes);
            assert_eq!(String::from_utf8_lossy(&shown.bytes), text);
            assert_eq!(shown.original, Some((xxh3_128(bytes), bytes.len() as u64)));
            assert_eq!(shown.lossy, lossy);
        }
    }

    #[test]
    fn lines_have_a_limit() {
        assert_eq!(text(&[b'x'; 40]), plain(&"x".repeat(40)));
        assert_eq!(text(&[b'x'; 41]), Err(SkipReason::LongLine));
        let table = format!("{}\n", "x".repeat(41));
        let code = "line\n".repeat(9);
        assert_eq!(text(format!("{table}{code}").as_bytes()), plain(&format!("{table}{code}")));
        let more = format!("{table}{code}{table}");
        assert_eq!(text(more.as_bytes()), Err(SkipReason::LongLine), "most of it is long");
    }
}
