//! Changes that no directory of the repository reports: through other names of a file, with times
//! that are set back, of rules that lie elsewhere, of what the root's path leads to, and of what is
//! mounted. The next answer is about the files as they are then.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;
use tempfile::TempDir;

use super::client::{Client, PATIENCE, place};

const FILES: &[(&str, &str)] = &[
    ("a.py", "def first():\n    pass\n"),
    ("sub/b.py", "def inner():\n    pass\n"),
    ("sub/extra.py", "def extra():\n    pass\n"),
];

/// A server that was started in a directory of a place without the argument of a root, with the
/// place as its home.
fn start(place: TempDir, directory: &str) -> Client {
    let top = fs::canonicalize(place.path()).expect("it exists");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
    in_place(&mut command, &top)
        .arg("mcp")
        .current_dir(top.join(directory))
        .env("PWD", top.join(directory));
    connected(place, command)
}

/// The surroundings of a server: settings of git come from the place alone.
fn in_place<'c>(command: &'c mut Command, top: &Path) -> &'c mut Command {
    command
        .env("HOME", top.join("home"))
        .env("COGRAPH_CACHE_DIR", top.join("cache"))
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("CLAUDE_PROJECT_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
}

/// Shakes hands, and waits until the repository is watched and all is known of it.
fn connected(place: TempDir, command: Command) -> Client {
    let mut client = Client::of(place, command);
    client.hello("2025-11-25");
    client.ask_fresh("search", &json!({"query": "first"}));
    let until = Instant::now() + PATIENCE;
    while !client.ask("status", json!({})).contains("directories watched") {
        assert!(Instant::now() < until, "the repository is watched soon");
    }
    client.ask_fresh("search", &json!({"query": "first"}));
    client
}

fn write(client: &Client, path: &str, text: &str) -> PathBuf {
    let path = client.place.path().join(path);
    fs::create_dir_all(path.parent().expect("it is below the place"))
        .expect("directories can be made");
    fs::write(&path, text).expect("files can be written");
    path
}

/// Whether an answer that says it is up to date has the function.
fn knows(client: &mut Client, name: &str) -> bool {
    client
        .ask_fresh("search", &json!({"query": name, "mode": "name"}))
        .contains(&format!("function {name}"))
}

#[test]
fn writes_that_touch_an_inode_alone() {
    let place = place(FILES);
    let [file, link] = ["repository/a.py", "link.py"].map(|name| place.path().join(name));
    fs::hard_link(&file, &link).expect("linked");
    let mut client = start(place, "repository");
    for number in 0..5 {
        fs::write(&link, format!("def by_link_{number}():\n    pass\n")).expect("written");
        assert!(
            knows(&mut client, &format!("by_link_{number}")) && !knows(&mut client, "first"),
            "{number}"
        );
    }
    let before = fs::metadata(&file).and_then(|found| found.modified()).expect("it has a time");
    let new = write(&client, "new.py", "def set_back_0():\n    pass\n\n");
    File::options()
        .write(true)
        .open(&new)
        .and_then(|file| file.set_modified(before))
        .expect("it is ours");
    fs::rename(&new, &file).expect("renamed");
    assert!(knows(&mut client, "set_back_0"));
}

#[test]
fn rules_that_lie_elsewhere() {
    let exclude = "repository/sub/.git/info/exclude";
    let cases: [(&str, &[(&str, &str)]); 4] = [
        ("the user's rules", &[("home/.config/git/ignore", "extra.py\n")]),
        (
            "a file that git's settings name",
            &[
                ("home/named", "extra.py\n"),
                ("home/.gitconfig", "[core]\nexcludesFile = ~/named\n"),
            ],
        ),
        (
            "a repository inside",
            &[("repository/sub/.git/HEAD", "ref: refs/heads/main\n"), (exclude, "extra.py\n")],
        ),
        ("the repository's own", &[("repository/.git/info/exclude", "extra.py\n")]),
    ];
    for (what, files) in cases {
        let place = place(FILES);
        fs::create_dir_all(place.path().join("repository/.git")).expect("created");
        fs::create_dir(place.path().join("home")).expect("created");
        let mut client = start(place, "repository");
        assert!(knows(&mut client, "extra"), "{what}");
        let written: Vec<PathBuf> =
            files.iter().map(|(path, text)| write(&client, path, text)).collect();
        assert!(!knows(&mut client, "extra"), "{what}");
        let last = written.last().expect("there is one");
        fs::write(last, "").expect("written");
        assert!(knows(&mut client, "extra"), "{what}: it says nothing now");
    }
}

#[test]
fn rules_of_the_repository_around_the_root() {
    let place = place(FILES);
    fs::create_dir_all(place.path().join("repository/.git/info")).expect("created");
    let top = fs::canonicalize(place.path()).expect("it exists");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
    in_place(&mut command, &top).args(["mcp", "--root"]).arg(top.join("repository/sub"));
    let mut client = connected(place, command);
    assert!(knows(&mut client, "extra"));
    write(&client, "repository/.gitignore", "extra.py\n");
    assert!(!knows(&mut client, "extra"));
    write(&client, "repository/.gitignore", "");
    assert!(knows(&mut client, "extra"));
    write(&client, "repository/.git/info/exclude", "extra.py\n");
    assert!(!knows(&mut client, "extra"));
}

