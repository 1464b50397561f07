//! Row encoder: converts files, symbols, sites and relations of a graph to rows, for any sink.

use super::row::RowSink;
use crate::build::key_assignment::{FileNames, FileSites, Numbering, name_of};
use crate::format::columns::{Traits, inode_column, pack_signature};
use crate::format::front_coding;
use crate::format::rows::ImportSort;
use crate::format::schema::tables::row;
use crate::format::schema::{file_flags, import_marks};
use crate::format::term_index::TermIndexBuilder;
use cograph_model::Verdict;
use cograph_model::facts::{Complexity, FileFacts, Import, LocalSymbol};
use cograph_model::graph::{
    FileId, FileRecord, FileResolution, Relation, Resolution, SymbolRef, Target,
};

/// Encodes the rows of a graph.
pub(crate) struct RowWriter<R> {
    /// Row sink.
    pub(crate) rows: R,
    /// By name key: number of symbols with the name, and the greatest reference count among them.
    /// Only as far as needed.
    pub(crate) figures: Vec<(u32, u32)>,
}

impl<R: RowSink> RowWriter<R> {
    /// Writes names, by key.
    pub(crate) fn names(&mut self, names: &[(u32, &str)]) -> Result<(), R::Error> {
        names.iter().try_for_each(|&(key, name)| self.rows.add(row!(name { id: key, text: name })))
    }

    /// Writes the table of names without a symbol.
    pub(crate) fn other_names(&mut self, numbering: &Numbering<'_>) -> Result<(), R::Error> {
        let mut others: Vec<_> = numbering.names[numbering.symbol_names..].iter().collect();
        // In the order of the table's key.
        others.sort_unstable_by(|(one_key, one), (other_key, other)| {
            front_coding::folded_order(one, other).then_with(|| one_key.cmp(other_key))
        });
        others
            .into_iter()
            .try_for_each(|&(key, name)| self.rows.add(row!(other_name { text: name, name: key })))
    }

    /// Writes the name index of symbol names.
    pub(super) fn name_runs(&mut self, numbering: &Numbering<'_>) -> Result<(), R::Error> {
        let Self { rows, figures } = self;
        let mut packer = front_coding::Packer::default();
        let mut full = 0_u32;
        let mut write = |run: Option<Vec<u8>>| {
            let Some(run) = run else { return Ok(()) };
            full += 1;
            rows.add(row!(name_run { id: full, names: &*run }))
        };
        for ((_, name), &(symbols, references)) in numbering.names.iter().zip(&*figures) {
            write(packer.add(name, symbols, references))?;
        }
        write(packer.finish_run())?;
        let (tops, grams) = packer.finish();
        rows.add(row!(name_tops { id: 1_u32, tops: &*tops }))?;
        grams
            .into_iter()
            .try_for_each(|(letters, runs)| rows.add(row!(name_gram { id: letters, runs: &*runs })))
    }

    /// Writes the index of terms.
    pub(super) fn term_index(&mut self, terms: TermIndexBuilder) -> Result<(), R::Error> {
        self.rows.add(row!(file_lengths { id: 1_u32, lengths: terms.lengths() }))?;
        terms.finish(|first, postings| self.rows.add(row!(term_block { first, postings })))
    }

    /// Writes the candidate sets.
    pub(crate) fn candidates(&mut self, numbering: &Numbering<'_>) -> Result<(), R::Error> {
        for (set, symbols) in &numbering.candidate_sets {
            for &symbol in *symbols {
                self.rows.add(row!(candidate { list: *set, symbol: numbering.symbol(symbol) }))?;
            }
        }
        Ok(())
    }

