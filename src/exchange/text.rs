//! Ranges in the text of a file: where a name ends, and columns in other encodings.

/// Lines of a text, by number.
pub(crate) struct Lines<'t> {
    text: &'t [u8],
    starts: Vec<usize>,
}

/// Unit of columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    /// Bytes of UTF-8.
    Byte,
    /// Code units of UTF-16.
    Utf16,
    /// Characters.
    Character,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        let ends = memchr::memchr_iter(b'\n', text).map(|end| end + 1);
        Self { text, starts: std::iter::once(0).chain(ends).collect() }
    }

    /// Line, counted from 0, without its end.
    pub(crate) fn line(&self, number: usize) -> Option<&'t [u8]> {
        let start = *self.starts.get(number)?;
        let end = self.starts.get(number + 1).map_or(self.text.len(), |next| next - 1);
        let line = &self.text[start..end];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Column behind a name that starts at a column: that of the name as it is written there, with
    /// its quotes, or of the word at this place.
    pub(crate) fn end_of_name(&self, line: usize, column: usize, name: &str) -> usize {
        let Some(line) = self.line(line) else { return column + name.len() };
        let rest = line.get(column..).unwrap_or_default();
        if !name.is_empty() && rest.starts_with(name.as_bytes()) {
            return column + name.len();
        }
        if let [quote @ (b'"' | b'\'' | b'`'), inner @ ..] = rest
            && let Some(after) = inner.strip_prefix(name.as_bytes())
            && after.first() == Some(quote)
        {
            return column + name.len() + 2;
        }
        let is_word =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 128..);
        let word = rest.iter().take_while(|byte| is_word(byte)).count();
        column + if word == 0 { usize::from(!rest.is_empty()) } else { word }
    }

    /// Column in bytes of a column in another unit; none beyond the end of the line.
    pub(crate) fn to_bytes(&self, line: usize, column: usize, unit: Unit) -> Option<usize> {
        let line = self.line(line)?;
        if unit == Unit::Byte || line.is_ascii() {
            return (column <= line.len()).then_some(column);
        }
        let text = std::str::from_utf8(line).ok()?;
        let mut units = 0;
        for (at, character) in text.char_indices() {
            if units >= column {
                return (units == column).then_some(at);
            }
            units += if unit == Unit::Utf16 { character.len_utf16() } else { 1 };
        }
        (units == column).then_some(text.len())
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &'t [u8] {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_where_their_text_does() {
        let lines = Lines::new(b"let abc = \"d-e\" + f1(g);\r\nend");
        for (line, column, name, end) in [
            (0, 4, "abc", 7),
            (0, 10, "d-e", 15),
            (0, 18, "other", 20),
            (0, 20, "()", 21),
            (0, 24, "x", 24),
            (0, 90, "x", 90),
            (7, 2, "xyz", 5),
        ] {
            assert_eq!(lines.end_of_name(line, column, name), end, "{name}");
        }
    }

    #[test]
    fn columns_of_other_units_are_those_of_bytes() {
        let lines = Lines::new("aé𝄞z\nplain".as_bytes());
        for (column, unit, expected) in [
            (0, Unit::Utf16, Some(0)),
            (2, Unit::Utf16, Some(3)),
            (3, Unit::Utf16, None),
            (4, Unit::Utf16, Some(7)),
            (5, Unit::Utf16, Some(8)),
            (6, Unit::Utf16, None),
            (3, Unit::Character, Some(7)),
            (8, Unit::Byte, Some(8)),
            (9, Unit::Byte, None),
        ] {
            assert_eq!(lines.to_bytes(0, column, unit), expected, "{column} {unit:?}");
        }
        assert_eq!(lines.to_bytes(1, 5, Unit::Utf16), Some(5));
        assert_eq!(lines.to_bytes(1, 6, Unit::Utf16), None);
        assert_eq!(lines.to_bytes(2, 0, Unit::Utf16), None);
    }
}
