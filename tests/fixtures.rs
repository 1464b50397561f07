//! Fixtures of the languages: `grammars/<language>/fixtures/*.txt`, each a small repository and the
//! facts it must give.
//!
//! A fixture has an introduction (a heading with the rule that it holds, and sentences that say
//! what the index must know because of it), then sources (`//- path`) and at last expectations
//! (`//= symbols`, `//= imports`, `//= sites`, `//= relations`, `//= problems`), one fact a line,
//! in order, complete. A section that is left out is not compared. To see what the program
//! extracts now, run with `COGRAPH_WRITE_FIXTURES=1`: expectations are written anew, for a person
//! to review, and the run fails, since it has compared nothing.

mod introductions;
mod shared;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, panic};

use cograph::config::Config;
use cograph::extract::{Limits, extract};
use cograph::grammar::{self, Tier};
use cograph::model::facts::{FileFacts, ImportKind, LocalSymbol, Symbol, flags};
use cograph::model::graph::{FileId, FileRecord, FileResolution, FileStamp, SymbolRef, Target};
use cograph::model::{RepoPath, SkipReason, Step, Verdict};
use cograph::resolve::{Names, ProjectFile, Shared, Tables};

struct Fixture {
    sources: Vec<(RepoPath, String)>,
    expectations: Vec<(String, String)>,
}

fn parse(text: &str) -> Fixture {
    let mut fixture = Fixture { sources: Vec::new(), expectations: Vec::new() };
    let mut current: Option<&mut String> = None;
    for line in text.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix("//- ") {
            let path = RepoPath::new(path.trim().trim_start_matches('/'))
                .expect("a fixture's paths are relative");
            fixture.sources.push((path, String::new()));
            current = fixture.sources.last_mut().map(|(_, text)| text);
        } else if let Some(section) = line.strip_prefix("//= ") {
            fixture.expectations.push((section.trim().to_owned(), String::new()));
            current = fixture.expectations.last_mut().map(|(_, text)| text);
        } else if let Some(current) = &mut current {
            current.push_str(line);
        }
    }
    fixture
}

/// The files and what is known of them.
struct Built {
    files: Vec<FileRecord>,
    resolutions: Vec<FileResolution>,
}

fn build(sources: &[(RepoPath, String)]) -> Built {
    // Plants the defect in this process, if there is one.
    Config::from_environment().expect("the settings are usable");
    let mut sorted: Vec<&(RepoPath, String)> = sources.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    let neighbours = vec![0; grammar::all().len()];
    let files: Vec<FileRecord> = sorted
        .iter()
        .map(|(path, text)| {
            let language = grammar::detect(path, text.as_bytes(), &neighbours);
            let content = match language {
                Some(language) => {
                    let facts =
                        extract(language, path.as_str(), text.as_bytes(), Limits::default());
                    Ok(facts.expect("a fixture is cheap").into())
                }
                None => Err(SkipReason::NoLanguage),
            };
            let stamp = FileStamp { size: text.len() as u64, ..FileStamp::default() };
            FileRecord { path: path.clone(), stamp, language, content }
        })
        .collect();
    let project_files: Vec<ProjectFile> = sorted
        .iter()
        .filter(|(path, text)| {
            let name = path.file_name();
            grammar::is_project_file(name) || grammar::is_project_text(name, || text)
        })
        .map(|(path, text)| ProjectFile { path: path.clone(), text: text.clone() })
        .collect();
    let tables = Tables::of_all(&files, &project_files);
    let resolutions = (0..files.len())
        .map(|position| {
            tables.resolve_file(FileId(u32::try_from(position).expect("few files"))).resolution
        })
        .collect();
    assert_eq!(
        resolutions,
        shared::found_by_shared(&files, project_files),
        "of other files only what is shared may be looked at"
    );
    Built { files, resolutions }
}

impl Built {
    fn facts(&self) -> impl Iterator<Item = (&RepoPath, &FileFacts, &FileResolution)> {
        self.files.iter().zip(&self.resolutions).filter_map(|(file, resolution)| {
            file.content.as_ref().ok().map(|facts| (&file.path, &**facts, resolution))
        })
    }

    fn symbol(&self, symbol: SymbolRef) -> String {
        let file = &self.files[symbol.file.0 as usize];
        let facts = file.content.as_ref().expect("a target is in a file with facts");
        let details = &facts.details[symbol.symbol.get().expect("a target is a symbol")];
        format!("{}:{} {}", file.path, details.name_at.line, qualified(facts, symbol.symbol))
    }

