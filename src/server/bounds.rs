//! Checks that docs/limits.md lists every limit on what a peer or a file of a repository can take,
//! with its value.

use super::page::{find, kept, map, matrix, neighbourhood, written};
use super::runtime::http::{self, body, bridge, unauthenticated};
use super::runtime::sessions;
use super::tools::tool::MAX_ROOT_BYTES;
use super::tools::tool::common::MAX_MEANINGS;
use super::tools::tool::members::{crossing, parallel};
use super::tools::{explore, impact};
use crate::base::limits::Limits;
use crate::proxy::federation::{self, registry, tools};
use crate::proxy::upstream::{connection, http as upstream_http, listing};
use crate::session::dispatch::notices;
use crate::workspace::repositories::shared;
use crate::{
    jsonrpc::message,
    protocol::{resources, subscriptions},
    proxy::runtime_proxy,
    session,
    workspace::roots,
};
use cograph_config as config;
use cograph_config::process;
use cograph_coverage as coverage;
use cograph_history as history;
use cograph_index::{self as index, Allowance, FileLimits};
use cograph_model::stated;
use cograph_publish as publish;
use cograph_query::{self as query, SqlParams, locate, references::evidence, search, sql, trace};
use cograph_store::{self as store, PoolSettings};
use std::collections::BTreeMap;
use std::time::Duration;

const TABLE: &str = include_str!("../../docs/limits.md");

/// A size as the table writes it.
fn bytes(number: usize) -> String {
    match number {
        whole if whole >= 1 << 30 && whole.is_multiple_of(1 << 30) => {
            format!("{} GiB", whole >> 30)
        }
        whole if whole >= 1 << 20 && whole.is_multiple_of(1 << 20) => {
            format!("{} MiB", whole >> 20)
        }
        whole if whole >= 1 << 10 && whole.is_multiple_of(1 << 10) => {
            format!("{} KiB", whole >> 10)
        }
        few => format!("{few} bytes"),
    }
}

fn count(number: usize) -> String {
    number.to_string()
}

