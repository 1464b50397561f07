//! The archives of a release, made from stand-ins for the program: versions, contents, equal bytes
//! of two runs, and the launcher of the npm package on every platform. Nothing is built and
//! nothing is fetched. `scripts/release test` holds the same against installed packages.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn done(command: &mut Command) -> Output {
    let output = command.output().expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}: {errors}", output.status);
    output
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("it is text")
}

/// A target of the release, as the table has it.
struct Target {
    triple: String,
    package: String,
    cpu: String,
    musl: bool,
}

fn targets() -> Vec<Target> {
    let table = fs::read_to_string(root().join("scripts/release.d/targets.toml"));
    let table: toml::Table = table.expect("it exists").parse().expect("it is TOML");
    let target = |(triple, entry): (&String, &toml::Value)| Target {
        triple: triple.clone(),
        package: entry["npm"]["package"].as_str().expect("a text").to_owned(),
        cpu: entry["npm"]["cpu"].as_str().expect("a text").to_owned(),
        musl: entry["npm"]["libc"].as_str() == Some("musl"),
    };
    table.iter().map(target).collect()
}

fn script(path: &Path, body: &str) {
    fs::write(path, format!("#!/bin/sh\n{body}\n")).expect("it is written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

fn release(out: &Path) -> Command {
    let mut command = Command::new("python3");
    command.arg(root().join("scripts/release")).arg("--out").arg(out);
    // As everything is made by the commit, it is made by any other time too.
    command.env("SOURCE_DATE_EPOCH", "1700000000").env_remove("GITHUB_REPOSITORY");
    command
}

/// The npm packages, installed side by side as npm does. The program of each prints the name of
/// its package, then does what the body says.
struct Installed {
    folder: TempDir,
}

impl Installed {
    fn new(targets: &[Target], body: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let program = folder.path().join("program");
        for target in targets {
            script(&program, &format!("echo {}\n{body}", target.package));
            done(release(folder.path()).args(["npm", &target.triple]).arg(&program));
        }
        let installed = Self { folder };
        installed.unpack("cograph");
        targets.iter().for_each(|target| installed.unpack(&target.package));
        installed
    }

    fn archive(&self, package: &str) -> PathBuf {
        let name = package.replace('@', "").replace('/', "-");
        self.folder.path().join(format!("npm/{name}-{VERSION}.tgz"))
    }

    fn package(&self, package: &str) -> PathBuf {
        self.folder.path().join("node_modules").join(package)
    }

    fn unpack(&self, package: &str) {
        let into = self.package(package);
        fs::create_dir_all(&into).expect("it is ours");
        let archive = self.archive(package);
        let options = ["--strip-components=1", "-xzf"];
        done(Command::new("tar").args(options).arg(archive).arg("-C").arg(into));
    }

    fn manifest(&self, package: &str) -> Value {
        let text = fs::read(self.package(package).join("package.json"));
        serde_json::from_slice(&text.expect("a package has one")).expect("it is JSON")
    }

    /// The launcher, on another system if there are statements that change what Node.js reports.
    fn launcher(&self, statements: &str) -> Command {
        let preloaded = self.folder.path().join("preloaded.js");
        fs::write(&preloaded, statements).expect("it is written");
        let mut command = Command::new("node");
        command.arg("--require").arg(preloaded);
        command.arg(self.package("cograph").join("launcher.js"));
        command
    }
}

/// False on a machine without Node.js, where the launcher is not tested. The hosted check has it.
#[expect(clippy::print_stderr, reason = "a test that was skipped is reported")]
fn node() -> bool {
    let found = Command::new("node").arg("--version").output().is_ok();
    assert!(found || std::env::var_os("CI").is_none(), "the hosted check needs Node.js");
    if !found {
        eprintln!("Node.js is not installed: the launcher is not tested");
    }
    found
}

/// Statements that let Node.js report a system.
fn system(platform: &str, cpu: &str, glibc: bool, loader: bool) -> String {
    format!(
        "Object.defineProperty(process, 'platform', {{ value: '{platform}' }});\n\
         Object.defineProperty(process, 'arch', {{ value: '{cpu}' }});\n\
         const header = {glibc} ? {{ glibcVersionRuntime: '2.31' }} : {{}};\n\
         process.report.getReport = () => ({{ header }});\n\
         const fs = require('fs');\n\
         const exists = fs.existsSync;\n\
         fs.existsSync = (path) => (/ld-linux/.test(path) ? {loader} : exists(path));\n"
    )
}

#[test]
fn versions_are_that_of_the_program() {
    let pyproject = fs::read_to_string(root().join("pyproject.toml")).expect("it exists");
    let pyproject: toml::Table = pyproject.parse().expect("it is TOML");
    let project = pyproject["project"].as_table().expect("a table");
    assert!(!project.contains_key("version"), "a second version");
    assert_eq!(project["dynamic"].as_array(), Some(&vec!["version".into()]));

    let said = done(Command::new(env!("CARGO_BIN_EXE_cograph")).arg("--version"));
    assert_eq!(text(&said.stdout).trim(), format!("cograph {VERSION}"));
    let targets = targets();
    assert!(targets.len() >= 4);
    let installed = Installed::new(&targets, "");
    let main = installed.manifest("cograph");
    let dependencies = main["optionalDependencies"].as_object().expect("an object");
    assert_eq!(dependencies.len(), targets.len());
    assert_eq!((&main["version"], &main["scripts"]), (&VERSION.into(), &Value::Null));
    for target in &targets {
        let manifest = installed.manifest(&target.package);
        assert_eq!(manifest["version"], VERSION);
        assert_eq!(manifest["name"], *target.package);
        assert_eq!(dependencies[&target.package], VERSION, "exactly this version");
        assert_eq!(manifest["scripts"], Value::Null, "no install script");
        let library = if target.musl { "musl" } else { "glibc" };
        assert_eq!(manifest["libc"], serde_json::json!([library]));
        assert_eq!(manifest["cpu"], serde_json::json!([target.cpu]));
        let mode = fs::metadata(installed.package(&target.package).join("bin/cograph"));
        assert_eq!(mode.expect("the program").permissions().mode() & 0o777, 0o755);
    }
}

#[test]
fn the_launcher_picks_the_package_of_the_platform() {
    if !node() {
        return;
    }
    let targets = targets();
    let installed = Installed::new(&targets, "");
    for target in &targets {
        let system = system("linux", &target.cpu, !target.musl, !target.musl);
        let output = done(&mut installed.launcher(&system));
        assert_eq!(text(&output.stdout).trim(), target.package);
    }
    // glibc without its usual loader (NixOS), and musl with a loader for foreign programs.
    for (glibc, loader) in [(true, false), (false, true)] {
        let output = done(&mut installed.launcher(&system("linux", "x64", glibc, loader)));
        assert_eq!(text(&output.stdout).trim(), "@cograph/linux-x64-musl");
    }
    // Only the static program is installed: it runs with glibc too.
    fs::remove_dir_all(installed.package("@cograph/linux-x64-gnu")).expect("it is ours");
    let output = done(&mut installed.launcher(&system("linux", "x64", true, true)));
    assert_eq!(text(&output.stdout).trim(), "@cograph/linux-x64-musl");
}

#[test]
fn the_launcher_says_that_there_is_no_program() {
    if !node() {
        return;
    }
    let installed = Installed::new(&targets()[..1], "");
    fs::remove_dir_all(installed.package("@cograph")).expect("it is ours");
    for (platform, cpu) in [("darwin", "arm64"), ("win32", "x64"), ("linux", "riscv64")] {
        let output = installed.launcher(&system(platform, cpu, true, true)).output();
        let output = output.expect("node starts");
        let errors = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(127), ""), "{errors}");
        assert!(errors.contains(&format!("no program for {platform}-{cpu}")), "{errors}");
        assert!(errors.contains("linux-x64-gnu, ") && errors.lines().count() == 1, "{errors}");
    }
    let output = installed.launcher(&system("linux", "x64", true, true)).output();
    let output = output.expect("node starts");
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(127), "{errors}");
    assert!(errors.contains("@cograph/linux-x64-gnu or @cograph/linux-x64-musl"), "{errors}");
    assert!(errors.contains(&format!("--include=optional cograph@{VERSION}")), "{errors}");

    // A program that cannot be started, as on a system that it is not for.
    let broken = installed.package("@cograph/linux-x64-gnu");
    fs::create_dir_all(&broken).expect("it is ours");
    fs::write(broken.join("package.json"), "{}").expect("it is ours");
    let output = installed.launcher(&system("linux", "x64", true, true)).output();
    let output = output.expect("node starts");
    assert_eq!(output.status.code(), Some(126));
    assert!(text(&output.stderr).contains("does not start"), "{}", text(&output.stderr));
}

