//! Paginated list of a peer, with limits: a list that exceeds them is cut, and the cut is reported.

use super::connection::NoResult;
use super::result;
use crate::proxy::upstream::question::UpstreamQuestion;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Limits of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bounds {
    /// Maximum number of pages.
    pub(crate) pages: usize,
    /// Maximum number of entries.
    pub(crate) items: usize,
    /// Maximum memory of the entries, in bytes.
    pub(crate) bytes: usize,
    /// Timeout of the whole list.
    pub(crate) time: Duration,
}

/// Limits of every list of a peer.
pub(crate) const BOUNDS: Bounds =
    Bounds { pages: 100, items: 10_000, bytes: 16 << 20, time: Duration::from_secs(10) };
/// Maximum length of a cursor, in bytes: all cursors are kept in order to detect a cycle.
pub(crate) const CURSOR: usize = 4 << 10;

/// Method of the requests.
pub(super) const METHOD: &str = "tools/list";

/// Why there is no list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoList {
    /// A page has no result.
    NoResult(NoResult),
    /// The first page does not have the shape of a page.
    Malformed(String),
}

/// Tools of a peer, unvalidated.
#[derive(Clone, PartialEq, Debug)]
pub struct Listing {
    /// Entries.
    pub tools: Vec<Value>,
    /// Why the list may be incomplete.
    pub incomplete: Option<String>,
}

/// Reads the list with `ask`, which gets the deadline of each request.
pub(super) fn list(
    bounds: Bounds,
    mut ask: impl FnMut(&UpstreamQuestion, Instant) -> Result<Value, NoResult>,
) -> Result<Listing, NoList> {
    let until = Instant::now() + bounds.time;
    let too_long = |tools| {
        Ok(incomplete(tools, format!("it took longer than {} s", bounds.time.as_secs_f32())))
    };
    let (mut tools, mut cursors, mut cursor) = (Vec::new(), HashSet::new(), None::<String>);
    let mut bytes = 0;
    for _ in 0..bounds.pages {
        // Bounds an endless list whose pages arrive at once.
        if Instant::now() >= until {
            return too_long(tools);
        }
        let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        let question = UpstreamQuestion { method: METHOD, params, only_reads: true };
        let mut page = match ask(&question, until) {
            Ok(page) => page,
            Err(NoResult::TimedOut) => return too_long(tools),
            Err(why) => return Err(NoList::NoResult(why)),
        };
        match result::check_list(&page) {
            Ok(()) => {}
            Err(why) if cursor.is_none() => return Err(NoList::Malformed(why)),
            Err(why) => {
                return Ok(incomplete(tools, format!("a page has no known shape: {why}")));
            }
        }
        if let Some(Value::Array(items)) = page.get_mut("tools").map(Value::take) {
            let room = bounds.items - tools.len();
            let fits = items.len() <= room;
            for item in items.into_iter().take(room) {
                bytes += weight(&item);
                if bytes > bounds.bytes {
                    return Ok(incomplete(
                        tools,
                        format!("its entries take more than {} MB", bounds.bytes >> 20),
                    ));
                }
                tools.push(item);
            }
            if !fits {
                return Ok(incomplete(tools, format!("it has more than {} entries", bounds.items)));
            }
        }
        let next = match page.get("nextCursor") {
            None | Some(Value::Null) => None,
            Some(Value::String(next)) => Some(next),
            Some(_) => {
                return Ok(incomplete(tools, "the name of a page is no text".to_owned()));
            }
        };
        match next {
            None => return Ok(Listing { tools, incomplete: None }),
            Some(next) if next.len() > CURSOR => {
                return Ok(incomplete(
                    tools,
                    format!("the name of a page is longer than {CURSOR} bytes"),
                ));
            }
            Some(next) if !cursors.insert(next.clone()) => {
                return Ok(incomplete(tools, "a page was named twice".to_owned()));
            }
            Some(next) => cursor = Some(next.clone()),
        }
    }
    Ok(incomplete(tools, format!("it has more than {} pages", bounds.pages)))
}

/// Estimated memory of a value, in bytes.
fn weight(value: &Value) -> usize {
    let more = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        // A key is allocated and hashed separately.
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| size_of::<(usize, String)>() + name.len() + weight(value))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size_of::<Value>() + more
}

fn incomplete(tools: Vec<Value>, why: String) -> Listing {
    Listing { tools, incomplete: Some(why) }
}

#[cfg(test)]
mod tests {
    use super::super::NoOwner;
    use super::super::connection::Connection;
    use super::super::wire::wire_of;
    use super::*;
    use cograph_system::sockets::pair;
    use std::io::{BufRead, BufReader, Write};
    use std::sync::Arc;

    /// Reads a list from a peer that answers the n-th request with `answer`; returns the result and
    /// the number of requests.
    fn list_of(page: impl Fn(usize) -> Value) -> (Listing, usize) {
        let mut asked = 0;
        let listing = list(BOUNDS, |_, _| {
            asked += 1;
            Ok(page(asked))
        });
        (listing.expect("every question was answered"), asked)
    }

    #[test]
    fn a_list_without_an_end_is_left_at_a_bound_that_is_reported() {
        let endless = |number: usize| {
            json!({
                "tools": [{"name": number}], "nextCursor": format!("c{number}")
            })
        };
        let (listing, asked) = list_of(endless);
        assert_eq!((listing.tools.len(), asked), (100, 100));
        assert_eq!(listing.incomplete.as_deref(), Some("it has more than 100 pages"));
        let (listing, asked) = list_of(|_| json!({"tools": [{"name": "a"}], "nextCursor": "same"}));
        assert_eq!((asked, listing.incomplete.as_deref()), (2, Some("a page was named twice")));
        let many: Vec<Value> = (0..6_000).map(|number| json!({"name": number})).collect();
        let (listing, asked) =
            list_of(|number| json!({"tools": many.clone(), "nextCursor": format!("c{number}")}));
        assert_eq!((listing.tools.len(), asked), (10_000, 2));
        assert_eq!(listing.incomplete.as_deref(), Some("it has more than 10000 entries"));
    }

