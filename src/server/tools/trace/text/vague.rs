//! Rendering of uncertain edges of a trace: possible edges, and sites that are not followed.

use super::{Traced, VAGUE_PART};
use crate::model::{Step, Verdict};
use crate::query::trace::TraceTree;
use crate::query::{Counts, SiteInfo, SymbolInfo};
use crate::server::answers::budget::Page;
use crate::server::answers::render::elide::Elision;
use crate::server::answers::render::{Groups, counts, merged, name, path};
use crate::server::base::escape::SafeLine;

impl Traced {
    /// Sites at the root that are too uncertain to be followed: listed last, separately.
    pub(super) fn vague(&self, tree: &TraceTree, callers: bool, page: &mut Page) {
        // If other sites were followed, mentions of the same name are only counted in the first
        // line.
        let may_lead_on = |site: &SiteInfo| {
            site.verdict == Verdict::Ambiguous || site.step == Step::FunctionValue
        };
        let listed = |site: &SiteInfo| tree.nodes.is_empty() || may_lead_on(site);
        let sites: Vec<_> = tree.not_followed.iter().filter(|(site, _)| listed(site)).collect();
        if sites.is_empty() {
            return;
        }
        let place = |(site, around): &(SiteInfo, Option<SymbolInfo>)| {
            let who = match around {
                Some(symbol) if callers => name(symbol).to_string(),
                None if callers => "(top)".to_owned(),
                _ => SafeLine::new(&site.name, 120).to_string(),
            };
            (path(&site.path).to_string(), who, site.at.line)
        };
        let mut reasons: Vec<&str> = sites.iter().map(|(site, _)| site.step.word()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        let title = format!("not followed, target not certain ({}):", reasons.join(", "));
        let most = if tree.nodes.is_empty() { page.room() } else { page.room() / VAGUE_PART };
        let mut groups = Groups::inline(most.saturating_sub(title.len() + 1));
        let elision = Elision::below(&path(&self.result.root.path).to_string());
        let entries = merged(
            sites
                .iter()
                .map(|site| place(site))
                .map(|(file, who, line)| (elision.heading(&file), who, line)),
        );
        let fitting = entries.iter().take_while(|(heading, entry, _)| groups.add(heading, entry));
        let shown: usize = fitting.map(|(_, _, count)| count).sum();
        if shown > 0 {
            page.add(&title);
            groups.write(page);
        }
        let possible = tree.root_counts.possible;
        let total =
            if tree.nodes.is_empty() { possible + tree.root_counts.textual } else { possible };
        page.left_out(
            shown,
            total.max(sites.len() as u64),
            "vague sites",
            "`references` with `certainty`: textual lists them",
        );
    }
}

/// Calls through which an undiscovered path may lead.
pub(super) fn unfollowed(sites: &[SiteInfo], total: u64, page: &mut Page) {
    if sites.is_empty() {
        return;
    }
    page.add("calls on the way whose target is not known:");
    let places = sites.iter().map(|site| {
        (path(&site.path).to_string(), SafeLine::new(&site.name, 120).to_string(), site.at.line)
    });
    let entries = merged(places);
    let shown: usize = {
        let mut groups = Groups::inline(page.room());
        let count = entries
            .iter()
            .take_while(|(file, entry, _)| groups.add(file, entry))
            .map(|(.., sites)| sites)
            .sum();
        groups.write(page);
        count
    };
    page.left_out(
        shown,
        total,
        "calls",
        "`trace` from one of the symbols on the way lists its own",
    );
}

/// `; call sites: 5 certain, 243 possible`: empty if all are certain and listed.
pub(super) fn uncertain(found: &Counts) -> String {
    let sure = found.certain + found.likely;
    if sure > 0 && found.possible + found.textual == 0 {
        String::new()
    } else {
        format!("; call sites: {}", counts(found))
    }
}
