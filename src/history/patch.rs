//! Patches in the unified format: files, hunks and their lines. Pure.

use cograph_model::RepoPath;

/// Maximum number of files of one patch that are read.
pub const MAX_FILES: usize = 2_000;
/// Maximum number of bytes of changed lines kept for one file.
const MAX_FILE_BYTES: usize = 4 << 20;

/// File of a patch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct PatchedFile {
    /// Path before; `None` for an added file.
    pub(super) old: Option<RepoPath>,
    /// Path after; `None` for a removed file.
    pub(super) new: Option<RepoPath>,
    /// Object names of both sides, as written.
    pub(super) objects: Option<(String, String)>,
    /// Hunks in order.
    pub(super) hunks: Vec<Hunk>,
    /// True for binary data.
    pub(super) is_binary: bool,
    /// True for another repository at this path.
    pub(super) is_link: bool,
}

/// Hunk: first line and number of lines of each side, and the lines.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Hunk {
    pub(super) old: (u32, u32),
    pub(super) new: (u32, u32),
    pub(super) lines: Vec<Line>,
}

/// Line of a hunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Line {
    /// On both sides.
    Same(Vec<u8>),
    /// On the old side only.
    Removed(Vec<u8>),
    /// On the new side only.
    Added(Vec<u8>),
}

/// Files of a patch, and the number of further ones. The error names the line that is no patch.
pub(super) fn parse(text: &[u8]) -> Result<(Vec<PatchedFile>, u64), String> {
    let mut reader = Reader::default();
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    for (at, line) in text.split(|&byte| byte == b'\n').enumerate() {
        reader.line(line).map_err(|what| format!("line {} of the patch: {what}", at + 1))?;
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    files: Vec<PatchedFile>,
    more: u64,
    /// File that is read, with what its header has said.
    file: Option<PatchedFile>,
    /// Paths of the line `diff --git`, for a file without other paths.
    named: Option<(RepoPath, RepoPath)>,
    /// Lines of the current hunk that are missing: of the old side, and of the new one.
    missing: (u32, u32),
    kept: usize,
}

impl Reader {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        if self.missing != (0, 0) {
            return self.hunk_line(line);
        }
        if line.starts_with(b"\\") {
            // No newline at the end of the file.
            return Ok(());
        }
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches('\r');
        if let Some(rest) = text.strip_prefix("diff --git ") {
            self.end_file();
            self.named = both_paths(rest);
            self.file = Some(PatchedFile::default());
            if let (Some(file), Some((old, new))) = (&mut self.file, &self.named) {
                (file.old, file.new) = (Some(old.clone()), Some(new.clone()));
            }
        } else if let Some(rest) = text.strip_prefix("--- ") {
            if self.file.as_ref().is_none_or(|file| !file.hunks.is_empty()) {
                self.end_file();
                self.file = Some(PatchedFile::default());
            }
            self.side(|file| &mut file.old, rest, "a/")?;
        } else if let Some(rest) = text.strip_prefix("+++ ") {
            self.side(|file| &mut file.new, rest, "b/")?;
        } else if text.starts_with("@@ ") {
            self.hunk(text)?;
        } else if let Some(file) = &mut self.file {
            header(file, text);
        }
        Ok(())
    }

    fn side(
        &mut self,
        of: impl Fn(&mut PatchedFile) -> &mut Option<RepoPath>,
        text: &str,
        prefix: &str,
    ) -> Result<(), String> {
        let Some(file) = &mut self.file else {
            return Err("a path without a file".to_owned());
        };
        *of(file) = path(text, prefix)?;
        Ok(())
    }

    fn hunk(&mut self, text: &str) -> Result<(), String> {
        let Some(file) = &mut self.file else {
            return Err("a hunk without a file".to_owned());
        };
        let mut words = text.split(' ').skip(1);
        let mut range = |sign: char| {
            let word = words.next()?.strip_prefix(sign)?;
            let (first, count) = word.split_once(',').unwrap_or((word, "1"));
            Some((first.parse::<u32>().ok()?, count.parse::<u32>().ok()?))
        };
        let (Some(old), Some(new)) = (range('-'), range('+')) else {
            return Err("a hunk without its lines".to_owned());
        };
        self.missing = (old.1, new.1);
        file.hunks.push(Hunk { old, new, lines: Vec::new() });
        Ok(())
    }

    fn hunk_line(&mut self, line: &[u8]) -> Result<(), String> {
        let hunk = self.file.as_mut().and_then(|file| file.hunks.last_mut());
        let Some(hunk) = hunk else { return Err("a line without a hunk".to_owned()) };
        let (mark, rest) = line.split_first().map_or((b' ', &[][..]), |(mark, rest)| (*mark, rest));
        self.kept += rest.len();
        let kept = if self.kept <= MAX_FILE_BYTES { rest.to_vec() } else { Vec::new() };
        let (old, new) = &mut self.missing;
        let line = match mark {
            b'-' if *old > 0 => {
                *old -= 1;
                Line::Removed(kept)
            }
            b'+' if *new > 0 => {
                *new -= 1;
                Line::Added(kept)
            }
            // An editor may have cut the blank of an empty line.
            b' ' | b'\r' if *old > 0 && *new > 0 => {
                (*old, *new) = (*old - 1, *new - 1);
                Line::Same(kept)
            }
            b'\\' => return Ok(()),
            _ => return Err("the hunk ends before its last line".to_owned()),
        };
        hunk.lines.push(line);
        Ok(())
    }

    fn end_file(&mut self) {
        self.named = None;
        self.kept = 0;
        let Some(file) = self.file.take() else { return };
        if file.old.is_none() && file.new.is_none() {
            return;
        }
        match self.files.len() < MAX_FILES {
            true => self.files.push(file),
            false => self.more += 1,
        }
    }

    fn finish(mut self) -> Result<(Vec<PatchedFile>, u64), String> {
        if self.missing != (0, 0) {
            return Err("the patch ends within a hunk".to_owned());
        }
        self.end_file();
        Ok((self.files, self.more))
    }
}