fn time(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

fn of_session() -> Vec<(&'static str, String)> {
    // Exhaustive, so that a new field is classified here: fields not bound to a name are timeouts.
    let Limits {
        line_bytes,
        output_bytes,
        queued_calls,
        queued_bytes,
        control_permits,
        query_permits,
        heavy_permits,
        lingering_calls,
        stores: PoolSettings { capacity, idle, sweep: _ },
        deadline: _,
        index_wait: _,
        renewal_wait: _,
        roots_wait: _,
        end_grace: _,
        output_stall: _,
        signal_grace: _,
        housekeeping: _,
        progress_interval: _,
        change_interval: _,
    } = Limits::default();
    assert!((2..=8).contains(&query_permits));
    vec![
        ("Limits::line_bytes", bytes(line_bytes)),
        ("Limits::output_bytes", bytes(output_bytes)),
        ("Limits::queued_calls", count(queued_calls)),
        ("Limits::queued_bytes", bytes(queued_bytes)),
        ("Limits::control_permits", count(control_permits)),
        ("Limits::query_permits", "one a core, 2 to 8".to_owned()),
        ("Limits::heavy_permits", count(heavy_permits)),
        ("Limits::lingering_calls", count(lingering_calls)),
        ("message::ID_BYTES", bytes(message::ID_BYTES)),
        ("message::BATCH", count(message::BATCH)),
        ("message::VALUES", count(message::VALUES)),
        ("session::EVENTS", count(session::EVENTS)),
        ("notices::MAX_SUBSCRIPTIONS", count(notices::MAX_SUBSCRIPTIONS)),
        ("subscriptions::MAX_ADDRESSES", count(subscriptions::MAX_ADDRESSES)),
        ("resources::MAX_BYTES", bytes(resources::MAX_BYTES)),
        ("roots::MAX_ROOTS", count(roots::MAX_ROOTS)),
        ("roots::PATH_BYTES", bytes(roots::PATH_BYTES)),
        ("PoolSettings::capacity", count(capacity)),
        ("PoolSettings::idle", time(idle)),
    ]
}

fn of_runtime() -> Vec<(&'static str, String)> {
    vec![
        ("sessions::MAX_SESSIONS", count(sessions::MAX_SESSIONS)),
        ("sessions::MAX_HTTP_SESSIONS", count(sessions::MAX_HTTP_SESSIONS)),
        ("http::MAX_CONNECTIONS", count(http::MAX_CONNECTIONS)),
        ("unauthenticated::MAX", count(unauthenticated::MAX)),
        ("unauthenticated::TIME", time(unauthenticated::TIME)),
        ("http::READ", time(http::READ)),
        ("http::IDLE", time(http::IDLE)),
        ("http::LEFT", time(http::LEFT)),
        ("body::BUDGET", bytes(body::BUDGET)),
        ("body::CONNECTION", bytes(body::CONNECTION)),
        ("body::BUFFER", bytes(body::BUFFER)),
        ("body::BEFORE_SESSION", bytes(body::BEFORE_SESSION)),
        ("body::DROPPED", bytes(body::DROPPED)),
        ("bridge::WAITING", count(bridge::WAITING)),
    ]
}

fn of_upstreams() -> Vec<(&'static str, String)> {
    let listing::Bounds { pages, items, bytes: memory, time: all } = listing::BOUNDS;
    vec![
        ("connection::LINE", bytes(connection::LINE)),
        ("connection::WAITING", bytes(connection::WAITING)),
        ("connection::MAX_INVALID_LINES", count(connection::MAX_INVALID_LINES)),
        ("connection::KEEP_ALIVE", time(connection::KEEP_ALIVE)),
        ("connection::MESSAGE", bytes(connection::MESSAGE)),
        ("connection::QUOTED", bytes(connection::QUOTED)),
        ("upstream::http::WAITING", count(upstream_http::WAITING)),
        ("listing::pages", count(pages)),
        ("listing::items", count(items)),
        ("listing::bytes", bytes(memory)),
        ("listing::time", time(all)),
        ("listing::CURSOR", bytes(listing::CURSOR)),
        ("registry::MAX_UPSTREAMS", count(registry::MAX_UPSTREAMS)),
        ("registry::MAX_TOOLS", count(registry::view::MAX_TOOLS)),
        ("tools::NAME", bytes(tools::NAME)),
        ("tools::DESCRIPTION", bytes(tools::DESCRIPTION)),
        ("tools::SCHEMA", bytes(tools::SCHEMA)),
        ("federation::CALLS_PER_UPSTREAM", count(federation::CALLS_PER_UPSTREAM)),
        ("runtime_proxy::LONGEST", bytes(runtime_proxy::LONGEST)),
        ("process::TAIL_BYTES", bytes(process::TAIL_BYTES)),
    ]
}

fn of_answers() -> Vec<(&'static str, String)> {
    vec![
        ("evidence::TIME", time(evidence::TIME)),
        ("evidence::MAX_FILES", count(evidence::MAX_FILES)),
        ("evidence::MAX_SIBLING_FILES", count(evidence::MAX_SIBLING_FILES)),
        ("evidence::MAX_OTHER_FILES", count(evidence::MAX_OTHER_FILES)),
        ("trace::MAX_NOT_FOLLOWED", count(trace::MAX_NOT_FOLLOWED)),
    ]
}

fn of_changes() -> Vec<(&'static str, String)> {
    vec![
        ("impact::MAX_PATCH", bytes(impact::MAX_PATCH)),
        ("impact::MAX_SYMBOLS", count(query::impact::MAX_SYMBOLS)),
        ("impact::MAX_CALL_FILES", count(query::impact::MAX_CALL_FILES)),
        ("history::MAX_PATCH", bytes(history::MAX_PATCH)),
        ("history::MAX_FILES", count(history::MAX_FILES)),
        ("history::MAX_UNTRACKED", count(history::MAX_UNTRACKED)),
        ("history::TIMEOUT", time(history::TIMEOUT)),
        ("history::MAX_COMMITS", count(history::MAX_COMMITS)),
        ("store::MAX_SIDE_FILES", bytes(store::MAX_SIDE_FILES as usize)),
        ("coverage::MAX_DATABASE", bytes(coverage::MAX_DATABASE as usize)),
        ("coverage::MAX_TEXT", bytes(coverage::MAX_TEXT as usize)),
        ("coverage::MAX_JSON", bytes(coverage::MAX_JSON as usize)),
        ("coverage::MAX_ROWS", count(coverage::MAX_ROWS)),
        ("coverage::MAX_LINE", count(coverage::MAX_LINE as usize)),
        ("coverage::READ_TIME", time(coverage::READ_TIME)),
        ("coverage::MAX_TESTS", count(coverage::MAX_TESTS)),
        ("coverage::MAX_PAIRS", count(coverage::MAX_PAIRS as usize)),
        ("stated::MAX_STATED", count(stated::MAX_STATED as usize)),
    ]
}

fn of_workspaces() -> Vec<(&'static str, String)> {
    vec![
        ("config::MAX_MEMBERS", count(config::MAX_MEMBERS)),
        ("exchange::MAX_MANIFESTS", count(cograph_exchange::MAX_MANIFESTS)),
        ("exchange::MAX_KEPT_MANIFESTS", count(cograph_exchange::MAX_KEPT_MANIFESTS)),
        ("shared::MAX_WITH_MANIFESTS", count(shared::MAX_WITH_MANIFESTS)),
        ("parallel::MAX_AT_A_TIME", count(parallel::MAX_AT_A_TIME)),
        ("crossing::MAX_POSSIBLE", count(query::crossing::MAX_POSSIBLE)),
        ("crossing::MAX_READ", count(query::crossing::MAX_READ)),
        ("crossing::MAX_SITES", count(crossing::MAX_SITES)),
        ("tool::MAX_ROOT_BYTES", bytes(MAX_ROOT_BYTES)),
    ]
}

fn of_publications() -> Vec<(&'static str, String)> {
    vec![
        ("publish::MAX_REFERENCE", bytes(publish::MAX_REFERENCE)),
        ("publish::MAX_COMMITS", count(publish::MAX_COMMITS)),
        ("publish::MAX_REFERENCES", count(publish::MAX_REFERENCES)),
        ("publish::MAX_MANIFEST", bytes(publish::MAX_MANIFEST)),
        ("publish::MAX_STORE", size_of(publish::MAX_STORE)),
        ("publish::PIECE_BYTES", bytes(publish::PIECE_BYTES)),
        ("publish::PARALLEL", count(publish::PARALLEL)),
        ("publish::OBJECT_TIMEOUT", time(publish::OBJECT_TIMEOUT)),
        ("publish::GRACE", time(publish::GRACE)),
        ("history::MAX_ANCESTORS", count(history::MAX_ANCESTORS)),
    ]
}

fn of_page() -> Vec<(&'static str, String)> {
    vec![
        ("neighbourhood::MAX_LINES", count(neighbourhood::MAX_LINES as usize)),
        ("neighbourhood::MAX_SITES", count(neighbourhood::MAX_SITES)),
        ("neighbourhood::MAX_NEIGHBOURS", count(neighbourhood::MAX_NEIGHBOURS)),
        ("around::MAX_REFERENCES", count(cograph_query::explore::neighbourhood::MAX_REFERENCES)),
        ("find::MAX_FOUND", count(find::MAX_FOUND)),
        ("map::MAX_BOXES", count(map::MAX_BOXES)),
        ("matrix::MAX_ROWS", count(matrix::MAX_ROWS)),
        ("matrix::MAX_CELLS", count(matrix::MAX_CELLS)),
        ("kept::MAX_KEPT", count(kept::MAX_KEPT)),
        ("written::MAX_SYMBOLS", count(written::MAX_SYMBOLS)),
        ("written::MAX_DIRECTORIES", count(written::MAX_DIRECTORIES)),
        ("written::MAX_NEIGHBOURS", count(written::MAX_NEIGHBOURS)),
        ("written::MAX_ANSWERS", bytes(written::MAX_ANSWERS)),
        ("matrix::MAX_USES", count(matrix::MAX_USES)),
    ]
}

fn of_statements() -> Vec<(&'static str, String)> {
    let size = |number: i64| bytes(usize::try_from(number).expect("it is positive"));
    let cache = usize::try_from(config::Limits::default().cache_bytes).expect("it fits");
    vec![
        ("sql::VALUE_BYTES", size(sql::VALUE_BYTES.into())),
        ("sql::PATTERN_BYTES", size(sql::PATTERN_BYTES.into())),
        ("sql::MEMORY_BYTES", size(sql::MEMORY_BYTES)),
        ("sql::MAX_BYTES", bytes(sql::MAX_BYTES)),
        ("sql::time_limit", time(SqlParams::default().time_limit)),
        ("config::cache_bytes", bytes(cache)),
    ]
}

fn of_questions() -> Vec<(&'static str, String)> {
    vec![
        ("explore::QUERY", bytes(explore::QUERY)),
        ("tools::MAX_MEANINGS", count(MAX_MEANINGS)),
        ("search::COUNTED", count(usize::try_from(search::COUNTED).expect("it fits"))),
        ("search::BLOCKS", count(search::BLOCKS)),
        ("search::BLOCKS_MISSPELT", count(search::BLOCKS_MISSPELT)),
        ("search::FILTERED", count(search::FILTERED)),
        ("locate::FILES", count(locate::FILES)),
        ("locate::NAMED_FILES", count(locate::NAMED_FILES)),
        ("locate::NAMES", count(locate::NAMES)),
        ("locate::MEANINGS", count(locate::MEANINGS)),
        ("locate::BEARERS", count(locate::BEARERS)),
        ("locate::CALLING", count(locate::CALLING)),
        ("explore::MAX_COMPARED", count(cograph_query::explore::MAX_COMPARED)),
    ]
}

/// An allowance of CPU time as the table writes it.
fn allowed_time(Allowance { base, per_byte, most }: Allowance) -> String {
    let (base, per_byte, most) = (base / 1_000_000, per_byte / 1_000, most / 1_000_000_000);
    format!("{base} ms + {per_byte} µs a byte, at most {most} s")
}

fn allowed_memory(base: u64, per_byte: u64) -> String {
    format!("{} + {per_byte} bytes a byte", size_of(base))
}

fn size_of(number: u64) -> String {
    bytes(usize::try_from(number).expect("it fits"))
}

fn of_files() -> Vec<(&'static str, String)> {
    // Exhaustive, so that a new field gets a row.
    let config::Limits {
        file_bytes,
        line_bytes,
        file_time,
        memory_bytes,
        threads: _,
        stack_bytes: _,
        cache_bytes: _,
    } = config::Limits::default();
    let FileLimits { first_parse, heap, time: _, depth: _ } = FileLimits::default();
    assert_eq!(heap.most, u64::MAX);
    assert_eq!(index::FIRST_PAUSE, Duration::from_secs(1));
    assert_eq!(index::MEMORY_INTERVAL, Duration::from_millis(20));
    // A small machine has less.
    assert!(memory_bytes <= config::MEMORY_BYTES);
    vec![
        ("config::file_bytes", size_of(file_bytes)),
        ("config::line_bytes", bytes(line_bytes)),
        ("config::file_time", time(file_time)),
        ("config::memory_bytes", size_of(config::MEMORY_BYTES)),
        ("extract::first_parse", allowed_time(first_parse)),
        ("extract::quick", allowed_time(FileLimits::quick().first_parse)),
        ("extract::quicker", allowed_time(FileLimits::quicker().first_parse)),
        ("extract::heap", allowed_memory(heap.base, heap.per_byte)),
        ("watchdog::FILE_MEMORY", allowed_memory(index::FILE_MEMORY, index::FILE_MEMORY_PER_BYTE)),
        ("watchdog::UNWATCHED_MEMORY", size_of(index::UNWATCHED_MEMORY)),
        ("words::MAX_WORDS", count(cograph_model::words::MAX_WORDS)),
        ("slow_files::FILES_PER_RUN", count(index::FILES_PER_RUN)),
        ("job::GREATEST_PAUSE", time(index::GREATEST_PAUSE)),
    ]
}

#[test]
fn the_table_of_limits_says_what_the_code_does() {
    let mut rows = BTreeMap::new();
    for line in TABLE.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, what, default, beyond] = cells[..] else { panic!("four cells: {line}") };
        assert!(!what.is_empty() && !beyond.is_empty(), "{line}");
        assert!(
            rows.insert(name.trim_matches('`').to_owned(), default.to_owned()).is_none(),
            "twice: {line}"
        );
    }
    let code = [
        of_session(),
        of_runtime(),
        of_upstreams(),
        of_questions(),
        of_statements(),
        of_answers(),
        of_changes(),
        of_page(),
        of_workspaces(),
        of_publications(),
        of_files(),
    ]
    .concat();
    let code: BTreeMap<String, String> =
        code.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    assert_eq!(rows, code);
    assert!(rows.len() > 50, "{}", rows.len());
}

// Connections leave budget for bodies, and HTTP sessions leave sessions for the socket.
const _: () = assert!(http::MAX_CONNECTIONS * body::CONNECTION <= body::BUDGET / 2);
const _: () = assert!(unauthenticated::MAX * 4 <= http::MAX_CONNECTIONS);
const _: () = assert!(sessions::MAX_HTTP_SESSIONS < sessions::MAX_SESSIONS);

#[test]
fn ids_and_tokens_of_all_requests_in_flight_take_less_than_the_answers_that_may_wait() {
    let limits = Limits::default();
    assert!(2 * limits.in_flight() * message::ID_BYTES <= limits.output_bytes);
    assert!(body::BEFORE_SESSION < limits.line_bytes && limits.line_bytes <= body::BUDGET / 2);
}
