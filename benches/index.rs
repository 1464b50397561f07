//! What indexing a directory costs, compared with the floor: parsing the same files and nothing
//! else, in the same run.
//!
//!     cargo bench --bench index -- [DIRECTORY]
//!
//! Each of the two runs in a process of its own, so that CPU time and peak memory are its own. The
//! store goes to a temporary directory. Nothing is printed before what was computed has been
//! checked.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark stands outside of the program: it prints and reads files"
)]

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cograph::config::Config;
use cograph::extract::{self, Allowance, Exhausted};
use cograph::grammar;
use cograph::index::{self, Outcome as IndexOutcome, Report, Run};
use cograph::model::cancel::CancelToken;
use cograph::model::facts::FileFacts;
use cograph::model::{LanguageId, RepoPath};
use cograph::source;
use cograph::store::{Location, Store};

/// The one of the program.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    // cargo adds `--bench`.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["--measure", "index", root, list, cache] => {
            measure_index(Path::new(root), Path::new(list), Path::new(cache))
        }
        ["--measure", "parse", root, list, _] => measure_parse(Path::new(root), Path::new(list)),
        [] => compare(Path::new(env!("CARGO_MANIFEST_DIR"))),
        [root] => compare(Path::new(root)),
        _ => Err("usage: cargo bench --bench index -- [DIRECTORY]".into()),
    }
}

/// Figures of one child, by name.
type Figures = HashMap<String, u64>;

/// Runs both children on a directory, checks that they did the same work, and prints what it cost.
fn compare(root: &Path) -> Outcome<()> {
    let root =
        root.canonicalize().map_err(|error| format!("cannot open {}: {error}", root.display()))?;
    let scratch = tempfile::tempdir()?;
    let list = scratch.path().join("files");
    let cache = scratch.path().join("cache");
    let index = child("index", &root, &list, &cache)?;
    let parse = child("parse", &root, &list, &cache)?;

    assert!(index["files"] > 0, "there are files to index in {}", root.display());
    assert!(
        index["symbols"] > 0 && index["references"] > 0,
        "the files have symbols and references"
    );
    assert_eq!(index["files"], parse["files"], "both read the same files");
    assert_eq!(index["bytes"], parse["bytes"], "both read the same bytes");
    assert!(parse["nodes"] >= index["symbols"], "what was parsed has at least a node a symbol");

    let facts = index["symbols"] + index["references"];
    println!("{}", root.display());
    println!(
        "  {} files, {}, {} symbols, {} references",
        index["files"],
        size(index["bytes"]),
        index["symbols"],
        index["references"]
    );
    println!(
        "  parse only   {:>9} CPU  {:>9} wall  peak {}",
        time(parse["cpu"]),
        time(parse["wall"]),
        size(parse["peak"])
    );
    println!(
        "  index        {:>9} CPU  {:>9} wall  peak {}",
        time(index["cpu"]),
        time(index["wall"]),
        size(index["peak"])
    );
    println!("  index CPU / parse-only CPU   {:.2}", ratio(index["cpu"], parse["cpu"]));
    println!(
        "  store   {}, {:.1} bytes per symbol or reference",
        size(index["store"]),
        ratio(index["store"], facts)
    );
    Ok(())
}

fn child(what: &str, root: &Path, list: &Path, cache: &Path) -> Outcome<Figures> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--measure", what])
        .args([root, list, cache])
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("measuring {what} ended with {}", output.status).into());
    }
    let mut figures = Figures::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let (name, value) = line.split_once(' ').ok_or_else(|| format!("no figure: {line:?}"))?;
        figures.insert(name.to_owned(), value.parse()?);
    }
    Ok(figures)
}

