//! Source lines of sites: behind a short list, each once.

use super::{CONTENT, SOURCE_LINE, path};
use crate::model::RepoPath;
use crate::query::{self, QueryError, ReadFile, SiteInfo};
use crate::server::answers::budget::Page;
use crate::server::base::escape::source_line;
use crate::store::Snapshot;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of lines.
const FEW: usize = 6;

/// Source lines by path and number.
#[derive(Clone, Default, Debug)]
pub(in crate::server) struct Sources(BTreeMap<(RepoPath, u32), String>);

impl Sources {
    /// Reads the lines of these sites; none if there are many.
    pub(in crate::server) fn of<'s>(
        snapshot: &Snapshot,
        files: &dyn ReadFile,
        sites: impl Iterator<Item = &'s SiteInfo>,
    ) -> Result<Self, QueryError> {
        let mut wanted = BTreeSet::new();
        for site in sites {
            wanted.insert((site.path.clone(), site.at.line));
            if wanted.len() > FEW {
                return Ok(Self::default());
            }
        }
        Ok(Self(query::source_lines(snapshot, files, &wanted)?))
    }

    /// Adds the lines, if there is room for all of them.
    pub(in crate::server) fn add(&self, page: &mut Page) {
        let lines: Vec<String> = self
            .0
            .iter()
            .map(|((file, line), text)| {
                format!("{}:{line}| {}", path(file), source_line(text, SOURCE_LINE))
            })
            .collect();
        let lines = lines.join("\n");
        if !lines.is_empty() && lines.len() < page.room() {
            page.note(lines);
        }
    }

    /// Source line of a site.
    pub(in crate::server) fn text(&self, site: &SiteInfo) -> Option<&str> {
        self.0.get(&(site.path.clone(), site.at.line)).map(String::as_str)
    }

    /// Notice for the first line, if there are source lines.
    pub(in crate::server) fn notice(&self) -> String {
        if self.0.is_empty() { String::new() } else { format!(" · {CONTENT}") }
    }
}