/// Applies a line between `diff --git` and the first hunk.
fn header(file: &mut PatchedFile, text: &str) {
    if let Some(rest) = text.strip_prefix("rename from ").or(text.strip_prefix("copy from ")) {
        file.old = path(rest, "").ok().flatten();
    } else if let Some(rest) = text.strip_prefix("rename to ").or(text.strip_prefix("copy to ")) {
        file.new = path(rest, "").ok().flatten();
    } else if text.starts_with("new file mode") {
        file.old = None;
        file.is_link |= text.ends_with("160000");
    } else if text.starts_with("deleted file mode") {
        file.new = None;
        file.is_link |= text.ends_with("160000");
    } else if let Some(rest) = text.strip_prefix("index ") {
        let objects = rest.split(' ').next().and_then(|words| words.split_once(".."));
        file.objects = objects.map(|(old, new)| (old.to_owned(), new.to_owned()));
        file.is_link |= rest.ends_with(" 160000");
    } else if text.starts_with("Binary files ") || text.starts_with("GIT binary patch") {
        file.is_binary = true;
    }
}

/// Path of a line `---` or `+++`; `None` for the side that has none.
fn path(text: &str, prefix: &str) -> Result<Option<RepoPath>, String> {
    // `diff` adds the time behind a tab.
    let text = text.split('\t').next().unwrap_or(text).trim_end();
    if text == "/dev/null" {
        return Ok(None);
    }
    let name = unquoted(text);
    let relative = name.strip_prefix(prefix).unwrap_or(&name);
    let relative = relative.strip_prefix("./").unwrap_or(relative);
    let found = RepoPath::new(relative).ok_or("a path that leads out of the repository")?;
    Ok(Some(found))
}

/// Paths of `diff --git a/x b/x`: where they differ, other lines have them.
fn both_paths(rest: &str) -> Option<(RepoPath, RepoPath)> {
    let (old, new) = if rest.starts_with('"') {
        rest.split_once("\" ")?
    } else {
        let middle = rest.len() / 2;
        match rest.split_at_checked(middle) {
            Some((old, new)) if new.starts_with(' ') => (old, &new[1..]),
            _ => rest.split_once(' ')?,
        }
    };
    Some((path(old, "a/").ok()??, path(new, "b/").ok()??))
}

/// A path without the quotes and escapes that git puts around unusual ones.
pub(super) fn unquoted(text: &str) -> String {
    let Some(inner) = text.strip_prefix('"') else { return text.to_owned() };
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let (mut bytes, mut rest) = (Vec::new(), inner.bytes().peekable());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|next| matches!(next, b'0'..=b'7')) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
            }
            Some(b't') => bytes.push(b'\t'),
            Some(b'n') => bytes.push(b'\n'),
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl PatchedFile {
    /// Text before the change, from the text after it. `None` if the patch does not fit the text.
    pub(super) fn before(&self, after: &[u8]) -> Option<Vec<u8>> {
        let lines: Vec<&[u8]> = after.split_inclusive(|&byte| byte == b'\n').collect();
        let (mut text, mut next) = (Vec::with_capacity(after.len()), 0_usize);
        for hunk in &self.hunks {
            let (first, count) = (hunk.new.0 as usize, hunk.new.1);
            // A hunk without lines of the new side follows the line that it names.
            let start = if count == 0 { first } else { first.checked_sub(1)? };
            let kept = lines.get(next..start)?;
            text.extend(kept.iter().flat_map(|line| line.iter()));
            next = start;
            for line in &hunk.lines {
                match line {
                    Line::Removed(old) => {
                        text.extend_from_slice(old);
                        text.push(b'\n');
                    }
                    Line::Added(new) | Line::Same(new) => {
                        let here = lines.get(next)?;
                        if !is_same(here, new) {
                            return None;
                        }
                        next += 1;
                        if matches!(line, Line::Same(_)) {
                            text.extend_from_slice(here);
                        }
                    }
                }
            }
        }
        text.extend(lines.get(next..)?.iter().flat_map(|line| line.iter()));
        Some(text)
    }

    /// Changed lines of the old side and of the new side, in order, from 1.
    pub(super) fn changed_lines(&self) -> (Vec<u32>, Vec<u32>) {
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for hunk in &self.hunks {
            let (mut before, mut after) = (hunk.old.0, hunk.new.0);
            for line in &hunk.lines {
                match line {
                    Line::Same(_) => (before, after) = (before + 1, after + 1),
                    Line::Removed(_) => {
                        old.push(before);
                        before += 1;
                    }
                    Line::Added(_) => {
                        new.push(after);
                        after += 1;
                    }
                }
            }
        }
        (old, new)
    }

    /// Texts of the changed lines.
    pub(super) fn changed_texts(&self) -> impl Iterator<Item = &[u8]> {
        self.hunks.iter().flat_map(|hunk| &hunk.lines).filter_map(|line| match line {
            Line::Same(_) => None,
            Line::Removed(text) | Line::Added(text) => Some(text.as_slice()),
        })
    }
}