#[test]
fn the_launcher_passes_everything_through() {
    if !node() {
        return;
    }
    let this: Vec<Target> = targets().into_iter().filter(|target| target.cpu == "x64").collect();
    let system = system("linux", "x64", true, true);
    let body = "case $1 in\n\
                all) echo \"[$2][$3]\"; cat; echo wrong >&2; exit 7;;\n\
                die) kill -$2 $$;;\n\
                wait) trap 'exit 5' $2; echo ready; read line; exit 6;;\n\
                esac";
    let installed = Installed::new(&this, body);
    let started = |arguments: &[&str]| {
        let mut launcher = installed.launcher(&system);
        launcher.args(arguments).stdin(Stdio::piped());
        launcher.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("node starts")
    };

    let mut child = started(&["all", "a b", ""]);
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(b"one\n\0two").expect("it is read");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(text(&output.stdout), "@cograph/linux-x64-gnu\n[a b][]\none\n\0two");
    assert_eq!(text(&output.stderr), "wrong\n");

    // The end by a signal is the launcher's own, also by one that it handles.
    for signal in [9, 15] {
        let output = started(&["die", &signal.to_string()]).wait_with_output().expect("it ends");
        assert_eq!(output.status.signal(), Some(signal), "{}", output.status);
    }

    // A signal to the launcher is one to the program.
    for (name, signal) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        let mut child = started(&["wait", name]);
        // Its end would end the program too, and `wait` closes what the child has.
        let input = child.stdin.take();
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut said = String::new();
        while !said.contains("ready\n") {
            assert_ne!(lines.read_line(&mut said).expect("it is text"), 0, "{said}");
        }
        let kill = format!("kill -{signal} {}", child.id());
        done(Command::new("sh").args(["-c", &kill]));
        assert_eq!(ended(child).map(|status| status.code()), Some(Some(5)), "SIG{name}");
        drop(input);
    }
}

