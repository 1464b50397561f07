//! Rendering of a query for an ambiguous name: one part per meaning, best first, within one budget.

use super::{Groups, RAISE, name, path};
use crate::query::{Meanings, QueryError, SymbolInfo};
use crate::server::answers::Answer;
use crate::server::answers::budget::Page;
use crate::server::base::escape::SafeLine;
use serde_json::{Value, json};

/// Space below which a part consists of its first line only, in bytes.
const MIN_ROOM: usize = 200;
/// Title of the meanings that are only listed.
const OTHERS: &str = "other meanings:";
/// Bytes per token.
const TOKEN: usize = 4;

/// Parts, and the remaining meanings.
pub(in crate::server) struct Several {
    name: String,
    parts: Vec<Box<dyn Answer>>,
    others: Vec<SymbolInfo>,
}

/// Joins the results of all meanings of a name; a single one stays as it is.
pub(in crate::server) fn about<T>(
    name: &str,
    meanings: Meanings<T>,
    answer: impl FnMut(T) -> Result<Box<dyn Answer>, QueryError>,
) -> Result<Box<dyn Answer>, QueryError> {
    let Meanings { answers, others } = meanings;
    let mut parts: Vec<Box<dyn Answer>> =
        answers.into_iter().map(answer).collect::<Result<_, _>>()?;
    if parts.len() == 1 && others.is_empty() {
        return Ok(parts.swap_remove(0));
    }
    Ok(Box::new(Several { name: name.to_owned(), parts, others }))
}

impl Answer for Several {
    fn render(&self, page: &mut Page) -> String {
        let total = self.parts.len() + self.others.len();
        let mut shown = 0;
        for part in &self.parts {
            let left = self.parts.len() - shown;
            // The best parts may take more than their share, but leave a line for each of the
            // others.
            let room = (page.room() / 2).max(page.room() / left);
            if room < MIN_ROOM {
                break;
            }
            let mut own = Page::part(room / TOKEN);
            let head = part.render(&mut own);
            if !page.add(&own.finish(&head)) {
                break;
            }
            shown += 1;
        }
        let mut groups = Groups::inline(page.room().saturating_sub(OTHERS.len() + 1));
        let listed = self
            .others
            .iter()
            .take_while(|symbol| groups.add(&path(&symbol.path).to_string(), &place(symbol)))
            .count();
        if listed > 0 {
            page.add(OTHERS);
        }
        groups.write(page);
        page.left_out(
            shown + listed,
            total as u64,
            "meanings",
            &format!("`search` lists them; name one as `path::Container.name`, or {RAISE}"),
        );
        format!("`{}` means {total} symbols; best first", SafeLine::new(&self.name, 120))
    }

    fn json(&self) -> Value {
        let others: Vec<Value> =
            self.others.iter().map(|symbol| json!(symbol.full_name())).collect();
        json!({
            "meanings": self.parts.iter().map(|part| part.json()).collect::<Vec<_>>(),
            "others": others
        })
    }

    fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.is_empty())
    }
}

fn place(symbol: &SymbolInfo) -> String {
    format!("{}:{}", name(symbol), symbol.first_line)
}
