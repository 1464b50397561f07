//! What these tests need beyond a client: time by the measure of this machine, the server's
//! announcements, gates at which it is held, inputs of every kind, and a look at the process from
//! outside.

#[cfg(feature = "faults")]
mod gates;
pub(super) mod runtime;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::{Deref, DerefMut};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::client::{Client, SMALL, command, initialize, place};

#[cfg(feature = "faults")]
pub(super) use gates::Gate;

/// As captured from a client, byte for byte: key order and id 0 included.
pub(super) const BURST: &str = concat!(
    r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"elicitation":{"form":{},"url":{}}},"#,
    r#""clientInfo":{"name":"claude-code","version":"2.1.80"}},"jsonrpc":"2.0","id":0}"#,
    "\n",
    r#"{"method":"notifications/initialized","jsonrpc":"2.0"}"#,
    "\n",
    r#"{"method":"tools/list","jsonrpc":"2.0","id":1}"#,
    "\n",
);

/// From the start of a process to the answer to its first ping, on a machine that does nothing
/// else.
const QUIET_START: Duration = Duration::from_millis(12);

/// A time of a quiet machine, on this one.
pub(super) fn scaled(quiet: Duration) -> Duration {
    static FACTOR: OnceLock<f64> = OnceLock::new();
    quiet.mul_f64(*FACTOR.get_or_init(factor))
}

/// How much slower this machine is now than one that does nothing else.
fn factor() -> f64 {
    let slowest = (0..3).map(|_| time_of_a_start()).max().unwrap_or(QUIET_START);
    (slowest.as_secs_f64() / QUIET_START.as_secs_f64()).clamp(1.0, 20.0)
}

/// Fails if something took longer than a time of a quiet machine. The load of a machine changes:
/// before it is blamed on the server, the machine is measured again.
pub(super) fn assert_prompt(took: Duration, quiet: u64, what: &str) {
    let quick =
        took <= milliseconds(quiet) || took <= Duration::from_millis(quiet).mul_f64(factor());
    assert!(quick, "{what} took {took:?}");
}

pub(super) fn milliseconds(quiet: u64) -> Duration {
    scaled(Duration::from_millis(quiet))
}

fn time_of_a_start() -> Duration {
    let place = place(SMALL);
    let start = Instant::now();
    // Without the defect that may be planted: it would be measured too.
    let mut child = command(place.path())
        .env_remove("COGRAPH_TEST_FAULT")
        .spawn()
        .expect("the program was built with the tests");
    let input = child.stdin.as_mut().expect("it is piped");
    input
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")
        .expect("the server reads");
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    output.read_line(&mut String::new()).expect("the server answers");
    let elapsed = start.elapsed();
    child.kill().and_then(|()| child.wait()).expect("it is our child");
    elapsed
}

/// Lets time pass: for what clients do slowly, and for what must not happen meanwhile.
pub(super) fn pass_time(time: Duration) {
    let (sender, receiver) = sync_channel::<()>(1);
    let ended = receiver.recv_timeout(time);
    assert!(ended.is_err(), "nobody sends");
    drop(sender);
}

/// Looks again and again until it is so.
pub(super) fn within(limit: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + limit;
    while !is_so() {
        assert!(Instant::now() < until, "not within {limit:?}: {what}");
        pass_time(Duration::from_millis(5));
    }
}

/// A client with what the server writes to its standard error.
pub(super) struct Bench {
    client: Client,
    notes: Receiver<String>,
    /// The notes that have come.
    pub(super) noted: Vec<String>,
}

impl Deref for Bench {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Bench {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

/// What the server's input is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wire {
    Pipe,
    /// A Unix socket, and one for the output too, as some clients hand over.
    Socket,
    /// A FIFO in the file system.
    Fifo,
    /// A terminal.
    Terminal,
}

impl Wire {
    pub(super) const ALL: [Wire; 4] = [Wire::Pipe, Wire::Socket, Wire::Fifo, Wire::Terminal];

    /// The server's end and ours.
    fn input(self, place: &Path) -> (Stdio, Option<OwnedFd>) {
        match self {
            Wire::Pipe => (Stdio::piped(), None),
            Wire::Socket => {
                let (theirs, ours) =
                    std::os::unix::net::UnixStream::pair().expect("sockets can be made");
                (OwnedFd::from(theirs).into(), Some(ours.into()))
            }
            Wire::Fifo => {
                let path = fifo(place, "input");
                // Opened for both, so that neither end waits for the other.
                let both =
                    File::options().read(true).write(true).open(&path).expect("it was just made");
                let theirs = File::open(&path).expect("it was just made");
                let ours = File::options().write(true).open(&path).expect("it was just made");
                drop(both);
                (theirs.into(), Some(ours.into()))
            }
            Wire::Terminal => {
                use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
                let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
                    .expect("there are terminals");
                grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("it is ours");
                let name = ptsname(&ours, Vec::new())
                    .expect("it has a name")
                    .into_string()
                    .expect("a plain one");
                let theirs = File::options().read(true).write(true).open(name).expect("it is ours");
                let mut settings = rustix::termios::tcgetattr(&theirs).expect("it is a terminal");
                // Nothing is echoed or changed on the way: only what a terminal is remains.
                settings.make_raw();
                rustix::termios::tcsetattr(
                    &theirs,
                    rustix::termios::OptionalActions::Now,
                    &settings,
                )
                .expect("it is a terminal");
                (theirs.into(), Some(ours))
            }
        }
    }
}

impl Bench {
    /// The program on a small repository, after the handshake.
    pub(super) fn connected(arguments: &[&str], gates: &[String]) -> Self {
        Self::connected_at(place(SMALL), arguments, gates)
    }

