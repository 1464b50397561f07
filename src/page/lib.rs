//! The page: its document, which is built from `web/` and embedded, and the layouts that it draws.
//! Knows no store, no question and no protocol.
//!
//! ```text
//! web/ ──> esbuild ──> bundle/page.html ──> served | with_data(…) ──> a file
//! weights   ──> treemap ──> rectangles
//! dependencies ──> order ──> rows of a matrix, components together
//! ```

mod document;
mod order;
mod treemap;

pub use document::{NoPlace, policy, served, with_data};
pub use order::{MatrixOrder, order};
pub use treemap::{Rectangle, treemap};