    /// Writes a file and its contents; returns the number of its sites.
    pub(crate) fn file(
        &mut self,
        numbering: &Numbering<'_>,
        place: usize,
        record: &FileRecord,
        found: &FileResolution,
        sites: &FileSites<'_>,
    ) -> Result<u32, R::Error> {
        let mut verdicts = [0_u32; Verdict::ALL.len()];
        for site in sites.in_order() {
            verdicts[site.resolution.verdict as usize] += 1;
        }
        let (facts, skipped) = match &record.content {
            Ok(facts) => (Some(facts), None),
            Err(reason) => (None, Some(*reason as u8)),
        };
        let flags = facts.map_or(0, |facts| {
            i64::from(facts.generated) * file_flags::GENERATED
                + i64::from(facts.test) * file_flags::TEST
        });
        let hash = Some(record.stamp.hash).filter(|&hash| hash != 0).map(u128::to_be_bytes);
        self.rows.add(row!(file {
            id: numbering.file(place),
            path: record.path.as_str(),
            language: record.language.map(|language| language.0),
            size: i64::try_from(record.stamp.size).unwrap_or(i64::MAX),
            modified_ns: record.stamp.modified_ns,
            hash: hash.as_ref().map(<[u8; 16]>::as_slice),
            lines: facts.map_or(0, |facts| facts.lines),
            skipped,
            flags,
            first_symbol: numbering.first_symbols[place],
            symbols: facts.map_or(0, |facts| facts.symbols.len() as i64),
            first_site: numbering.first_sites[place],
            sites: sites.len(),
            resolved: verdicts[Verdict::Resolved as usize],
            likely: verdicts[Verdict::Likely as usize],
            ambiguous: verdicts[Verdict::Ambiguous as usize],
            external: verdicts[Verdict::External as usize],
            unresolved: verdicts[Verdict::Unresolved as usize],
            possible: verdicts[Verdict::Possible as usize],
            changed_ns: record.stamp.changed_ns,
            inode: inode_column(record.stamp.inode),
            package: facts.and_then(|facts| facts.package.as_deref()),
        }))?;
        let Some(facts) = facts else { return Ok(0) };
        let terms = &facts.words;
        self.rows.add(row!(file_words {
            file: numbering.file(place),
            words: &*terms.words,
            postings: &*terms.postings,
        }))?;
        let mut names = FileNames::new(facts);
        self.symbols(numbering, place, facts, &found.containers, sites, &mut names)?;
        self.sites(numbering, place, sites, &mut names)?;
        self.imports_and_problems(&found.imports, numbering, place, facts, &mut names)?;
        self.relations(&found.relations, numbering)?;
        self.file_edges(found, numbering, place, sites, &facts.imports)?;
        Ok(sites.len())
    }

    /// Writes the symbols of a file. `containers` has the enclosing types of members defined
    /// outside of their type's body.
    fn symbols(
        &mut self,
        numbering: &Numbering<'_>,
        place: usize,
        facts: &FileFacts,
        containers: &[(LocalSymbol, SymbolRef)],
        sites: &FileSites<'_>,
        names: &mut FileNames<'_>,
    ) -> Result<(), R::Error> {
        let first = numbering.first_symbols[place];
        let spans = sites.spans(facts.symbols.len());
        let described = facts.symbols.iter().zip(&facts.details);
        for ((key, (symbol, details)), span) in (first..).zip(described).zip(spans) {
            let written_in = symbol
                .container
                .get()
                .map(|container| first + u32::try_from(container).unwrap_or(u32::MAX));
            let member = LocalSymbol(key - first);
            let container = match containers.binary_search_by_key(&member, |&(member, _)| member) {
                Ok(found) => Some(numbering.symbol(containers[found].1)),
                Err(_) => written_in,
            };
            let (name, references) =
                (numbering.name_in(names, symbol.name), numbering.references(place, member));
            if let Some((symbols, most)) = self.figures.get_mut(name as usize - 1) {
                *symbols += 1;
                *most = references.max(*most);
            }
            let traits =
                Traits { visibility: symbol.visibility, kind: symbol.kind, flags: symbol.flags };
            let extent = symbol.extent(details);
            let signature = pack_signature(&details.signature, name_of(facts, symbol.name));
            self.rows.add(row!(symbol {
                id: key,
                file: numbering.file(place),
                name,
                traits: traits.pack(),
                container,
                least: symbol.arity.0,
                most: symbol.arity.1,
                start_line: extent.start.line,
                start_column: extent.start.column,
                more_lines: i64::from(extent.end.line) - i64::from(extent.start.line),
                end_column: extent.end.column,
                start_byte: extent.start_byte,
                length: extent.end_byte.saturating_sub(extent.start_byte),
                name_down: i64::from(details.name_at.line) - i64::from(extent.start.line),
                name_column: details.name_at.column,
                signature: &*signature,
                doc: &*details.doc,
                refs: references,
                // Most symbols have no sites of their own: 0 has the shortest encoding.
                first_site: match span.len {
                    0 => 0,
                    _ => numbering.first_sites[place] + span.start,
                },
                site_span: span.len,
                complexity: Complexity::pack(details.complexity),
            }))?;
        }
        Ok(())
    }