/// The status of a process that ends before a hang is certain.
fn ended(mut child: Child) -> Option<ExitStatus> {
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait().expect("it is ours")));
    let status = receiver.recv_timeout(Duration::from_secs(30)).ok();
    if status.is_none() {
        done(Command::new("sh").args(["-c", &format!("kill -9 {id}")]));
    }
    status
}

/// A wheel as maturin builds it, with a program that calls the one of this build.
const WHEEL: &str = r##"
import sys, zipfile
version, program, project, path = sys.argv[1:]
folder = f"cograph_cli-{version}"
with zipfile.ZipFile(path, "w") as wheel:
    wheel.writestr(f"{folder}.dist-info/METADATA", f"Name: cograph-cli\nVersion: {version}\n")
    bill = f"{folder}.dist-info/sboms/cograph.cyclonedx.json"
    wheel.writestr(bill, f"path+file://{project}#cograph")
    wheel.writestr(f"{folder}.dist-info/RECORD", "")
    member = zipfile.ZipInfo(f"{folder}.data/scripts/cograph")
    member.external_attr = 0o100755 << 16
    wheel.writestr(member, f"#!/bin/sh\nexec {program} \"$@\"\n")
"##;

/// Compares the record of a wheel with its files, and prints their names with their modes.
const RECORD: &str = r#"
import base64, hashlib, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    names = wheel.namelist()
    lines = wheel.read(names[-1]).decode().splitlines()
    assert names[-1].endswith("/RECORD") and [line.split(",")[0] for line in lines] == names
    for line in lines[:-1]:
        name, digest, size = line.split(",")
        data = wheel.read(name)
        found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        assert (digest, int(size)) == (f"sha256={found}", len(data)), line
        assert not name.endswith(".json") or data == b"path+file:///cograph#cograph", data
        print(f"{wheel.getinfo(name).external_attr >> 16 & 0o777:o} {name}")
