//! Text of repositories on a terminal or in the prompt of an agent: characters that are not shown
//! as themselves are escaped.

use std::borrow::Cow;

/// The text with control characters, and those that change the direction of others, escaped.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_hidden(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_is_not_shown_is_escaped() {
        assert_eq!(escaped("a/ü.py"), "a/ü.py");
        assert_eq!(escaped("a\u{1b}[31m\nb"), "a\\u{1b}[31m\\nb");
        assert_eq!(escaped("x\u{202e}y"), "x\\u{202e}y");
    }
}
