//! Source lines of a few sites: each next to its site, or all behind a list.

use super::{CONTENT, SOURCE_LINE, path};
use crate::answers::budget::Page;
use crate::answers::render::groups::{Groups, Place, merged};
use crate::base::escape::source_line;
use cograph_model::RepoPath;
use cograph_query::{self as query, QueryError, ReadFile, SiteInfo};
use cograph_store::Snapshot;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of lines in text.
pub(crate) const FEW: usize = 6;
/// The same in JSON, which is complete.
pub(crate) const MANY: usize = 5_000;

/// Source lines by path and number.
#[derive(Clone, Default, Debug)]
pub(crate) struct Sources(BTreeMap<(RepoPath, u32), String>);

impl Sources {
    /// Reads the lines of these sites; none if there are more than `most`.
    pub(crate) fn of<'s>(
        snapshot: &Snapshot,
        files: &dyn ReadFile,
        sites: impl Iterator<Item = &'s SiteInfo>,
        most: usize,
    ) -> Result<Self, QueryError> {
        let mut wanted = BTreeSet::new();
        for site in sites {
            wanted.insert((site.path.clone(), site.at.line));
            if wanted.len() > most {
                return Ok(Self::default());
            }
        }
        Ok(Self(query::source_lines(snapshot, files, &wanted)?))
    }

    /// Text of a list of sites with their source lines: `path: who:12| source`, or the lines below
    /// the sites of a path that has several. None if a site has no source line.
    pub(crate) fn list<'s>(
        &self,
        sites: impl Iterator<Item = (&'s SiteInfo, Place)>,
    ) -> Option<String> {
        let mut files: Vec<(Vec<Place>, BTreeMap<u32, String>)> = Vec::new();
        for (site, place) in sites {
            let line = source_line(self.text(site)?, SOURCE_LINE);
            let file = files.iter().position(|(of, _)| of[0].heading == place.heading);
            let file = file.unwrap_or_else(|| {
                files.push(Default::default());
                files.len() - 1
            });
            files[file].0.push(place);
            files[file].1.insert(site.at.line, line);
        }
        let texts = files.into_iter().map(|(places, lines)| {
            let mut groups = Groups::inline(usize::MAX);
            groups.fill(&merged(places));
            let mut text: String = groups.texts().collect();
            let is_single = lines.len() == 1;
            for (number, line) in lines {
                let row =
                    if is_single { format!("| {line}") } else { format!("\n  {number}| {line}") };
                text.push_str(&row);
            }
            text
        });
        let texts: Vec<String> = texts.collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Adds the lines, if there is room for all of them.
    pub(crate) fn add(&self, page: &mut Page) {
        let mut groups = Groups::stacked(page.room());
        let fits = self.0.iter().all(|((file, line), text)| {
            let line = format!("{line}| {}", source_line(text, SOURCE_LINE));
            groups.add(&path(file).to_string(), &line)
        });
        let lines: Vec<String> = groups.texts().collect();
        if fits && !lines.is_empty() {
            page.note(format!("{CONTENT}:\n{}", lines.join("\n")));
        }
    }

    /// Source line of a site.
    pub(crate) fn text(&self, site: &SiteInfo) -> Option<&str> {
        self.0.get(&(site.path.clone(), site.at.line)).map(String::as_str)
    }
}