"#;

#[test]
fn archives_are_whole_and_two_runs_give_equal_bytes() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let name = format!("cograph_cli-{VERSION}-py3-none-manylinux_2_17.whl");
    let wheel = folder.path().join(&name);
    let program = env!("CARGO_BIN_EXE_cograph");
    let project = env!("CARGO_MANIFEST_DIR");
    done(Command::new("python3").args(["-c", WHEEL, VERSION, program, project]).arg(&wheel));
    let runs = ["first", "second"].map(|name| folder.path().join(name));
    for run in &runs {
        let target = folder.path().join("target");
        done(release(run).args(["pack", &triple]).arg(&wheel).env("CARGO_TARGET_DIR", target));
    }
    let sums = runs.each_ref().map(|run| fs::read_to_string(run.join("SHA256SUMS")));
    let sums = sums.map(|sums| sums.expect("it exists"));
    assert_eq!(sums[0], sums[1], "two runs give equal bytes");
    assert_eq!(sums[0].lines().count(), 4, "wheel, two npm packages, tarball: {}", sums[0]);
    done(Command::new("sha256sum").arg("--check").arg("SHA256SUMS").current_dir(&runs[0]));

    let unpacked = format!("cograph-{VERSION}-{triple}");
    let archive = runs[0].join(format!("{unpacked}.tar.gz"));
    let listed = done(Command::new("tar").arg("-tzf").arg(archive));
    let files: Vec<&str> = text(&listed.stdout).lines().collect();
    for file in [
        "cograph",
        "README.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "LICENSES-THIRD-PARTY.txt",
        "man/cograph.1",
        "man/cograph-trace.1",
        "completions/cograph.bash",
        "completions/_cograph",
    ] {
        assert!(files.contains(&&*format!("{unpacked}/{file}")), "no {file} in {files:?}");
    }
    let wheel = runs[0].join("pypi").join(name);
    let listed = done(Command::new("python3").args(["-c", RECORD]).arg(wheel));
    let files = text(&listed.stdout);
    assert!(files.contains(&format!("755 cograph_cli-{VERSION}.data/scripts/cograph\n")));
    assert!(files.contains("dist-info/licenses/LICENSES-THIRD-PARTY.txt\n"), "{files}");
}

#[test]
fn an_incomplete_release_is_none() {
    let targets = targets();
    let installed = Installed::new(&targets, "");
    let output = release(installed.folder.path()).arg("check").output().expect("it starts");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for target in &targets {
        assert!(said.contains(&format!("tarball {}: 0 files, expected one", target.triple)));
        assert!(!said.contains(&format!("npm package {}:", target.package)), "{said}");
    }
    let output = release(installed.folder.path()).args(["build", "sparc"]).output();
    let output = output.expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no target is called sparc; targets: x86_64-"));
}

#[test]
fn the_workflow_builds_every_target() {
    let workflow = fs::File::open(root().join(".github/workflows/release.yml"));
    let mut text = String::new();
    workflow.expect("it exists").read_to_string(&mut text).expect("it is text");
    for target in targets() {
        assert!(text.contains(&format!(" {}", target.triple)), "{}", target.triple);
    }
}
