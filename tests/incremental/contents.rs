//! What the rows of a store must say, made from the graph alone: the same text as `dump` gives of
//! the store.

use std::collections::{BTreeMap, BTreeSet};

use cograph::model::facts::{Complexity, FileFacts, Import, LocalSymbol, NameId, Site};
use cograph::model::graph::{
    FileId, FileRecord, FileResolution, Graph, Resolution, SymbolRef, Target,
};
use cograph::model::{SiteKind, Step, Verdict};

/// What `dump` gives of a store is what `graph` says.
pub(crate) fn assert_same(dump: &str, graph: &Graph) {
    let mut found: Vec<&str> = dump.lines().collect();
    found.sort_unstable();
    let expected = of(graph).join("\n");
    let mut expected: Vec<&str> = expected.lines().collect();
    expected.sort_unstable();
    assert!(
        found == expected,
        "a store (first) is not its graph (second):\n{}",
        super::difference(dump, &expected.join("\n"))
    );
}

/// The symbols that a site counts for: its target, or all variants of it.
fn leads_to(site: &Resolution) -> &[SymbolRef] {
    match (&site.target, site.verdict) {
        (Target::Symbol(symbol), _) => std::slice::from_ref(symbol),
        (Target::Candidates(variants), Verdict::Resolved) => variants,
        _ => &[],
    }
}

/// The answers of a file that are stored: those of its sites, and the reads of variables that they
/// go through.
fn answers(found: &FileResolution) -> impl Iterator<Item = &Resolution> {
    let holders = found.holders.iter().map(|(_, holder)| holder);
    found.sites.iter().filter(|site| site.step != Step::LocalValue).chain(holders)
}

/// The lines of a graph, sorted.
fn of(graph: &Graph) -> Vec<String> {
    let mut contents =
        Contents { graph, lines: Vec::new(), references: BTreeMap::new(), names: BTreeMap::new() };
    for found in &graph.resolutions {
        for site in answers(found) {
            for symbol in leads_to(site) {
                *contents.references.entry(*symbol).or_default() += 1;
            }
        }
    }
    for (file, (record, found)) in (0..).map(FileId).zip(graph.files.iter().zip(&graph.resolutions))
    {
        contents.file(file, record, found);
    }
    contents.totals();
    let names: Vec<String> = contents
        .names
        .iter()
        .map(|(name, (count, most))| format!("name|{name}|{count}|{most}"))
        .collect();
    contents.lines.extend(names);
    contents.lines.sort_unstable();
    contents.lines
}

struct Contents<'g> {
    graph: &'g Graph,
    lines: Vec<String>,
    references: BTreeMap<SymbolRef, u32>,
    /// How many symbols have a name, and how often the one that is used most is referred to.
    names: BTreeMap<String, (u32, u32)>,
}

fn shown<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

fn text(facts: &FileFacts, name: NameId) -> &str {
    name.get().map_or("", |place| &facts.names[place])
}

/// The sites that a store has, in order of place. A local value leads to no symbol.
fn stored<'g>(facts: &FileFacts, found: &'g FileResolution) -> Vec<(Site, &'g Resolution)> {
    let all = facts.sites.list();
    assert_eq!(all.len(), found.sites.len(), "every site has an answer");
    let mut sites: Vec<_> = all
        .iter()
        .copied()
        .zip(&found.sites)
        .filter(|(_, found)| found.step != Step::LocalValue)
        .collect();
    sites.extend(
        found
            .holders
            .iter()
            .map(|(site, holder)| (Site { kind: SiteKind::Read, ..all[site.0 as usize] }, holder)),
    );
    sites.sort_by_key(|(site, _)| site.at);
    sites
}

/// The properties of an import, as bits.
fn marks(imports: &[Import], place: usize) -> u8 {
    let import = &imports[place];
    let binds_first = place > 0 && {
        let before = &imports[place - 1];
        let is_longer = before.module.len() > import.module.len();
        before.at == import.at && is_longer && before.module.starts_with(&*import.module)
    };
    u8::from(import.type_only)
        + 2 * u8::from(import.lazy)
        + 4 * u8::from(import.test)
        + 8 * u8::from(import.is_declaration() || binds_first)
}

