//! Defects that can be planted on purpose, so that a test can be shown to notice them, and gates at
//! which a test can hold the program. All of it is constant and compiled away without the cargo
//! feature `faults`, which no released binary has.
//!
//! `config` reads from the environment which defect is planted and which gates there are; the rest
//! of the program asks `planted` where the defect would be.

/// Declares the defects: one variant and one name each.
macro_rules! faults {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// A defect that other servers were found to have, each reproduced by one line or two.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Fault { $($(#[$doc])* $variant,)+ }

        #[cfg(feature = "faults")]
        impl Fault {
            fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

faults! {
    /// Bytes of an unfinished line are lost when something else happens meanwhile.
    ReadInSelect = "read_in_select",
    /// What is printed lands between the messages.
    NoFdRedirect = "no_fd_redirect",
    /// Only a bare line feed ends a line, and nothing else is tidied up.
    LfOnly = "lf_only",
    /// The descriptor is tested for readiness although the next message is in a buffer already.
    PollBufreader = "poll_bufreader",
    /// The end of the input ends the process with requests unanswered.
    EofDropsQueued = "eof_drops_queued",
    /// No message is taken while an answer waits to be written.
    ReaderWaitsForWriter = "reader_waits_for_writer",
    /// A queue of a few calls that refuses the rest.
    QueueOf8 = "queue_of_8",
    /// No message is taken while a call runs.
    SerialDispatch = "serial_dispatch",
    /// All classes of calls share one queue.
    OneLane = "one_lane",
    /// A session may have all permits, and keeps those that it has for its own next call.
    GreedySession = "greedy_session",
    /// A call whose connection was lost is sent again whatever it does.
    ReplayAll = "replay_all",
    /// Answers of a peer are taken to come in the order of the questions.
    AnswersInOrder = "answers_in_order",
    /// A runtime removes the socket that it finds, and takes its place.
    UnlinkAndHope = "unlink_and_hope",
    /// The client attaches before it answers anything.
    AttachFirst = "attach_first",
    /// The end of a session ends the index runs that it has begun.
    SessionOwnsIndex = "session_owns_index",
    /// A call that waits for an index keeps its permit.
    IndexHoldsPermit = "index_holds_permit",
    /// One connection to a store for all who read it.
    OneConnection = "one_connection",
    /// A cancelled call is taken off the table and works on.
    CancelKeepsWorking = "cancel_keeps_working",
    /// A cancelled request is answered with an error.
    CancelAnswered = "cancel_answered",
    /// An id is in use beyond its answer.
    RemoveAfterSend = "remove_after_send",
    /// Calls have no deadline.
    NoDeadline = "no_deadline",
    /// A call's time begins when it gets a permit.
    DeadlineAfterAdmission = "deadline_after_admission",
    /// The end of the input is overlooked.
    EofIgnored = "eof_ignored",
    /// At the end of the input calls are waited for without a limit.
    EndlessGrace = "endless_grace",
    /// A signal is noted and waits for the next message.
    SignalWaitsForInput = "signal_waits_for_input",
    /// The process ends with answers unwritten.
    NoFlush = "no_flush",
    /// Only the end of the input tells that the client is gone.
    EofOnlyOrphans = "eof_only_orphans",
    /// Nobody hears of a call that panics.
    DroppedPanic = "dropped_panic",
    /// Nobody reads what a worker says about its end.
    StderrNotDrained = "stderr_not_drained",
    /// Failures to write are passed over.
    WriteErrorsIgnored = "write_errors_ignored",
    /// A line that is too long ends the input.
    ExitAtOversize = "exit_at_oversize",
    /// A message that is too long for the transport ends the process.
    FrameRejectExits = "frame_reject_exits",
    /// Answers are not cut to their budget.
    NoCap = "no_cap",
    /// An error for a request whose id is unknown has the id 0.
    IdZero = "id_zero",
    /// Every complaint is answered, however many there are.
    EchoStorm = "echo_storm",
    /// Ids are integers.
    IdI64 = "id_i64",
    /// A second request with an id in flight takes the place of the first.
    MapOverwrite = "map_overwrite",
    /// A store is opened by the first who asks, for all, and goes with them.
    FirstCallerOpens = "first_caller_opens",
    /// The lock of the open stores is held while one is opened.
    GuardAcrossIo = "guard_across_io",
    /// The lock of the open stores is held while one is closed.
    CloseUnderLock = "close_under_lock",
    /// Room for a store is made before it is opened and not looked at afterwards.
    CheckThenInsert = "check_then_insert",
    /// Idle stores are closed when a call comes.
    EvictInLoop = "evict_in_loop",
    /// Idleness is measured with the wall clock.
    WallClock = "wall_clock",
    /// A store that is open is never compared with its file.
    HandlePinned = "handle_pinned",
    /// A swap that failed counts as done.
    KeyBeforeFetch = "key_before_fetch",
    /// Source stands between two fences of three backticks.
    Fence3 = "fence3",
    /// What could deceive is removed, once.
    SingleReplace = "single_replace",
    /// Everything beyond ASCII is escaped.
    OverEager = "over_eager",
    /// A caller's name for a directory is taken as it is.
    NameAsFile = "name_as_file",
    /// A cursor or offset that means nothing means the first page.
    CursorRestarts = "cursor_restarts",
    // From here on: defects of incremental indexing, for `scripts/edits`.
    /// The answers of a changed file are those of the reference before.
    ShiftedAnswers = "shifted_answers",
    /// Of several changed files the last one is overlooked.
    LostFile = "lost_file",
    /// Files that are gone stay.
    MissedRemoval = "missed_removal",
    /// Files that depend on a changed one are not resolved again.
    MissedDependent = "missed_dependent",
    /// What leads to symbols whose keys have changed still leads to the old keys.
    StaleKey = "stale_key",
    /// References that are gone still count.
    StaleCount = "stale_count",
    /// New files stand behind all others, whatever their paths are.
    UnsortedFiles = "unsorted_files",
    /// A reference that has become ambiguous, or is no longer, keeps its target.
    KeptTarget = "kept_target",
    /// The edges between files are those of the state before.
    KeptEdges = "kept_edges",
    /// Where imports lead is not written again.
    KeptImports = "kept_imports",
    /// A project file that has changed is not read again.
    StaleProjectFile = "stale_project_file",
    /// Search does not hear of names that have other symbols.
    UnmarkedNames = "unmarked_names",
    /// What a resolution has looked at now is not noted.
    StaleFootprint = "stale_footprint",
}

/// Whether the defect is planted.
#[cfg(not(feature = "faults"))]
pub(crate) const fn planted(_: Fault) -> bool {
    false
}

#[cfg(feature = "faults")]
mod gates;
#[cfg(feature = "faults")]
pub(crate) use gates::*;

#[cfg(not(feature = "faults"))]
mod none {
    //! The gates of a program that has none.

    use std::ffi::OsString;
    use std::path::Path;
    use std::time::Duration;

    pub(crate) fn read(_: impl Fn(&str) -> Option<OsString>) {}
    pub(crate) fn call_starts(_: &str) {}
    pub(crate) fn call_works(_: &str) {}
    pub(crate) fn store_opens(_: &Path) {}
    pub(crate) fn store_closes(_: &Path) {}
    pub(crate) fn index_runs(_: &Path) {}
    pub(crate) fn answer(_: &str, text: String) -> String {
        text
    }
    pub(crate) fn deadline(_: &str, set: Duration) -> Duration {
        set
    }
    pub(crate) fn wall_clock() -> Duration {
        Duration::ZERO
    }
    pub(crate) fn peer_uid(uid: u32) -> u32 {
        uid
    }
    pub(crate) fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
    pub(crate) fn build() -> &'static str {
        env!("COGRAPH_BUILD")
    }
    pub(crate) fn only_reads(_: &str) -> bool {
        true
    }
}
#[cfg(not(feature = "faults"))]
pub(crate) use none::*;
