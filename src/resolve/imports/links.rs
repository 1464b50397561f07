//! Links inside of the repository: a file or a directory has the path of each link to it as well.

use super::layout::Layout;
use super::paths::normal;
use crate::files::project_file::ProjectFile;
use cograph_model::graph::FileId;
use std::collections::BTreeMap;

/// Maximum number of paths that links add.
const MAX_PATHS: usize = 1 << 16;

/// Links with the places that they lead to, by path.
#[derive(Debug, Default)]
pub(super) struct Links(BTreeMap<String, String>);

impl Links {
    /// Collects the links among project files.
    pub(super) fn of(project_files: &[ProjectFile]) -> Self {
        let mut links = Self::default();
        for file in project_files {
            if let Some(target) = file.link_target() {
                links.add(file.path.as_str(), target);
            }
        }
        links
    }

    /// Adds a link; one that leads out of the repository is left out.
    fn add(&mut self, path: &str, target: &str) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let place = (!target.starts_with('/')).then(|| normal(folder, target)).flatten();
        // A link to a directory around it has no end.
        let is_around = |place: &String| {
            place.is_empty()
                || path.strip_prefix(place.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        if let Some(place) = place.filter(|place| !is_around(place)) {
            self.0.insert(path.to_owned(), place);
        }
    }

    /// Gives files and packages their further paths.
    pub(super) fn follow(&self, layout: &mut Layout) {
        let mut added = 0;
        for (link, place) in &self.0 {
            if let Some(&file) = layout.by_path.get(place) {
                layout.by_path.insert(link.clone(), file);
                continue;
            }
            let below = format!("{place}/");
            let moved = |path: &str| {
                let rest = if path == place { "" } else { &path.strip_prefix(&below)?.to_owned() };
                let separator = if rest.is_empty() { "" } else { "/" };
                Some(format!("{link}{separator}{rest}"))
            };
            let files: Vec<(String, FileId)> = layout
                .by_path
                .iter()
                .filter_map(|(path, file)| Some((moved(path)?, *file)))
                .collect();
            added += files.len();
            if added > MAX_PATHS {
                return;
            }
            for (path, file) in files {
                layout.by_path.entry(path).or_insert(file);
            }
            layout.by_name.values_mut().for_each(|packages| {
                let further: Vec<(String, u32)> = packages
                    .iter()
                    .filter_map(|(name, package)| Some((moved(name)?, *package)))
                    .collect();
                further.into_iter().for_each(|(name, package)| {
                    packages.entry(name).or_insert(package);
                });
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_link_leads_to_has_its_path_too() {
        let mut layout = Layout::default();
        let paths = [("common/util.py", 0), ("common/deep/x.py", 1), ("a/util.py", 2)];
        for (path, file) in paths {
            layout.by_path.insert(path.to_owned(), FileId(file));
        }
        let mut links = Links::default();
        for (path, target) in [
            ("a/util.py", "../common/util.py"),
            ("b/common", "../common"),
            ("common/up", ".."),
            ("c", "/etc"),
            ("d", "../outside"),
        ] {
            links.add(path, target);
        }
        links.follow(&mut layout);
        let at = |path: &str| layout.file_at(path).map(|file| file.0);
        assert_eq!(at("a/util.py"), Some(0), "the link itself has no contents");
        assert_eq!((at("b/common/util.py"), at("b/common/deep/x.py")), (Some(0), Some(1)));
        assert_eq!(layout.by_path.len(), 5, "nothing around, and nothing outside");
    }
}