#[test]
fn another_directory_under_the_path_that_the_server_was_started_in() {
    let ways: [fn(&Path); 2] = [
        |root| fs::remove_dir_all(root).expect("removed"),
        |root| fs::rename(root, root.with_file_name("elsewhere")).expect("renamed"),
    ];
    for away in ways {
        let mut client = start(place(FILES), "repository");
        for number in 0..3 {
            away(&client.place.path().join("repository"));
            let _ = fs::remove_dir_all(client.place.path().join("elsewhere"));
            write(&client, "repository/a.py", &format!("def made_again_{number}():\n    pass\n"));
            assert!(knows(&mut client, &format!("made_again_{number}")));
            assert!(!knows(&mut client, "inner"));
            write(&client, "repository/c.py", &format!("def edited_{number}():\n    pass\n"));
            assert!(knows(&mut client, &format!("edited_{number}")));
        }
    }
}

#[test]
fn a_directory_above_that_was_replaced_and_a_link_that_was_turned() {
    let place = place(FILES);
    let top = fs::canonicalize(place.path()).expect("it exists");
    fs::create_dir(top.join("outer")).expect("created");
    fs::rename(top.join("repository"), top.join("outer/repository")).expect("renamed");
    std::os::unix::fs::symlink("outer", top.join("current")).expect("linked");
    let mut client = start(place, "current/repository");
    fs::rename(top.join("outer"), top.join("away")).expect("renamed");
    write(&client, "outer/repository/a.py", "def replaced():\n    pass\n");
    assert!(knows(&mut client, "replaced") && !knows(&mut client, "inner"));
    write(&client, "other/repository/a.py", "def turned():\n    pass\n");
    std::os::unix::fs::symlink("other", top.join("next")).expect("linked");
    fs::rename(top.join("next"), top.join("current")).expect("renamed");
    assert!(knows(&mut client, "turned") && !knows(&mut client, "replaced"));
}

/// Runs a command, and says whether it succeeded.
fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    let quiet =
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

#[test]
fn a_file_system_that_is_mounted_over_a_directory() {
    // Mounts of its own are not given to everybody everywhere.
    let Some(own) = ["-m", "-rm"].into_iter().find(|own| succeeds("unshare", &[own, "true"]))
    else {
        return;
    };
    let place = place(FILES);
    let top = fs::canonicalize(place.path()).expect("it exists");
    let mut command = Command::new("unshare");
    command
        .arg(own)
        .arg(env!("CARGO_BIN_EXE_cograph"))
        .args(["mcp", "--root"])
        .arg(top.join("repository"));
    in_place(&mut command, &top);
    let mut client = connected(place, command);
    let (pid, over) = (client.pid().to_string(), top.join("repository/sub").display().to_string());
    let inside = ["-t", &pid, "-m"].into_iter().chain((own == "-rm").then_some("-U"));
    let enter: Vec<&str> =
        inside.chain((own == "-rm").then_some("--preserve-credentials")).collect();
    let within = |arguments: &[&str]| succeeds("nsenter", &[&enter[..], arguments].concat());
    if !within(&["mount", "-t", "tmpfs", "tmpfs", &over]) {
        return;
    }
    assert!(within(&["sh", "-c", &format!("printf 'def mounted():\\n    pass\\n' > {over}/n.py")]));
    assert!(knows(&mut client, "mounted") && !knows(&mut client, "inner"));
    assert!(within(&["umount", &over]));
    assert!(!knows(&mut client, "mounted") && knows(&mut client, "inner"));
}

#[test]
fn a_large_tree_is_compared_next_to_the_questions_and_the_answer_reports_it() {
    let place = place(FILES);
    let repository = place.path().join("repository");
    for number in 0..8_400 {
        let directory = repository.join(format!("many/{}", number / 100));
        fs::create_dir_all(&directory).expect("created");
        fs::write(directory.join(format!("f{number}.py")), "").expect("written");
    }
    fs::hard_link(repository.join("a.py"), place.path().join("link.py")).expect("linked");
    let top = fs::canonicalize(place.path()).expect("it exists");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
    in_place(&mut command, &top).args(["mcp", "--root"]).arg(top.join("repository"));
    let mut client = Client::of(place, command);
    client.hello("2025-11-25");
    let reserve = "up to date by what was reported; all files compared ";
    let until = Instant::now() + PATIENCE;
    while !client.outcome("search", json!({"query": "first", "mode": "name"})).0.contains(reserve) {
        assert!(Instant::now() < until, "the repository is watched soon");
    }
    fs::write(client.place.path().join("link.py"), "def by_link():\n    pass\n").expect("written");
    let (text, _) = client.outcome("search", json!({"query": "by_link", "mode": "name"}));
    assert!(
        text.starts_with("0 of 0")
            && text.lines().next().is_some_and(|head| head.contains(reserve)),
        "{text}"
    );
    let (text, is_error) = client.outcome("trace", json!({"symbol": "by_link"}));
    assert!(is_error && text.lines().next().is_some_and(|head| head.contains(reserve)), "{text}");
    let (text, _) = client.outcome("outline", json!({"path": "a.py"}));
    let is_reported =
        text.lines().next().is_some_and(|head| head.contains("; stale: 1 file pending (a.py)"));
    assert!(
        is_reported || text.contains("by_link"),
        "what an answer rests on is compared for it: {text}"
    );
    fs::write(client.place.path().join("link.py"), "def by_link_again():\n    pass\n")
        .expect("written");
    let until = Instant::now() + PATIENCE;
    while client
        .outcome("search", json!({"query": "by_link_again", "mode": "name"}))
        .0
        .starts_with("0 of 0")
    {
        assert!(Instant::now() < until, "all files are looked at soon");
    }
}
