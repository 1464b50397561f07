//! Cover profiles: `path:line.column,line.column statements count` for each block.

use std::collections::BTreeMap;

use crate::input::lines::{ExecutedLines, MAX_LINE, MAX_ROWS, NO_TEST, Read, Visit};

const FORMAT: &str = "cover profile";

pub(super) fn read(text: &str, test: Option<&str>, visit: Visit<'_>) -> Result<Read, String> {
    let mut files: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    let mut blocks = 0_usize;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        // Profiles that are concatenated repeat the first line.
        if line.is_empty() || line.starts_with("mode: ") {
            continue;
        }
        let (path, first, last, count) = block(line)
            .ok_or_else(|| format!("line {}: no block: it is no whole profile", at + 1))?;
        blocks += 1;
        if blocks > MAX_ROWS {
            return Err(format!("it has more than {MAX_ROWS} blocks"));
        }
        let own = files.entry(path).or_default();
        if count > 0 {
            own.extend(first..=last.min(MAX_LINE));
        }
    }
    if files.is_empty() {
        return Err("it has no block".to_owned());
    }
    let test = Some(test.ok_or_else(|| NO_TEST.to_owned())?);
    let is_cut =
        !files.iter().all(|(file, lines)| visit(ExecutedLines { test, file, lines: Some(lines) }));
    Ok(Read { format: FORMAT, is_cut })
}

/// Path, first line, last line and count.
fn block(line: &str) -> Option<(&str, u32, u32, u64)> {
    let (path, rest) = line.rsplit_once(':')?;
    let mut words = rest.split_whitespace();
    let (start, end) = words.next()?.split_once(',')?;
    let line_of = |place: &str| place.split('.').next()?.parse::<u32>().ok();
    words.next()?.parse::<u64>().ok()?;
    let count = words.next()?.parse().ok()?;
    Some((path, line_of(start)?, line_of(end)?, count))
}
