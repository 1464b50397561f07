//! Text of signatures and documentation, folded onto one line. Pure functions over bytes.

/// Maximum length of a signature or summary in bytes; longer ones end in `…`.
const MAX_BYTES: usize = 400;

/// Number of lines: line ends, plus one for text after the last.
pub(crate) fn count_lines(source: &[u8]) -> u32 {
    let ends = memchr::memchr_iter(b'\n', source).count();
    let rest = usize::from(source.last().is_some_and(|&byte| byte != b'\n'));
    u32::try_from(ends + rest).expect("files are limited to far less than 4 GiB")
}

/// Folds white space to single blanks and truncates at a character boundary.
pub(super) fn one_line(text: &str) -> Box<str> {
    if text.len() <= MAX_BYTES && is_one_line(text) {
        return text.into();
    }
    let mut line = String::with_capacity(text.len().min(MAX_BYTES + 4));
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > MAX_BYTES {
            let cut = (0..=MAX_BYTES).rev().find(|&end| line.is_char_boundary(end)).unwrap_or(0);
            line.truncate(cut);
            line.push('…');
            break;
        }
    }
    line.into()
}

/// True if a text consists of words with single blanks, as most headers do.
fn is_one_line(text: &str) -> bool {
    let mut before = b' ';
    let is_plain = text.bytes().all(|byte| {
        let doubled = byte == b' ' && before == b' ';
        before = byte;
        !doubled && (b' '..=b'~').contains(&byte)
    });
    is_plain && before != b' '
}

/// Header of a definition: the text before its body, without the opening token.
pub(crate) fn signature(header: &str) -> Box<str> {
    let header = header.trim_end();
    let header = header.strip_suffix(['{', ':', ';', '=']).unwrap_or(header);
    one_line(header.strip_suffix("=>").unwrap_or(header).trim_end())
}

/// Summary: the first paragraph of a documentation comment or string, without its markers.
pub(crate) fn summary(comment: &str) -> Box<str> {
    let mut paragraph = String::new();
    for line in comment.lines() {
        let line = line.trim();
        let line = line
            .strip_prefix("--")
            .or_else(|| line.strip_prefix("%%"))
            .unwrap_or(line)
            .trim_start_matches(';');
        let line = line
            .trim_start_matches(['/', '*', '!', '#', '"', '\''])
            .trim_end_matches(['*', '/', '"', '\''])
            .trim();
        if line.is_empty() {
            if paragraph.is_empty() {
                continue;
            }
            break;
        }
        if line.starts_with('@') || (line.starts_with(':') && !paragraph.is_empty()) {
            break;
        }
        paragraph.push_str(line);
        paragraph.push('\n');
    }
    one_line(&paragraph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_the_first_paragraph() {
        assert_eq!(
            &*summary("/** Opens the\n * door.\n *\n * @param key which */"),
            "Opens the door."
        );
        assert_eq!(&*summary("\"\"\"\n    Say it.\n\n    More.\n    \"\"\""), "Say it.");
        assert_eq!(&*summary("/// One.\n///\n/// Two."), "One.");
    }

    #[test]
    fn a_signature_has_no_body() {
        assert_eq!(&*signature("def f(a,\n      b) -> int:"), "def f(a, b) -> int");
        for header in ["def f(a, b) -> int", " def f(a, b)  -> int ", "def f(a,\tb) -> int"] {
            assert_eq!(&*signature(header), "def f(a, b) -> int");
        }
        assert_eq!(&*signature("fn f() -> T\nwhere T: X {"), "fn f() -> T where T: X");
    }

    #[test]
    fn long_text_is_cut_at_a_character() {
        let cut = one_line(&"é".repeat(600));
        assert!(cut.ends_with('…') && cut.len() <= MAX_BYTES + 3);
    }

    #[test]
    fn lines_are_counted_with_and_without_a_last_line_end() {
        assert_eq!(
            (count_lines(b""), count_lines(b"a"), count_lines(b"a\n"), count_lines(b"a\nb")),
            (0, 1, 1, 2)
        );
    }
}
