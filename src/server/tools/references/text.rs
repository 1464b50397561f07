//! Rendering of `references`.

use super::json;
use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::render::sources::Sources;
use crate::answers::render::{
    CONTENT, Groups, Place, RAISE, around, by_directory, counts, merged, name, path, place, plural,
};
use cograph_model::{RelationKind, SiteKind};
use cograph_query::references::{Reference, Related};
use cograph_query::{Certainty, ReferencesParams, ReferencesResult};
use serde_json::Value;

/// Query and result.
pub(crate) struct FoundReferences {
    /// Query.
    pub(crate) params: ReferencesParams,
    /// Result.
    pub(crate) result: ReferencesResult,
    /// Source lines of the sites, where these are few.
    pub(crate) sources: Sources,
}

impl Answer for FoundReferences {
    fn render(&self, page: &mut Page) -> String {
        let result = &self.result;
        // Of one kind that the filter names, the header says all.
        if result.by_kind.len() > 1 || self.params.kinds.is_empty() && !result.by_kind.is_empty() {
            let kinds: Vec<String> = result
                .by_kind
                .iter()
                .map(|(kind, count)| format!("{count} {}", kind.word()))
                .collect();
            page.add(&format!("by kind: {}", kinds.join(", ")));
        }
        if let Some(totals) = by_directory(&result.by_directory) {
            page.add(&totals);
        }
        if !result.declarations.is_empty() {
            let declared: Vec<String> = result.declarations.iter().take(5).map(place).collect();
            page.add(&format!("declared at {}", declared.join(", ")));
        }
        self.relations(page);
        let shown = self.sites(page);
        let seen = self.params.offset + shown;
        let listed: u64 = Certainty::ALL
            .into_iter()
            .filter(|&certainty| certainty <= result.listed)
            .map(|certainty| result.counts.of(certainty))
            .sum();
        // An offset that shows the same again is no way on.
        let next = if shown > 0 { format!("`offset`: {seen}, ") } else { String::new() };
        page.left_out(
            seen,
            listed,
            "sites",
            &format!("{next}{RAISE}, or filter by `path`, `kinds` or `tests`"),
        );
        if result.listed < Certainty::Textual && result.counts.possible + result.counts.textual > 0
        {
            page.note("vaguer ones are listed with `certainty`: textual");
        }
        format!(
            "references to {} {} ({}): {} in {}",
            result.symbol.kind.word(),
            name(&result.symbol),
            place(&result.symbol),
            counts(&result.counts),
            plural(result.file_count, "file"),
        )
    }

    fn json(&self) -> Value {
        json::references(&self.result, &self.sources)
    }

    fn is_empty(&self) -> bool {
        self.result.files.is_empty() && self.result.related.is_empty()
    }
}

impl FoundReferences {
    /// Related symbols by the kind of their relation: `overridden by:`, then `path: name:12`.
    fn relations(&self, page: &mut Page) {
        // Sites are the main result: relations take at most half of the space.
        let mut room = page.room() / 2;
        let apart: Vec<&Related> =
            self.result.related.iter().filter(|related| !self.is_listed(related)).collect();
        let mut shown = 0;
        for of_kind in apart.chunk_by(|a, b| words_of(a) == words_of(b)) {
            let title = format!("{}:", words_of(of_kind[0]));
            let places = of_kind.iter().map(|Related { symbol, .. }| Place {
                heading: path(&symbol.path).to_string(),
                mark: String::new(),
                who: name(symbol).to_string(),
                line: symbol.name_at.line,
            });
            let mut groups = Groups::inline(room.saturating_sub(title.len() + 1));
            let (_, count) = groups.fill(&merged(places));
            if count == 0 {
                break;
            }
            room = room.saturating_sub(title.len() + 1 + groups.bytes());
            page.add(&title);
            groups.write(page);
            shown += count;
            let overrides = of_kind[0].kind == RelationKind::Overrides && of_kind[0].incoming;
            let own: u64 = of_kind.iter().map(|of| u64::from(of.symbol.references)).sum();
            if overrides && own > 0 {
                let what = plural(own, "reference");
                page.add(&format!("{what} to these, which `references` of each lists"));
            }
        }
        page.left_out(shown, apart.len() as u64, "relations", RAISE);
    }