/// True if a line of a file is that of a patch, but for the characters at its end.
fn is_same(line: &[u8], of_patch: &[u8]) -> bool {
    fn bare(line: &[u8]) -> &[u8] {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    }
    bare(line) == bare(of_patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = r"diff --git a/src/a.x b/src/b.x
similarity index 90%
rename from src/a.x
rename to src/b.x
index 111..222 100644
--- a/src/a.x
+++ b/src/b.x
@@ -2 +2,2 @@ f
-old
+new
+--- more
@@ -9,0 +11 @@
+last
\ No newline at end of file
diff --git a/gone.x b/gone.x
deleted file mode 100644
index 333..000
--- a/gone.x
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/pic b/pic
index 1..2 100644
Binary files a/pic and b/pic differ
";

    fn one(text: &str) -> PatchedFile {
        let (mut files, more) = parse(text.as_bytes()).expect("a patch");
        assert_eq!((files.len(), more), (1, 0), "{files:?}");
        files.remove(0)
    }

    fn named(path: &Option<RepoPath>) -> &str {
        path.as_ref().map_or("", RepoPath::as_str)
    }

    #[test]
    fn a_patch_has_files_on_both_sides_and_their_lines() {
        let (files, _) = parse(PATCH.as_bytes()).expect("a patch");
        let paths: Vec<(&str, &str)> =
            files.iter().map(|file| (named(&file.old), named(&file.new))).collect();
        assert_eq!(paths, [("src/a.x", "src/b.x"), ("gone.x", ""), ("pic", "pic")]);
        assert_eq!(files[0].changed_lines(), (vec![2], vec![2, 3, 11]));
        assert_eq!(files[1].changed_lines(), (vec![1], vec![]));
        assert!(files[2].is_binary);
        let objects = files[0].objects.as_ref().expect("both");
        assert_eq!((objects.0.as_str(), objects.1.as_str()), ("111", "222"));
    }

    #[test]
    fn a_patch_without_git_has_paths_with_times() {
        let file =
            one("--- a/x y.c\t2026-01-01 10:00\n+++ b/x y.c\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n");
        assert_eq!((named(&file.old), named(&file.new)), ("x y.c", "x y.c"));
        let file = one("--- x.c\n+++ x.c\n@@ -1,2 +1,2 @@\n same\n-a\n+b\n");
        assert_eq!(file.changed_lines(), (vec![2], vec![2]));
        let quoted =
            one("diff --git \"a/f\\303\\274.c\" \"b/f\\303\\274.c\"\nnew file mode 100644\n");
        assert_eq!((named(&quoted.old), named(&quoted.new)), ("", "fü.c"));
    }

    #[test]
    fn the_old_text_comes_from_the_new_one() {
        let file = one(
            "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n@@ -5,0 +6 @@\n+six\n",
        );
        let after = "one\r\nzwei\r\nthree\r\nfour\r\nfive\r\nsix\r\n";
        let before = file.before(after.as_bytes()).expect("it fits");
        assert_eq!(String::from_utf8_lossy(&before), "one\r\ntwo\nthree\r\nfour\r\nfive\r\n");
        assert_eq!(file.before(b"one\ntwo\nthree\nfour\nfive\nsix\n"), None, "it is applied");
    }

    #[test]
    fn what_is_no_patch_is_refused_with_its_line() {
        for (text, expected) in [
            ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n", "ends within a hunk"),
            ("--- a/x\n+++ b/x\n@@ nonsense\n", "line 3 of the patch"),
            ("@@ -1 +1 @@\n", "without a file"),
            ("--- a/../x\n", "leads out"),
            ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n*a\n", "ends before its last line"),
        ] {
            let error = parse(text.as_bytes()).expect_err(text);
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(parse(b"just text\n"), Ok((Vec::new(), 0)));
    }
}
