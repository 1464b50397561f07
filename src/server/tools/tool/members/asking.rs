//! Answers of the members of a workspace, each on its own: first all are opened, then those that
//! have an answer of their own answer, several at a time.

use super::crossing::Followed;
use super::member_answer::{AllAnswers, HEAD, LEAST_BUDGET, LEFT_OUT, MemberAnswer, Run, TOKEN};
use super::parallel;
use crate::base::escape::SafeLine;
use crate::jsonrpc::admission::Class;
use crate::tools::tool::common::MAX_MEANINGS;
use crate::tools::tool::reply::{Marks, Outcome, Reply};
use crate::tools::tool::values::Arguments;
use crate::tools::tool::{DEFAULT_BUDGET, Tool};
use crate::workspace::host::{Form, Host};
use crate::workspace::metrics::{ProgressReport, ServerState};
use crate::workspace::repositories::{
    Member, OpenRepository, QueryHints, Readiness, Repositories, Unavailable,
};
use cograph_model::cancel::CancelToken;
use cograph_query::QueryError;
use cograph_query::crossing::{Subject, subjects};
use std::time::Duration;

/// Why there are no answers.
pub(super) enum NoAnswers {
    Cancelled,
    Failed(QueryError),
}

impl From<QueryError> for NoAnswers {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Cancelled => Self::Cancelled,
            error => Self::Failed(error),
        }
    }
}

/// Call about the members of a workspace.
pub(super) struct Asking<'c> {
    pub(super) tool: &'static Tool,
    pub(super) arguments: &'c Arguments,
    pub(super) repositories: &'c Repositories,
    pub(super) host: &'c dyn Host,
    pub(super) form: Form,
    pub(super) run: Run,
    /// What leads from one member to another, if the tool follows it.
    pub(super) followed: Option<&'c Followed>,
}

/// Member that is open.
struct OpenMember {
    /// Position among the members.
    member: usize,
    name: String,
    opened: OpenRepository,
    /// Meanings of the symbols that the call is about, if the tool follows edges.
    subjects: Vec<Subject>,
}

/// Member with its answer.
struct AnsweredMember {
    member: usize,
    answer: MemberAnswer,
}

