//! `cograph grammar`: checks a language manifest against its grammar, and shows what is extracted
//! from each node of a file.

pub(super) mod lost_lines;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::{Config, MANIFEST};
use cograph_extract::{self as extract, Explained, Explanation};
use cograph_grammar as grammar;
use cograph_model::RepoPath;
use cograph_server::one_line;
use cograph_source::{self as source, Root};

/// Subcommand.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Check manifests: all errors, each with its line
    Check {
        /// Directories with a grammar.toml; a manifest may extend one of a sibling directory
        #[arg(required = true, value_name = "DIR")]
        directories: Vec<PathBuf>,
        /// List the named node kinds without a rule
        #[arg(long)]
        kinds: bool,
    },
    /// Show the syntax tree of a file: every node with its roles, and the symbols and references
    /// extracted from it
    Explain {
        /// A source file
        file: PathBuf,
        /// The language, if the file name does not determine it
        #[arg(long)]
        language: Option<String>,
        /// Show tokens as well
        #[arg(long)]
        tokens: bool,
    },
}

pub(super) fn run(config: &Config, command: &Command) -> Result<(), Stop> {
    match command {
        Command::Check { directories, kinds } => check(config, directories, *kinds),
        Command::Explain { file, language, tokens } => {
            explain(config, file, language.as_deref(), *tokens)
        }
    }
}

fn check(config: &Config, directories: &[PathBuf], kinds: bool) -> Result<(), Stop> {
    let mut has_problems = false;
    for directory in directories {
        let manifest = directory.join(MANIFEST);
        let texts = chain(config, directory)?;
        let said = match grammar::check(&texts.iter().map(String::as_str).collect::<Vec<_>>()) {
            Ok(fits) => {
                let [nodes, types, patterns] = fits.rules;
                let without = fits.without.len();
                let mut said = format!(
                    "{}: {} fits its grammar: rules for {nodes} kinds of nodes, {types} of types, \
                     {patterns} of patterns; {without} kinds without a rule, \
                     whose children are visited",
                    manifest.display(),
                    fits.title
                );
                if kinds {
                    fits.without.iter().for_each(|kind| said.extend(["\n  ", kind]));
                }
                said
            }
            Err(errors) => {
                has_problems = true;
                let lines = errors
                    .iter()
                    .map(|error| format!("{}: {}", manifest.display(), one_line(error)));
                lines.collect::<Vec<_>>().join("\n")
            }
        };
        to_stdout(|out| writeln!(out, "{said}"))?;
    }
    if has_problems { Err(Stop::Problems) } else { Ok(()) }
}

/// A directory's manifest, after those that it extends.
fn chain(config: &Config, directory: &Path) -> Result<Vec<String>, Stop> {
    let name = RepoPath::new(MANIFEST).expect("it is a name of a file");
    let text = |directory: &Path| {
        Ok::<_, Stop>(String::from_utf8_lossy(&read(config, directory, &name)?).into_owned())
    };
    let mut seen = vec![directory.to_path_buf()];
    let mut texts = vec![text(directory)?];
    while let Some(base) = grammar::extended(&texts[0]) {
        let place = directory.join("..").join(&base);
        if seen.contains(&place) {
            return Err(Stop::Usage(format!("{}: {base} extends itself", directory.display())));
        }
        texts.insert(0, text(&place)?);
        seen.push(place);
    }
    Ok(texts)
}

/// Reads a file, within the limits of indexing.
fn read(config: &Config, directory: &Path, name: &RepoPath) -> Result<Vec<u8>, Stop> {
    source::read(&Root::new(directory), name, &config.limits).text.map(|text| text.bytes).map_err(
        |reason| Stop::Failure {
            message: format!(
                "cannot read {}: {}",
                directory.join(name.as_str()).display(),
                reason.word()
            ),
            hint: "check its name, its permissions and its size".to_owned(),
        },
    )
}

fn explain(config: &Config, file: &Path, language: Option<&str>, tokens: bool) -> Result<(), Stop> {
    let name = file.file_name().and_then(|name| name.to_str()).and_then(RepoPath::new);
    let name = name.ok_or_else(|| Stop::Usage(format!("{} is no file", file.display())))?;
    let directory = file
        .parent()
        .filter(|directory| !directory.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let source = read(config, directory, &name)?;
    let id = match language {
        Some(language) => grammar::id_of(language),
        None => grammar::detect(&name, &source, &vec![0; grammar::count()]),
    };
    let id = id.ok_or_else(|| {
        Stop::Usage(format!(
            "no such language; --language is one of {}",
            grammar::names().join(", ")
        ))
    })?;
    if let [first, more @ ..] = grammar::errors(id).as_slice() {
        let message = format!(
            "the manifest of the language does not fit: {} (and {} more)",
            one_line(first),
            more.len()
        );
        return Err(Stop::Failure {
            message,
            hint: "`cograph grammar check` lists all errors".to_owned(),
        });
    }
    let Explanation { nodes, elsewhere } =
        extract::explain(id, name.as_str(), &source, extract::Limits::default());
    let mut said = String::new();
    for node in nodes.iter().filter(|node| node.is_named || node.is_wrong || tokens) {
        write_node(&mut said, node);
    }
    for (at, fact) in elsewhere {
        let _ =
            writeln!(said, "{:>5}:{:<4} (no node) = {}", at.line, at.column + 1, one_line(&fact));
    }
    to_stdout(|out| out.write_all(said.as_bytes()))
}

/// `LINE:COLUMN  FIELD: KIND [ROLE, ...] = FACT, ...`
fn write_node(said: &mut String, node: &Explained) {
    let _ = write!(
        said,
        "{:>5}:{:<4} {:indent$}",
        node.at.line,
        node.at.column + 1,
        "",
        indent = node.depth * 2
    );
    if let Some(field) = &node.field {
        let _ = write!(said, "{field}: ");
    }
    said.push_str(&node.kind);
    if node.is_wrong {
        said.push_str(" (not understood)");
    }
    if !node.roles.is_empty() {
        let _ = write!(said, " [{}]", node.roles.join(", "));
    }
    if !node.facts.is_empty() {
        let _ = write!(said, " = {}", one_line(&node.facts.join(", ")));
    }
    said.push('\n');
}
