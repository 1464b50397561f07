//! Paths of the repository, as text.

/// Maximum length of a file's path: `PATH_MAX` of POSIX.
pub(super) const MAX_PATH_BYTES: usize = 4096;

/// Normalizes `.` and `..` in a path; `None` if it leaves the repository or exceeds
/// `MAX_PATH_BYTES`.
pub(crate) fn normal(base: &str, path: &str) -> Option<String> {
    if base.len() + path.len() > MAX_PATH_BYTES {
        return None;
    }
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

/// Returns the path of a name in a directory.
pub(super) fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Splits a path into the directory and the last segment.
pub(super) fn split_last(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Returns the directory and its parents, innermost first; the last one is the root of the
/// repository.
pub(super) fn folders_around(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| match folder.rsplit_once('/') {
        Some((outer, _)) => Some(outer),
        None => (!folder.is_empty()).then_some(""),
    })
}

/// Names of directories that are usually include search paths.
pub(crate) const SEARCHED: [&str; 4] = ["include", "includes", "inc", "uapi"];

/// Returns the start of the last directory in a path that is an include search path.
pub(crate) fn search_directory(path: &str) -> Option<usize> {
    let mut end = path.rfind('/')?;
    loop {
        let start = path[..end].rfind('/').map_or(0, |slash| slash + 1);
        if SEARCHED.contains(&&path[start..end]) {
            return Some(start);
        }
        end = start.checked_sub(1)?;
    }
}
