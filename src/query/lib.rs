//! Queries: one function each, from a snapshot and parameters to plain data. Renders nothing,
//! writes nothing, knows no protocol.
//!
//! ```text
//! name or path:line ──> names ──> symbols ──┐
//! Snapshot ─────────────────────────────────┼──> trace, references, show, search, explore, …
//! Params ───────────────────────────────────┘              │
//!                                                 plain result, best first
//! ```
//!
//! Every query has a `Params` struct with a `Default`, a function and a result struct. Lists are
//! ordered best first, so that a response can truncate them; totals are exact or
//! [`Total::AtLeast`]. The snapshot determines the generation of a result.
//!
//! A symbol is named `path::Container.name` or any unambiguous suffix of that (`name`,
//! `Container.name`, `file.ext::name`), or by a position, `path:line`. One resolver (`names`)
//! serves all queries.

pub mod explore;
mod graph;
pub mod grep;
pub mod impact;
pub mod locate;
mod names;
pub mod outline;
pub mod overview;
pub mod references;
pub mod search;
pub mod show;
pub mod sql;
pub mod status;
pub mod trace;

pub use explore::{ExploreParams, ExploreResult, explore};
pub use graph::answer::{Certainty, Counts, SiteInfo, SymbolInfo, Tests, Total};
pub use graph::content::{Content, Original, ReadFile};
pub use graph::error::QueryError;
pub use graph::unread::{Unread, unread};
pub use grep::{GrepParams, GrepResult, grep};
pub use impact::{ImpactParams, ImpactResult, impact};
pub use names::complete::{CompleteParams, CompleteResult, complete};
pub use names::{Meanings, complete};
pub use outline::{OutlineParams, OutlineResult, outline};
pub use overview::{OverviewParams, OverviewResult, overview};
pub use references::crossing;
pub use references::evidence::{Elsewhere, ElsewhereSearch};
pub use references::outside::outside;
pub use references::unused::{UnusedParams, UnusedResult, UnusedSymbol, unused};
pub use references::{ReferencesParams, ReferencesResult, navigate, references, references_all};
pub use search::glance::{Glance, GlanceName, GlanceParams, GlanceUses, glance};
pub use search::{SearchParams, SearchResult, search, search_in};
pub use show::{ShowParams, ShowResult, show, source_lines};
pub use sql::{SqlParams, SqlResult, sql};
pub use status::{StatusParams, StatusResult, status};
pub use trace::{TraceParams, TraceResult, trace, trace_all};
