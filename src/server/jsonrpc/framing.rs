//! Line framing: a pure state machine whose output does not depend on how the input is chunked.
//! Knows no JSON and no descriptor.

use cograph_faults::{Fault, planted};

/// Prefix of an oversized line that is kept, in bytes: it may contain the id of the request.
const KEPT_PREFIX: usize = 4096;

/// Unit of input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Piece {
    /// Line without line feed, carriage return and byte order mark; never blank.
    Line(Vec<u8>),
    /// Prefix of a line that exceeds the limit. Emitted once, as soon as the limit is exceeded; the
    /// rest of the line is dropped.
    Oversize(Vec<u8>),
}

/// Splits bytes into lines of at most `limit` bytes.
#[derive(Debug)]
pub(crate) struct Splitter {
    limit: usize,
    line: Vec<u8>,
    /// Inside an oversized line: bytes up to the next line feed are dropped.
    dropping: bool,
}

impl Splitter {
    /// Creates a splitter.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new(), dropping: false }
    }

    /// Consumes bytes and appends the lines that they complete.
    pub(crate) fn push(&mut self, mut bytes: &[u8], pieces: &mut Vec<Piece>) {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            self.collect(&bytes[..end], pieces);
            self.end_line(pieces);
            bytes = &bytes[end + 1..];
        }
        self.collect(bytes, pieces);
    }

    /// End of input: a last line without a line feed is a line.
    pub(crate) fn finish(mut self, pieces: &mut Vec<Piece>) {
        if !planted(Fault::LfOnly) {
            self.end_line(pieces);
        }
    }

    fn collect(&mut self, bytes: &[u8], pieces: &mut Vec<Piece>) {
        if self.dropping {
            return;
        }
        let room = self.limit - self.line.len();
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room {
            self.dropping = true;
            // A new vector, so that the memory of the oversized line is freed.
            let mut prefix = std::mem::take(&mut self.line);
            prefix.truncate(KEPT_PREFIX);
            prefix.shrink_to_fit();
            pieces.push(Piece::Oversize(prefix));
        }
    }

    fn end_line(&mut self, pieces: &mut Vec<Piece>) {
        self.dropping = false;
        let mut line = std::mem::take(&mut self.line);
        if planted(Fault::LfOnly) {
            return pieces.push(Piece::Line(line));
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        if !line.iter().all(u8::is_ascii_whitespace) {
            pieces.push(Piece::Line(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(limit: usize, chunks: &[&[u8]]) -> Vec<Piece> {
        let mut splitter = Splitter::new(limit);
        let mut pieces = Vec::new();
        for chunk in chunks {
            splitter.push(chunk, &mut pieces);
        }
        splitter.finish(&mut pieces);
        pieces
    }

    fn line(text: &str) -> Piece {
        Piece::Line(text.as_bytes().to_vec())
    }

    #[test]
    fn line_ends_marks_and_blank_lines() {
        assert_eq!(
            split(64, &[b"a\r\nb\n\n  \t\r\n\xef\xbb\xbfc\nlast"]),
            [line("a"), line("b"), line("c"), line("last")]
        );
        assert_eq!(
            split(64, &["a\u{2028}b\n".as_bytes()]),
            [line("a\u{2028}b")],
            "only a line feed ends a line"
        );
        assert_eq!(split(64, &[b"\n\r\n"]), []);
    }

    #[test]
    fn the_limit_is_exact_and_the_stream_goes_on_behind_it() {
        assert_eq!(
            split(4, &[b"1234\n12345\nnext\n"]),
            [line("1234"), Piece::Oversize(b"1234".to_vec()), line("next")]
        );
        let long = vec![b'x'; 3 * KEPT_PREFIX];
        assert_eq!(split(2 * KEPT_PREFIX, &[&long]), [Piece::Oversize(vec![b'x'; KEPT_PREFIX])]);
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same_pieces(
            stream in proptest::collection::vec(
                prop_oneof![
                    Just(b'\n'), Just(b'\r'), Just(0xef), Just(0xbb), Just(0xbf), any::<u8>()
                ], 0..400
            ),
            cuts in proptest::collection::vec(0usize..400, 0..40),
            limit in 1usize..40,
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(
                |pair| &stream[pair[0]..pair[1]]
            ).collect();
            prop_assert_eq!(split(limit, &chunks), split(limit, &[&stream]));
        }

        #[test]
        fn lines_come_out_as_they_went_in(lines in proptest::collection::vec("[a-z{}\":é \
            ]{1,30}", 0..20)) {
            let stream: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let expected: Vec<Piece> = lines.iter().filter(
                |text| !text.trim().is_empty()
            ).map(|text| line(text)).collect();
            prop_assert_eq!(split(1000, &[stream.as_bytes()]), expected);
        }
    }
}
