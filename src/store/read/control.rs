//! State of a connection's callbacks: cancellation, deadline, and the authorizer of user SQL. Knows
//! no snapshot.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Instant;

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;

use crate::format::views::all_views;
use cograph_model::cancel::CancelToken;
use cograph_system::allocator::heap_bytes;

/// Maximum length of a text, blob or row in internal statements: none but SQLite's own. A lower one
/// would make a store unreadable that this program wrote; user SQL has `sandbox::VALUE_BYTES`.
pub(super) const MAX_VALUE_BYTES: i32 = i32::MAX;
/// Maximum length of a `LIKE` or `GLOB` pattern.
pub const PATTERN_BYTES: i32 = 1_000;
/// Memory limit of user SQL in bytes: sorting, grouping and materialized subqueries.
pub const MEMORY_BYTES: i64 = 128 << 20;
/// Internal statements check one of this many callbacks: once in a fraction of a millisecond.
const CALLBACKS_PER_CHECK: u32 = 80;
/// User SQL checks its memory in one of this many callbacks.
const CALLBACKS_PER_MEMORY_CHECK: u32 = 4;

/// State of a connection's callbacks: outlives each use of the connection.
#[derive(Debug, Default)]
pub(super) struct Control {
    stop: Mutex<Stop>,
    /// True while user SQL runs, which may read documented views only.
    pub(super) guarded: AtomicBool,
    /// Why the authorizer denied an access.
    pub(super) refusal: Refusal,
    /// Memory use.
    pub(super) meter: Meter,
}

#[derive(Debug, Default)]
struct Stop {
    cancel: Option<CancelToken>,
    deadline: Option<Instant>,
}

impl Control {
    pub(super) fn set_cancel(&self, cancel: Option<CancelToken>) {
        self.stop.lock().cancel = cancel;
    }

    /// Sets the deadline of the following statements.
    pub(super) fn set_deadline(&self, deadline: Option<Instant>) {
        self.stop.lock().deadline = deadline;
    }

    /// Progress callback, for the `look`th time. Returns true to interrupt.
    pub(super) fn should_stop(&self, look: u32) -> bool {
        if self.guarded.load(Ordering::Relaxed) {
            if look.is_multiple_of(CALLBACKS_PER_MEMORY_CHECK) && self.meter.is_exceeded() {
                return true;
            }
        } else if !look.is_multiple_of(CALLBACKS_PER_CHECK) {
            return false;
        }
        let stop = self.stop.lock();
        stop.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
            || stop.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Installs the callbacks in a connection. The authorizer is inactive until `Control::guarded` is
/// set.
pub(super) fn install(connection: &mut Connection, control: &Arc<Control>) -> rusqlite::Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_BYTES)?;
    let seen = Arc::clone(control);
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        if !seen.guarded.load(Ordering::Relaxed) {
            return Authorization::Allow;
        }
        match judge(&context) {
            Ok(()) => Authorization::Allow,
            Err(reason) => {
                seen.refusal.put(reason);
                Authorization::Deny
            }
        }
    }))
}

/// Memory allocated by the thread of a statement since it began.
#[derive(Debug, Default)]
pub(super) struct Meter {
    before: AtomicI64,
    is_exceeded: AtomicBool,
}

impl Meter {
    pub(super) fn begin(&self) {
        self.before.store(heap_bytes(), Ordering::Relaxed);
        self.is_exceeded.store(false, Ordering::Relaxed);
    }

    /// True if the statement exceeded the memory limit. Stays true until the next one.
    pub(crate) fn is_exceeded(&self) -> bool {
        if heap_bytes().wrapping_sub(self.before.load(Ordering::Relaxed)) > MEMORY_BYTES {
            self.is_exceeded.store(true, Ordering::Relaxed);
        }
        self.is_exceeded.load(Ordering::Relaxed)
    }
}

/// Last reason of the authorizer, for the error message.
#[derive(Debug, Default)]
pub(super) struct Refusal(Mutex<Option<String>>);

impl Refusal {
    fn put(&self, reason: String) {
        self.0.lock().get_or_insert(reason);
    }

    pub(super) fn take(&self) -> Option<String> {
        self.0.lock().take()
    }
}

fn judge(context: &AuthContext<'_>) -> Result<(), String> {
    let is_view = |name: &str| all_views().any(|view| view.name.eq_ignore_ascii_case(name));
    match context.action {
        AuthAction::Select | AuthAction::Recursive => Ok(()),
        AuthAction::Read { table_name, .. }
            if is_view(table_name) || context.accessor.is_some_and(is_view) =>
        {
            Ok(())
        }
        // SQLite authorizes a view's table without a needed column under an empty column name. Only
        // the number of rows is visible.
        AuthAction::Read { column_name: "", .. } => Ok(()),
        AuthAction::Read { table_name, .. } => {
            let known: Vec<&str> = all_views().map(|view| view.name).collect();
            Err(format!("`{table_name}` is no documented view; there are {}", known.join(", ")))
        }
        AuthAction::Function { function_name }
            if !function_name.eq_ignore_ascii_case("load_extension") =>
        {
            Ok(())
        }
        _ => Err("only SELECT, WITH ... SELECT and VALUES over the documented views are allowed"
            .to_owned()),
    }
}
