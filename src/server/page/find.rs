//! `find`: symbols as one types, as short as the page shows them.

use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::reply::{list, total, with};
use crate::jsonrpc::admission::Class;
use crate::page::neighbourhood::named;
use crate::tools::arguments::Arguments;
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{Parameter, QUERY_DEADLINE, Shape, Tool};
use cograph_query::search::SearchResult;
use cograph_query::{self as query, QueryError, SearchParams};
use serde_json::{Value, json};

/// Maximum number of symbols.
pub(crate) const MAX_FOUND: usize = 60;

pub(crate) static TOOL: Tool = Tool {
    name: "find",
    title: "Find symbols",
    about: "Symbols by name or words.",
    class: Class::Query,
    deadline: QUERY_DEADLINE,
    hint: None,
    own: &[Parameter::new("query", Shape::Text { most: 1000 }, "Name or words").required()],
    output: None,
    handler: RUN,
};

const RUN: Handler = |arguments, context| run(arguments, context);

struct FoundNames(SearchResult);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let text = arguments.text("query").unwrap_or_default().to_owned();
    let params = SearchParams { text, limit: MAX_FOUND, ..SearchParams::default() };
    let result = query::search_in(context.snapshot, &params, context.cancel)?;
    Ok(Box::new(FoundNames(result)))
}

impl Answer for FoundNames {
    fn render(&self, _page: &mut Page) -> String {
        format!("{} symbols", self.0.hits.len())
    }

    fn json(&self) -> Value {
        json!({
            "total": total(self.0.total),
            "symbols": list(&self.0.hits, |hit| {
                with(named(&hit.symbol), "references", json!(hit.symbol.references))
            }),
        })
    }

    fn is_empty(&self) -> bool {
        self.0.hits.is_empty()
    }
}
