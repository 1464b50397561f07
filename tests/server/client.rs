//! A client for tests: starts the built program on a repository of its own and keeps all messages
//! of it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than anything takes that is right, on a slow machine too.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// What must be there at once: an answer that waits for nothing.
pub(super) const PROMPT: Duration = Duration::from_secs(2);

/// One server process and its client.
pub(super) struct Client {
    child: Child,
    input: Option<File>,
    messages: Receiver<Value>,
    /// How long a message is waited for.
    pub(super) patience: Duration,
    /// Everything that was received, in order.
    pub(super) seen: Vec<Value>,
    /// The repository and the cache.
    pub(super) place: TempDir,
}

/// The names of the threads of a process that runs.
pub(super) fn threads_of(pid: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("it runs");
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.map(|name| name.trim_end().to_owned()).collect()
}

/// A directory with a repository (`repository`) of these files and an empty cache.
pub(super) fn place(files: &[(&str, &str)]) -> TempDir {
    let place = tempfile::tempdir().expect("a temporary directory can be made");
    let repository = place.path().join("repository");
    fs::create_dir(&repository).expect("the directory is new");
    for (name, text) in files {
        let path = repository.join(name);
        fs::create_dir_all(path.parent().expect("it is below the repository"))
            .expect("directories can be made");
        fs::write(path, text).expect("files can be written");
    }
    place
}

/// Two functions, one of which calls the other.
pub(super) const SMALL: &[(&str, &str)] = &[(
    "a.py",
    "def helper(value):\n    \"\"\"Adds one.\"\"\"\n    return value + 1\n\n\ndef main():\n    \
     return helper(2)\n",
)];

impl Client {
    /// Starts the program with more arguments, on a small repository.
    pub(super) fn start(arguments: &[&str]) -> Self {
        Self::start_in(place(SMALL), arguments, &[])
    }

    /// Starts the program in a place, with more variables.
    pub(super) fn start_in(place: TempDir, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = command(place.path());
        command.args(arguments).envs(variables.iter().copied());
        Self::of(place, command)
    }

    /// Starts a command in a place.
    pub(super) fn of(place: TempDir, mut command: Command) -> Self {
        let mut child = command.spawn().expect("the program was built with the tests");
        let output = child.stdout.take().expect("it is piped").into();
        let input = child.stdin.take().map(OwnedFd::from);
        Self::over(child, input, output, place)
    }

    /// The client of a process that was started elsewhere, over the other ends of its input and
    /// output.
    pub(super) fn over(
        child: Child,
        input: Option<OwnedFd>,
        output: OwnedFd,
        place: TempDir,
    ) -> Self {
        let messages = listen(output.into());
        Self {
            child,
            input: input.map(File::from),
            messages,
            patience: PATIENCE,
            seen: Vec::new(),
            place,
        }
    }

    /// Starts the program and shakes hands in the version.
    pub(super) fn connected_as(version: &str, arguments: &[&str]) -> Self {
        let mut client = Self::start(arguments);
        client.hello(version);
        client
    }

    /// Starts the program and shakes hands.
    pub(super) fn connected(arguments: &[&str]) -> Self {
        Self::connected_as("2025-11-25", arguments)
    }

    /// Shakes hands.
    pub(super) fn hello(&mut self, version: &str) {
        self.send(&initialize(version));
        self.answer(&json!(0));
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    /// Writes bytes in one piece.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server reads");
    }

