//! Rendering of `overview`.

use super::{Overview, json};
use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::render::{RAISE, name, path, place, plural, symbol_place, text_path};
use crate::base::escape::SafeLine;
use crate::tools::impact::history::in_words;
use cograph_query::overview::EntryPoint;
use serde_json::Value;

impl Answer for Overview {
    fn render(&self, page: &mut Page) -> String {
        let result = &self.result;
        let languages: Vec<String> = result
            .languages
            .iter()
            .map(|share| {
                let name = SafeLine::new(&share.name, 40);
                format!(
                    "{name} ({}) {} {}",
                    share.tier.word(),
                    plural(share.files, "file"),
                    plural(share.lines, "line")
                )
            })
            .collect();
        page.add(&format!("languages: {}", languages.join(", ")));

        let entries = result.entry_points.iter().map(|entry| match entry {
            EntryPoint::Main(symbol) => {
                format!("  {} {}", place(symbol), name(symbol))
            }
            EntryPoint::Root { path: file, uses } => {
                format!("  {} uses {}, used by none", path(file), plural(*uses, "file"))
            }
        });
        let shown = page.section("entry points:", entries);
        page.left_out(shown, result.entry_point_total, "entry points", RAISE);

        let modules = result.modules.iter().map(|module| {
            let (files, lines) = (plural(module.files, "file"), plural(module.lines, "line"));
            format!(
                "  {} {files}, {lines}, {}; used {}, uses {}",
                text_path(&module.path),
                plural(module.symbols, "symbol"),
                module.used_by,
                module.uses
            )
        });
        let shown =
            page.section("modules, most used first (sites from and to other modules):", modules);
        page.left_out(shown, result.module_total, "modules", "give `path` or a smaller `depth`");

        let spots = result.hot_spots.iter().map(|symbol| {
            format!(
                "  {}:{} ({})",
                path(&symbol.path),
                symbol_place(symbol),
                plural(symbol.references.into(), "ref")
            )
        });
        page.section("most referenced symbols:", spots);

        let changed = self
            .changed
            .iter()
            .map(|(file, facts)| format!("  {} {}", path(file), in_words(facts)));
        page.section(&format!("most changed files, of {}:", self.extent), changed);

        let dependencies = result.dependencies.iter().map(|edge| {
            format!("  {} -> {} ({})", text_path(&edge.from), text_path(&edge.to), edge.sites)
        });
        let shown = page.section("dependencies of modules, heaviest first:", dependencies);
        page.left_out(shown, result.dependency_total, "dependencies", RAISE);

        let cycles = result.cycles.iter().map(|cycle| {
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
        page.left_out(shown, result.cycle_total, "cycles", RAISE);

        let files: u64 = result.languages.iter().map(|share| share.files).sum();
        let lines: u64 = result.languages.iter().map(|share| share.lines).sum();
        format!(
            "{} of code, {}, {}",
            plural(files, "file"),
            plural(lines, "line"),
            plural(result.module_total, "module")
        )
    }

    fn json(&self) -> Value {
        json::overview(&self.result, &self.changed, &self.extent)
    }

    fn is_empty(&self) -> bool {
        self.result.languages.is_empty()
    }
}
