//! Where a key of a manifest stands, for errors. Knows only text.

/// The line on which a key of a section stands in the last manifest that has it.
pub(super) fn line_in(texts: &[&str], section: &str, key: &str) -> usize {
    texts.iter().rev().map(|text| line_of(text, section, key)).find(|&line| line > 0).unwrap_or(0)
}

/// The line on which a section, or a key outside of all sections, begins in the last manifest that
/// has it.
pub(super) fn line_of_section(texts: &[&str], section: &str) -> usize {
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

/// The 1-based line on which a key of a section stands; 0 if it is written in a way this search
/// does not see.
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
