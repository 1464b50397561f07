//! Error replies of queries, with alternatives for the caller.

use crate::answers::budget::Page;
use crate::answers::render;
use crate::base::escape::SafeLine;
use cograph_query::sql::all_views;
use cograph_query::{QueryError, SymbolInfo};

/// Reply to a failed query: the first line always, and as many alternatives as fit. `reserve`
/// limits the statement to the indexed state of the files, if that is stale.
pub(crate) fn reply(
    tool: &str,
    error: &QueryError,
    reserve: Option<&str>,
    mut page: Page,
) -> String {
    let text = text(tool, error);
    let (head, items) = text.split_once('\n').unwrap_or((&text, ""));
    page.add_all(items.lines());
    match reserve {
        Some(reserve) => page.finish(&format!("{} · {reserve}", head.trim_end_matches(':'))),
        None => page.finish(head),
    }
}

/// Error text, with all alternatives.
pub(crate) fn text(tool: &str, error: &QueryError) -> String {
    match error {
        QueryError::NoSuchSymbol { name, near } => {
            let what = format!("{tool}: no symbol is named `{}`", SafeLine::new(name, 200));
            list(&what, "; use `search` to find it", "; similar names:", near.iter().map(choice))
        }
        QueryError::AmbiguousSymbol { name, choices, total } => {
            let what = format!(
                "{tool}: `{}` names {total} symbols; say which, as `path::name` or `path:line`:",
                SafeLine::new(name, 200)
            );
            list(&what, "", "", choices.iter().map(choice))
        }
        QueryError::NoSuchPath { path, near } => {
            let what = format!(
                "{tool}: no indexed file or directory is named `{}`",
                SafeLine::new(path, 200)
            );
            list(
                &what,
                "; use `outline` to see what there is",
                "; similar paths:",
                near.iter().map(|path| safe_path(path)),
            )
        }
        QueryError::AmbiguousPath { path, choices, total } => {
            let what =
                format!("{tool}: `{}` names {total} files; say which:", SafeLine::new(path, 200));
            list(&what, "", "", choices.iter().map(|path| safe_path(path)))
        }
        QueryError::InvalidParameter { parameter, reason } => {
            format!("{tool}: `{parameter}`: {}", SafeLine::new(reason, 400))
        }
        QueryError::Sql { reason } => {
            let what = format!("{tool}: {}", SafeLine::new(reason, 400));
            list(
                &what,
                "",
                "\nviews and columns:",
                all_views().map(|view| {
                    let columns: Vec<&str> = view.columns.iter().map(|(name, _)| *name).collect();
                    format!("{}({}): {}", view.name, columns.join(", "), view.about)
                }),
            )
        }
        QueryError::Change { reason } => format!("{tool}: {}", SafeLine::new(reason, 600)),
        QueryError::Read { path, reason } => {
            format!("{tool}: cannot read {}: {}", render::path(path), SafeLine::new(reason, 200))
        }
        QueryError::Cancelled => format!("{tool}: cancelled"),
        QueryError::Store(error) => format!(
            "{tool}: the store failed: {}; try again",
            SafeLine::new(&error.to_string(), 400)
        ),
    }
}

/// Unambiguous name of a symbol: the location distinguishes overloads.
fn choice(symbol: &SymbolInfo) -> String {
    format!("{}:{}", render::path(&symbol.path), render::symbol_line(symbol))
}

fn safe_path(path: &str) -> String {
    SafeLine::new(path, 300).to_string()
}

fn list(
    what: &str,
    when_empty: &str,
    when_not: &str,
    items: impl Iterator<Item = String>,
) -> String {
    let items: Vec<String> = items.map(|item| format!("\n  {item}")).collect();
    format!("{what}{}{}", if items.is_empty() { when_empty } else { when_not }, items.concat())
}
