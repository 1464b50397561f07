//! Rendering of `references`.

use super::json;
use crate::model::RelationKind;
use crate::query::references::{Reference, Related};
use crate::query::{Certainty, ReferencesParams, ReferencesResult};
use crate::server::answers::Answer;
use crate::server::answers::budget::Page;
use crate::server::answers::render::sources::Sources;
use crate::server::answers::render::{
    Groups, RAISE, by_directory, counts, full_name, merged, name, path, plural,
};
use serde_json::Value;

/// Query and result.
pub(in crate::server) struct FoundReferences {
    /// Query.
    pub(in crate::server) params: ReferencesParams,
    /// Result.
    pub(in crate::server) result: ReferencesResult,
    /// Source lines of the sites, where these are few.
    pub(in crate::server) sources: Sources,
}

impl Answer for FoundReferences {
    fn render(&self, page: &mut Page) -> String {
        let result = &self.result;
        if !result.by_kind.is_empty() {
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
            let declared: Vec<String> = result
                .declarations
                .iter()
                .take(5)
                .map(|symbol| format!("{}:{}", path(&symbol.path), symbol.first_line))
                .collect();
            page.add(&format!("declared at {}", declared.join(", ")));
        }
        // Sites are the main result: relations take at most half of the space.
        let most = page.room() / 2;
        let fits = |used: &mut usize, line: &String| {
            *used += line.len() + 1;
            *used <= most
        };
        let lines: Vec<String> = result.related.iter().map(relation).collect();
        let related =
            page.add_all(lines.iter().scan(0, |used, line| fits(used, line).then_some(line)));
        page.left_out(related, result.related.len() as u64, "relations", RAISE);
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
        self.sources.add(page);
        format!(
            "references to {} ({}, line {}): {} in {}{}",
            full_name(&result.symbol),
            result.symbol.kind.word(),
            result.symbol.first_line,
            counts(&result.counts),
            plural(result.file_count, "file"),
            self.sources.notice(),
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
    /// Sites, most certain first, with a title for every certainty but the first.
    fn sites(&self, page: &mut Page) -> usize {
        let mut shown = 0;
        for certainty in Certainty::ALL {
            let places = self
                .result
                .files
                .iter()
                .flat_map(|file| &file.references)
                .filter(|reference| reference.certainty == certainty)
                .map(|reference| {
                    (path(&reference.site.path).to_string(), who(reference), reference.site.at.line)
                });
            let entries = merged(places);
            if entries.is_empty() {
                continue;
            }
            let title =
                if certainty == Certainty::Certain { String::new() } else { self.title(certainty) };
            let mut groups = Groups::inline(page.room().saturating_sub(title.len() + 1));
            let count =
                entries.iter().take_while(|(file, entry, _)| groups.add(file, entry)).count();
            if count > 0 && !title.is_empty() {
                page.add(&title);
            }
            groups.write(page);
            shown += entries[..count].iter().map(|(_, _, sites)| sites).sum::<usize>();
            if count < entries.len() {
                break;
            }
        }
        shown
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

/// Kind and enclosing symbol: `call Class.name`.
pub(super) fn who(reference: &Reference) -> String {
    let around = reference
        .enclosing
        .as_ref()
        .map_or_else(|| "(top)".to_owned(), |symbol| name(symbol).to_string());
    format!("{} {around}", reference.site.kind.word())
}

fn relation(related: &Related) -> String {
    let words = match (related.kind, related.incoming) {
        (RelationKind::Overrides, true) => "overridden by",
        (RelationKind::Overrides, false) => "overrides",
        (RelationKind::Inherits, true) => "base of",
        (RelationKind::Inherits, false) => "derives from",
        (RelationKind::Implements, true) => "implemented by",
        (RelationKind::Implements, false) => "implements",
        (RelationKind::Defines, true) => "defined by",
        (RelationKind::Defines, false) => "defines",
    };
    format!(
        "{words} {} {}:{}",
        name(&related.symbol),
        path(&related.symbol.path),
        related.symbol.first_line
    )
}
