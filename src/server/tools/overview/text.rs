//! Rendering of `overview`.

use super::json;
use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::render::{RAISE, name, path, place, plural, symbol_place, text_path};
use crate::base::escape::SafeLine;
use cograph_query::OverviewResult;
use cograph_query::overview::EntryPoint;
use serde_json::Value;

impl Answer for OverviewResult {
    fn render(&self, page: &mut Page) -> String {
        let languages: Vec<String> = self
            .languages
            .iter()
            .map(|share| {
                let name = SafeLine::new(&share.name, 40);
                format!(
                    "{name} ({}) {} files {} lines",
                    share.tier.word(),
                    share.files,
                    share.lines
                )
            })
            .collect();
        page.add(&format!("languages: {}", languages.join(", ")));

        let entries = self.entry_points.iter().map(|entry| match entry {
            EntryPoint::Main(symbol) => {
                format!("  {} {}", place(symbol), name(symbol))
            }
            EntryPoint::Root { path: file, uses } => {
                format!("  {} uses {}, used by none", path(file), plural(*uses, "file"))
            }
        });
        let shown = page.section("entry points:", entries);
        page.left_out(shown, self.entry_point_total, "entry points", RAISE);

        let modules = self.modules.iter().map(|module| {
            let (files, lines) = (plural(module.files, "file"), plural(module.lines, "line"));
            format!(
                "  {} {files}, {lines}, {} symbols; used {}, uses {}",
                text_path(&module.path),
                module.symbols,
                module.used_by,
                module.uses
            )
        });
        let shown =
            page.section("modules, most used first (sites from and to other modules):", modules);
        page.left_out(shown, self.module_total, "modules", "give `path` or a smaller `depth`");

        let spots = self.hot_spots.iter().map(|symbol| {
            format!(
                "  {}:{} ({} refs)",
                path(&symbol.path),
                symbol_place(symbol),
                symbol.references
            )
        });
        page.section("most referenced symbols:", spots);

        let dependencies = self.dependencies.iter().map(|edge| {
            format!("  {} -> {} ({})", text_path(&edge.from), text_path(&edge.to), edge.sites)
        });
        let shown = page.section("dependencies of modules, heaviest first:", dependencies);
        page.left_out(shown, self.dependency_total, "dependencies", RAISE);

        let cycles = self.cycles.iter().map(|cycle| {
            let members: Vec<String> =
                cycle.iter().take(12).map(|member| text_path(member).to_string()).collect();
            let more = if cycle.len() > members.len() {
                format!(" and {} more", cycle.len() - members.len())
            } else {
                String::new()
            };
            format!("  {}{more}", members.join(" <-> "))
        });
        let shown = page.section("modules that depend on each other:", cycles);
        page.left_out(shown, self.cycle_total, "cycles", RAISE);

        let files: u64 = self.languages.iter().map(|share| share.files).sum();
        let lines: u64 = self.languages.iter().map(|share| share.lines).sum();
        format!(
            "{} of code, {}, {}",
            plural(files, "file"),
            plural(lines, "line"),
            plural(self.module_total, "module")
        )
    }

    fn json(&self) -> Value {
        json::overview(self)
    }

    fn is_empty(&self) -> bool {
        self.languages.is_empty()
    }
}
