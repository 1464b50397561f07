//! Recorded paths as paths of the index: below the root, or by their ends if the tests ran
//! elsewhere. Pure.

use std::path::Path;

use rustc_hash::FxHashMap;

use cograph_model::RepoPath;

/// Least number of segments that an absolute path of another place has in common with a file.
const LEAST_SEGMENTS: usize = 2;

/// Where a recorded path leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum FoundPath {
    /// The file at this path.
    Exact(RepoPath),
    /// The one file whose path has the same end.
    ByEnd(RepoPath),
    /// No file of the index.
    Nowhere,
}

/// Paths of the index.
pub(super) struct Places {
    root: String,
    by_name: FxHashMap<String, Vec<RepoPath>>,
}

impl Places {
    pub(super) fn new(root: &Path, paths: impl Iterator<Item = RepoPath>) -> Self {
        let mut by_name: FxHashMap<String, Vec<RepoPath>> = FxHashMap::default();
        for path in paths {
            by_name.entry(path.file_name().to_owned()).or_default().push(path);
        }
        let root = root.to_string_lossy();
        Self { root: format!("{}/", root.trim_end_matches('/')), by_name }
    }

    /// Finds a recorded path.
    pub(super) fn find(&self, recorded: &str) -> FoundPath {
        let recorded = recorded.replace('\\', "/");
        let recorded = recorded.strip_prefix("./").unwrap_or(&recorded);
        let is_inside = recorded.starts_with(&self.root);
        let path = recorded.strip_prefix(&self.root).unwrap_or(recorded);
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some(alike) = self.by_name.get(name) else { return FoundPath::Nowhere };
        if let Some(own) = alike.iter().find(|own| own.as_str() == path) {
            return FoundPath::Exact(own.clone());
        }
        if is_inside {
            return FoundPath::Nowhere;
        }
        let is_absolute = path.starts_with('/') || path.as_bytes().get(1) == Some(&b':');
        let shared = |own: &RepoPath| {
            let mut pairs = own.as_str().rsplit('/').zip(path.rsplit('/'));
            let count = pairs.by_ref().take_while(|(one, other)| one == other).count();
            // A relative path may be below another directory than the root.
            let is_whole = !is_absolute && count == own.as_str().split('/').count();
            (is_whole || count >= LEAST_SEGMENTS).then_some(count)
        };
        let found: Vec<(usize, &RepoPath)> =
            alike.iter().filter_map(|own| Some((shared(own)?, own))).collect();
        let most = found.iter().map(|(count, _)| *count).max();
        let mut best = found.iter().filter(|(count, _)| Some(*count) == most);
        match (best.next(), best.next()) {
            (Some((_, own)), None) => FoundPath::ByEnd((*own).clone()),
            _ => FoundPath::Nowhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_below_the_root_or_by_its_end() {
        let own = ["src/app/cart.py", "src/app/other/cart.py", "main.go", "setup.py", "lib/a.rs"];
        let own = own.iter().filter_map(|path| RepoPath::new(path));
        let places = Places::new(Path::new("/home/me/shop"), own);
        let path = |text: &str| RepoPath::new(text).expect("a path");
        for (recorded, place) in [
            ("/home/me/shop/src/app/cart.py", FoundPath::Exact(path("src/app/cart.py"))),
            ("src/app/cart.py", FoundPath::Exact(path("src/app/cart.py"))),
            ("./lib/a.rs", FoundPath::Exact(path("lib/a.rs"))),
            ("/ci/build/src/app/cart.py", FoundPath::ByEnd(path("src/app/cart.py"))),
            ("/venv/site-packages/app/cart.py", FoundPath::ByEnd(path("src/app/cart.py"))),
            ("C:\\ci\\app\\other\\cart.py", FoundPath::ByEnd(path("src/app/other/cart.py"))),
            ("example.com/shop/main.go", FoundPath::ByEnd(path("main.go"))),
            ("/usr/lib/thing/setup.py", FoundPath::Nowhere),
            ("/home/me/shop/.venv/app/cart.py", FoundPath::Nowhere),
            ("/ci/x/cart.py", FoundPath::Nowhere),
        ] {
            assert_eq!(places.find(recorded), place, "{recorded}");
        }
    }
}
