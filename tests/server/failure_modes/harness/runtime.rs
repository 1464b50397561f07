//! A runtime, clients that pass their calls on to it, and peers that are not what they should be.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::sync_channel;
#[cfg(feature = "faults")]
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::super::client::{Client, command, place};
use super::{Bench, listen, milliseconds, set};

/// A runtime for the clients of a place.
pub(in crate::server::failure_modes) struct Runtime {
    child: Child,
    #[cfg(feature = "faults")]
    notes: std::sync::mpsc::Receiver<String>,
    #[cfg(feature = "faults")]
    noted: Vec<String>,
    /// What a client names to reach it.
    pub(in crate::server::failure_modes) target: String,
}

/// The ways to a runtime.
pub(in crate::server::failure_modes) const WAYS: [&[&str]; 2] =
    [&[], &["--http", "127.0.0.1:0", "--allow", "/"]];

/// What a runtime asks its clients over HTTP to show.
const TOKEN: &str = "a-token-of-some-length";

/// The default socket of a place.
pub(in crate::server::failure_modes) fn socket(place: &Path) -> PathBuf {
    place.join("cache").join("run").join("socket")
}

impl Runtime {
    /// Starts it, and waits until it listens. Its address is the last line that it prints.
    pub(in crate::server::failure_modes) fn start(
        place: &Path,
        arguments: &[&str],
        gates: &[String],
    ) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        command
            .arg("serve")
            .env("COGRAPH_CACHE_DIR", place.join("cache"))
            .env("COGRAPH_TOKEN", TOKEN)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        set(&mut command, arguments, gates);
        let mut child = command.spawn().expect("the program was built with the tests");
        #[cfg(feature = "faults")]
        let notes = listen(child.stderr.take().expect("it is piped"));
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        for _ in 0..=usize::from(arguments.contains(&"--http")) {
            line.clear();
            output.read_line(&mut line).expect("it says where it listens");
        }
        let target = line
            .trim_end()
            .strip_prefix("listening on ")
            .expect("it says where it listens")
            .to_owned();
        Self {
            child,
            #[cfg(feature = "faults")]
            notes,
            #[cfg(feature = "faults")]
            noted: Vec::new(),
            target,
        }
    }

    /// Sends it a signal.
    pub(in crate::server::failure_modes) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([&format!("-{name}"), &pid])
                .status()
                .expect("kill can be run")
                .success()
        );
    }

    /// Waits for its end.
    pub(in crate::server::failure_modes) fn ended(&mut self) -> std::process::ExitStatus {
        self.child.wait().expect("it is our child")
    }
}

#[cfg(feature = "faults")]
impl Runtime {
    /// Waits until it announces that it is somewhere, for the `nth` time.
    pub(in crate::server::failure_modes) fn announced(&mut self, what: &str, nth: usize) {
        let until = Instant::now() + milliseconds(5_000);
        while self.announcements(what) < nth {
            match self.notes.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(note) => self.noted.push(note),
                Err(error) => panic!("`{what}` is not announced: {error}; {:?}", self.noted),
            }
        }
    }

    /// How often it has announced it.
    pub(in crate::server::failure_modes) fn announcements(&mut self, what: &str) -> usize {
        self.noted.extend(self.notes.try_iter());
        let line = format!("@{what}");
        self.noted.iter().filter(|note| **note == line).count()
    }

    /// Kills it, and waits until it is gone.
    pub(in crate::server::failure_modes) fn kill(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).expect("it is our child");
    }

    /// Threads of the process whose names begin so.
    pub(in crate::server::failure_modes) fn threads(&self, beginning: &str) -> usize {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("it runs");
        let names =
            tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|name| name.starts_with(beginning)).count()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // Nothing to say if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client on a place that several share, after the handshake.
pub(in crate::server::failure_modes) fn thin(
    shared: &TempDir,
    arguments: &[&str],
    gates: &[String],
) -> Bench {
    let mut bench = thin_before(shared, arguments, gates);
    bench.hello("2025-11-25");
    bench
}

