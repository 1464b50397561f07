//! 39: lists in pages end, hold each item once and in one order, and a mark that means nothing is
//! no first page.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::client::place;
use super::harness::Bench;

const ITEMS: usize = 120;

/// The numbers of the items that an answer lists, in order.
fn items(text: &str) -> Vec<usize> {
    let after = text.split("item_").skip(1);
    after.filter_map(|rest| rest.get(..3)?.parse().ok()).collect()
}

fn repository() -> Bench {
    let source: String = (0..ITEMS)
        .map(|number| format!("def item_{number:03}():\n    return target()\n\n\n"))
        .collect();
    let source = format!("def target():\n    pass\n\n\n{source}");
    Bench::connected_at(place(&[("a.py", &source)]), &[], &[])
}

#[test]
fn t39_a_list_walked_to_its_end_has_every_item_once() {
    let mut bench = repository();
    for (tool, arguments) in [
        ("search", json!({"query": "item_", "mode": "substring"})),
        ("grep", json!({"pattern": "def item_"})),
    ] {
        let mut orders: BTreeSet<Vec<usize>> = BTreeSet::new();
        for budget in [200, 300, 500, 1_000, 10_000] {
            let (mut order, mut pages): (Vec<usize>, usize) = (Vec::new(), 0);
            loop {
                let mut page = arguments.clone();
                page["budget"] = json!(budget);
                page["offset"] = json!(order.len());
                let text = bench.ask(tool, page);
                let mut found = items(&text);
                found.dedup();
                pages += 1;
                assert!(pages <= ITEMS + 1, "{tool} does not end");
                if found.is_empty() {
                    break;
                }
                order.extend(found);
            }
            let distinct: BTreeSet<usize> = order.iter().copied().collect();
            assert_eq!((order.len(), distinct.len()), (ITEMS, ITEMS), "{tool} {budget}");
            orders.insert(order);
        }
        assert_eq!(orders.len(), 1, "{tool}: the order depends on the size of the pages");
        let mut beyond = arguments.clone();
        beyond["offset"] = json!(ITEMS + 5);
        assert!(
            items(&bench.ask(tool, beyond)).is_empty(),
            "{tool}: behind the end there is nothing"
        );
    }
}

#[test]
fn t39_the_list_of_tools_is_one_page_and_knows_its_cursors() {
    let mut bench = repository();
    bench.request("l", "tools/list", json!({}));
    let list = bench.answer(&json!("l"))["result"].clone();
    assert!(list["tools"].as_array().is_some_and(|tools| !tools.is_empty()));
    assert_eq!(list.get("nextCursor"), None);
    for cursor in [json!(""), json!("0"), json!("tampered"), json!(5), json!({})] {
        bench.seen.clear();
        bench.request("c", "tools/list", json!({"cursor": cursor}));
        let answer = bench.answer(&json!("c"));
        assert_eq!(
            (&answer["error"]["code"], answer.get("result")),
            (&json!(-32602), None::<&Value>),
            "{cursor}"
        );
    }
}
