//! SCIP symbols: their package, and what they name in it.

/// Parts of a SCIP symbol. Each is as it is written in the symbol, but for `name`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Symbol<'s> {
    pub(crate) manager: &'s str,
    pub(crate) package: &'s str,
    pub(crate) version: &'s str,
    /// Everything behind the package.
    pub(crate) descriptors: &'s str,
    /// Name of the last descriptor.
    pub(crate) name: String,
}

/// Reads a symbol; none for a local one, or for what is none.
pub(crate) fn parse(symbol: &str) -> Option<Symbol<'_>> {
    let (scheme, rest) = field(symbol)?;
    if scheme.is_empty() || scheme == "local" {
        return None;
    }
    let (manager, rest) = field(rest)?;
    let (package, rest) = field(rest)?;
    let (version, descriptors) = field(rest)?;
    let name = names(descriptors)?.pop()?;
    Some(Symbol { manager, package, version, descriptors, name })
}

/// A field that one space ends; two are part of it.
fn field(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b' ' {
            if bytes.get(at + 1) != Some(&b' ') {
                return Some((&text[..at], &text[at + 1..]));
            }
            at += 1;
        }
        at += 1;
    }
    None
}

/// Names of the descriptors, outermost first; none if the text is no chain of descriptors.
fn names(descriptors: &str) -> Option<Vec<String>> {
    Some(parts(descriptors)?.into_iter().map(|(name, _)| name).collect())
}

/// Names of the descriptors, and whether each is a namespace.
fn parts(descriptors: &str) -> Option<Vec<(String, bool)>> {
    let mut found = Vec::new();
    let mut rest = descriptors;
    while !rest.is_empty() {
        let (opened, inner) = match rest.as_bytes()[0] {
            b'[' => (Some(']'), &rest[1..]),
            b'(' => (Some(')'), &rest[1..]),
            _ => (None, rest),
        };
        let (name, after) = identifier(inner)?;
        let suffix = after.chars().next()?;
        found.push((name, opened.is_none() && suffix == '/'));
        rest = match (opened, suffix) {
            (Some(close), suffix) if suffix == close => &after[1..],
            (Some(_), _) => return None,
            (None, '/' | '#' | '.' | ':' | '!') => &after[1..],
            (None, '(') => after.split_once(").").map(|(_, rest)| rest)?,
            (None, _) => return None,
        };
    }
    Some(found)
}

/// A name, plain or between backquotes, and what follows it.
fn identifier(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('`') else {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_+-$".contains(&byte);
        let end = text.bytes().position(|byte| !is_plain(byte)).unwrap_or(text.len());
        return (end > 0).then(|| (text[..end].to_owned(), &text[end..]));
    };
    let (mut name, mut rest) = (String::new(), quoted);
    loop {
        let (part, after) = rest.split_once('`')?;
        name += part;
        match after.strip_prefix('`') {
            Some(after) => {
                name.push('`');
                rest = after;
            }
            None => return Some((name, after)),
        }
    }
}

/// A field without the doubled spaces; empty if it is not known.
pub(crate) fn plain(field: &str) -> String {
    if field == "." { String::new() } else { field.replace("  ", " ") }
}

/// Name with what it is in, as a developer writes it: `flask.Flask.route`.
pub(crate) fn qualified(package: &str, descriptors: &str) -> String {
    let mut text = plain(package);
    for name in names(descriptors).unwrap_or_default() {
        if !text.is_empty() {
            text.push('.');
        }
        text += &name;
    }
    text
}

/// Name of a symbol in its file: `Till.pay`; none for a file, or for what is no symbol.
pub(crate) fn own_name(symbol: &str) -> Option<String> {
    let parts = parts(parse(symbol)?.descriptors)?.into_iter();
    let own: Vec<String> =
        parts.filter(|(_, is_namespace)| !is_namespace).map(|(name, _)| name).collect();
    (!own.is_empty()).then(|| own.join("."))
}

#[cfg(test)]
mod tests {
    use super::{own_name, parse, qualified};

    #[track_caller]
    fn check(symbol: &str, expected: Option<(&str, &str, &str)>) {
        let found = parse(symbol);
        let found = found.as_ref().map(|one| (one.package, one.version, one.name.as_str()));
        assert_eq!(found, expected, "{symbol}");
    }

    #[test]
    fn symbols_have_parts() {
        check("cograph pip flask 3.0.1 Flask#route.", Some(("flask", "3.0.1", "route")));
        check("cograph pip a 1 src/`app.py`/index().", Some(("a", "1", "index")));
        check("cograph pip a 1 x.+1:", Some(("a", "1", "+1")));
        check("cograph pip a 1 f(+2).(value)", Some(("a", "1", "value")));
        check("cograph . two  words . `a``b`#", Some(("two  words", ".", "a`b")));
        check("local 3", None);
        check("", None);
        check("cograph pip flask 3.0.1 ", None);
        check("cograph pip flask 3.0.1 `open", None);
    }

    #[test]
    fn qualified_names_are_as_written() {
        assert_eq!(qualified("flask", "Flask#route."), "flask.Flask.route");
        assert_eq!(qualified(".", "len."), "len");
        let own = own_name("cograph pip a 1 src/`app.py`/Till#pay().");
        assert_eq!(own.as_deref(), Some("Till.pay"));
        assert_eq!(own_name("cograph pip a 1 src/`app.py`/"), None);
    }
}
