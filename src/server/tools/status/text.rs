//! Rendering of `status`.

use super::json;
use crate::answers::budget::Page;
use crate::answers::render::{RAISE, lines, path, plural};
use crate::answers::{Answer, reply};
use crate::base::escape::SafeLine;
use crate::workspace::metrics::{Activity, ServerState};
use crate::workspace::repositories::open_repository::rough;
use cograph_grammar::Tier;
use cograph_query::StatusResult;
use cograph_query::status::{LanguageStatus, SkippedFiles, StatedStatus};
use cograph_store::PoolCounts;
use serde_json::Value;

/// State of the store, and of the server process if there is one.
pub(crate) struct StatusAnswer {
    /// Store.
    pub(crate) result: StatusResult,
    /// Server process.
    pub(crate) process: Option<(ServerState, Activity)>,
}

impl Answer for StatusAnswer {
    fn render(&self, page: &mut Page) -> String {
        let result = &self.result;
        let seconds = result.build_duration.as_secs_f32();
        page.add(&format!(
            "store {}, generation {}, made in {seconds:.1} s",
            megabytes(result.store_bytes),
            result.identity.generation
        ));
        if let Some((server, activity)) = &self.process {
            process(server, activity, page);
        }
        page.section("languages:", result.languages.iter().map(language));
        let errors =
            result.manifest_errors.iter().map(|error| format!("  {}", SafeLine::new(error, 400)));
        page.section("languages left out, because their manifests do not fit:", errors);
        page.section(
            "conditions and include directories as built:",
            result.builds.iter().map(|file| format!("  {}", path(file))),
        );
        page.section(
            "edges stated by other programs, which replace those that are inferred:",
            result.stated.iter().map(stated),
        );
        let total: u64 = result.skipped.iter().map(|skipped| skipped.files).sum();
        if total > 0 {
            page.section(
                &format!("not indexed: {}", plural(total, "file")),
                result.skipped.iter().map(skipped),
            );
        }
        let problems = result.problems.iter().map(|(file, problem)| {
            format!(
                "  {}:{} {}",
                path(file),
                lines(problem.first_line, problem.last_line),
                problem.kind.word()
            )
        });
        let title = format!(
            "regions not understood: {} in {}",
            result.problem_total,
            plural(result.problem_files, "file")
        );
        let shown = page.section(&title, problems);
        page.left_out(
            shown,
            result.problem_total,
            "regions",
            &format!("{RAISE}, or query the view `problems` with `sql`"),
        );
        let root = SafeLine::new(&result.root.to_string_lossy(), 300);
        let symbols: u64 = result.languages.iter().map(|language| language.symbols).sum();
        format!("{root}: {}, {}", plural(result.files, "file"), plural(symbols, "symbol"))
    }

    fn json(&self) -> Value {
        let status = json::status(&self.result);
        match &self.process {
            Some((server, activity)) => {
                reply::with(status, "server", json::process(server, activity))
            }
            None => status,
        }
    }
}

fn language(language: &LanguageStatus) -> String {
    let sites = &language.sites;
    let share = |count: u64| (count * 100).checked_div(sites.total()).unwrap_or(0);
    let (name, tier) = (SafeLine::new(&language.name, 40), language.tier.word());
    let partial = if language.partial > 0 {
        format!(" ({} in part)", language.partial)
    } else {
        String::new()
    };
    if language.tier == Tier::Structure {
        let (files, lines) = (plural(language.files, "file"), plural(language.lines, "line"));
        return format!(
            "  {name} ({tier}): {files}{partial}, {lines}, {}, references not read",
            plural(language.symbols, "symbol")
        );
    }
    format!(
        "  {name} ({tier}): {}{partial}, {}, {}, {}: {} % resolved, {} % likely, {} % possible, \
         {} % ambiguous, {} % external, {} % unresolved",
        plural(language.files, "file"),
        plural(language.lines, "line"),
        plural(language.symbols, "symbol"),
        plural(sites.total(), "reference"),
        share(sites.resolved),
        share(sites.likely),
        share(sites.possible),
        share(sites.ambiguous),
        share(sites.external),
        share(sites.unresolved),
    )
}

fn stated(stated: &StatedStatus) -> String {
    let StatedStatus { tool, files, present, edges } = stated;
    let expired = match files - present {
        0 => String::new(),
        count => format!("; {} changed since", plural(count, "file")),
    };
    format!(
        "  {}: {} of {}{expired}",
        SafeLine::new(tool, 100),
        plural(*edges, "reference"),
        plural(*present, "file"),
    )
}

fn skipped(skipped: &SkippedFiles) -> String {
    let examples: Vec<String> =
        skipped.examples.iter().take(3).map(|file| path(file).to_string()).collect();
    let examples =
        if examples.is_empty() { String::new() } else { format!(", e.g. {}", examples.join(", ")) };
    format!("  {} {}{examples}", skipped.files, skipped.reason.word())
}

/// Server process: counters, index runs, and calls in flight, oldest first.
pub(crate) fn process(server: &ServerState, activity: &Activity, page: &mut Page) {
    let memory =
        server.memory.map_or(String::new(), |bytes| format!(", {} of memory", megabytes(bytes)));
    let lanes: Vec<String> = server
        .lanes
        .iter()
        .map(|lane| {
            format!(
                "{} {}/{} running, {} waiting",
                lane.class.word(),
                lane.running,
                lane.permits,
                lane.waiting
            )
        })
        .collect();
    page.add(&format!(
        "server {}: up {}{memory}, {} in flight; {}; {} not stopped yet",
        env!("CARGO_PKG_VERSION"),
        rough(server.uptime),
        plural(server.in_flight as u64, "request"),
        lanes.join("; "),
        plural(server.lingering as u64, "call"),
    ));
    let PoolCounts { open, leases, opening } = activity.stores;
    page.add(&format!("stores: {open} open, {leases} in use, {opening} being opened"));
    let runs = activity.runs.iter().map(|(name, progress)| {
        format!("  {name}: {}, {} % done", progress.message, progress.thousandths / 10)
    });
    let shown = page.section("index runs:", runs);
    page.left_out(shown, activity.runs.len() as u64, "index runs", RAISE);
    let watches =
        activity.repositories.iter().map(|(name, watched)| format!("  {name}: {watched}"));
    let shown = page.section("repositories:", watches);
    page.left_out(shown, activity.repositories.len() as u64, "repositories", RAISE);
    let calls = server
        .calls
        .iter()
        .map(|call| format!("  {} {} for {:.1} s", call.tool, call.stage, call.age.as_secs_f32()));
    let shown = page.section("other calls in flight:", calls);
    page.left_out(shown, server.calls.len() as u64, "calls in flight", RAISE);
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
