//! A list of a peer, page by page, with guards: a peer that never comes to an end is left at a bound, and that is said.

use super::Question;
use super::connection::NoResult;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Pages that are asked for.
const MOST_PAGES: usize = 100;
/// Entries that are taken.
const MOST_ITEMS: usize = 10_000;
/// Time for all of it.
const TIME: Duration = Duration::from_secs(10);

/// The tools of a peer as it describes them, unchecked.
#[derive(Clone, PartialEq, Debug)]
pub struct Listing {
    /// The entries.
    pub tools: Vec<Value>,
    /// Why there may be more.
    pub incomplete: Option<String>,
}

/// Asks for the list with `ask`, which has a time until which it may wait.
pub(super) fn list(mut ask: impl FnMut(&Question, Instant) -> Result<Value, NoResult>) -> Result<Listing, NoResult> {
    let until = Instant::now() + TIME;
    let (mut tools, mut cursors, mut cursor) = (Vec::new(), HashSet::new(), None::<String>);
    for _ in 0..MOST_PAGES {
        let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        let question = Question { method: "tools/list", params, only_reads: true };
        let mut page = match ask(&question, until) {
            Ok(page) => page,
            Err(NoResult::TimedOut) => return Ok(incomplete(tools, format!("it took longer than {} s", TIME.as_secs()))),
            Err(why) => return Err(why),
        };
        if let Some(Value::Array(items)) = page.get_mut("tools").map(Value::take) {
            let room = MOST_ITEMS - tools.len();
            let fits = items.len() <= room;
            tools.extend(items.into_iter().take(room));
            if !fits {
                return Ok(incomplete(tools, format!("it has more than {MOST_ITEMS} entries")));
            }
        }
        match page.get("nextCursor").and_then(Value::as_str) {
            None => return Ok(Listing { tools, incomplete: None }),
            Some(next) if !cursors.insert(next.to_owned()) => {
                return Ok(incomplete(tools, "a page was named twice".to_owned()));
            }
            Some(next) => cursor = Some(next.to_owned()),
        }
    }
    Ok(incomplete(tools, format!("it has more than {MOST_PAGES} pages")))
}

fn incomplete(tools: Vec<Value>, why: String) -> Listing {
    Listing { tools, incomplete: Some(why) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists from a peer that answers the n-th question so; gives what came of it and how many questions there were.
    fn list_of(page: impl Fn(usize) -> Value) -> (Listing, usize) {
        let mut asked = 0;
        let listing = list(|_, _| {
            asked += 1;
            Ok(page(asked))
        });
        (listing.expect("every question was answered"), asked)
    }

    #[test]
    fn a_list_without_an_end_is_left_at_a_bound_that_is_said() {
        let endless = |number: usize| json!({"tools": [{"name": number}], "nextCursor": format!("c{number}")});
        let (listing, asked) = list_of(endless);
        assert_eq!((listing.tools.len(), asked), (100, 100));
        assert_eq!(listing.incomplete.as_deref(), Some("it has more than 100 pages"));
        let (listing, asked) = list_of(|_| json!({"tools": [{"name": "a"}], "nextCursor": "same"}));
        assert_eq!((asked, listing.incomplete.as_deref()), (2, Some("a page was named twice")));
        let many: Vec<Value> = (0..6_000).map(|number| json!({"name": number})).collect();
        let (listing, asked) = list_of(|number| json!({"tools": many.clone(), "nextCursor": format!("c{number}")}));
        assert_eq!((listing.tools.len(), asked), (10_000, 2));
        assert_eq!(listing.incomplete.as_deref(), Some("it has more than 10000 entries"));
    }

    #[test]
    fn a_hundred_honest_pages_are_a_whole_list() {
        let honest = |number: usize| {
            let mut page = json!({"tools": [{"name": number}]});
            if number < 100 {
                page["nextCursor"] = Value::from(format!("c{number}"));
            }
            page
        };
        let (listing, asked) = list_of(honest);
        assert_eq!((listing.tools.len(), listing.incomplete, asked), (100, None, 100));
    }
}
