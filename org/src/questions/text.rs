//! Words of answers.

/// A number of things: `1 call`, `2,000 calls`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    let plural = match (number, thing.strip_suffix('y')) {
        (1, _) => thing.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) => format!("{thing}s"),
    };
    format!("{text} {plural}")
}

/// Which state of the data an answer has.
pub(crate) fn state(compacted: Option<&str>) -> String {
    compacted.map_or_else(String::new, |written| format!("(tables of {written})\n"))
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn numbers_have_their_things() {
        assert_eq!(count(1, "repository"), "1 repository");
        assert_eq!(count(0, "call"), "0 calls");
        assert_eq!(count(1234567, "repository"), "1,234,567 repositories");
    }
}
