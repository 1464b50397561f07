//! The defects that can be planted, one line each.

/// Declares the faults: one variant and one name each.
macro_rules! faults {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// A defect that other servers were found to have, or that a change here may bring, each
        /// reproduced by one line or two.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Fault { $($(#[$doc])* $variant,)+ }

        #[cfg(feature = "faults")]
        impl Fault {
            pub(crate) fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

faults! {
    /// Bytes of an unfinished line are lost when another event arrives.
    ReadInSelect = "read_in_select",
    /// Printed text is mixed with messages.
    NoFdRedirect = "no_fd_redirect",
    /// Only a bare line feed ends a line; nothing else is normalized.
    LfOnly = "lf_only",
    /// The descriptor is polled although the next message is already buffered.
    PollBufreader = "poll_bufreader",
    /// End of input ends the process with unanswered requests.
    EofDropsQueued = "eof_drops_queued",
    /// No message is read while a response waits to be written.
    ReaderWaitsForWriter = "reader_waits_for_writer",
    /// A queue of a few calls that rejects the rest.
    QueueOf8 = "queue_of_8",
    /// No message is read while a call runs.
    SerialDispatch = "serial_dispatch",
    /// All classes of calls share one queue.
    OneLane = "one_lane",
    /// A session may hold all permits, and keeps them for its next call.
    GreedySession = "greedy_session",
    /// A request is retried after a lost connection even if it is not read-only.
    ReplayAll = "replay_all",
    /// Responses of a peer are matched by order.
    AnswersInOrder = "answers_in_order",
    /// A runtime removes an existing socket and takes its place.
    UnlinkAndHope = "unlink_and_hope",
    /// A client connects before its first call.
    AttachFirst = "attach_first",
    /// The end of a session ends the index runs that it started.
    SessionOwnsIndex = "session_owns_index",
    /// A call that waits for an index keeps its permit.
    IndexHoldsPermit = "index_holds_permit",
    /// All readers of a store share one connection.
    OneConnection = "one_connection",
    /// A cancelled call is removed from the table but keeps running.
    CancelKeepsWorking = "cancel_keeps_working",
    /// A cancelled request is answered with an error.
    CancelAnswered = "cancel_answered",
    /// An id stays in use after its response.
    RemoveAfterSend = "remove_after_send",
    /// Calls have no deadline.
    NoDeadline = "no_deadline",
    /// The deadline starts with the permit.
    DeadlineAfterAdmission = "deadline_after_admission",
    /// End of input is ignored.
    EofIgnored = "eof_ignored",
    /// Draining at end of input has no timeout.
    EndlessGrace = "endless_grace",
    /// A signal is handled with the next message only.
    SignalWaitsForInput = "signal_waits_for_input",
    /// The process ends with unwritten responses.
    NoFlush = "no_flush",
    /// A lost client is detected by end of input only.
    EofOnlyOrphans = "eof_only_orphans",
    /// A panic of a call is not reported.
    DroppedPanic = "dropped_panic",
    /// Standard error of a worker is not drained.
    StderrNotDrained = "stderr_not_drained",
    /// Write errors are ignored.
    WriteErrorsIgnored = "write_errors_ignored",
    /// An oversized line ends the input.
    ExitAtOversize = "exit_at_oversize",
    /// An oversized message ends the process.
    FrameRejectExits = "frame_reject_exits",
    /// Responses are not truncated to their budget.
    NoCap = "no_cap",
    /// An error for a request with an unknown id has the id 0.
    IdZero = "id_zero",
    /// Error responses are not rate-limited.
    EchoStorm = "echo_storm",
    /// Ids are parsed as integers.
    IdI64 = "id_i64",
    /// A second request with an id in flight replaces the first.
    MapOverwrite = "map_overwrite",
    /// A store is opened by the first caller for all, and cancelled with it.
    FirstCallerOpens = "first_caller_opens",
    /// The lock of the pool is held while a store is opened.
    GuardAcrossIo = "guard_across_io",
    /// The lock of the pool is held while a store is closed.
    CloseUnderLock = "close_under_lock",
    /// Capacity is checked before a store is opened and not afterwards.
    CheckThenInsert = "check_then_insert",
    /// Idle stores are closed at the next call only.
    EvictInLoop = "evict_in_loop",
    /// Idle time is measured by the wall clock.
    WallClock = "wall_clock",
    /// An open store is never compared with its file.
    HandlePinned = "handle_pinned",
    /// A failed replacement counts as done.
    KeyBeforeFetch = "key_before_fetch",
    /// Source is quoted by two fences of three backticks.
    Fence3 = "fence3",
    /// Deceptive characters are removed, in one pass.
    SingleReplace = "single_replace",
    /// Everything beyond ASCII is escaped.
    OverEager = "over_eager",
    /// A directory name from a caller is used without validation.
    NameAsFile = "name_as_file",
    /// An invalid cursor or offset means the first page.
    CursorRestarts = "cursor_restarts",
    // From here on: defects of incremental indexing, for `scripts/stress edits`.
    /// Sites of a changed file get the results of the previous site.
    ShiftedAnswers = "shifted_answers",
    /// The last of several changed files is ignored.
    LostFile = "lost_file",
    /// Deleted files stay.
    MissedRemoval = "missed_removal",
    /// Dependents of a changed file are not resolved again.
    MissedDependent = "missed_dependent",
    /// Edges to symbols whose keys have changed keep the old keys.
    StaleKey = "stale_key",
    /// Deleted references still count.
    StaleCount = "stale_count",
    /// New files sort after all others.
    UnsortedFiles = "unsorted_files",
    /// A reference that has become ambiguous, or is no longer, keeps its target.
    KeptTarget = "kept_target",
    /// Edges between files are not updated.
    KeptEdges = "kept_edges",
    /// Import targets are not updated.
    KeptImports = "kept_imports",
    /// A changed project file is not read again.
    StaleProjectFile = "stale_project_file",
    /// Search misses names whose symbols have changed.
    UnmarkedNames = "unmarked_names",
    /// Changed files keep the terms that they had in the build.
    UnmarkedWords = "unmarked_words",
    /// The new footprint of a resolution is not recorded.
    StaleFootprint = "stale_footprint",
    // From here on: defects of resolution.
    /// Types and aliases that lead back to themselves are followed again.
    FollowedCircles = "followed_circles",
    // From here on: regressions of extraction, as a change of it may bring them.
    /// A block has no scope of its own: its names are those of what is around it.
    OpenBlocks = "open_blocks",
    /// Columns of references count characters, not bytes.
    CharacterColumns = "character_columns",
    /// What is masked for the parser loses its line ends.
    LostLineEnds = "lost_line_ends",
    /// Of every preprocessor conditional only the first branch is read.
    FirstBranchOnly = "first_branch_only",
    /// Parameters with a default value have to be given.
    DefaultsRequired = "defaults_required",
    /// A variadic parameter takes one argument.
    RestTakesOne = "rest_takes_one",
    /// An imported name is bound as it is called where it is defined.
    LostAlias = "lost_alias",
    /// A comment documents a definition however far away.
    DistantComments = "distant_comments",
    // From here on: regressions of resolution.
    /// The type of a receiver is not known.
    ReceiverIgnored = "receiver_ignored",
    /// Of several overloads the first is chosen.
    FirstOverload = "first_overload",
    /// Callables accept any number of arguments.
    ArgumentsUncounted = "arguments_uncounted",
    /// What a module exports again is not found in it.
    ReexportNotFollowed = "reexport_not_followed",
    /// Several bases are searched depth first where the language merges their orders.
    DepthFirstBases = "depth_first_bases",
    /// Bases are searched before the type itself.
    InheritedFirst = "inherited_first",
    /// Parameters of generic types stay in the types of members.
    Unsubstituted = "unsubstituted",
    /// The first of several candidates is called resolved.
    FirstCandidateResolved = "first_candidate_resolved",
    /// A local is visible before its declaration.
    VisibleBeforeDeclared = "visible_before_declared",
    /// The memo of members has no filter in its key.
    MemoWithoutFilter = "memo_without_filter",
    /// Members of a type and of its instances are mixed.
    StaticsMixed = "statics_mixed",
    /// Relative imports begin at the folder of their file, however many levels up they say.
    LevelUncounted = "level_uncounted",
    /// Declarations stay targets next to their definition.
    DeclarationsKept = "declarations_kept",
    /// Conditions of compilation do not choose between definitions.
    ConditionsIgnored = "conditions_ignored",
    /// An alias of a type has no members.
    OpaqueAliases = "opaque_aliases",
    /// Members that other files add to a type may change without notice.
    StaleMembers = "stale_members",
    // From here on: regressions of questions.
    /// The quality of a match does not count in the order of hits.
    MatchNotRanked = "match_not_ranked",
    /// The total of a search is the number of hits on the page.
    PageIsTotal = "page_is_total",
    /// The last of several sites of an edge is left out.
    LostLastSite = "lost_last_site",
    /// A call of one of several candidates is called certain.
    PossibleIsCertain = "possible_is_certain",
    /// Each page of references is the first one.
    EveryPageIsFirst = "every_page_is_first",
    /// Lines of a file that has changed are shown by their old numbers.
    StaleLines = "stale_lines",
    /// Overriding methods are no callees.
    NoDispatch = "no_dispatch",
    /// A name means the declaration as well as the definition.
    DeclarationsMeant = "declarations_meant",
    /// A directory contains what begins with its name.
    PrefixIsDirectory = "prefix_is_directory",
}
