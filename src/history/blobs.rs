//! Texts of blobs out of the output of git. Pure.

use rustc_hash::FxHashMap;

/// Texts by object name.
pub(super) type Blobs = FxHashMap<String, Vec<u8>>;

/// Maximum size of a blob whose symbols are extracted.
const MAX_BLOB: usize = 2 << 20;
/// Maximum size of all blobs together.
const MAX_BLOBS: usize = 128 << 20;
/// Reader of the output of `cat-file --batch`: a line `<name> <type> <size>`, then the content and
/// a newline.
#[derive(Default)]
pub(super) struct BlobReader {
    pub(super) blobs: Blobs,
    kept: usize,
    head: Vec<u8>,
    /// Name, bytes that are missing with the newline, and the text so far; none if it is too large.
    current: Option<(String, usize, Option<Vec<u8>>)>,
}

impl BlobReader {
    /// Takes a piece of the output; false once enough is kept.
    pub(super) fn take(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            match self.current.take() {
                Some((name, missing, text)) => {
                    let (now, rest) = bytes.split_at(missing.min(bytes.len()));
                    bytes = rest;
                    let text = text.map(|mut text| {
                        text.extend_from_slice(now);
                        text
                    });
                    if now.len() < missing {
                        self.current = Some((name, missing - now.len(), text));
                    } else if let Some(mut text) = text {
                        text.pop();
                        self.kept += text.len();
                        self.blobs.insert(name, text);
                    }
                }
                None => {
                    let end = memchr::memchr(b'\n', bytes);
                    self.head.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
                    bytes = end.map_or(&[], |end| &bytes[end + 1..]);
                    if end.is_some() {
                        let head = std::mem::take(&mut self.head);
                        self.begin(&String::from_utf8_lossy(&head));
                    }
                }
            }
        }
        self.kept < MAX_BLOBS
    }

    fn begin(&mut self, head: &str) {
        let mut words = head.split(' ');
        let (name, kind, size) = (words.next(), words.next(), words.next());
        let size = size.and_then(|size| size.parse::<usize>().ok());
        // `<name> missing` has no content.
        if let (Some(name), Some(kind), Some(size)) = (name, kind, size) {
            let text = (kind == "blob" && size <= MAX_BLOB).then(Vec::new);
            self.current = Some((name.to_owned(), size.saturating_add(1), text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_are_read_however_the_bytes_arrive() {
        let text = b"abc blob 5\nhello\ndef missing\n012 blob 0\n\n";
        for size in [1, 2, 7, 100] {
            let mut reader = BlobReader::default();
            assert!(text.chunks(size).all(|bytes| reader.take(bytes)));
            let found = |name: &str| reader.blobs.get(name).map(Vec::as_slice);
            assert_eq!((found("abc"), found("012")), (Some(&b"hello"[..]), Some(&b""[..])));
            assert_eq!(reader.blobs.len(), 2);
        }
    }
}