/// The whole pipe into a new store, as `cograph index` runs it. Leaves the list of the files that
/// it parsed, with their languages.
fn measure_index(root: &Path, list: &Path, cache: &Path) -> Outcome<()> {
    let start = Instant::now();
    let limits = Config::from_environment()?.limits;
    let cancel = CancelToken::new();
    let location = Location::new(cache, root);
    let run = Run { extract: extract_slowly, ..Run::quiet(limits, &cancel) };
    let outcome = index::refresh(&location, Duration::ZERO, &run)?;
    let (cpu, wall, peak) = (cpu_time(), start.elapsed(), peak_memory()?);

    let IndexOutcome::Published { published, .. } = outcome else {
        return Err("a new cache has no store".into());
    };
    let snapshot = Arc::new(Store::open_newest(&location)?).snapshot(&cancel)?;
    let report = Report::of(&snapshot)?;
    let languages: HashMap<_, _> = snapshot.languages()?.into_iter().collect();
    let mut lines = String::new();
    for file in snapshot.files()?.iter().filter(|file| file.skipped.is_none()) {
        let language = file.language.ok_or("a file with facts has a language")?;
        lines.push_str(&format!("{} {}\n", languages[&language], file.path));
    }
    std::fs::write(list, lines)?;
    figure("files", report.indexed);
    figure("bytes", report.bytes);
    figure("symbols", report.symbols());
    figure("references", report.references());
    figure("store", published.bytes);
    finish(cpu, wall, peak)
}

/// Extraction that gives a file all the time that it needs: in valgrind everything is slow.
fn extract_slowly(
    language: LanguageId,
    path: &str,
    source: &[u8],
    limits: extract::Limits,
) -> Result<FileFacts, Exhausted> {
    let day = Allowance { base: 86_400_000_000_000, per_byte: 0, most: u64::MAX };
    extract::extract(
        language,
        path,
        source,
        extract::Limits { first_parse: day, time: day, ..limits },
    )
}

/// The floor: reads and parses the listed files one after another, and drops each tree.
fn measure_parse(root: &Path, list: &Path) -> Outcome<()> {
    let start = Instant::now();
    let root = source::Root::new(root);
    let limits = Config::from_environment()?.limits;
    let mut parsers: HashMap<String, tree_sitter::Parser> = HashMap::new();
    let (mut files, mut bytes, mut nodes) = (0, 0, 0);
    for line in std::fs::read_to_string(list)?.lines() {
        let (language, path) =
            line.split_once(' ').ok_or("a line of the list is `language path`")?;
        let path = RepoPath::new(path).ok_or("the list has paths inside the repository")?;
        let read = source::read(&root, &path, &limits);
        let text = read.text.map_err(|reason| format!("{path}: {}", reason.word()))?;
        let parser = match parsers.entry(language.to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                let mut parser = tree_sitter::Parser::new();
                parser.set_language(
                    &grammar::by_name(language).ok_or("the list names known languages")?.grammar,
                )?;
                vacant.insert(parser)
            }
        };
        let tree = parser.parse(&text.bytes, None).ok_or("parsing without a limit gives a tree")?;
        nodes += tree.root_node().descendant_count() as u64;
        bytes += read.stamp.size;
        files += 1;
    }
    let (cpu, wall, peak) = (cpu_time(), start.elapsed(), peak_memory()?);
    figure("files", files);
    figure("bytes", bytes);
    figure("nodes", nodes);
    finish(cpu, wall, peak)
}

fn finish(cpu: Duration, wall: Duration, peak: u64) -> Outcome<()> {
    figure("cpu", u64::try_from(cpu.as_nanos())?);
    figure("wall", u64::try_from(wall.as_nanos())?);
    figure("peak", peak);
    Ok(())
}

fn figure(name: &str, value: u64) {
    println!("{name} {value}");
}

/// CPU time of all threads of this process, those that have ended included.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).expect("CPU time is not negative");
    Duration::new(seconds, u32::try_from(time.tv_nsec).expect("nanoseconds are below 10^9"))
}

/// The peak memory of this process in bytes, from Linux's /proc.
fn peak_memory() -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .ok_or("the kernel reports no peak memory")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn time(nanoseconds: u64) -> String {
    format!("{:.3} s", nanoseconds as f64 / 1e9)
}

fn size(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