    /// The program on a place, after the handshake.
    pub(super) fn connected_at(place: TempDir, arguments: &[&str], gates: &[String]) -> Self {
        let mut bench = Self::start_at(place, arguments, gates, Wire::Pipe);
        bench.hello("2025-11-25");
        bench
    }

    /// The program on a place, over a wire.
    pub(super) fn start_at(
        place: TempDir,
        arguments: &[&str],
        gates: &[String],
        wire: Wire,
    ) -> Self {
        let mut command = command(place.path());
        set(&mut command, arguments, gates);
        let (theirs, ours) = wire.input(place.path());
        command.stdin(theirs);
        let mut output = None;
        if wire == Wire::Socket {
            let (theirs, ours) =
                std::os::unix::net::UnixStream::pair().expect("sockets can be made");
            command.stdout(OwnedFd::from(theirs));
            output = Some(ours.into());
        }
        let mut child = command.spawn().expect("the program was built with the tests");
        // The server must be the only owner of its end, or its input would not end.
        drop(command);
        let input = ours.or_else(|| child.stdin.take().map(OwnedFd::from));
        let notes = listen(child.stderr.take().expect("it is piped"));
        let output =
            output.or_else(|| child.stdout.take().map(OwnedFd::from)).expect("one of both");
        let mut client = Client::over(child, input, output, place);
        client.patience = milliseconds(5_000);
        Self { client, notes, noted: Vec::new() }
    }

    /// Everything that was written to standard error, to its end.
    pub(super) fn all_notes(&mut self) -> String {
        self.noted.extend(self.notes.iter());
        self.noted.join("\n")
    }

    /// How many messages have come that are not notifications of changes.
    pub(super) fn replies(&self) -> usize {
        self.seen
            .iter()
            .filter(|message| message.get("method").is_none() || message.get("id").is_some())
            .count()
    }

    /// Waits for an answer that must come within a time of a quiet machine.
    pub(super) fn prompt_answer(&mut self, id: impl Into<Value>, quiet: u64) -> Value {
        let (id, start) = (id.into(), Instant::now());
        let answer = self.answer(&id);
        assert_prompt(start.elapsed(), quiet, &format!("the answer to {id}"));
        answer
    }

    /// The text of the answer to an id, and whether it reports a failure.
    pub(super) fn outcome_of(&mut self, id: impl Into<Value>) -> (String, bool) {
        let answer = self.answer(&id.into());
        let text =
            answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_owned(), answer["result"]["isError"] == json!(true))
    }

    /// Has the first index made.
    pub(super) fn warm(&mut self) {
        self.ask("outline", json!({}));
    }

    /// Bytes of memory in use.
    pub(super) fn memory(&self, line: &str) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("it runs");
        let value =
            status.lines().find_map(|text| text.strip_prefix(line)).expect("the system counts it");
        value.trim_matches([':', ' ', '\t', 'k', 'B']).parse::<u64>().expect("it is a number") << 10
    }

    /// Gives the place back when the process is gone, for another one.
    pub(super) fn end(mut self) -> TempDir {
        self.close_input();
        assert!(self.ended().0.success());
        std::mem::replace(&mut self.client.place, place(&[]))
    }
}

pub(super) fn work_of(pid: u32) -> u64 {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let after_name = line.rsplit(')').next().expect("it has a name");
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    [11, 12].iter().map(|at| fields[*at].parse::<u64>().expect("it is a number")).sum()
}

/// Sets the arguments and environment of a server of these tests.
pub(super) fn set(command: &mut Command, arguments: &[&str], gates: &[String]) {
    let gates: Vec<&str> =
        ["announce:"].into_iter().chain(gates.iter().map(String::as_str)).collect();
    command.args(arguments).env("COGRAPH_TEST_GATES", gates.join(";")).stderr(Stdio::piped());
}

/// Starts the program and gives it raw: for clients that do not read.
pub(super) fn raw(place: &Path, arguments: &[&str], gates: &[String]) -> Child {
    let mut command = command(place);
    set(&mut command, arguments, gates);
    command.stderr(Stdio::null()).spawn().expect("the program was built with the tests")
}

/// Reads lines on a thread of its own.
fn listen(stream: ChildStderr) -> Receiver<String> {
    let (sender, receiver) = sync_channel(100_000);
    let read = move || {
        for line in BufReader::new(stream).lines() {
            if line.map(|line| sender.send(line)).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new()
        .name("test-notes".to_owned())
        .spawn(read)
        .expect("a thread can be started");
    receiver
}

/// Does something that may block on a thread of its own, and gives what came of it if it ends in
/// time.
pub(super) fn in_time<T: Send + 'static>(
    limit: Duration,
    what: &str,
    act: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (sender, receiver) = sync_channel(1);
    std::thread::Builder::new().spawn(move || sender.send(act())).expect("a thread can be started");
    receiver.recv_timeout(limit).unwrap_or_else(|_| panic!("not within {limit:?}: {what}"))
}

/// Waits for the end of a process that was started raw.
pub(super) fn ends_within(
    mut child: Child,
    limit: Duration,
    what: &str,
) -> std::process::ExitStatus {
    in_time(limit, what, move || child.wait()).expect("it is our child")
}

/// Everything up to the end.
pub(super) fn read_all(mut from: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).expect("it can be read");
    bytes
}

/// The handshake as bytes.
pub(super) fn hello() -> String {
    format!("{}\n", initialize("2025-11-25"))
}

/// A call as a line.
pub(super) fn call_line(id: u64, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
}

fn fifo(place: &Path, name: &str) -> PathBuf {
    let path = place.join(name);
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
        .expect("the name is free");
    path
}