    fn section(&self, section: &str) -> String {
        let mut text = String::new();
        for (path, facts, resolution) in self.facts() {
            match section {
                "symbols" => symbols(&mut text, path, facts),
                "imports" => self.imports(&mut text, path, facts, resolution),
                "sites" => self.sites(&mut text, path, facts, resolution),
                "relations" => {
                    for relation in &resolution.relations {
                        line(
                            &mut text,
                            format!(
                                "{} {} {}",
                                self.symbol(relation.from),
                                relation.kind.word(),
                                self.symbol(relation.to)
                            ),
                        );
                    }
                }
                "problems" => {
                    for problem in &facts.problems {
                        line(
                            &mut text,
                            format!(
                                "{path}:{}-{} {}",
                                problem.first_line,
                                problem.last_line,
                                problem.kind.word()
                            ),
                        );
                    }
                }
                other => panic!("no section is called `{other}`"),
            }
        }
        text
    }

    fn imports(
        &self,
        text: &mut String,
        path: &RepoPath,
        facts: &FileFacts,
        resolution: &FileResolution,
    ) {
        for (import, target) in facts.imports.iter().zip(&resolution.imports) {
            let kind = match import.kind {
                ImportKind::Module => "module",
                ImportKind::Item => "item",
                ImportKind::Wildcard => "everything",
                ImportKind::Include => "include",
                ImportKind::Default => "default",
            };
            let name = |name: cograph::model::facts::NameId| {
                name.get().map_or("", |name| &facts.names[name])
            };
            let mut entry = format!(
                "{path}:{} {kind} {}{}",
                import.at.line,
                ".".repeat(usize::from(import.level)),
                import.module
            );
            if import.item.is_some() {
                write!(entry, " {}", name(import.item)).expect("writing to a string cannot fail");
            }
            if import.alias.is_some() && import.alias != import.item {
                write!(entry, " as {}", name(import.alias))
                    .expect("writing to a string cannot fail");
            }
            if let Some(target) = target {
                write!(entry, " -> {}", self.files[target.0 as usize].path)
                    .expect("writing to a string cannot fail");
            }
            line(text, entry);
        }
    }

    fn sites(
        &self,
        text: &mut String,
        path: &RepoPath,
        facts: &FileFacts,
        resolution: &FileResolution,
    ) {
        for (number, (site, resolved)) in
            facts.sites.list().iter().zip(&resolution.sites).enumerate()
        {
            let name = site.name.get().map_or("", |name| &facts.names[name]);
            let target = match &resolved.target {
                Target::None => String::new(),
                Target::Symbol(symbol) => format!(" -> {}", self.symbol(*symbol)),
                Target::Candidates(candidates) => {
                    format!(
                        " -> {}",
                        candidates
                            .iter()
                            .map(|symbol| self.symbol(*symbol))
                            .collect::<Vec<_>>()
                            .join(" | ")
                    )
                }
                Target::External(name) => format!(" -> external {name}"),
                Target::File(file) => format!(" -> {}", self.files[file.0 as usize].path),
            };
            let around = site
                .enclosing
                .get()
                .map_or("<file>".to_owned(), |_| qualified(facts, site.enclosing));
            let at = format!("{path}:{}:{}", site.at.line, site.at.column);
            let (kind, verdict, step) =
                (site.kind.word(), resolved.verdict.word(), resolved.step.word());
            line(text, format!("{at} {around} {kind} {name}{target} ({verdict}, {step})"));
            for (_, holder) in resolution.holders.iter().filter(|(of, _)| of.0 as usize == number) {
                let Target::Symbol(symbol) = holder.target else { continue };
                let (target, step) = (self.symbol(symbol), holder.step.word());
                line(text, format!("{at} {around} read {name} -> {target} (resolved, {step})"));
            }
        }
    }
}

fn line(text: &mut String, entry: String) {
    text.push_str(&entry);
    text.push('\n');
}

fn qualified(facts: &FileFacts, symbol: LocalSymbol) -> String {
    let mut parts = Vec::new();
    let mut current = symbol;
    while let Some(position) = current.get() {
        let entry: &Symbol = &facts.symbols[position];
        parts.push(entry.name.get().map_or("", |name| &facts.names[name]));
        current = entry.container;
    }
    parts.reverse();
    parts.join(".")
}

