//! The three questions as tools.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::ask::Ask;
use crate::error::OrgError;
use crate::session::Session;

/// Questions that are answered at a time; others wait.
const AT_A_TIME: usize = 8;

const INSTRUCTIONS: &str = "\
Questions to the call graphs of all repositories of the organisation. `callers`: who calls a \
function or method of a library or repository, at which version. `versions`: which versions of a \
package are in use. `sql`: anything else.";

/// Arguments of the tools.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Callers {
    name: String,
    package: Option<String>,
    limit: Option<usize>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Versions {
    package: String,
    limit: Option<usize>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Sql {
    query: String,
    limit: Option<usize>,
}

/// Handler of a client.
#[derive(Clone, Debug)]
pub(crate) struct Tools {
    session: Arc<Session>,
    turns: Arc<Semaphore>,
}

impl Tools {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session, turns: Arc::new(Semaphore::new(AT_A_TIME)) }
    }

    /// Answers a call of a tool.
    async fn answer(&self, request: CallToolRequestParams) -> Result<CallToolResult, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let ask =
            match &*request.name {
                "callers" => parse(arguments)
                    .map(|Callers { name, package, limit }| Ask::Callers { name, package, limit }),
                "versions" => parse(arguments)
                    .map(|Versions { package, limit }| Ask::Versions { package, limit }),
                "sql" => parse(arguments)
                    .map(|Sql { query, limit }| Ask::Sql { statement: query, limit }),
                other => Err(format!("there is no tool `{}`", crate::escape::escaped(other))),
            };
        let ask = ask.map_err(|message| ErrorData::invalid_params(message, None))?;
        let closed = |_| ErrorData::internal_error("the server ends", None);
        let _turn = self.turns.acquire().await.map_err(closed)?;
        let text = |text: String| vec![ContentBlock::text(text)];
        Ok(match ask.answer(&self.session).await {
            Ok(answer) => CallToolResult::success(text(answer.text)),
            Err(error) => CallToolResult::error(text(OrgError::report(&error))),
        })
    }
}

fn parse<T: serde::de::DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| error.to_string())
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let name = Implementation::new("cograph-org", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(name)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.answer(request).await.map(Into::into)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name)
    }
}

fn tools() -> Vec<Tool> {
    let limit = json!({
        "type": "integer", "minimum": 1, "maximum": 10_000, "description": "Rows (100)"
    });
    vec![
        tool(
            "callers",
            "Who calls a function or method, in all repositories: path:line, caller, version used.",
            json!({
                "name": {
                    "type": "string",
                    "description": "Name (route), longer name (flask.Flask.route), or SCIP symbol"
                },
                "package": {"type": "string", "description": "Only callees of this package"},
                "limit": limit,
            }),
            "name",
        ),
        tool(
            "versions",
            "Which versions of a package are in use, by how many repositories and which.",
            json!({
                "package": {"type": "string", "description": "Name, as its manager has it"},
                "limit": limit,
            }),
            "package",
        ),
        tool(
            "sql",
            "One SELECT (DataFusion) over repositories(repository, revision, files, symbols), \
             files(repository, path, language, lines, test), symbols(repository, id, symbol, name, \
             kind, path, line, end_line, exported, signature), \"references\"(repository, target, \
             path, line, kind, name, verdict), calls(repository, callee, caller, path, line, \
             verdict), imports(repository, path, line, module, item), relations(repository, kind, \
             source_id, target_id), packages(repository, manager, name, version, role). callee, \
             caller, target and symbol are SCIP symbols: symbol_package(x), symbol_version(x), \
             symbol_name(x).",
            json!({"query": {"type": "string", "description": "The statement"}, "limit": limit}),
            "query",
        ),
    ]
}

fn tool(name: &'static str, about: &'static str, properties: Value, required: &str) -> Tool {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), json!([required]));
    schema.insert("additionalProperties".to_owned(), false.into());
    let reads = ToolAnnotations::new().read_only(true).open_world(false);
    Tool::new(name, about, schema).with_annotations(reads)
}
