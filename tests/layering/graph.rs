//! The graph of files of one crate that name each other, from their paths and texts: which file
//! imports from which, what goes in circles, and which folders of a crate import from which. Reads
//! nothing from disk.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::lexer::{Kind, Path, paths, tokens};

/// Re-exports of re-exports that are followed.
const REEXPORTS: usize = 8;

/// Where a module is: its crate, and its names below the root of that.
type Module = Vec<String>;

/// Which files of `src` name something of which others. What only tests compile is left out.
#[derive(Debug)]
pub(super) struct Graph {
    edges: BTreeMap<String, BTreeSet<String>>,
}

/// An arrow between two folders (or files) directly in a crate, and a file that makes it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Arrow {
    pub(super) owner: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) file: String,
}

impl Graph {
    /// The graph of these files, by their paths from the project's root.
    pub(super) fn of(files: &[(String, String)]) -> Self {
        let sources = Sources::of(files);
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (module, source) in &sources.0 {
            let own = edges.entry(source.file.clone()).or_default();
            for named in source.named.iter().filter(|named| !named.in_tests) {
                let Some(absolute) = source.absolute(module, named) else { continue };
                if let Some(other) =
                    sources.defining(&absolute).filter(|other| *other != source.file)
                {
                    own.insert(other.to_owned());
                }
            }
        }
        Self { edges }
    }

    /// The groups of files of a crate in which each imports from every other, by whatever way.
    pub(super) fn circles(&self, owner: &str) -> Vec<Vec<String>> {
        let own = self.edges.keys().filter(|file| super::rules::crate_of(file) == Some(owner));
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            own.map(|file| (file.as_str(), self.reached_from(file))).collect();
        let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
        for (file, others) in reached.iter().filter(|(file, others)| others.contains(*file)) {
            let together = others
                .iter()
                .filter(|other| reached.get(*other).is_some_and(|back| back.contains(file)));
            circles.insert(together.map(|other| (*other).to_owned()).collect());
        }
        circles.into_iter().collect()
    }

    fn reached_from<'g>(&'g self, file: &'g str) -> BTreeSet<&'g str> {
        let (mut found, mut pending) = (BTreeSet::new(), vec![file]);
        while let Some(next) = pending.pop() {
            let others = self.edges.get(next).into_iter().flatten();
            pending.extend(others.map(String::as_str).filter(|other| found.insert(*other)));
        }
        found
    }

    /// The crates of the files.
    pub(super) fn crates(&self) -> BTreeSet<&str> {
        self.edges.keys().filter_map(|file| super::rules::crate_of(file)).collect()
    }

    /// The arrows between what is directly in one crate.
    pub(super) fn arrows(&self) -> BTreeSet<Arrow> {
        let mut arrows = BTreeSet::new();
        for (file, others) in &self.edges {
            for other in others {
                let (from, to) = (module_of(file), module_of(other));
                if let ([owner, from, ..], [same, to, ..]) = (from.as_slice(), to.as_slice())
                    && owner == same
                    && from != to
                {
                    let (owner, from, to) = (owner.clone(), from.clone(), to.clone());
                    arrows.insert(Arrow { owner, from, to, file: file.clone() });
                }
            }
        }
        arrows
    }
}

/// What a file says that matters here.
struct Source {
    file: String,
    named: Vec<Path>,
    /// The modules directly below it.
    children: BTreeSet<String>,
    /// What it imports, by the last name: a path through this module to that name leads there.
    imported: HashMap<String, Module>,
}

impl Source {
    /// The crate and the path from its root; none for what is not of this crate.
    fn absolute(&self, module: &[String], named: &Path) -> Option<Module> {
        let (mut base, mut inline, mut rest) =
            (module.to_vec(), named.inline_modules, named.segments.as_slice());
        match rest.first()?.as_str() {
            "crate" => return Some([&module[..1], &rest[1..]].concat()),
            "self" | "super" => {}
            first if inline == 0 && self.children.contains(first) => {
                return Some([base.as_slice(), rest].concat());
            }
            first => return Some([self.imported.get(first)?.as_slice(), &rest[1..]].concat()),
        }
        while let Some(step @ ("self" | "super")) = rest.first().map(String::as_str) {
            if step == "super" {
                match inline {
                    0 => drop(base.pop()),
                    _ => inline -= 1,
                }
            }
            rest = &rest[1..];
        }
        (inline == 0).then(|| [base.as_slice(), rest].concat())
    }
}

struct Sources(BTreeMap<Module, Source>);

impl Sources {
    fn of(files: &[(String, String)]) -> Self {
        let only_tests: Vec<Module> =
            files.iter().flat_map(|(file, text)| test_modules(file, text)).collect();
        let is_test = |module: &Module| only_tests.iter().any(|tests| module.starts_with(tests));
        let known = files.iter().filter(|(file, _)| super::rules::crate_of(file).is_some());
        let known = known
            .map(|(file, text)| (module_of(file), file, text))
            .filter(|(module, ..)| !is_test(module));
        let mut sources: BTreeMap<Module, Source> = known
            .map(|(module, file, text)| {
                let named = paths(&tokens(text));
                (
                    module,
                    Source {
                        file: file.clone(),
                        named,
                        children: BTreeSet::new(),
                        imported: HashMap::new(),
                    },
                )
            })
            .collect();
        for module in sources.keys().cloned().collect::<Vec<_>>() {
            if let Some((name, parent)) = module.split_last()
                && let Some(source) = sources.get_mut(parent)
            {
                source.children.insert(name.clone());
            }
        }
        for (module, source) in &mut sources {
            let imports =
                source.named.iter().filter(|named| named.is_import && named.inline_modules == 0);
            let targets =
                imports.filter_map(|named| source.absolute(module, named)).map(without_self);
            let imported =
                targets.filter_map(|target| Some((target.last()?.clone(), target))).collect();
            source.imported = imported;
        }
        Self(sources)
    }

    /// The file in which something is that has this path, wherever it is handed on.
    fn defining(&self, path: &[String]) -> Option<&str> {
        let mut path = path.to_vec();
        for _ in 0..REEXPORTS {
            let depth =
                (1..=path.len()).rev().find(|&depth| self.0.contains_key(&path[..depth]))?;
            let source = &self.0[&path[..depth]];
            let handed_on = path.get(depth).and_then(|name| source.imported.get(name));
            match handed_on
                .map(|target| [target.as_slice(), &path[depth + 1..]].concat())
                .filter(|target| *target != path)
            {
                Some(target) => path = target,
                None => return Some(&source.file),
            }
        }
        None
    }
}

fn without_self(mut path: Module) -> Module {
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    path
}

/// The modules that a file declares for tests only.
fn test_modules(file: &str, text: &str) -> Vec<Module> {
    let all = tokens(text);
    let code: Vec<&str> = all
        .iter()
        .filter(|token| token.kind != Kind::Comment)
        .map(|token| token.text.as_str())
        .collect();
    let declared = code
        .windows(8)
        .filter(|window| matches!(window, ["cfg", "(", "test", ")", "]", "mod", _, ";"]));
    declared.map(|window| [module_of(file), vec![window[6].to_owned()]].concat()).collect()
}

fn module_of(file: &str) -> Module {
    let inner = file.strip_prefix("src/").and_then(|rest| rest.strip_suffix(".rs")).unwrap_or(file);
    inner.strip_suffix("/lib").unwrap_or(inner).split('/').map(str::to_owned).collect()
}