    /// True if a relation is that of a site in the list, which names the same symbol.
    fn is_listed(&self, related: &Related) -> bool {
        let symbol = &related.symbol;
        let files = self.result.files.iter().filter(|file| file.path == symbol.path);
        files.flat_map(|file| &file.references).any(|reference| {
            matches!(reference.site.kind, SiteKind::Inherit | SiteKind::Implement)
                && reference.enclosing.as_ref().is_some_and(|around| around.key == symbol.key)
        })
    }

    /// Sites, most certain first, with a title for every certainty but the first.
    fn sites(&self, page: &mut Page) -> usize {
        let all = || self.result.files.iter().flat_map(|file| &file.references);
        let is_one_kind = self.result.by_kind.len() < 2;
        if let Some(text) = self.with_sources(is_one_kind)
            && page.add(&text)
        {
            return all().count();
        }
        let mut shown = 0;
        for certainty in Certainty::ALL {
            let of_this = all().filter(|reference| reference.certainty == certainty);
            let entries = merged(of_this.map(|reference| site_place(reference, is_one_kind)));
            if entries.is_empty() {
                continue;
            }
            let title =
                if certainty == Certainty::Certain { String::new() } else { self.title(certainty) };
            let mut groups = Groups::inline(page.room().saturating_sub(title.len() + 1));
            let (count, sites) = groups.fill(&entries);
            if count > 0 && !title.is_empty() {
                page.add(&title);
            }
            groups.write(page);
            shown += sites;
            if count < entries.len() {
                break;
            }
        }
        shown
    }

    /// All sites, each with its source line; none if they are too many.
    fn with_sources(&self, is_one_kind: bool) -> Option<String> {
        let mut text = format!("{CONTENT}:");
        for certainty in Certainty::ALL {
            let all = self.result.files.iter().flat_map(|file| &file.references);
            let mut of_this = all.filter(|of| of.certainty == certainty).peekable();
            if of_this.peek().is_none() {
                continue;
            }
            if certainty != Certainty::Certain {
                text.push_str(&format!("\n{}", self.title(certainty)));
            }
            let rows = of_this.map(|of| (&of.site, site_place(of, is_one_kind)));
            text.push_str(&format!("\n{}", self.sources.list(rows)?));
        }
        Some(text).filter(|_| !self.result.files.is_empty())
    }

    /// `possible (5 receiver-unknown, 2 overloads):`.
    fn title(&self, certainty: Certainty) -> String {
        let reasons = self.result.reasons.iter().filter(|(of, ..)| *of == certainty);
        let reasons: Vec<String> =
            reasons.map(|(_, step, count)| format!("{count} {}", step.word())).collect();
        let reasons =
            if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
        format!("{}{reasons}:", certainty.word())
    }
}

/// Enclosing symbol and line, behind the kind unless all are of one.
pub(super) fn site_place(reference: &Reference, is_one_kind: bool) -> Place {
    let kind = reference.site.kind.word();
    Place {
        heading: path(&reference.site.path).to_string(),
        mark: if is_one_kind { String::new() } else { kind.to_owned() },
        who: around(reference.enclosing.as_ref()),
        line: reference.site.at.line,
    }
}

fn words_of(related: &Related) -> &'static str {
    match (related.kind, related.incoming) {
        (RelationKind::Overrides, true) => "overridden by",
        (RelationKind::Overrides, false) => "overrides",
        (RelationKind::Inherits, true) => "base of",
        (RelationKind::Inherits, false) => "derives from",
        (RelationKind::Implements, true) => "implemented by",
        (RelationKind::Implements, false) => "implements",
        (RelationKind::Defines, true) => "defined by",
        (RelationKind::Defines, false) => "defines",
        (RelationKind::Returns, true) => "returned by",
        (RelationKind::Returns, false) => "returns",
    }
}