    fn sites(
        &mut self,
        numbering: &Numbering<'_>,
        place: usize,
        sites: &FileSites<'_>,
        names: &mut FileNames<'_>,
    ) -> Result<(), R::Error> {
        let (file, first_symbol) = (numbering.file(place), numbering.first_symbols[place]);
        for (key, site) in (numbering.first_sites[place]..).zip(sites.in_order()) {
            let (target, target_file) = target(numbering, site.resolution);
            let enclosing = site.facts.enclosing.get();
            self.rows.add(row!(site {
                id: key,
                file,
                enclosing: enclosing.map(|place| i64::from(first_symbol) + place as i64),
                name: numbering.name_in(names, site.facts.name),
                mark: site.mark().pack(),
                col: site.facts.at.column,
                target,
            }))?;
            if let Some(target) = target_file {
                self.rows.add(row!(site_file { site: key, file: target }))?;
            }
        }
        Ok(())
    }

    fn imports_and_problems(
        &mut self,
        targets: &[Option<FileId>],
        numbering: &Numbering<'_>,
        place: usize,
        facts: &FileFacts,
        names: &mut FileNames<'_>,
    ) -> Result<(), R::Error> {
        let file = numbering.file(place);
        for (number, import) in facts.imports.iter().enumerate() {
            let target = targets
                .get(number)
                .copied()
                .flatten()
                .map(|target| numbering.file(target.0 as usize));
            let module = numbering.name(&import.module);
            let (level, line, column) = (import.level, import.at.line, import.at.column);
            let item = import.item.is_some().then(|| numbering.name_in(names, import.item));
            self.rows.add(row!(import {
                file,
                place: number as i64,
                module,
                level,
                item,
                line,
                col: column,
                target,
                marks: marks(&facts.imports, number),
            }))?;
        }
        for (number, problem) in facts.problems.iter().enumerate() {
            self.rows.add(row!(problem {
                file,
                place: number as i64,
                kind: problem.kind as u8,
                first_line: problem.first_line,
                last_line: problem.last_line,
            }))?;
        }
        Ok(())
    }

    /// Writes the relations that start in a file.
    pub(crate) fn relations(
        &mut self,
        relations: &[Relation],
        numbering: &Numbering<'_>,
    ) -> Result<(), R::Error> {
        let keys = relations.iter().map(|relation| {
            let ends = (numbering.symbol(relation.from), numbering.symbol(relation.to));
            (ends.0, relation.kind as u8, ends.1)
        });
        let mut relations: Vec<(u32, u8, u32)> = keys.collect();
        // In the order of the table's key, without duplicates.
        relations.sort_unstable();
        relations.dedup();
        relations.into_iter().try_for_each(|(from, kind, to)| {
            self.rows.add(row!(relation { source: from, kind, target: to }))
        })
    }

    /// Writes the edges from a file to other files.
    pub(crate) fn file_edges(
        &mut self,
        found: &FileResolution,
        numbering: &Numbering<'_>,
        place: usize,
        sites: &FileSites<'_>,
        imports: &[Import],
    ) -> Result<(), R::Error> {
        let source = numbering.file(place);
        let sorts: Vec<u8> =
            (0..imports.len()).map(|at| ImportSort::of(marks(imports, at)).bit()).collect();
        let edges = sites.file_edges(place, &found.imports, &sorts);
        edges.into_iter().try_for_each(|(target, weight, sorts)| {
            let target = numbering.file(target);
            self.rows.add(row!(file_edge { source, target, sites: weight, imports: sorts }))
        })
    }
}

/// Column `import.marks`. What only binds the first name of the path before it imports nothing.
fn marks(imports: &[Import], at: usize) -> i64 {
    let import = &imports[at];
    let binds_first = at.checked_sub(1).is_some_and(|before| {
        let rest = imports[before].module.strip_prefix(&*import.module);
        imports[before].at == import.at && rest.is_some_and(|rest| !rest.is_empty())
    });
    i64::from(import.type_only) * import_marks::TYPE_ONLY
        + i64::from(import.lazy) * import_marks::LAZY
        + i64::from(import.test) * import_marks::TEST
        + i64::from(import.is_declaration() || binds_first) * import_marks::DECLARES
}

/// Keys of a site's target symbol and target file.
pub(crate) fn target(
    numbering: &Numbering<'_>,
    resolution: &Resolution,
) -> (Option<i64>, Option<u32>) {
    match &resolution.target {
        Target::None => (None, None),
        Target::File(file) => (None, Some(numbering.file(file.0 as usize))),
        Target::Symbol(symbol) => (Some(numbering.symbol(*symbol).into()), None),
        Target::Candidates(symbols) => (Some(-i64::from(numbering.candidate_set(symbols))), None),
        Target::External(name) => (Some(numbering.name(name).into()), None),
    }
}
