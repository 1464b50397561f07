//! The command line on a terminal: one site a line, colours, links, a pager; and in a pipe the same
//! text as ever.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tempfile::TempDir;

const CODE: &str = "def helper(x):\n    return x\n\n\ndef main():\n    return helper(1)\n";

struct Project(TempDir);

impl Project {
    fn new(code: &str) -> Self {
        let project = Self(tempfile::tempdir().expect("a temporary directory"));
        fs::create_dir(project.0.path().join(".git")).expect("created");
        fs::write(project.0.path().join(".git/HEAD"), "ref: refs/heads/main\n").expect("written");
        fs::write(project.0.path().join("a b.py"), code).expect("written");
        project
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists")
    }

    fn command(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        command.current_dir(self.root()).args(arguments).env("TERM", "xterm-256color");
        for name in [
            "CI",
            "NO_COLOR",
            "PAGER",
            "COGRAPH_PAGER",
            "CLICOLOR",
            "CLICOLOR_FORCE",
            "FORCE_HYPERLINK",
            "TERM_PROGRAM",
            "COLORTERM",
            "VTE_VERSION",
            "DOMTERM",
            "WT_SESSION",
            "KONSOLE_VERSION",
        ] {
            command.env_remove(name);
        }
        command.env("COGRAPH_CACHE_DIR", self.root().join(".git/cache"));
        command.envs(variables.iter().copied());
        command
    }

    /// What the program writes to a terminal with a number of rows and 200 columns as its output.
    fn on_terminal(&self, rows: u16, arguments: &[&str], variables: &[(&str, &str)]) -> String {
        let mut command = self.command(arguments, variables);
        Self::run_on_terminal(rows, command.stderr(Stdio::null()), Command::stdout)
    }

    /// What a program writes to a terminal that becomes one of its streams.
    fn run_on_terminal(
        rows: u16,
        command: &mut Command,
        stream: fn(&mut Command, Stdio) -> &mut Command,
    ) -> String {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("there are terminals");
        grantpt(&ours).expect("it is ours");
        unlockpt(&ours).expect("it is ours");
        let size = Winsize { ws_row: rows, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(ours.as_fd(), size).expect("it has a size");
        let name = ptsname(&ours, Vec::new()).expect("it has a name");
        let theirs = File::options()
            .read(true)
            .write(true)
            .open(name.to_str().expect("its name is text"))
            .expect("it opens");
        let mut child = stream(command.stdin(Stdio::null()), theirs.into())
            .spawn()
            .expect("the program starts");
        // The command holds the terminal open as well.
        stream(command, Stdio::null());
        let mut output = Vec::new();
        // Reading fails when no process has the terminal open.
        let _ = File::from(ours).read_to_end(&mut output);
        child.wait().expect("it ends");
        String::from_utf8(output).expect("output is UTF-8").replace("\r\n", "\n")
    }

    fn in_pipe(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments, &[]).output().expect("the program starts");
        String::from_utf8(output.stdout).expect("output is UTF-8")
    }
}

#[test]
fn on_a_terminal_each_site_has_a_line() {
    let project = Project::new(CODE);
    let plain = [("NO_COLOR", "1")];
    for (arguments, expected) in [
        (&["trace", "helper"][..], "a b.py:6:12  main  return helper(1)"),
        (&["trace", "main", "--direction", "callees"], "a b.py:6:12  helper (a b.py:1)  return"),
        (&["references", "helper"], "a b.py:6:12  call main  return helper(1)"),
        (&["search", "helper"], "a b.py:1  function helper  def helper(x)"),
        (&["grep", "return x"], "a b.py:2:5  helper  return x"),
        (&["outline", "a b.py"], "a b.py:5  function main  def main()"),
        (&["show", "helper"], "a b.py:1-2 function helper, of 6 lines"),
    ] {
        let text = project.on_terminal(50, arguments, &plain);
        assert!(text.lines().any(|line| line.starts_with(expected)), "{arguments:?}: {text}");
        assert!(!text.contains('\u{1b}'), "NO_COLOR: {text:?}");
        assert!(text.contains("up to date"), "{arguments:?}: {text}");
    }
}

#[test]
fn an_index_shows_its_rate_and_the_time_left() {
    let project = Project::new(CODE);
    let mut command = project.command(&["index", "--force"], &[]);
    let text = Project::run_on_terminal(50, command.stdout(Stdio::null()), Command::stderr);
    assert!(text.contains("files, ") && text.contains("/s, ") && text.contains(" s"), "{text:?}");
    assert!(text.contains(" s left"), "{text:?}");
}