/// What an import is needed for, as a bit of an edge: of several, the first.
fn edge_bit(imports: &[Import], place: usize) -> u8 {
    let bits = [(8, 16), (4, 8), (1, 2), (2, 4)];
    let marks = marks(imports, place);
    bits.into_iter().find(|(mark, _)| marks & mark != 0).map_or(1, |(_, bit)| bit)
}

impl Contents<'_> {
    fn path(&self, file: FileId) -> &str {
        self.graph.files[file.0 as usize].path.as_str()
    }

    fn label(&self, SymbolRef { file, symbol }: SymbolRef) -> String {
        format!("{}#{:04}", self.path(file), symbol.0)
    }

    fn file(&mut self, file: FileId, record: &FileRecord, found: &FileResolution) {
        let path = record.path.as_str().to_owned();
        let (facts, skipped) = (record.content.as_deref().ok(), record.content.as_ref().err());
        let sites = facts.map(|facts| stored(facts, found)).unwrap_or_default();
        let of =
            |verdict: Verdict| sites.iter().filter(|(_, found)| found.verdict == verdict).count();
        let verdicts = Verdict::ALL
            .iter()
            .map(|verdict| of(*verdict).to_string())
            .collect::<Vec<_>>()
            .join("|");
        let hash = if record.stamp.hash == 0 {
            String::new()
        } else {
            format!("{:032X}", record.stamp.hash)
        };
        self.lines.push(format!(
            "file|{path}|{}|{}|{hash}|{}|{}|{}|{}|{}|{verdicts}",
            shown(record.language.map(|language| language.0)),
            record.stamp.size,
            facts.map_or(0, |facts| facts.lines),
            shown(skipped.map(|reason| *reason as u8)),
            facts.map_or(0, |facts| u8::from(facts.generated) + 2 * u8::from(facts.test)),
            facts.map_or(0, |facts| facts.symbols.len()),
            sites.len(),
        ));
        let Some(facts) = facts else { return };
        self.symbols(file, facts, found, &sites);
        self.sites(file, facts, &sites);
        for (place, (import, target)) in facts.imports.iter().zip(&found.imports).enumerate() {
            let item = shown(import.item.is_some().then(|| text(facts, import.item)));
            let target = shown(target.map(|target| self.path(target)));
            let (module, level, at) = (&import.module, import.level, import.at);
            self.lines.push(format!(
                "import|{path}|{place}|{module}|{level}|{item}|{}|{}|{target}|{}",
                at.line,
                at.column,
                marks(&facts.imports, place),
            ));
        }
        let hex =
            |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02X}")).collect() };
        let (words, postings) = (hex(&facts.words.words), hex(&facts.words.postings));
        self.lines.push(format!("words|{path}|{words}|{postings}"));
        for (place, problem) in facts.problems.iter().enumerate() {
            let kind = problem.kind as u8;
            self.lines.push(format!(
                "problem|{path}|{place}|{kind}|{}|{}",
                problem.first_line, problem.last_line
            ));
        }
        let by_site = sites.iter().flat_map(|(_, site)| match &site.target {
            Target::File(file) => vec![*file],
            _ => leads_to(site).iter().map(|symbol| symbol.file).collect(),
        });
        let mut edges: BTreeMap<FileId, (u32, u8)> = BTreeMap::new();
        let imported = found
            .imports
            .iter()
            .enumerate()
            .filter_map(|(place, target)| Some(((*target)?, edge_bit(&facts.imports, place))));
        let targets = by_site.map(|target| (target, 0)).chain(imported);
        for (target, bit) in targets.filter(|(target, _)| *target != file) {
            let edge = edges.entry(target).or_default();
            *edge = (edge.0 + 1, edge.1 | bit);
        }
        for (target, (count, bits)) in edges {
            self.lines.push(format!("file_edge|{path}|{}|{count}|{bits}", self.path(target)));
        }
    }

    fn symbols(
        &mut self,
        file: FileId,
        facts: &FileFacts,
        found: &FileResolution,
        sites: &[(Site, &Resolution)],
    ) {
        // Where the sites are that a symbol is the innermost one around: the first, and from it to
        // the last.
        let mut spans: BTreeMap<LocalSymbol, (usize, usize)> = BTreeMap::new();
        for (number, (site, _)) in sites.iter().enumerate() {
            let (first, length) = spans.entry(site.enclosing).or_insert((number, 0));
            *length = number - *first + 1;
        }
        for (position, symbol) in facts.symbols.iter().enumerate() {
            let own = SymbolRef { file, symbol: LocalSymbol::at(position) };
            let outside = found
                .containers
                .iter()
                .find(|(member, _)| *member == own.symbol)
                .map(|(_, container)| *container);
            let inside =
                symbol.container.is_some().then_some(SymbolRef { file, symbol: symbol.container });
            let container = shown(outside.or(inside).map(|container| self.label(container)));
            let (references, name) =
                (self.references.get(&own).copied().unwrap_or_default(), text(facts, symbol.name));
            let (first, length) = spans.get(&own.symbol).copied().unwrap_or_default();
            let traits = u32::from(symbol.visibility as u8)
                + 4 * u32::from(symbol.kind as u8)
                + 128 * symbol.flags;
            let details = &facts.details[position];
            let (extent, at) = (symbol.extent(details), details.name_at);
            self.lines.push(format!(
                "symbol|{}|{name}|{traits}|{container}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}\
                 |{references}|{first}|{length}|{}",
                self.label(own),
                symbol.arity.0,
                symbol.arity.1,
                extent.start.line,
                extent.start.column,
                i64::from(extent.end.line) - i64::from(extent.start.line),
                extent.end.column,
                extent.start_byte,
                extent.end_byte.saturating_sub(extent.start_byte),
                i64::from(at.line) - i64::from(extent.start.line),
                at.column,
                details.signature,
                details.doc,
                Complexity::pack(details.complexity),
            ));
            let (count, most) = self.names.entry(name.to_owned()).or_default();
            (*count, *most) = (*count + 1, references.max(*most));
        }
        for relation in &found.relations {
            let kind = relation.kind as u8;
            self.lines.push(format!(
                "relation|{}|{kind}|{}",
                self.label(relation.from),
                self.label(relation.to)
            ));
        }
    }

    fn sites(&mut self, file: FileId, facts: &FileFacts, sites: &[(Site, &Resolution)]) {
        for (number, (site, found)) in sites.iter().enumerate() {
            let around = site
                .enclosing
                .is_some()
                .then(|| self.label(SymbolRef { file, symbol: site.enclosing }));
            let mark = i64::from(found.verdict as u8)
                + 8 * i64::from(site.kind as u8)
                + 128 * i64::from(found.step as u8)
                + 4096 * i64::from(site.at.line);
            let (target, whole) = match &found.target {
                Target::None => (None, None),
                Target::Symbol(symbol) => (Some(self.label(*symbol)), None),
                Target::Candidates(symbols) => {
                    let labels: BTreeSet<String> =
                        symbols.iter().map(|symbol| self.label(*symbol)).collect();
                    (Some(labels.into_iter().collect::<Vec<_>>().join(" ")), None)
                }
                Target::External(name) => (Some(name.to_string()), None),
                Target::File(file) => (None, Some(self.path(*file))),
            };
            self.lines.push(format!(
                "site|{}|{number}|{}|{}|{mark}|{}|{}|{}",
                self.path(file),
                shown(around),
                text(facts, site.name),
                site.at.column,
                shown(target),
                shown(whole),
            ));
        }
    }

    fn totals(&mut self) {
        let facts = self
            .graph
            .files
            .iter()
            .map(|record| record.content.as_ref().map_or(0, |facts| facts.symbols.len()));
        let (files, symbols) = (self.graph.files.len(), facts.sum::<usize>());
        let stored: Vec<&Resolution> = self.graph.resolutions.iter().flat_map(answers).collect();
        let sites = stored.len();
        let whole = stored.iter().filter(|site| matches!(site.target, Target::File(_))).count();
        let open = stored.iter().filter(|site| site.verdict == Verdict::Ambiguous).count();
        let sets = stored.iter().filter_map(|site| match &site.target {
            Target::Candidates(symbols) => Some(symbols),
            _ => None,
        });
        let sets = sets.collect::<BTreeSet<_>>().len();
        self.lines.push(format!(
            "totals|{files}|{symbols}|{sites}|{sites}|{symbols}|{whole}|{open}|0|{sets}"
        ));
        // A relation that several files speak of is one row.
        self.lines.sort_unstable();
        self.lines.dedup_by(|one, other| one == other && one.starts_with("relation|"));
    }
}
