//! Rendering of uncertain edges of a trace: possible edges, and sites that are not followed.

use crate::answers::budget::Page;
use crate::answers::render::{Groups, Place, around, counts, merged, path, plural};
use crate::base::escape::SafeLine;
use crate::tools::trace::text::entry::named;
use cograph_model::facts::Synthetic;
use cograph_model::{Step, Verdict};
use cograph_query::trace::TraceTree;
use cograph_query::{Counts, SiteInfo, SymbolInfo};

/// Divisor: share of the space for sites that were not followed, if others were. All are counted in
/// any case.
const VAGUE_PART: usize = 20;

/// Sites at the root that are too uncertain to be followed: listed last, separately.
pub(super) fn vague(tree: &TraceTree, callers: bool, page: &mut Page) {
    // If other callers were followed, mentions of the same name are only counted in the first
    // line. Calls in the body itself are all named.
    let may_lead_on = |site: &SiteInfo| {
        matches!(site.verdict, Verdict::Ambiguous | Verdict::Possible)
            || site.step == Step::FunctionValue
    };
    let lists_all = tree.nodes.is_empty() || !callers;
    let listed = |site: &SiteInfo| lists_all || may_lead_on(site);
    let sites: Vec<_> = tree.not_followed.iter().filter(|(site, _)| listed(site)).collect();
    if sites.is_empty() {
        return;
    }
    let place = |(site, symbol): &&(SiteInfo, Option<SymbolInfo>)| {
        unmarked(site, if callers { around(symbol.as_ref()) } else { called(site) })
    };
    let mut reasons: Vec<&str> = sites.iter().map(|(site, _)| site.step.word()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let title = format!("not followed, target not certain ({}):", reasons.join(", "));
    let most = if tree.nodes.is_empty() { page.room() } else { page.room() / VAGUE_PART };
    let mut groups = Groups::inline(most.saturating_sub(title.len() + 1));
    let (_, shown) = groups.fill(&merged(sites.iter().map(place)));
    if shown > 0 {
        page.add(&title);
        groups.write(page);
    }
    let possible = tree.root_counts.possible;
    let total = if lists_all { possible + tree.root_counts.textual } else { possible };
    page.left_out(
        shown,
        total.max(sites.len() as u64),
        "vague sites",
        "`references` with `certainty`: textual lists them",
    );
}

/// What a site calls: a name, or an expression that has none.
fn called(site: &SiteInfo) -> String {
    match Synthetic::UnnamedCallee.is(&site.name) {
        true => "(expression)".to_owned(),
        false => SafeLine::new(&site.name, 120).to_string(),
    }
}

fn unmarked(site: &SiteInfo, who: String) -> Place {
    Place { heading: path(&site.path).to_string(), mark: String::new(), who, line: site.at.line }
}

/// Calls through which an undiscovered path may lead.
pub(super) fn unfollowed(sites: &[SiteInfo], total: u64, page: &mut Page) {
    if sites.is_empty() {
        return;
    }
    page.add("calls on the way whose target is not known:");
    let places = sites.iter().map(|site| unmarked(site, called(site)));
    let mut groups = Groups::inline(page.room());
    let (_, shown) = groups.fill(&merged(places));
    groups.write(page);
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

/// Functions at which a search for tests ended, if it did.
pub(super) fn ends(tree: &TraceTree) -> Option<String> {
    let named: Vec<String> = tree.first_ends.iter().map(named).collect();
    let more = match tree.ends.saturating_sub(named.len() as u64) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let whose = plural(tree.ends, "function");
    (tree.ends > 0)
        .then(|| format!("no caller is known of {whose} on the way: {}{more}", named.join(", ")))
}
