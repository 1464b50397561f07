//! Conversion of results to JSON: complete, with stable member names. The only place that decides
//! the JSON form of a plain result.

use crate::workspace::repositories::OpenRepository;
use cograph_model::RepoPath;
use cograph_model::facts::flags;
use cograph_query::references::evidence::Reason;
use cograph_query::search::Match;
use cograph_query::show::Excerpt;
use cograph_query::{Counts, Elsewhere, SiteInfo, SymbolInfo, Total};
use serde_json::{Value, json};

/// Symbol.
pub(crate) fn symbol(symbol: &SymbolInfo) -> Value {
    let set: Vec<&str> =
        FLAGS.iter().filter(|(flag, _)| symbol.flags & flag != 0).map(|(_, word)| *word).collect();
    json!({
        "symbol": symbol.full_name(),
        "name": symbol.name,
        "container": symbol.container,
        "kind": symbol.kind.word(),
        "language": symbol.language,
        "path": symbol.path.as_str(),
        "line": symbol.first_line,
        "end_line": symbol.last_line,
        "signature": symbol.signature,
        "doc": symbol.doc,
        "visibility": symbol.visibility.word(),
        "flags": set,
        "references": symbol.references,
    })
}

/// Words of the symbol flags.
const FLAGS: [(u32, &str); 13] = [
    (flags::EXPORTED, "exported"),
    (flags::TEST, "test"),
    (flags::DECLARATION, "declaration"),
    (flags::ABSTRACT, "abstract"),
    (flags::STATIC, "static"),
    (flags::ASYNC, "async"),
    (flags::PROPERTY, "property"),
    (flags::CLASS_METHOD, "class-method"),
    (flags::GENERATOR, "generator"),
    (flags::DEFAULT_EXPORT, "default-export"),
    (flags::CONDITIONAL, "conditional"),
    (flags::DEPRECATED, "deprecated"),
    (flags::LOCAL, "local"),
];

/// Symbol, identity only.
pub(crate) fn brief(symbol: &SymbolInfo) -> Value {
    json!({
        "symbol": symbol.full_name(), "kind": symbol.kind.word(), "path": symbol.path.as_str(),
        "line": symbol.first_line
    })
}

/// Adds a member to an object.
pub(crate) fn with(mut object: Value, name: &str, value: Value) -> Value {
    object[name] = value;
    object
}

/// Total: a number, and whether it is exact.
pub(crate) fn total(total: Total) -> Value {
    json!({"count": total.number(), "exact": matches!(total, Total::Exact(_))})
}

/// Word for the quality of a name match.
pub(crate) fn match_word(matched: Match) -> &'static str {
    match matched {
        Match::Exact => "exact",
        Match::IgnoringCase => "ignoring-case",
        Match::Prefix => "prefix",
        Match::Words => "words",
        Match::Substring => "substring",
        Match::Text => "text",
        Match::Around => "around",
        Match::SomeWords => "some-words",
        Match::Fuzzy => "fuzzy",
        Match::Regex => "regex",
    }
}

/// Source lines.
pub(crate) fn excerpt(excerpt: &Excerpt) -> Value {
    json!({
        "path": excerpt.path.as_str(),
        "symbol": excerpt.symbol.as_ref().map(symbol),
        "first_line": excerpt.first_line,
        "lines": excerpt.lines,
        "file_lines": excerpt.file_lines,
        "stale": excerpt.stale,
        "lossy": excerpt.lossy,
        "folds": list(&excerpt.folds, |(first, last)| json!([first, last])),
    })
}

/// State of the store, and the stale files; all of them if the store has another fingerprint. Same
/// content as `freshness`, which is text.
pub(crate) fn state(opened: &OpenRepository) -> Value {
    let identity = opened.snapshot.meta().identity;
    json!({
        "uid": format!("{:016x}", identity.uid),
        "generation": identity.generation,
        "up_to_date": opened.is_up_to_date(),
        "stale": opened.stale().map(|stale| stale.to_string()),
        "stale_files": opened.stale_files(),
        "reserve": opened.reserve(),
        "words": opened.freshness(),
    })
}

pub(crate) fn counts(counts: &Counts) -> Value {
    json!({
        "certain": counts.certain, "likely": counts.likely, "possible": counts.possible,
        "textual": counts.textual
    })
}

pub(crate) fn site(site: &SiteInfo) -> Value {
    json!({
        "path": site.path.as_str(),
        "line": site.at.line,
        "column": site.at.column,
        "kind": site.kind.word(),
        "name": site.name,
        "verdict": site.verdict.word(),
        "step": site.step.word(),
    })
}

/// Adds the source line of a site, if it is shown.
pub(crate) fn with_source(site: Value, source: Option<&str>) -> Value {
    match source {
        Some(source) => with(site, "source", json!(source)),
        None => site,
    }
}

pub(crate) fn list<T>(items: &[T], one: impl Fn(&T) -> Value) -> Value {
    Value::Array(items.iter().map(one).collect())
}

pub(crate) fn path(path: &RepoPath) -> Value {
    Value::from(path.as_str())
}

/// Result about uses of a symbol, and other evidence of use.
pub(crate) fn unused(answer: Value, elsewhere: &Elsewhere) -> Value {
    let found = json!({
        "values": list(
            &elsewhere.values,
            |value| with(site(&value.site), "enclosing", json!(value.enclosing.as_ref().map(brief)))
        ),
        "lines": list(
            &elsewhere.lines,
            |line| json!({
                "path": line.path.as_str(), "line": line.line, "place": line.place.word()
            })
        ),
        "outside": list(
            &elsewhere.outside, |(file, line)| json!({"path": file.as_str(), "line": line})
        ),
        "ambiguous": elsewhere.ambiguous,
        "reasons": list(&elsewhere.reasons, reason),
        "aliases": list(
            &elsewhere.aliases,
            |alias| json!({
                "path": alias.path.as_str(), "line": alias.line, "symbol": brief(&alias.symbol)
            })
        ),
        "unsearched": elsewhere.unsearched,
        "not_read": elsewhere.not_read,
    });
    with(answer, "elsewhere", found)
}

/// Reason for calls that no reference shows.
fn reason(reason: &Reason) -> Value {
    match reason {
        Reason::Decorated { name, line, symbol } => json!({
            "reason": "decorated", "name": name, "line": line,
            "symbol": symbol.as_deref().map(brief)
        }),
        Reason::BaseOutside { base } => json!({"reason": "base-outside", "name": base}),
        Reason::Runtime { language } => json!({"reason": "runtime", "language": language}),
        Reason::Test => json!({"reason": "test"}),
    }
}
