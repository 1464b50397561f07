//! Rows of answers about the graph: references, traces, and further evidence of use.

use crate::answers::render::TOP;
use crate::answers::rows::row::{
    Row, Site, around, list, more, named, number, own_name, place, text,
};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// `references`.
pub(super) fn references(answer: &Value, rows: &mut Vec<Row>) {
    let (symbol, counts) = (&answer["symbol"], &answer["counts"]);
    let files = number(&answer["files"]);
    rows.push(Row::Title(format!(
        "references to {}: {} in {files} files",
        named(symbol),
        counted(counts)
    )));
    for related in list(&answer["related"]) {
        let relation = match (related["relation"].as_str(), related["incoming"] == true) {
            (Some("overrides"), true) => "overridden by",
            (Some("inherits"), true) => "base of",
            (Some("inherits"), false) => "derives from",
            (Some("implements"), true) => "implemented by",
            (Some("defines"), true) => "defined by",
            (word, _) => word.unwrap_or_default(),
        };
        let what = format!("{relation} {}", own_name(&related["symbol"]));
        rows.push(Row::Site(Site { what, ..place(&related["symbol"]) }));
    }
    let mut shown = 0;
    for site in list(&answer["sites"]) {
        shown += 1;
        let around = around(&site["enclosing"]);
        let what = format!("{} {around}{}", text(&site["kind"]), unless_certain(site));
        rows.push(Row::Site(Site { what, ..place(site) }));
    }
    let total = number(&counts["certain"]) + number(&counts["likely"]);
    more(shown, total, "sites", rows);
}

/// Uses of what is outside of the repository.
pub(super) fn outside(answer: &Value, rows: &mut Vec<Row>) {
    let total = number(&answer["total"]);
    let name = text(&answer["outside"]);
    rows.push(Row::Title(format!("{name} is outside of this repository: {total} uses")));
    let mut shown = 0;
    for entity in list(&answer["entities"]) {
        rows.push(Row::Title(format!("{}: {}", text(&entity["name"]), number(&entity["total"]))));
        for site in list(&entity["sites"]) {
            shown += 1;
            let what = format!("{} {}", text(&site["kind"]), around(&site["enclosing"]));
            rows.push(Row::Site(Site { what, ..place(site) }));
        }
    }
    more(shown, total, "uses", rows);
}

/// `trace`.
pub(super) fn trace(answer: &Value, rows: &mut Vec<Row>) {
    let (root, to) = (named(&answer["root"]), &answer["to"]);
    if let Some(steps) = answer["path"].as_array() {
        let calls = steps.len().saturating_sub(1);
        rows.push(Row::Title(format!("{root} reaches {} in {calls} calls", named(to))));
        for step in steps {
            let name = own_name(&step["symbol"]);
            for site in list(&step["sites"]) {
                let what = format!("  calls {name}{}", unless_certain(step));
                rows.push(Row::Site(Site { what, ..place(site) }));
            }
            rows.push(Row::Site(Site { what: name, ..place(&step["symbol"]) }));
        }
    } else if let Some(none) = answer.get("no_path") {
        let why = text(&none["why"]);
        rows.push(Row::Title(format!("no path of calls from {root} to {}: {why}", named(to))));
        for site in list(&none["first"]) {
            let what = format!("target not known: {}", text(&site["name"]));
            rows.push(Row::Site(Site { what, ..place(site) }));
        }
    } else {
        tree(&root, &answer["tree"], rows);
    }
}