impl Asking<'_> {
    /// Asks each member. After the first that has no index yet, the indexes of others are started
    /// and not waited for: the patience of the call is spent.
    pub(super) fn ask(&self, members: &[Member]) -> Result<AllAnswers, NoAnswers> {
        let (mut open, mut working, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for (place, member) in members.iter().enumerate() {
            let name = SafeLine::new(&member.name, 120).to_string();
            match self.open(member, working.is_empty())? {
                Ok(Readiness::Ready(opened)) => {
                    let (opened, member) = (*opened, place);
                    let subjects = self.subjects(&opened)?;
                    open.push(OpenMember { member, name, opened, subjects });
                }
                Ok(Readiness::Working(so_far)) => working.push((name, so_far.text())),
                Err(error) => failed.push((name, format!("{}; {}", error.what, error.hint))),
            }
        }
        // A member without the symbols has nothing to say where others have them: its uses of them
        // are joined.
        let is_joined = self.form == Form::Text && open.iter().any(|one| !one.subjects.is_empty());
        let answering = open.iter().filter(|one| one.answers(is_joined)).count();
        let share = is_joined.then(|| self.share(answering)).flatten();
        let arguments = match share {
            Some(share) => self.arguments.clone().with_integer("budget", share),
            None => self.arguments.clone(),
        };
        let mut asked = Vec::with_capacity(open.len());
        for one in self.replies(open, &arguments, is_joined) {
            asked.push(self.compared(one, members, &arguments, is_joined)?);
        }
        Ok(AllAnswers { asked, working, failed, share })
    }

    /// The answer, or another one if files have changed that it rests on.
    fn compared(
        &self,
        answered: AnsweredMember,
        members: &[Member],
        arguments: &Arguments,
        is_joined: bool,
    ) -> Result<MemberAnswer, NoAnswers> {
        let AnsweredMember { member, answer } = answered;
        if !self.repositories.rests_on_changes(&answer.opened, self.host) {
            return Ok(answer);
        }
        // Once, so that a file that changes continuously does not block the response.
        let Ok(Readiness::Ready(opened)) = self.open(&members[member], true)? else {
            return Ok(answer);
        };
        let (opened, name) = (*opened, answer.name);
        let subjects = self.subjects(&opened)?;
        let again = OpenMember { member, name, opened, subjects };
        let mut again = self.replies(vec![again], arguments, is_joined);
        Ok(again.remove(0).answer)
    }

    fn open(
        &self,
        member: &Member,
        is_waited_for: bool,
    ) -> Result<Result<Readiness, Unavailable>, NoAnswers> {
        let Self { tool, arguments, repositories, host, .. } = *self;
        // With concurrent clients, a tool of class `Control` does not wait for an index.
        let waits = tool.class != Class::Control || host.server().is_none();
        if host.cancel().is_cancelled() {
            return Err(NoAnswers::Cancelled);
        }
        let about = QueryHints::texts(arguments.free_texts(tool));
        Ok(repositories.open_member(member, waits && is_waited_for, &about, host))
    }

    /// Meanings of the symbols that the call is about, each once.
    fn subjects(&self, opened: &OpenRepository) -> Result<Vec<Subject>, NoAnswers> {
        let mut found: Vec<Subject> = Vec::new();
        if self.followed.is_none() {
            return Ok(found);
        }
        for symbol in self.arguments.texts("symbol") {
            let (snapshot, cancel) = (&opened.snapshot, self.host.cancel());
            let named = subjects(snapshot, &opened.files, symbol, MAX_MEANINGS, cancel)?;
            for subject in named {
                if found.iter().all(|known| known.symbol.key != subject.symbol.key) {
                    found.push(subject);
                }
            }
        }
        Ok(found)
    }

    /// Budget of each of the members that answer: among many each has its share only.
    fn share(&self, answering: usize) -> Option<u64> {
        const FEW: usize = 3;
        let budget = self.arguments.integer("budget").unwrap_or(DEFAULT_BUDGET);
        let most = usize::try_from(budget).unwrap_or(usize::MAX).saturating_mul(TOKEN);
        let room = most.saturating_sub((HEAD + LEFT_OUT).min(most / 2));
        // Half of it is for what leads there from others.
        let share = (room / answering.max(1) / 2 / TOKEN) as u64;
        (answering > FEW).then_some(share.max(LEAST_BUDGET))
    }

    /// Answers of members, several at a time if the tool follows edges.
    fn replies(
        &self,
        open: Vec<OpenMember>,
        arguments: &Arguments,
        is_joined: bool,
    ) -> Vec<AnsweredMember> {
        let Self { tool, repositories, host, form, run, followed, .. } = *self;
        let answered = |one: OpenMember, host: &dyn Host| {
            let reply = one
                .answers(is_joined)
                .then(|| run(tool, arguments, &one.opened, repositories, host, form));
            one.with(reply)
        };
        if followed.is_none() {
            return open.into_iter().map(|one| answered(one, host)).collect();
        }
        let quiet = Quiet(host.cancel());
        parallel::each(open, |one| answered(one, &quiet))
    }
}

impl OpenMember {
    /// True if a member answers on its own.
    fn answers(&self, is_joined: bool) -> bool {
        !is_joined || !self.subjects.is_empty()
    }

    fn with(self, reply: Option<Reply>) -> AnsweredMember {
        let Self { member, name, opened, subjects } = self;
        let is_joined = reply.is_none();
        let reply = reply.unwrap_or_else(|| Reply {
            text: String::new(),
            outcome: Outcome::Missing,
            structured: None,
            marks: Marks::default(),
        });
        AnsweredMember { member, answer: MemberAnswer { name, opened, reply, subjects, is_joined } }
    }
}

/// Host of an answer on a thread of its own: what opens and waits has ended before.
struct Quiet<'c>(&'c CancelToken);

impl Host for Quiet<'_> {
    fn cancel(&self) -> &CancelToken {
        self.0
    }

    fn progress(&self, _: &ProgressReport) {}

    fn compares(&self, _: bool) {}

    fn pause(&self) {}

    fn resume(&self) -> bool {
        true
    }

    fn server(&self) -> Option<&ServerState> {
        None
    }

    fn spent_in_statements(&self, _: Duration) {}
}