    /// Writes one message.
    pub(super) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// Sends a request.
    pub(super) fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}));
    }

    /// Sends a call of a tool.
    pub(super) fn call(&mut self, id: impl Into<Value>, tool: &str, arguments: Value) {
        self.request(id, "tools/call", json!({"name": tool, "arguments": arguments}));
    }

    /// Calls a tool and gives its text. The call must succeed.
    pub(super) fn ask(&mut self, tool: &str, arguments: Value) -> String {
        let (text, is_error) = self.outcome(tool, arguments);
        assert!(!is_error, "{tool}: {text}");
        text
    }

    /// Asks again until the answer reflects every file: on a slow machine that takes longer than a
    /// call waits. Until then every answer says that it does not.
    pub(super) fn ask_fresh(&mut self, tool: &str, arguments: &Value) -> String {
        let until = Instant::now() + self.patience;
        loop {
            let text = self.ask(tool, arguments.clone());
            let head = text.lines().next().unwrap_or_default();
            if head.ends_with(" up to date") {
                return text;
            }
            assert!(head.contains("; stale: ") && Instant::now() < until, "{tool}: {text}");
        }
    }

    /// Calls a tool and gives its text, and whether it reports a failure.
    pub(super) fn outcome(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let id = json!(format!("ask-{}", self.seen.len()));
        self.call(id.clone(), tool, arguments);
        let answer = self.answer(&id);
        let text =
            answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_owned(), answer["result"]["isError"] == json!(true))
    }

    /// Calls a tool and gives the form for programs, if there is one.
    pub(super) fn structured(&mut self, tool: &str, arguments: Value) -> Option<Value> {
        let id = json!(format!("structured-{}", self.seen.len()));
        self.call(id.clone(), tool, arguments);
        self.answer(&id)["result"].get("structuredContent").cloned()
    }

    /// Waits for the answer to an id.
    pub(super) fn answer(&mut self, id: &Value) -> Value {
        self.wait_for(&format!("an answer to {id}"), |message| {
            message.get("id") == Some(id) && message.get("method").is_none()
        })
    }

    /// Waits for an answer that has no id.
    pub(super) fn complaint(&mut self) -> Value {
        self.wait_for("an answer without an id", |message| {
            message.get("id").is_none() && message.get("error").is_some()
        })
    }

    /// Waits for a message, among those that have come and those that come.
    pub(super) fn wait_for(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + self.patience;
        let mut next = 0;
        loop {
            while next < self.seen.len() {
                if wanted(&self.seen[next]) {
                    return self.seen[next].clone();
                }
                next += 1;
            }
            match self.messages.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(message) => self.seen.push(message),
                Err(error) => panic!("{what} does not come: {error}; seen: {:?}", self.seen),
            }
        }
    }

    /// Asserts that the server answers promptly, and thereby that it has read everything sent
    /// before.
    pub(super) fn ping(&mut self) {
        let id = json!(format!("ping-{}", self.seen.len()));
        let start = Instant::now();
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
        assert_eq!(self.answer(&id)["result"], json!({}));
        assert!(start.elapsed() < PROMPT, "ping took {:?}", start.elapsed());
    }

    /// How many answers an id has had.
    pub(super) fn answers(&self, id: &Value) -> usize {
        self.seen
            .iter()
            .filter(|message| message.get("id") == Some(id) && message.get("method").is_none())
            .count()
    }

    /// What the program writes to standard error, if the command has it piped.
    pub(super) fn take_stderr(&mut self) -> ChildStderr {
        self.child.stderr.take().expect("it is piped")
    }

    /// Ends the input.
    pub(super) fn close_input(&mut self) {
        self.input = None;
    }

    /// Sends a signal by its name.
    pub(super) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill")
            .args([&format!("-{name}"), &pid])
            .status()
            .expect("kill can be run");
        assert!(status.success());
    }

    /// The process.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets time pass in which the server must answer nothing; notifications may come.
    pub(super) fn expect_no_answer(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while let Ok(message) =
            self.messages.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            assert!(
                message.get("method").is_some() && message.get("id").is_none(),
                "not expected: {message}"
            );
            self.seen.push(message);
        }
    }

    /// Waits for the end of the process; keeps its last messages. Gives its status and the time
    /// that took.
    pub(super) fn ended(&mut self) -> (ExitStatus, Duration) {
        let start = Instant::now();
        loop {
            match self.messages.recv_timeout(self.patience.saturating_sub(start.elapsed())) {
                Ok(message) => self.seen.push(message),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the server does not end"),
            }
        }
        (self.child.wait().expect("it is our child"), start.elapsed())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Nothing to say if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program as a server on a place.
pub(super) fn command(place: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
    command
        .args(["mcp", "--root"])
        .arg(place.join("repository"))
        .env("COGRAPH_CACHE_DIR", place.join("cache"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// The first message of a client.
pub(super) fn initialize(version: &str) -> Value {
    let params = json!({
        "protocolVersion": version, "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}
    });
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

/// What a request of the stateless era carries.
pub(super) fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {}
    })
}

/// Reads messages on a thread of its own until the server closes its output.
fn listen(output: File) -> Receiver<Value> {
    let (sender, receiver) = sync_channel(100_000);
    let read = move || {
        for line in BufReader::new(output).lines() {
            let line = line.expect("the output is UTF-8");
            let message = serde_json::from_str(&line)
                .unwrap_or_else(|error| panic!("not a message: {error}: {line}"));
            if sender.send(message).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new()
        .name("test-client".to_owned())
        .spawn(read)
        .expect("a thread can be started");
    receiver
}
