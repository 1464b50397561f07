//! `cograph page`: the repository in a browser, served on this machine, or written as one file.

use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use super::{TerminalHost, repositories};
use crate::base::root::RootArgument;
use crate::output::note;
use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::{Config, Repository};
use cograph_server::{
    self as server, BearerToken, Host, HttpListening, Limits, Listening, Options, ServeError, Web,
};
use cograph_system::{processes, sockets};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct PageArguments {
    #[command(flatten)]
    root: RootArgument,
    /// Print the address and open no browser
    #[arg(long)]
    no_open: bool,
    /// Port of this machine to serve it at [default: one that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Write it as one HTML file with a part of the index inside, which needs no server
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_open", "port"])]
    out: Option<PathBuf>,
    /// Revision or range whose change is in the file too, next to the uncommitted one
    #[arg(long, value_name = "REV", requires = "out")]
    change: Option<String>,
}

/// Serves the page until a signal, or writes it.
pub(crate) fn run(config: &Config, arguments: &PageArguments) -> Result<(), Stop> {
    let repository = arguments.root.repository(config)?;
    match &arguments.out {
        Some(file) => write(config, repository, file, arguments.change.as_deref()),
        None => serve(config, repository, arguments),
    }
}

fn write(
    config: &Config,
    repository: Repository,
    file: &Path,
    change: Option<&str>,
) -> Result<(), Stop> {
    let name = repository.root.file_name().map(|name| name.to_string_lossy().into_owned());
    let repositories = repositories(config, repository.root);
    let host = TerminalHost::new();
    let (snapshot, files) = repositories.up_to_date_snapshot_and_files(&host)?;
    let name = name.unwrap_or_default();
    let written = server::written_page(&snapshot, &files, &name, change, host.cancel());
    drop(host);
    let written = written.map_err(|error| Stop::Failure {
        message: server::one_line(&error.to_string()),
        hint: "see `cograph page --help`".to_owned(),
    })?;
    replace(file, written.html.as_bytes()).map_err(|error| Stop::Failure {
        message: format!("cannot write {}: {error}", server::one_line(&file.to_string_lossy())),
        hint: "name a file in a directory that you can write to".to_owned(),
    })?;
    let (file, bytes) = (file.display(), written.html.len());
    note(&format!("{file}: {bytes} bytes; {}", written.left_out.join("; ")));
    Ok(())
}

/// Writes the whole file or none.
fn replace(file: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut temporary = file.as_os_str().to_owned();
    temporary.push(format!(".{}", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let written = fs::write(&temporary, content).and_then(|()| fs::rename(&temporary, file));
    if written.is_err() {
        // It may never have been there.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn serve(config: &Config, repository: Repository, arguments: &PageArguments) -> Result<(), Stop> {
    let failure = |message: String, hint: &str| Stop::Failure { message, hint: hint.to_owned() };
    let (token, text) = BearerToken::random().map_err(|error| {
        failure(format!("no token: {error}"), "the system gives no random bytes")
    })?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let within = vec![repository.root.clone()];
    let http = Some(HttpListening { address, token: Some(token), within });
    let options = Options {
        config: Ok(Config { project_directory: None, ..config.clone() }),
        root: Some(repository.root),
        limits: Limits::default(),
        delay: None,
    };
    // Next to the sockets, where no other user reads; by number, for several at a time.
    let place = config.socket()?.with_file_name(format!("page-{}.html", std::process::id()));
    let opens = !arguments.no_open;
    let on_ready = |web: Option<Web>| {
        let Some(Web { address, .. }) = web else { return };
        let url = format!("http://{address}/#token={text}");
        // Best effort: the output may be closed.
        let _ = to_stdout(|out| writeln!(out, "{url}"));
        if opens && let Err(reason) = open(&place, &url) {
            note(&format!("no browser was opened ({reason}): open the address above"));
        }
    };
    let listening = Listening { socket: None, http, idle_exit: None };
    let served = server::serve(options, &listening, on_ready);
    // It was written only if a browser was to be opened.
    let _ = fs::remove_file(&place);
    served.map_err(|error: ServeError| failure(error.to_string(), error.hint()))
}

/// Opens a browser. The address has the token, and other users can read the arguments of a process:
/// so the browser gets a file that leads there, which only this user may read.
fn open(place: &Path, url: &str) -> Result<(), String> {
    let directory = place.parent().ok_or("no directory")?;
    sockets::own_directory(directory)?;
    let document = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <title>cograph</title><meta http-equiv=\"refresh\" content=\"0; url={url}\">"
    );
    sockets::replace_private(place, document.as_bytes()).map_err(|error| error.to_string())?;
    let mut child = processes::open_file(place).map_err(|error| error.to_string())?;
    let reaper = std::thread::Builder::new().name("browser".to_owned());
    // Its exit is of no interest; it ends when the browser has taken the file over, or with it.
    let _ = reaper.spawn(move || child.wait());
    Ok(())
}