#[test]
fn colour_is_for_terminals_that_have_it_or_where_it_is_requested() {
    let project = Project::new(CODE);
    const PATH: &str = "\u{1b}[35ma b.py\u{1b}[0m";
    let trace = &["trace", "helper"][..];
    assert!(project.on_terminal(50, trace, &[]).contains(PATH));
    for (variables, option) in [
        (&[("NO_COLOR", "1")][..], "--color=auto"),
        (&[("TERM", "dumb")], "--color=auto"),
        (&[("TERM", "dumb"), ("CI", "1")], "--color=auto"),
        (&[], "--color=never"),
    ] {
        let text = project.on_terminal(50, &[trace, &[option]].concat(), variables);
        assert!(!text.contains('\u{1b}') && text.contains("a b.py:6:12  main"), "{text:?}");
    }
    let text =
        project.on_terminal(50, &["trace", "helper", "--color=always"], &[("NO_COLOR", "1")]);
    assert!(text.contains(PATH), "an option is above a variable: {text:?}");
    let compact = project.in_pipe(trace);
    assert!(compact.contains("\na b.py: main:6| return helper(1)\n"), "{compact}");
    assert_eq!(project.in_pipe(&["trace", "helper", "--color=never"]), compact);
    let text = project.in_pipe(&["trace", "helper", "--color=always"]);
    assert!(text.contains(PATH) && !text.contains("\u{1b}]8"), "{text:?}");
}

#[test]
fn links_lead_to_the_file_where_a_terminal_follows_them() {
    let project = Project::new(CODE);
    let trace = &["trace", "helper"][..];
    let text = project.on_terminal(50, trace, &[("FORCE_HYPERLINK", "1")]);
    let root = project.root();
    let link = format!("\u{1b}]8;;file://{}/a%20b.py#6\u{1b}\\", root.display());
    assert!(text.contains(&link), "{text:?}");
    assert!(text.contains(":12\u{1b}]8;;\u{1b}\\  "), "it ends behind the place: {text:?}");
    for variables in [&[][..], &[("FORCE_HYPERLINK", "1"), ("TERM", "dumb")]] {
        let text = project.on_terminal(50, trace, variables);
        assert!(!text.contains("\u{1b}]8"), "{variables:?}: {text:?}");
    }
    let piped = project.command(&["trace", "helper"], &[("FORCE_HYPERLINK", "1")]).output();
    assert!(!piped.expect("the program starts").stdout.contains(&0x1b));
}

#[test]
fn the_pager_gets_what_is_longer_than_the_screen() {
    let project = Project::new(CODE);
    let pager = ("PAGER", "sed s/^/paged:/");
    let trace = &["trace", "helper"][..];
    assert!(project.on_terminal(3, trace, &[pager]).contains("paged:"));
    for (rows, arguments, variables) in [
        (50, trace, &[pager][..]),
        (3, &["trace", "helper", "--no-pager"], &[pager]),
        (3, trace, &[pager, ("COGRAPH_PAGER", "")]),
        (3, trace, &[pager, ("TERM", "dumb")]),
        (3, trace, &[("PAGER", "no-such-program-anywhere")]),
        (3, trace, &[("COGRAPH_PAGER", "cat"), pager]),
    ] {
        let text = project.on_terminal(rows, arguments, variables);
        assert!(text.contains("helper(1)") && !text.contains("paged:"), "{variables:?}: {text:?}");
    }
    // One that ends before it has read all is no failure.
    let text = project.on_terminal(3, trace, &[("PAGER", "true")]);
    assert!(!text.contains("helper"), "{text:?}");
    assert!(!project.in_pipe(trace).contains("paged:"));
}

#[test]
fn text_of_the_repository_sends_no_control_sequence_to_a_terminal() {
    let hostile = "def helper(x=\"\u{1b}]0;title\u{7}\"): # \u{1b}[2J \u{202e}\n    return x\n\
                   def main():\n    return helper(1) # \u{1b}]8;;http://evil\u{1b}\\ \u{9b}31m\r\n";
    let project = Project::new(hostile);
    for arguments in [
        &["trace", "helper"][..],
        &["references", "helper"],
        &["search", "helper"],
        &["grep", "helper"],
        &["outline", "a b.py"],
        &["show", "helper"],
    ] {
        let text = project.on_terminal(50, arguments, &[("NO_COLOR", "1")]);
        assert!(text.contains("helper"), "{arguments:?}: {text}");
        let raw = text.chars().find(|letter| letter.is_control() && *letter != '\n');
        assert_eq!(raw, None, "{arguments:?}: {text:?}");
        assert!(!text.contains('\u{202e}'), "{arguments:?}: {text:?}");
    }
}
