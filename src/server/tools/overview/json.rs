//! JSON of the answers of `overview`: totals, symbols, places.

use crate::answers::reply::{brief, list, path, symbol, with};
use crate::tools::impact::history::in_json;
use cograph_model::RepoPath;
use cograph_model::change::FileHistory;
use cograph_query::OverviewResult;
use cograph_query::overview::EntryPoint;
use serde_json::{Value, json};

/// Result of `overview`.
pub(super) fn overview(
    result: &OverviewResult,
    changed: &[(RepoPath, FileHistory)],
    extent: &str,
) -> Value {
    json!({
        "languages": list(&result.languages, |share| json!({
            "name": share.name, "tier": share.tier.word(), "files": share.files,
            "lines": share.lines, "symbols": share.symbols,
        })),
        "modules": list(&result.modules, |module| json!({
            "path": module.path, "files": module.files, "lines": module.lines,
            "symbols": module.symbols,
            "used_by": module.used_by, "uses": module.uses,
        })),
        "module_total": result.module_total,
        "dependencies": list(
            &result.dependencies,
            |edge| json!({"from": edge.from, "to": edge.to, "sites": edge.sites})
        ),
        "dependency_total": result.dependency_total,
        "entry_points": list(&result.entry_points, |entry| match entry {
            EntryPoint::Main(main) => brief(main),
            EntryPoint::Root { path, uses } => json!({"file": path.as_str(), "uses": uses}),
        }),
        "entry_point_total": result.entry_point_total,
        "hot_spots": list(&result.hot_spots, symbol),
        "changed_most": list(
            changed,
            |(file, facts)| with(in_json(facts), "path", json!(path(file)))
        ),
        "history": extent,
        "cycles": result.cycles,
        "cycle_total": result.cycle_total,
    })
}
