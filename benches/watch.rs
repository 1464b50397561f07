//! What it costs to know the changes up to a query: the query touches a file that is watched along
//! with the repository, and waits until that change is reported.
//!
//!     cargo bench --bench watch -- DIRECTORY [ROUNDS]
//!
//! Each round writes a file in the directory, which should be a copy of a repository, and queries.
//! A round without a report of the file fails the run; one that would have to compare all files,
//! because the report came late, is counted.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark stands outside of the program: it prints and writes files"
)]

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use cograph::model::cancel::CancelToken;
use cograph::watch::Watch;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    // cargo adds `--bench`.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let root = PathBuf::from(arguments.first().ok_or("which directory?")?).canonicalize()?;
    let rounds: usize = arguments.get(1).map_or(Ok(2_000), |rounds| rounds.parse())?;
    let cancel = CancelToken::new();
    let start = Instant::now();
    let mut watch = Watch::start(&root, 2, &cancel)?;
    println!("{} directories in {:.1} ms", watch.directories(), milliseconds(start));

    let file = root.join("written-by-the-benchmark.txt");
    let (mut times, mut late) = (Vec::new(), 0);
    for round in 0..rounds {
        fs::write(&file, round.to_string())?;
        let start = Instant::now();
        let hints = watch.drain(&cancel)?;
        times.push(milliseconds(start));
        late += usize::from(hints.everything);
        let is_reported = |path: &str| hints.paths.iter().any(|hint| hint.as_str() == path);
        if !hints.everything && !is_reported("written-by-the-benchmark.txt") {
            return Err("the file was missed".into());
        }
    }
    fs::remove_file(&file)?;
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    let most = times.last().copied().unwrap_or_default();
    println!("p50 {:.3} ms, p99 {:.3} ms, most {most:.3} ms", at(50), at(99));
    println!("reports that came late: {late} of {rounds}");
    Ok(())
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
