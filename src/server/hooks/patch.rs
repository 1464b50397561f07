//! Patches of clients: the format of `apply_patch`, and hunks as JSON. They are applied to the text
//! of a file in either direction. Pure.

use serde_json::Value;

/// First line of a patch of `apply_patch`.
pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// Blocks of lines of both sides, with the lines around them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Hunk {
    old: Vec<String>,
    new: Vec<String>,
    /// First lines of both sides, from 0, if they are known.
    at: Option<(usize, usize)>,
}

/// File of a patch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PatchedText {
    /// Path as written.
    pub(super) path: String,
    /// None if the file is removed or has another path.
    pub(super) hunks: Option<Vec<Hunk>>,
}

/// Files of a patch that were there before, wherever it begins in a text.
pub(super) fn parse(text: &str) -> Vec<PatchedText> {
    let mut found: Vec<PatchedText> = Vec::new();
    let mut is_read = false;
    let lines = text.lines().skip_while(|line| !line.trim_start().ends_with(BEGIN)).skip(1);
    for line in lines.take_while(|line| line.trim_end() != END) {
        if let Some(header) = line.strip_prefix("*** ") {
            let file = |path: &str, hunks| PatchedText { path: path.trim().to_owned(), hunks };
            is_read = false;
            if let Some(path) = header.strip_prefix("Update File: ") {
                found.push(file(path, Some(Vec::new())));
                is_read = true;
            } else if let Some(path) = header.strip_prefix("Delete File: ") {
                found.push(file(path, None));
            } else if header.starts_with("Move to: ")
                && let Some(moved) = found.last_mut()
            {
                moved.hunks = None;
            }
            continue;
        }
        let Some(hunks) = found.last_mut().filter(|_| is_read).and_then(|file| file.hunks.as_mut())
        else {
            continue;
        };
        if line.starts_with("@@") {
            hunks.push(Hunk::default());
            continue;
        }
        if hunks.is_empty() {
            hunks.push(Hunk::default());
        }
        if let Some(hunk) = hunks.last_mut() {
            hunk.add(line);
        }
    }
    for hunks in found.iter_mut().filter_map(|file| file.hunks.as_mut()) {
        hunks.retain(|hunk| !hunk.old.is_empty() || !hunk.new.is_empty());
    }
    found
}

/// Hunks as JSON.
pub(super) fn structured(hunks: &[Value]) -> Vec<Hunk> {
    let number = |value: &Value| usize::try_from(value.as_u64()?).ok()?.checked_sub(1);
    let hunk = |value: &Value| {
        let at = (number(&value["oldStart"])?, number(&value["newStart"])?);
        let mut hunk = Hunk { at: Some(at), ..Hunk::default() };
        for line in value["lines"].as_array()? {
            hunk.add(line.as_str()?);
        }
        Some(hunk)
    };
    hunks.iter().map(hunk).collect::<Option<Vec<Hunk>>>().unwrap_or_default()
}

impl Hunk {
    fn add(&mut self, line: &str) {
        let (mark, rest) = line.split_at(line.len().min(1));
        match mark {
            "-" => self.old.push(rest.to_owned()),
            "+" => self.new.push(rest.to_owned()),
            // No newline at the end of the file.
            "\\" => {}
            _ => {
                self.old.push(rest.to_owned());
                self.new.push(rest.to_owned());
            }
        }
    }
}

/// The text before hunks if `is_undone`, which takes it for that after them; otherwise the text
/// after them. None if it is not, or a block may be in several places.
pub(super) fn applied(text: &[u8], hunks: &[Hunk], is_undone: bool) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let (mut result, mut next) = (Vec::with_capacity(text.len()), 0_usize);
    for hunk in hunks {
        let (here, there) = if is_undone { (&hunk.new, &hunk.old) } else { (&hunk.old, &hunk.new) };
        let at = match hunk.at {
            Some((old, new)) => Some(if is_undone { new } else { old }),
            None => only_place(&lines, next, here),
        };
        let at = at.filter(|&at| at >= next && is_at(&lines, at, here))?;
        result.extend(lines.get(next..at)?.concat());
        let ending: &[u8] = match lines.get(at) {
            Some(line) if line.ends_with(b"\r\n") => b"\r\n",
            _ => b"\n",
        };
        for line in there {
            result.extend_from_slice(line.trim_end_matches('\r').as_bytes());
            result.extend_from_slice(ending);
        }
        next = at + here.len();
    }
    result.extend(lines.get(next..)?.concat());
    Some(result)
}

fn only_place(lines: &[&[u8]], from: usize, block: &[String]) -> Option<usize> {
    if block.is_empty() {
        return None;
    }
    let mut places = (from..lines.len()).filter(|&at| is_at(lines, at, block));
    places.next().filter(|_| places.next().is_none())
}

fn is_at(lines: &[&[u8]], at: usize, block: &[String]) -> bool {
    fn bare(line: &[u8]) -> &[u8] {
        line.trim_ascii_end()
    }
    lines.get(at..at + block.len()).is_some_and(|here| {
        here.iter().zip(block).all(|(line, own)| bare(line) == bare(own.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_applied_in_both_directions() {
        let patch = "*** Begin Patch\n*** Add File: new.py\n+x\n*** Update File: a.py\n\
            @@ def one():\n b\n-c\n+C\n+D\n@@\n-f\n+F\n*** Update File: b.py\n*** Move to: c.py\n\
            @@\n-x\n+y\n*** End Patch\n";
        let files = parse(patch);
        let paths: Vec<(&str, bool)> =
            files.iter().map(|file| (file.path.as_str(), file.hunks.is_some())).collect();
        assert_eq!(paths, [("a.py", true), ("b.py", false)]);
        let hunks = files[0].hunks.as_deref().expect("it exists");
        let (old, new) = (b"a\nb\nc\nd\nf\n".as_slice(), b"a\nb\nC\nD\nd\nF\n".as_slice());
        assert_eq!(applied(new, hunks, true).as_deref(), Some(old));
        assert_eq!(applied(old, hunks, false).as_deref(), Some(new));
        assert_eq!(applied(old, hunks, true), None, "it is the other half");
        let returns = b"a\r\nb\r\nC\r\nD\r\nd\r\nF\r\n".as_slice();
        assert_eq!(
            applied(returns, hunks, true).as_deref(),
            Some(b"a\r\nb\r\nc\r\nd\r\nf\r\n".as_slice())
        );
    }

    #[test]
    fn a_block_in_several_places_is_in_none() {
        let files = parse("*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch");
        let hunks = files[0].hunks.as_deref().expect("it exists");
        assert_eq!(applied(b"y\nz\n", hunks, true).as_deref(), Some(b"x\nz\n".as_slice()));
        assert_eq!(applied(b"y\nz\ny\n", hunks, true), None);
        assert_eq!(parse("no patch"), []);
    }
}
