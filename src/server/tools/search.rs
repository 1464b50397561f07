//! `search`: symbols by name.

mod text;

use crate::answers::Answer;
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::tool::common::{kinds, tests};
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{Parameter, QUERY_DEADLINE, Shape, Tool, common};
use cograph_model::SymbolKind;
use cograph_query::search::SearchMode;
use cograph_query::{self as query, QueryError, SearchParams};

const MODES: &[(&str, SearchMode)] = &[
    ("words", SearchMode::Words),
    ("name", SearchMode::Name),
    ("substring", SearchMode::Substring),
    ("regex", SearchMode::Regex),
];

pub(crate) static TOOL: Tool = Tool {
    name: "search",
    title: "Find symbols",
    about: "Find functions, classes, methods, fields, ... by name or words; forgives case and \
            typos. Ranked.",
    class: Class::Query,
    deadline: QUERY_DEADLINE,
    hint: None,
    own: &[
        Parameter::new("query", Shape::Text { most: 1000 }, "Name or words")
            .required()
            .also(&["text", "q", "name", "symbol", "pattern"]),
        Parameter::new(
            "mode",
            Shape::Word(&["words", "name", "substring", "regex"]),
            "Default words",
        ),
        Parameter::new(
            "kinds",
            Shape::Texts {
                most: 20,
                words: || SymbolKind::ALL.iter().map(|kind| kind.word()).collect(),
            },
            "E.g. class, function, method, field, constant, test",
        )
        .also(&["kind", "type", "types"]),
        common::WITHIN,
        common::TESTS,
        common::OFFSET,
    ],
    output: None,
    handler: RUN,
};

const RUN: Handler = |arguments, context| run(arguments, context);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let mode =
        arguments.text("mode").and_then(|word| MODES.iter().find(|(known, _)| *known == word));
    let params = SearchParams {
        text: arguments.text("query").unwrap_or_default().to_owned(),
        mode: mode.map(|(_, mode)| *mode).unwrap_or_default(),
        kinds: kinds(arguments, SymbolKind::from_word),
        path: arguments.text("path").map(str::to_owned),
        tests: tests(arguments),
        offset: common::offset(arguments),
        limit: context.entries(64),
        ..SearchParams::default()
    };
    let result = query::search_in(context.snapshot, &params, context.cancel)?;
    Ok(Box::new(text::FoundSymbols { params, result }))
}
