//! Rendering of the uses of what is outside of the repository.

use super::text::site_place;
use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::render::{Groups, RAISE, merged, plural};
use crate::answers::reply::{brief, list, site, with};
use crate::base::escape::SafeLine;
use cograph_query::references::outside::OutsideUses;
use serde_json::{Value, json};

impl Answer for OutsideUses {
    fn render(&self, page: &mut Page) -> String {
        if !self.by_kind.is_empty() {
            let kinds: Vec<String> = self
                .by_kind
                .iter()
                .map(|(kind, count)| format!("{count} {}", kind.word()))
                .collect();
            page.add(&format!("by kind: {}", kinds.join(", ")));
        }
        let mut shown = 0;
        for entity in &self.entities {
            let name = format!("{} ({}):", SafeLine::new(&entity.name, 160), entity.total);
            let of_entity = entity.references.iter();
            let entries =
                merged(of_entity.map(|reference| site_place(reference, self.by_kind.len() < 2)));
            let mut groups = Groups::inline(page.room().saturating_sub(name.len() + 1));
            let (_, sites) = groups.fill(&entries);
            if sites == 0 {
                break;
            }
            page.add(&name);
            groups.write(page);
            shown += sites;
        }
        let how = format!("{RAISE}, or filter by `path`, `kinds` or `tests`");
        page.left_out(shown, self.total, "uses", &how);
        format!(
            "`{}` is outside of this repository: {} in {}",
            SafeLine::new(&self.name, 160),
            plural(self.total, "use"),
            plural(self.file_count, "file")
        )
    }

    fn json(&self) -> Value {
        json!({
            "outside": self.name,
            "total": self.total,
            "files": self.file_count,
            "by_kind": self.by_kind.iter().map(
                |(kind, count)| (kind.word().to_owned(), json!(count))
            ).collect::<serde_json::Map<_, _>>(),
            "entities": list(&self.entities, |entity| json!({
                "name": entity.name,
                "total": entity.total,
                "sites": list(&entity.references, |reference| {
                    let enclosing = json!(reference.enclosing.as_ref().map(brief));
                    with(site(&reference.site), "enclosing", enclosing)
                }),
            })),
        })
    }

    fn is_empty(&self) -> bool {
        self.total == 0
    }
}
