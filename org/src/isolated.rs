//! A statement in a process of its own. What a statement computes is not bounded by the engine's
//! account of its memory: a long string, or a window over all rows, is allocated at once, and
//! where that fails the process ends. The one that ends is then not the one that serves others.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use crate::error::{OrgError, Result};
use crate::questions::{Answer, sql};
use crate::session::Session;

/// Address space of the process beyond the engine's memory, in bytes: the program, stacks, caches.
const BASE: u64 = 2 << 30;
/// Maximum size of an answer, in bytes.
const MAX_ANSWER: u64 = 64 << 20;
/// Time for the start of the process and its answer, in addition to that of the question.
const EXTRA_TIME: Duration = Duration::from_secs(5);

/// The statement, on the standard input of the process.
#[derive(Serialize, Deserialize, Debug)]
struct Statement {
    statement: String,
    rows: usize,
}

/// The answer, on its standard output.
#[derive(Serialize, Deserialize, Debug)]
struct Reply {
    answer: Result<(String, Value), String>,
    requests: u64,
    bytes: u64,
}

/// Answers a statement in a process that is started for it and ends with it.
pub(crate) async fn answer(session: &Session, question: sql::Question) -> Result<Answer> {
    let failed = |error: &dyn std::fmt::Display| OrgError::Engine(error.to_string());
    let sql::Question { statement, rows } = question;
    let wanted = serde_json::to_vec(&Statement { statement, rows }).map_err(|e| failed(&e))?;
    let _turn = session.statements.acquire().await.map_err(|error| failed(&error))?;
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut process = Command::new(program)
        .args(["statement", "--data", &session.address])
        .args(["--memory", &(session.memory >> 20).to_string()])
        .args(["--timeout", &session.timeout().as_secs().to_string()])
        .env_remove(crate::server::TOKEN_VARIABLE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| failed(&error))?;
    let (input, output) = (process.stdin.take(), process.stdout.take());
    let talk = async {
        if let Some(mut input) = input {
            // A process that has ended already says why in its status.
            let _ = input.write_all(&wanted).await;
        }
        let mut reply = Vec::new();
        if let Some(output) = output {
            output.take(MAX_ANSWER).read_to_end(&mut reply).await?;
        }
        Ok::<_, std::io::Error>((reply, process.wait().await?))
    };
    let talked = tokio::time::timeout(session.timeout() + EXTRA_TIME, talk).await;
    let (reply, status) = match talked {
        Err(_) => return Err(OrgError::Deadline(session.timeout())),
        Ok(talked) => talked.map_err(|error| failed(&error))?,
    };
    let Ok(Reply { answer, requests, bytes }) = serde_json::from_slice(&reply) else {
        let permitted = session.memory >> 20;
        let message = format!("{permitted} MiB are permitted; its process ended with {status}");
        return Err(OrgError::Memory(message));
    };
    session.location.reads.add(requests, bytes);
    match answer {
        Ok((text, json)) => Ok(Answer { text, json }),
        Err(report) => Err(OrgError::Reported(report)),
    }
}

/// The work of that process: one statement from standard input, one answer to standard output.
pub(crate) async fn work(session: std::sync::Arc<Session>) -> Result<()> {
    let failed = |error: &dyn std::fmt::Display| OrgError::Engine(error.to_string());
    limit_memory(session.memory).map_err(|error| failed(&error))?;
    let mut wanted = Vec::new();
    let read = tokio::io::stdin().take(MAX_ANSWER).read_to_end(&mut wanted).await;
    read.map_err(|error| failed(&error))?;
    let Statement { statement, rows } =
        serde_json::from_slice(&wanted).map_err(|error| failed(&error))?;
    let question = sql::Question { statement, rows };
    let answer = session.ask(move |tables| sql::answer(question, tables)).await;
    let (requests, bytes) = session.location.reads.so_far();
    let answer = answer.map(|Answer { text, json }| (text, json)).map_err(|error| error.report());
    let reply = serde_json::to_string(&Reply { answer, requests, bytes });
    let _ = crate::print(&reply.map_err(|error| failed(&error))?);
    Ok(())
}

/// Limits the address space of this process.
fn limit_memory(memory: usize) -> std::io::Result<()> {
    let now = getrlimit(Resource::As);
    let wanted = BASE.saturating_add(2 * memory as u64);
    let current = now.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    Ok(setrlimit(Resource::As, Rlimit { current: Some(current), maximum: now.maximum })?)
}