    #[test]
    fn a_page_of_another_shape_is_no_empty_page() {
        for page in [json!([]), json!({}), json!({"tools": {"name": "a"}}), json!(null)] {
            let first = list(BOUNDS, |_, _| Ok(page.clone()));
            assert!(matches!(first, Err(NoList::Malformed(_))), "{page}: {first:?}");
            let (listing, asked) = list_of(|number| match number {
                1 => json!({"tools": [{"name": "a"}], "nextCursor": "c"}),
                _ => page.clone(),
            });
            assert_eq!((listing.tools.len(), asked), (1, 2));
            let why = listing.incomplete.expect("a page is missing");
            assert!(why.starts_with("a page has no known shape: "), "{why}");
        }
        let (listing, asked) = list_of(|_| json!({"tools": [{"name": "a"}], "nextCursor": 5}));
        assert_eq!((listing.tools.len(), asked), (1, 1));
        assert_eq!(listing.incomplete.as_deref(), Some("the name of a page is no text"));
        let (listing, _) = list_of(|_| json!({"tools": [], "nextCursor": null}));
        assert_eq!(listing.incomplete, None);
    }

    #[test]
    fn a_list_is_bounded_by_its_memory_and_by_the_names_of_its_pages() {
        let heavy = json!({"name": "t", "inputSchema": {"type": "object", "x": vec![0; 50_000]}});
        let (listing, asked) =
            list_of(|number| json!({"tools": [heavy.clone()], "nextCursor": format!("c{number}")}));
        let fit = BOUNDS.bytes / weight(&heavy);
        assert!(fit >= 2, "the entry alone fits");
        assert_eq!((listing.tools.len(), asked), (fit, fit + 1));
        assert_eq!(listing.incomplete.as_deref(), Some("its entries take more than 16 MB"));
        let (listing, asked) =
            list_of(|_| json!({"tools": [{"name": "a"}], "nextCursor": "c".repeat(CURSOR + 1)}));
        assert_eq!((listing.tools.len(), asked), (1, 1));
        assert_eq!(
            listing.incomplete.as_deref(),
            Some("the name of a page is longer than 4096 bytes")
        );
    }

    /// Reads a list over a socket from a peer with these pages, which does not respond beyond them.
    fn list_over_a_socket(
        bounds: Bounds,
        page: impl Fn(usize) -> Option<Value> + Send + 'static,
    ) -> Listing {
        let (ours, theirs) = pair().expect("a pair of sockets can be made");
        let answer = move || {
            let lines = BufReader::new(&theirs).lines().map_while(Result::ok);
            for (number, line) in lines.enumerate() {
                let question: Value = serde_json::from_str(&line).expect("it asks in messages");
                if let Some(page) = page(number + 1) {
                    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": page});
                    // The client has closed the connection.
                    drop((&theirs).write_all(format!("{answer}\n").as_bytes()));
                }
            }
        };
        std::thread::Builder::new().spawn(answer).expect("a thread can be started");
        let connection = Connection::start(wire_of(ours).expect("it is open"), Arc::new(NoOwner))
            .expect("threads can be started");
        let listing = list(bounds, |question, until| connection.request(question, None, until));
        connection.close();
        listing.expect("what has come so far is a list")
    }

    #[test]
    fn a_peer_with_too_many_entries_is_left_at_the_bound() {
        let full: Vec<Value> =
            (0..4_000).map(|number| json!({"name": format!("tool{number}")})).collect();
        let listing = list_over_a_socket(BOUNDS, move |number| {
            assert!(number <= 3, "nothing is requested beyond the bound");
            Some(json!({"tools": full, "nextCursor": format!("c{number}")}))
        });
        assert_eq!(listing.tools.len(), 10_000);
        assert_eq!(listing.incomplete.as_deref(), Some("it has more than 10000 entries"));
    }

    #[test]
    fn a_peer_that_falls_silent_on_the_way_is_left_when_its_time_is_up() {
        let bounds = Bounds { time: Duration::from_millis(200), ..BOUNDS };
        let begun = Instant::now();
        let two_pages = |number| {
            (number <= 2)
                .then(|| json!({"tools": [{"name": number}], "nextCursor": format!("c{number}")}))
        };
        let listing = list_over_a_socket(bounds, two_pages);
        assert!(begun.elapsed() >= bounds.time, "it has all of its time");
        assert_eq!(
            (listing.tools.len(), listing.incomplete.as_deref()),
            (2, Some("it took longer than 0.2 s"))
        );
        assert_eq!(BOUNDS.time, Duration::from_secs(10));
    }

    #[test]
    fn the_time_is_for_all_pages_together() {
        let bounds = Bounds {
            time: Duration::from_millis(50),
            pages: usize::MAX,
            items: usize::MAX,
            bytes: usize::MAX,
        };
        let (mut asked, mut untils) = (0, HashSet::new());
        let listing = list(bounds, |_, until| {
            asked += 1;
            untils.insert(until);
            Ok(json!({"tools": [], "nextCursor": format!("c{asked}")}))
        });
        assert_eq!(
            listing.expect("every question was answered").incomplete.as_deref(),
            Some("it took longer than 0.05 s")
        );
        assert!(
            asked > 0 && untils.len() == 1,
            "every page has the time that is left of the whole: {untils:?}"
        );
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