fn tree(root: &str, tree: &Value, rows: &mut Vec<Row>) {
    let direction = text(&tree["direction"]);
    let total = number(&tree["distinct"]["count"]);
    let counts = counted(&tree["counts"]);
    rows.push(Row::Title(format!("{total} {direction} of {root}; call sites: {counts}")));
    let nodes: Vec<&Value> = list(&tree["nodes"]).collect();
    let mut children: HashMap<Option<u64>, Vec<usize>> = HashMap::new();
    for (at, node) in nodes.iter().enumerate() {
        let parent = node["parent"].as_u64().filter(|_| tree["list"] != true);
        children.entry(parent).or_default().push(at);
    }
    let mut pending: Vec<usize> = children.remove(&None).unwrap_or_default();
    pending.reverse();
    let mut ends = HashSet::new();
    while let Some(at) = pending.pop() {
        let node = nodes[at];
        ends.insert(node["end"].to_string());
        node_rows(node, &direction, tree["list"] == true, rows);
        pending.extend(children.remove(&Some(at as u64)).unwrap_or_default().into_iter().rev());
    }
    more(ends.len() as u64, total, &direction, rows);
    let vague: Vec<&Value> = list(&tree["not_followed"]).collect();
    if !vague.is_empty() {
        rows.push(Row::Title("not followed, target not certain".to_owned()));
    }
    for site in vague {
        let what = format!("{} in {}", text(&site["name"]), around(&site["enclosing"]));
        rows.push(Row::Site(Site { what, ..place(site) }));
    }
}

/// Sites of a caller or callee; where it stands itself, if there are none.
fn node_rows(node: &Value, direction: &str, is_list: bool, rows: &mut Vec<Row>) {
    let end = &node["end"];
    let depth = usize::try_from(number(&node["depth"])).unwrap_or(1).max(1);
    let name = if end["external"].is_string() {
        format!("{} (outside)", text(&end["external"]))
    } else if end["file"].is_string() {
        TOP.to_owned()
    } else if direction == "callees" {
        named(end)
    } else {
        own_name(end)
    };
    let mut words = Vec::new();
    if list(&node["sites"]).all(|site| site["step"] == "conditional") && !is_list {
        words.push("one variant");
    }
    let certainty = node["certainty"].as_str().filter(|word| *word != "certain");
    words.extend(certainty);
    words.extend(match node["link"].as_str() {
        Some("dispatch") => Some("by dispatch"),
        Some("value") => Some("by a function value"),
        _ => None,
    });
    if node["repeated"] == true {
        words.push("repeated");
    }
    let (indent, steps) = if is_list {
        (String::new(), if depth > 1 { format!(" in {depth} steps") } else { String::new() })
    } else {
        ("  ".repeat(depth - 1), String::new())
    };
    let words = if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) };
    let what = format!("{indent}{name}{steps}{words}");
    let sites: Vec<&Value> = list(&node["sites"]).filter(|_| !is_list).collect();
    if sites.is_empty() {
        rows.push(Row::Site(Site { what, ..place(end) }));
        return;
    }
    rows.extend(
        sites.into_iter().map(|site| Row::Site(Site { what: what.clone(), ..place(site) })),
    );
}

/// What a list of uses leaves out.
pub(super) fn elsewhere(found: &Value, rows: &mut Vec<Row>) {
    for value in list(&found["values"]) {
        let what = format!("used without a call in {}", around(&value["enclosing"]));
        rows.push(Row::Site(Site { what, ..place(value) }));
    }
    for alias in list(&found["aliases"]) {
        let what = format!("its name leads to {}", own_name(&alias["symbol"]));
        rows.push(Row::Site(Site { what, ..place(alias) }));
    }
    for site in list(&found["outside"]) {
        let what = "its name, target thought to be outside".to_owned();
        rows.push(Row::Site(Site { what, ..place(site) }));
    }
    for line in list(&found["lines"]) {
        let what = format!("its name in {}", text(&line["place"]));
        rows.push(Row::Site(Site { what, ..place(line) }));
    }
    let words = text(&found["words"]);
    if !words.is_empty() {
        rows.push(Row::Note(words));
    }
}

fn unless_certain(of: &Value) -> String {
    match of["certainty"].as_str() {
        None | Some("certain") => String::new(),
        Some(word) => format!(" ({word})"),
    }
}

/// `44 certain, 9 possible`: the certainties that occur.
fn counted(counts: &Value) -> String {
    let all = ["certain", "likely", "possible", "textual"]
        .map(|word| (number(&counts[word]), word))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"));
    let all: Vec<String> = all.collect();
    if all.is_empty() { "0".to_owned() } else { all.join(", ") }
}
