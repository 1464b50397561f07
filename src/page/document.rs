//! The document: one HTML file with its script and its style inside, which nothing but their
//! hashes admits.

/// Built by `web/build.mjs`; a test builds it again.
const PAGE: &str = include_str!("bundle/page.html");
/// Where the data of a file belong: the script finds nothing there when it is served.
const PLACE: &str = r#"<script type="application/json" id="data"></script>"#;
/// Requests of the served page.
const CONNECT: &str = "connect-src 'self'";
/// Requests of a file.
const NO_CONNECT: &str = "connect-src 'none'";

/// The document has no place for data or no policy: the bundle is of another version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoPlace;

/// The document as a server sends it.
pub fn served() -> &'static str {
    PAGE
}

/// The content security policy of the served page, for a header.
pub fn policy() -> String {
    let start = PAGE.split_once("http-equiv=\"Content-Security-Policy\" content=\"");
    let policy = start.and_then(|(_, rest)| rest.split_once('"')).map_or("", |(policy, _)| policy);
    // The header says what a document cannot say of itself.
    format!("{policy}; frame-ancestors 'none'")
}

/// The document with data, JSON, inside: it requests nothing.
pub fn with_data(json: &str) -> Result<String, NoPlace> {
    let (before, after) = PAGE.split_once(PLACE).ok_or(NoPlace)?;
    let (open, close) = PLACE.split_once("</").ok_or(NoPlace)?;
    if !before.contains(CONNECT) {
        return Err(NoPlace);
    }
    let before = before.replacen(CONNECT, NO_CONNECT, 1);
    let mut whole = String::with_capacity(PAGE.len() + json.len() + json.len() / 64);
    whole.push_str(&before);
    whole.push_str(open);
    // Inside of a string of JSON, the only place where these letters occur, an escape means the
    // same; unescaped, `<` could end the element and the separators end a line of a script.
    for letter in json.chars() {
        match letter {
            '<' => whole.push_str("\\u003c"),
            '>' => whole.push_str("\\u003e"),
            '&' => whole.push_str("\\u0026"),
            '\u{2028}' => whole.push_str("\\u2028"),
            '\u{2029}' => whole.push_str("\\u2029"),
            other => whole.push(other),
        }
    }
    whole.push_str("</");
    whole.push_str(close);
    whole.push_str(after);
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maximum size of the document.
    const MOST: usize = 150_000;

    #[test]
    fn the_document_is_small_and_admits_its_own_script_and_style_only() {
        assert!(PAGE.len() < MOST, "{} bytes", PAGE.len());
        let policy = policy();
        for directive in [
            "default-src 'none'",
            "script-src 'sha256-",
            "style-src 'sha256-",
            CONNECT,
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(directive), "{directive}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
        assert_eq!((PAGE.matches("<script").count(), PAGE.matches("<style").count()), (2, 1));
        for elsewhere in [" src=", " href=\"http", "@import", "url(", "eval(", "innerHTML=\""] {
            assert!(!PAGE.contains(elsewhere), "{elsewhere}");
        }
    }

    #[test]
    fn data_cannot_end_their_element() {
        let hostile = "{\"name\":\"</script><script>alert(1)</script><!--\u{2028}&amp;\"}";
        let whole = with_data(hostile).expect("the document has the place");
        assert!(!whole.contains("alert(1)</script>") && !whole.contains('\u{2028}'));
        assert!(whole.contains("\\u003c/script\\u003e\\u003cscript\\u003ealert(1)"));
        assert_eq!(whole.matches("<script").count(), PAGE.matches("<script").count());
        assert!(whole.contains(NO_CONNECT) && !whole.contains(CONNECT));
    }
}