fn symbols(text: &mut String, path: &RepoPath, facts: &FileFacts) {
    for (position, (symbol, details)) in facts.symbols.iter().zip(&facts.details).enumerate() {
        let mut entry = format!(
            "{path}:{}-{} {} {}",
            details.start.line,
            details.end.line,
            symbol.kind.word(),
            qualified(facts, LocalSymbol::at(position))
        );
        if symbol.kind.is_callable() {
            let most = if symbol.arity.1 == u16::MAX {
                "*".to_owned()
            } else {
                symbol.arity.1.to_string()
            };
            write!(entry, "/{}..{most}", symbol.arity.0).expect("writing to a string cannot fail");
        }
        write!(entry, " {}", symbol.visibility.word()).expect("writing to a string cannot fail");
        for (bit, word) in [
            (flags::EXPORTED, "exported"),
            (flags::TEST, "test"),
            (flags::DECLARATION, "declaration"),
            (flags::ABSTRACT, "abstract"),
            (flags::STATIC, "static"),
            (flags::ASYNC, "async"),
            (flags::PROPERTY, "property"),
            (flags::CLASS_METHOD, "class-method"),
            (flags::GENERATOR, "generator"),
            (flags::DEFAULT_EXPORT, "default"),
            (flags::LOCAL, "local"),
            (flags::DEPRECATED, "deprecated"),
        ] {
            if symbol.flags & bit != 0 {
                write!(entry, " {word}").expect("writing to a string cannot fail");
            }
        }
        write!(entry, " `{}`", details.signature).expect("writing to a string cannot fail");
        if !details.doc.is_empty() {
            write!(entry, " \"{}\"", details.doc).expect("writing to a string cannot fail");
        }
        line(text, entry);
    }
}

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("grammars");
    let mut found = Vec::new();
    for language in fs::read_dir(root).expect("grammars/ is part of the package") {
        let folder = language.expect("a readable folder").path().join("fixtures");
        let Ok(entries) = fs::read_dir(folder) else { continue };
        found.extend(
            entries
                .map(|entry| entry.expect("a readable folder").path())
                .filter(|path| path.extension().is_some_and(|e| e == "txt")),
        );
    }
    found.sort();
    found
}

fn written(text: &str, fixture: &Fixture, built: &Built) -> String {
    let sources = text.find("\n//= ").map_or(text.len(), |end| end + 1);
    let mut anew = text[..sources].to_owned();
    for (section, _) in &fixture.expectations {
        write!(anew, "//= {section}\n{}", built.section(section))
            .expect("writing to a string cannot fail");
    }
    anew
}

