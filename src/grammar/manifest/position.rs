//! Lines of keys in a manifest, for errors. Independent of their meaning.

/// Returns the line of a key of a section in the last manifest that has it.
pub(crate) fn line_in(texts: &[&str], section: &str, key: &str) -> usize {
    texts.iter().rev().map(|text| line_of(text, section, key)).find(|&line| line > 0).unwrap_or(0)
}

/// Returns the line of a section, or of a key outside of all sections, in the last manifest that
/// has it.
pub(crate) fn line_of_section(texts: &[&str], section: &str) -> usize {
    let begins = |line: &str| {
        let line = line.trim();
        let is_key = || line.split('=').next().is_some_and(|name| name.trim() == section);
        match line.strip_prefix('[') {
            Some(header) => {
                header.trim_start_matches('[').split([']', '.']).next() == Some(section)
            }
            None => is_key(),
        }
    };
    texts.iter().rev().find_map(|text| text.lines().position(begins)).map_or(0, |place| place + 1)
}

/// Returns the 1-based line of a key of a section; 0 if its notation is not recognized.
fn line_of(text: &str, section: &str, key: &str) -> usize {
    let header = format!("[{section}]");
    let own_header = format!("[{section}.{key}]");
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line == own_header {
            return number + 1;
        }
        if line.starts_with('[') {
            inside = line == header;
        } else if inside
            && line.split('=').next().is_some_and(|name| name.trim().trim_matches('"') == key)
        {
            return number + 1;
        }
    }
    0
}
