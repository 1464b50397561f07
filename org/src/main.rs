//! `cograph-org`: questions to the tables of many repositories, as commands and tools.

mod arguments;
mod ask;
mod compact;
mod dataset;
mod error;
mod escape;
mod fault;
mod functions;
mod isolated;
mod questions;
mod schema;
mod server;
mod session;
mod symbol;

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::Parser as _;

use arguments::{Arguments, Command, Common, Rows};
use ask::Ask;
use dataset::Location;
use error::{OrgError, Result};
use session::{Limits, Session};

/// Stack of a thread of the engine, in bytes: statements are trees.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // An error reports what a panic of the engine means for the question.
    std::panic::set_hook(Box::new(|_| {}));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(STACK).build();
    let ended = match runtime {
        Ok(runtime) => {
            let ended = runtime.block_on(run(arguments.command));
            runtime.shutdown_background();
            ended
        }
        Err(error) => Err(OrgError::Engine(error.to_string())),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error.report());
            ExitCode::FAILURE
        }
    }
}

async fn run(command: Command) -> Result<()> {
    match command {
        Command::Callers { name, package, common, rows } => {
            let ask = Ask::Callers { name, package, limit: Some(rows.limit()) };
            question(ask, &common, &rows).await
        }
        Command::Versions { package, common, rows } => {
            let ask = Ask::Versions { package, limit: Some(rows.limit()) };
            question(ask, &common, &rows).await
        }
        Command::Sql { statement, common, rows } => {
            let ask = Ask::Sql { statement, limit: Some(rows.limit()) };
            question(ask, &common, &rows).await
        }
        Command::Mcp { listen, stdio, allow_origin, common } => {
            let session = session(&common)?;
            if stdio {
                return server::on_stdio(session).await;
            }
            let token = variables().into_iter().find(|(name, _)| name == server::TOKEN_VARIABLE);
            server::over_http(session, listen, token.map(|(_, token)| token), allow_origin).await
        }
        Command::Statement { common } => isolated::work(session(&common)?).await,
        Command::Compact { again, common } => compacted(&common, again).await,
    }
}

async fn question(ask: Ask, common: &Common, rows: &Rows) -> Result<()> {
    let started = Instant::now();
    let session = session(common)?;
    let answer = ask.answer(&session).await?;
    let text = if rows.json { format!("{:#}\n", answer.json) } else { answer.text };
    // A reader that has seen enough closes the pipe.
    let _ = print(&text);
    if common.reads {
        let (requests, bytes) = session.location.reads.so_far();
        let time = started.elapsed().as_secs_f64() * 1e3;
        report(&format!("read {bytes} bytes in {requests} requests, {time:.1} ms"));
    }
    Ok(())
}

async fn compacted(common: &Common, again: bool) -> Result<()> {
    let location = Location::open(&common.data, &variables())?;
    let memory = common.memory();
    let done = compact::compact(location, memory, again).await?;
    let compact::Report { exported, written, kept, removed, bytes } = done;
    let megabytes = bytes as f64 / 1e6;
    let text = format!(
        "{exported} files of the tables: {written} written ({megabytes:.1} MB), {kept} kept, \
         {removed} old ones removed\n"
    );
    let _ = print(&text);
    Ok(())
}

fn session(common: &Common) -> Result<Arc<Session>> {
    let location = Location::open(&common.data, &variables())?;
    let limits = Limits { timeout: common.timeout(), memory: common.memory() };
    Ok(Arc::new(Session::new(location, common.data.clone(), limits)?))
}

/// The environment, as far as it is text.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn variables() -> Vec<(String, String)> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

#[expect(clippy::disallowed_methods, reason = "the one place that writes answers")]
fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}

/// Writes a line on standard error.
fn report(text: &str) {
    // Where that is closed, there is no other place.
    let _ = writeln!(io::stderr(), "{text}");
}