/// The same before the handshake.
pub(in crate::server::failure_modes) fn thin_before(
    shared: &TempDir,
    arguments: &[&str],
    gates: &[String],
) -> Bench {
    let mut command = command(shared.path());
    set(&mut command, arguments, gates);
    let mut child =
        command.env("COGRAPH_TOKEN", TOKEN).spawn().expect("the program was built with the tests");
    let notes = listen(child.stderr.take().expect("it is piped"));
    let (input, output) =
        (child.stdin.take().expect("it is piped"), child.stdout.take().expect("it is piped"));
    let mut client = Client::over(child, Some(input.into()), output.into(), place(&[]));
    client.patience = milliseconds(10_000);
    Bench { client, notes, noted: Vec::new() }
}

/// Something that listens at the socket of a place and does with every client what the test wants.
/// It ends with the test.
pub(in crate::server::failure_modes) fn peer(
    place: &Path,
    serve: impl Fn(UnixStream) + Send + Sync + 'static,
) -> PathBuf {
    let path = place.join("peer");
    let listener = UnixListener::bind(&path).expect("the name is free");
    let serve = std::sync::Arc::new(serve);
    let accept = move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let serve = std::sync::Arc::clone(&serve);
            std::thread::Builder::new()
                .spawn(move || serve(stream))
                .expect("a thread can be started");
        }
    };
    std::thread::Builder::new()
        .name("test-peer".to_owned())
        .spawn(accept)
        .expect("a thread can be started");
    path
}

/// The same over HTTP: what each message is answered with goes out as a stream of events. Gives its
/// address.
pub(in crate::server::failure_modes) fn web_peer(
    answer: impl Fn(Value) -> Vec<Value> + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has one");
    let answer = std::sync::Arc::new(answer);
    let accept = move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = std::sync::Arc::clone(&answer);
            let serve = move || while web_exchange(&stream, &*answer).is_some() {};
            std::thread::Builder::new().spawn(serve).expect("a thread can be started");
        }
    };
    std::thread::Builder::new()
        .name("test-web-peer".to_owned())
        .spawn(accept)
        .expect("a thread can be started");
    format!("http://{address}/mcp")
}

/// One request and its answer; none when the client is gone.
fn web_exchange(stream: &TcpStream, answer: &dyn Fn(Value) -> Vec<Value>) -> Option<()> {
    let mut reader = BufReader::with_capacity(1, stream);
    let mut head = Vec::new();
    while head.last().is_none_or(|line: &String| line != "\r\n") {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        head.push(line.to_lowercase());
    }
    let length = head
        .iter()
        .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let said = if head[0].starts_with("post") {
        answer(serde_json::from_slice(&body).expect("clients send messages"))
    } else {
        Vec::new()
    };
    let events: String = said.iter().map(|message| format!("data: {message}\n\n")).collect();
    let (status, kind) = match (head[0].starts_with("post"), said.is_empty()) {
        (true, false) => ("200 OK", "Content-Type: text/event-stream\r\n"),
        (true, true) => ("202 Accepted", ""),
        (false, _) => ("405 Method Not Allowed", ""),
    };
    let mut writer = stream;
    writer
        .write_all(
            format!("HTTP/1.1 {status}\r\n{kind}Content-Length: {}\r\n\r\n{events}", events.len())
                .as_bytes(),
        )
        .ok()
}

/// The lines of a client, and a way to answer.
pub(in crate::server::failure_modes) fn messages(
    stream: &UnixStream,
) -> (impl Iterator<Item = Value> + use<>, impl FnMut(Value) + use<>) {
    let (reader, mut writer) =
        (stream.try_clone().expect("it is open"), stream.try_clone().expect("it is open"));
    let lines = BufReader::new(reader).lines().map_while(Result::ok);
    let messages = lines.map(|line| serde_json::from_str(&line).expect("clients send messages"));
    // A client that is gone misses it.
    (messages, move |message: Value| drop(writer.write_all(format!("{message}\n").as_bytes())))
}

/// What a runtime answers to `initialize`.
pub(in crate::server::failure_modes) fn introduction(id: &Value) -> Value {
    let us = json!({"name": "cograph", "version": env!("CARGO_PKG_VERSION")});
    let meta = json!({"cograph": {"build": cograph::version::BUILD}});
    let result = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": us, "_meta": meta
    });
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// An answer of a tool.
pub(in crate::server::failure_modes) fn result(id: &Value, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}})
}

/// Keeps a stream open until a test is over.
pub(in crate::server::failure_modes) fn hold(stream: UnixStream) {
    let (_sender, receiver) = sync_channel::<()>(1);
    // The sender never sends: the thread ends with the process.
    let _ = receiver.recv();
    drop(stream);
}
