//! `publish` and `pull` against a server of the S3 protocol: what a commit sends, who swaps the
//! reference, and who is refused. `COGRAPH_BIN` is the program.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use cograph_s3_test::{USER, serve};
use tempfile::TempDir;

const URL: &str = "s3://indexes/team/shop";

struct Team {
    place: TempDir,
    server: SocketAddr,
}

impl Team {
    /// A repository of modules that use each other, and a server with an empty bucket.
    fn new(modules: usize) -> Self {
        let place = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir_all(place.path().join("buckets/indexes")).expect("created");
        let server = serve(&place.path().join("buckets"));
        let team = Self { place, server };
        fs::create_dir_all(team.path("ci/shop")).expect("created");
        team.git("ci", &["init", "-q", "-b", "main"]);
        for number in 0..modules {
            fs::write(team.path(&format!("ci/shop/m{number}.py")), module(number, "f"))
                .expect("written");
        }
        team.commit("ci");
        team
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn git(&self, machine: &str, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
            .args(arguments)
            .current_dir(self.path(machine))
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    }

    fn commit(&self, machine: &str) -> String {
        self.git(machine, &["add", "-A"]);
        self.git(machine, &["commit", "-q", "-m", "change"]);
        self.git(machine, &["rev-parse", "HEAD"])
    }

    fn clone_to(&self, machine: &str) {
        self.git("", &["clone", "-q", "ci", machine]);
    }

    fn command(&self, machine: &str, cache: &str, arguments: &[&str]) -> Command {
        let program = std::env::var("COGRAPH_BIN").expect("COGRAPH_BIN names the program");
        let mut command = Command::new(program);
        command
            .current_dir(self.path(machine))
            .args(arguments)
            .env("COGRAPH_CACHE_DIR", self.path(cache))
            .env("AWS_ENDPOINT", format!("http://{}", self.server))
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", USER.0)
            .env("AWS_SECRET_ACCESS_KEY", USER.1)
            .env_remove("CLAUDE_PROJECT_DIR");
        command
    }

    fn done(&self, machine: &str, arguments: &[&str]) -> String {
        let output = self
            .command(machine, &format!("cache-{machine}"), arguments)
            .output()
            .expect("the program starts");
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// All call edges of a machine's index, and those of an index that is built anew.
    fn calls(&self, machine: &str) -> [Vec<String>; 2] {
        let fresh = tempfile::tempdir_in(self.place.path()).expect("a temporary directory");
        let fresh = fresh.path().file_name().and_then(|name| name.to_str()).expect("plain");
        [format!("cache-{machine}"), fresh.to_owned()].map(|cache| {
            let mut command = self.command(machine, &cache, &["export", "calls"]);
            let output = command.output().expect("the program starts");
            assert!(output.status.success(), "{}", text(&output));
            let text = String::from_utf8(output.stdout).expect("UTF-8");
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        })
    }

    fn stored(&self) -> u64 {
        bytes_below(&self.path("buckets/indexes"))
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn bytes_below(directory: &Path) -> u64 {
    let mut bytes = 0;
    for entry in fs::read_dir(directory).expect("it is readable") {
        let entry = entry.expect("it is readable");
        // The server keeps checksums next to the objects.
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let found = entry.metadata().expect("it exists");
        bytes += if found.is_dir() { bytes_below(&entry.path()) } else { found.len() };
    }
    bytes
}

fn module(number: usize, prefix: &str) -> String {
    let before = number.saturating_sub(1);
    let mut text = format!("from shop.m{before} import f{before}_0\n");
    for function in 0..30 {
        text.push_str(&format!(
            "\n\ndef {prefix}{number}_{function}(value, other{number}):\n    \"\"\"Adds {function} \
             of {number}.\"\"\"\n    return f{before}_0(value) + {function}\n"
        ));
    }
    text
}

#[test]
fn a_commit_of_one_file_sends_little() {
    let team = Team::new(1_500);
    team.done("ci", &["publish", URL]);
    let full = team.stored();
    fs::write(team.path("ci/shop/m7.py"), module(7, "f") + "\n\ndef more():\n    f7_1(2)\n")
        .expect("written");
    let commit = team.commit("ci");
    let sent = team.done("ci", &["publish", URL]);
    let more = team.stored() - full;
    assert!(more * 100 < full * 3, "{more} of {full} bytes: {sent}");
    team.clone_to("laptop");
    let pulled = team.done("laptop", &["pull", URL]);
    assert!(pulled.contains(&commit[..12]), "{pulled}");
    let [pulled, fresh] = team.calls("laptop");
    assert!(!fresh.is_empty() && pulled == fresh, "{} and {}", pulled.len(), fresh.len());
    // What a web server offers is what the bucket has.
    let publisher = team.done("ci", &["publish", URL, "--keep", "1"]);
    assert!(publisher.contains("published"), "{publisher}");
    team.done("laptop", &["pull", URL]);
}

#[test]
fn publishers_at_the_same_time_lose_no_commit() {
    let team = Team::new(20);
    team.done("ci", &["publish", URL]);
    let machines: Vec<String> = (0..6).map(|number| format!("ci{number}")).collect();
    let mut commits = Vec::new();
    for (number, machine) in machines.iter().enumerate() {
        team.clone_to(machine);
        fs::write(
            team.path(&format!("{machine}/shop/own.py")),
            format!("def own{number}():\n    pass\n"),
        )
        .expect("written");
        commits.push(team.commit(machine));
        team.done(machine, &["index", "--json"]);
    }
    let running: Vec<_> = machines
        .iter()
        .map(|machine| {
            let mut command =
                team.command(machine, &format!("cache-{machine}"), &["publish", URL]);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
        })
        .collect();
    for child in running {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", text(&output));
    }
    for (machine, commit) in machines.iter().zip(&commits) {
        let pulled = team.done(machine, &["pull", URL]);
        assert!(pulled.contains(&commit[..12]), "{machine}: {pulled}");
    }
}

#[test]
fn only_who_has_credentials_publishes() {
    let team = Team::new(3);
    let cases: [(&[&str], &[(&str, &str)]); 4] = [
        (&[], &[("AWS_SECRET_ACCESS_KEY", "another")]),
        (&[], &[("AWS_ACCESS_KEY_ID", "another")]),
        (&["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"], &[]),
        (&["AWS_ALLOW_HTTP"], &[]),
    ];
    for (removed, set) in cases {
        let name = format!("{removed:?} {set:?}");
        let mut command = team.command("ci", "cache-ci", &["publish", URL]);
        command.envs(set.iter().copied());
        for variable in removed {
            command.env_remove(variable);
        }
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(3), "{name}: {}", text(&output));
        assert!(!text(&output).contains(USER.1), "{name}: a secret is shown");
    }
    assert_eq!(team.stored(), 0);
}
