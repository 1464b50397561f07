//! A question, as the command line and the tools of the server have it.

use std::sync::Arc;

use crate::error::Result;
use crate::isolated;
use crate::questions::{Answer, callers, rows, sql, versions};
use crate::session::Session;

/// Question.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    Callers { name: String, package: Option<String>, limit: Option<usize> },
    Versions { package: String, limit: Option<usize> },
    Sql { statement: String, limit: Option<usize> },
}

impl Ask {
    /// The answer.
    pub(crate) async fn answer(self, session: &Arc<Session>) -> Result<Answer> {
        match self {
            Self::Callers { name, package, limit } => {
                let question = callers::Question { name, package, rows: rows(limit) };
                session.ask(move |tables| callers::answer(question, tables)).await
            }
            Self::Versions { package, limit } => {
                let question = versions::Question { package, rows: rows(limit) };
                session.ask(move |tables| versions::answer(question, tables)).await
            }
            Self::Sql { statement, limit } => {
                let question = sql::Question { statement, rows: rows(limit) };
                isolated::answer(session, question).await
            }
        }
    }
}
