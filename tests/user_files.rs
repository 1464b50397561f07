//! Files that the user names: none of them may hold the program up, whatever it is, and a token
//! that others can read is refused.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Longer than anything takes that is right, on a slow machine too.
const PATIENCE: Duration = Duration::from_secs(120);

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("a temporary directory"));
        for directory in ["repository", "home", "run"] {
            fs::create_dir(place.at(directory)).expect("created");
        }
        fs::set_permissions(place.at("run"), PermissionsExt::from_mode(0o700)).expect("ours");
        fs::write(place.at("repository/a.py"), "def f():\n    pass\n").expect("written");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, mode: u32, text: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().expect("it is below the place")).expect("created");
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("it is ours");
        path
    }

    fn pipe(&self, name: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().expect("it is below the place")).expect("created");
        assert!(Command::new("mkfifo").arg(&path).status().expect("it can be run").success());
        path
    }

    /// Runs the program to its end; gives its exit code and what it said.
    fn run(&self, arguments: &[&str], variables: &[(&str, &Path)]) -> (Option<i32>, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_cograph"))
            .args(arguments)
            .current_dir(self.at("repository"))
            .env("COGRAPH_CACHE_DIR", self.at("cache"))
            .env("HOME", self.at("home"))
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("COGRAPH_TOKEN")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program was built with the tests");
        let until = Instant::now() + PATIENCE;
        while child.try_wait().expect("it is our child").is_none() {
            if Instant::now() > until {
                child.kill().and_then(|()| child.wait()).expect("it is our child");
                panic!("{arguments:?} {variables:?} does not end");
            }
            std::thread::yield_now();
        }
        let mut said = String::new();
        child.stdout.take().expect("piped").read_to_string(&mut said).expect("it is text");
        child.stderr.take().expect("piped").read_to_string(&mut said).expect("it is text");
        (child.wait().expect("it has ended").code(), said)
    }

    /// Starts a runtime that ends at once without clients.
    fn serve(&self, token_file: &Path) -> (Option<i32>, String) {
        let (socket, file) = (self.at("run/socket"), token_file.to_str().expect("it is text"));
        let socket = socket.to_str().expect("it is text");
        let http = ["--http", "127.0.0.1:0", "--idle-exit", "0"];
        self.run(&[&["serve", "--socket", socket, "--token-file", file], &http[..]].concat(), &[])
    }
}

const TOKEN: &str = "a-token-of-some-length\n";

#[test]
fn a_token_file_is_a_small_file_that_its_owner_alone_can_read() {
    let place = Place::new();
    let (code, said) = place.serve(&place.write("good", 0o600, TOKEN));
    assert_eq!(code, Some(0), "{said}");
    for mode in [0o644, 0o640, 0o604, 0o620, 0o666] {
        let (code, said) = place.serve(&place.write("open", mode, TOKEN));
        assert_eq!(code, Some(3), "{mode:o}: {said}");
        let mode = format!("(mode {mode:03o})");
        assert!(said.contains(&mode) && said.contains("chmod 600"), "{said}");
        assert!(!said.contains("a-token"), "{said}");
    }
    let large = place.write("large", 0o600, TOKEN);
    fs::File::options()
        .write(true)
        .open(&large)
        .and_then(|file| file.set_len(1 << 33))
        .expect("ok");
    for (path, why) in [
        (place.pipe("pipe"), "it is no regular file"),
        ("/dev/zero".into(), "it is no regular file"),
        (place.at("run"), "it is no regular file"),
        (large, "it is larger than 4 KB"),
        (place.at("none"), "No such file"),
    ] {
        let (code, said) = place.serve(&path);
        assert!(code == Some(3) && said.contains(why), "{path:?}: {said}");
    }
}

#[test]
fn tokens_of_upstreams_are_as_secret() {
    let place = Place::new();
    let file = place.write("open.token", 0o644, TOKEN);
    let given = format!("a={}", file.display());
    let upstreams = ["mcp", "--upstream", "a=http://127.0.0.1:1/", "--upstream", "b=/x"];
    let (_, said) = place.run(&[&upstreams[..], &["--token-file", &given]].concat(), &[]);
    assert!(said.contains("(mode 644)") && said.contains("chmod 600"), "{said}");
    let list =
        "[upstreams]\na = { target = \"http://127.0.0.1:1/\", token-file = \"open.token\" }\n";
    let list = place.write("upstreams.toml", 0o644, list);
    let (code, said) = place.run(&["mcp", "--upstreams", list.to_str().expect("it is text")], &[]);
    assert!(code == Some(3) && said.contains("chmod 600"), "{said}");
}

#[test]
fn no_pipe_instead_of_a_file_blocks_a_command() {
    let place = Place::new();
    let list = place.pipe("list.toml");
    let (code, said) = place.run(&["mcp", "--upstreams", list.to_str().expect("it is text")], &[]);
    assert!(code == Some(3) && said.contains("it is no regular file"), "{said}");

    place.pipe("home/.config/cograph/upstreams.toml");
    place.pipe("home/.claude.json");
    place.pipe("home/.codex/config.toml");
    let (_, said) = place.run(&["doctor"], &[]);
    assert!(said.matches("it is no regular file").count() >= 3, "{said}");
    for arguments in [&["install", "codex"][..], &["uninstall", "codex"]] {
        let (code, said) = place.run(arguments, &[]);
        assert!(code == Some(3) && said.contains("it is no regular file"), "{said}");
    }

    let log = place.pipe("log");
    let (code, said) = place.run(&["status", "--log", log.to_str().expect("it is text")], &[]);
    assert!(code == Some(3) && said.contains("no process reads it"), "{said}");

    let manifest = place.pipe("grammars/python/grammar.toml");
    let (code, said) = place.run(&["status"], &[("COGRAPH_GRAMMARS", &place.at("grammars"))]);
    assert!(code == Some(3) && said.contains("it is no regular file"), "{said}");
    let directory = manifest.parent().and_then(Path::to_str).expect("it is text");
    for arguments in [
        &["grammar", "check", directory][..],
        &["grammar", "explain", manifest.to_str().expect("it is text")],
    ] {
        let (code, said) = place.run(arguments, &[]);
        assert!(code == Some(3) && said.contains("cannot read"), "{arguments:?}: {said}");
    }
}

#[test]
fn git_settings_that_are_no_files_cost_their_rules_only() {
    for name in ["home/.gitconfig", "home/.config/git/config", "elsewhere"] {
        let place = Place::new();
        let pipe = place.pipe(name);
        let named = [("GIT_CONFIG_GLOBAL", pipe.as_path())];
        let variables = if name == "elsewhere" { &named[..] } else { &[] };
        let (code, said) = place.run(&["index", "--log-level", "warn"], variables);
        assert!(code == Some(0) && said.contains("were not looked for"), "{name}: {said}");
    }
    let place = Place::new();
    let (code, said) = place
        .run(&["index", "--log-level", "warn"], &[("GIT_CONFIG_GLOBAL", Path::new("/dev/null"))]);
    assert!(code == Some(0) && !said.contains("were not looked for"), "{said}");
}
