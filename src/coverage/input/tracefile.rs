//! Tracefiles of lcov: `TN:` names a test, `SF:` a file, `DA:` has a line and its count.

use crate::input::lines::{ExecutedLines, MAX_LINE, MAX_ROWS, NO_TEST, Read, Visit};

const FORMAT: &str = "lcov tracefile";

/// True if such a file has records without the name of a test.
pub(super) fn names_no_test(text: &str) -> bool {
    !text.lines().any(|line| line.strip_prefix("TN:").is_some_and(|name| !name.trim().is_empty()))
}

pub(super) fn read(text: &str, given: Option<&str>, visit: Visit<'_>) -> Result<Read, String> {
    let (mut test, mut file, mut lines): (&str, Option<&str>, Vec<u32>) = ("", None, Vec::new());
    let mut records = 0_usize;
    let mut is_cut = false;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_end();
        let wrong = |what: &str| format!("line {}: {what}: it is no whole tracefile", at + 1);
        if let Some(name) = line.strip_prefix("TN:") {
            test = name.trim();
        } else if let Some(path) = line.strip_prefix("SF:") {
            if file.is_some() {
                return Err(wrong("a record begins inside of another"));
            }
            (file, lines) = (Some(path), Vec::new());
        } else if let Some(data) = line.strip_prefix("DA:") {
            let mut parts = data.split(',');
            let number = parts.next().and_then(|number| number.trim().parse::<u64>().ok());
            let count = parts.next().and_then(|count| count.trim().parse::<i64>().ok());
            let (Some(number), Some(count)) = (number, count) else {
                return Err(wrong("no line and count"));
            };
            if count > 0
                && let Ok(number) = u32::try_from(number)
                && number <= MAX_LINE
            {
                lines.push(number);
            }
        } else if line == "end_of_record" {
            let Some(file) = file.take() else { return Err(wrong("a record without a file")) };
            let name = if test.is_empty() { given } else { Some(test) };
            let name = name.ok_or_else(|| NO_TEST.to_owned())?;
            records += 1;
            if records > MAX_ROWS
                || !visit(ExecutedLines { test: Some(name), file, lines: Some(&lines) })
            {
                is_cut = true;
                break;
            }
        }
    }
    match (file, records) {
        (Some(_), _) if !is_cut => Err("it ends inside of a record".to_owned()),
        (_, 0) => Err("it has no record of a file".to_owned()),
        _ => Ok(Read { format: FORMAT, is_cut }),
    }
}