#[test]
fn every_fixture_gives_its_facts() {
    let mut failures = String::new();
    let (all, is_written) = (fixtures(), env::var_os("COGRAPH_WRITE_FIXTURES").is_some());
    for path in &all {
        let text = fs::read_to_string(path).expect("a readable fixture");
        let fixture = parse(&text);
        assert!(
            !fixture.sources.is_empty() && !fixture.expectations.is_empty(),
            "{} checks nothing",
            path.display()
        );
        // What one fixture cannot be built by hides the failures of no other.
        let built = match panic::catch_unwind(|| build(&fixture.sources)) {
            Ok(built) => built,
            Err(cause) => {
                let cause = cause.downcast_ref::<String>().map_or("it panics", String::as_str);
                writeln!(failures, "\n{}: {cause}", path.display())
                    .expect("writing to a string cannot fail");
                continue;
            }
        };
        if is_written {
            fs::write(path, written(&text, &fixture, &built)).expect("a writable fixture");
            continue;
        }
        for (section, expected) in &fixture.expectations {
            let found = built.section(section);
            if found == *expected {
                continue;
            }
            writeln!(failures, "\n{} //= {section}", path.display())
                .expect("writing to a string cannot fail");
            for missing in
                expected.lines().filter(|line| !found.lines().any(|other| other == *line))
            {
                writeln!(failures, "  missing {missing}").expect("writing to a string cannot fail");
            }
            for surplus in
                found.lines().filter(|line| !expected.lines().any(|other| other == *line))
            {
                writeln!(failures, "  surplus {surplus}").expect("writing to a string cannot fail");
            }
        }
    }
    assert!(!all.is_empty(), "there are fixtures");
    assert!(!is_written, "expectations were written anew, and nothing was compared");
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn an_ambiguous_site_has_several_candidates_and_none_is_recorded_twice() {
    for path in fixtures() {
        let fixture = parse(&fs::read_to_string(&path).expect("a readable fixture"));
        let built = build(&fixture.sources);
        for (of, facts, resolution) in built.facts() {
            let mut seen = BTreeSet::new();
            for (site, resolved) in facts.sites.list().iter().zip(&resolution.sites) {
                let at = format!("{} {of}:{}:{}", path.display(), site.at.line, site.at.column);
                let several = match &resolved.target {
                    Target::Candidates(candidates) => candidates.len() > 1,
                    _ => false,
                };
                assert!(resolved.verdict != Verdict::Ambiguous || several, "{at}: one candidate");
                let what = (site.byte, site.kind.word(), site.name.get(), site.import.get());
                assert!(seen.insert(what), "{at}: the same {} twice", site.kind.word());
            }
        }
    }
}

#[test]
fn snapshots_are_compared_and_not_accepted() {
    let set = |name: &str| env::var(name).unwrap_or_default();
    let (update, forced) = (set("INSTA_UPDATE"), set("INSTA_FORCE_PASS"));
    assert!(
        !["always", "force", "unseen"].contains(&&*update),
        "INSTA_UPDATE={update}: snapshots were written, not compared"
    );
    assert!(["", "0"].contains(&&*forced), "INSTA_FORCE_PASS={forced}: no snapshot can fail");
}

#[test]
fn of_a_body_only_what_others_look_at_stays() {
    let body = "other(given, given + 1);\n".repeat(1_000);
    for (path, text) in [
        ("a.c", format!("void one(int given) {{\n{body}}}\n")),
        ("a.ts", format!("function one(given: number) {{\n{body}}}\n")),
    ] {
        let language =
            grammar::detect(&RepoPath::new(path).expect("a path"), &[], &[]).expect("a language");
        let facts = extract(language, path, text.as_bytes(), Limits::default());
        let mut facts = facts.expect("a fixture is cheap");
        let (all, mut names) = (facts.exprs.len(), Names::default());
        let shared = Shared::first(&mut facts);
        let own = facts.names.iter().map(|name| names.intern(name)).collect();
        shared.truncate(&mut facts, language, own);
        assert!(all > 3_000 && facts.exprs.len() < 10, "{path}: {} of {all}", facts.exprs.len());
        assert_eq!(
            (facts.symbols.len(), facts.sites.len(), facts.names.len()),
            (1, 0, 0),
            "{path}"
        );
    }
}

#[test]
fn every_language_has_fixtures_of_every_kind_of_fact() {
    let mut shown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut steps = BTreeSet::new();
    for path in fixtures() {
        let folder = path
            .parent()
            .and_then(Path::parent)
            .and_then(Path::file_name)
            .expect("fixtures are in a language's folder");
        let fixture = parse(&fs::read_to_string(&path).expect("a readable fixture"));
        for (section, expected) in
            fixture.expectations.iter().filter(|(_, expected)| !expected.is_empty())
        {
            shown.entry(folder.to_string_lossy().into_owned()).or_default().insert(section.clone());
            if section == "sites" {
                let step =
                    |line: &str| Some(line.strip_suffix(')')?.rsplit_once(", ")?.1.to_owned());
                steps.extend(expected.lines().filter_map(step));
            }
        }
    }
    for language in grammar::all() {
        let sections =
            shown.get(language.name).unwrap_or_else(|| panic!("{} has none", language.name));
        // A language of the tier `structure` has no facts other than symbols.
        let wanted: &[&str] = if language.tier() == Tier::Structure {
            &["symbols"]
        } else {
            &["symbols", "imports", "sites"]
        };
        for section in wanted {
            assert!(sections.contains(*section), "{}: no fixture expects {section}", language.name);
        }
        assert!(
            language.tier() != Tier::Structure || !sections.contains("sites"),
            "{}: references are not read",
            language.name
        );
    }
    let with = |section: &str| shown.values().filter(|sections| sections.contains(section)).count();
    let full = grammar::all().iter().filter(|language| language.tier() == Tier::Full).count();
    assert!(with("relations") + 1 >= full && with("problems") >= 3, "{shown:?}");
    // A panic leaves the one behind; that only a macro stands in the way is shown by no fixture;
    // what a compiler states is imported.
    let elsewhere = [Step::Fault, Step::Macro, Step::Scip];
    let unseen =
        Step::ALL.iter().filter(|step| !steps.contains(step.word()) && !elsewhere.contains(step));
    assert_eq!(
        unseen.map(|step| step.word()).collect::<Vec<_>>(),
        Vec::<&str>::new(),
        "steps that no fixture shows"
    );
}
