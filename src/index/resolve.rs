//! Resolves all files in parallel. The result does not depend on the number of threads: a file is resolved on its own against
//! the whole program.

use super::Run;
use super::progress::{Counter, Phase};
use super::workers::{Workers, guarded};
use crate::model::graph::{FileId, FileRecord, FileResolution, Resolution, Target};
use crate::model::{Step, Verdict};
use crate::resolve::{Asked, Resolved, Tables};

/// Resolves some files, each by its position. Fewer come back when the run is cancelled.
pub(super) fn resolve(
    tables: &Tables,
    files: &[FileRecord],
    positions: impl Iterator<Item = usize>,
    run: &Run,
    workers: &Workers,
) -> Vec<(usize, Resolved)> {
    let mut order: Vec<usize> = positions.collect();
    let counter = Counter::start(Phase::Resolve, order.len(), run.progress);
    order.sort_by_key(|&position| std::cmp::Reverse(sites(&files[position])));
    workers.map(&order, run, |position| {
        let resolved = resolve_file(tables, position, &files[position]);
        counter.add_one();
        resolved
    })
}

/// Puts every relation to the file of the symbol that it starts at: a file can say what a type of another file implements,
/// and several can say the same.
pub(super) fn bring_relations_home(resolutions: &mut [FileResolution]) {
    let mut strays = Vec::new();
    for (position, resolution) in resolutions.iter_mut().enumerate() {
        resolution.relations.retain(|relation| {
            let is_home = relation.from.file.0 as usize == position;
            if !is_home {
                strays.push(*relation);
            }
            is_home
        });
    }
    strays.sort_unstable();
    strays.dedup();
    for relation in strays {
        let home = &mut resolutions[relation.from.file.0 as usize].relations;
        if let Err(place) = home.binary_search(&relation) {
            home.insert(place, relation);
        }
    }
}

fn resolve_file(tables: &Tables, position: usize, file: &FileRecord) -> Resolved {
    let Ok(facts) = &file.content else { return Resolved::default() };
    let id = FileId(u32::try_from(position).expect("a repository has far fewer than 2^32 files"));
    guarded(|| tables.resolve_file(id)).unwrap_or_else(|message| {
        tracing::error!(path = file.path.as_str(), message, "resolution failed; the references of the file stay unresolved");
        let unknown = Resolution { verdict: Verdict::Unresolved, step: Step::Fault, target: Target::None };
        let resolution = FileResolution {
            sites: vec![unknown; facts.site_count()],
            imports: vec![None; facts.imports.len()],
            relations: Vec::new(),
            containers: Vec::new(),
        };
        Resolved { resolution, asked: Asked::unknown() }
    })
}

fn sites(file: &FileRecord) -> usize {
    file.content.as_ref().map_or(0, |facts| facts.site_count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RelationKind;
    use crate::model::facts::LocalSymbol;
    use crate::model::graph::{Relation, SymbolRef};

    #[test]
    fn relations_are_kept_once_and_with_the_file_they_start_in() {
        let symbol = |file, symbol| SymbolRef { file: FileId(file), symbol: LocalSymbol(symbol) };
        let relation = |from, to| Relation { kind: RelationKind::Implements, from, to };
        let (own, stray) = (relation(symbol(0, 1), symbol(2, 0)), relation(symbol(0, 0), symbol(2, 0)));
        let of = |relations: &[Relation]| FileResolution { relations: relations.to_vec(), ..FileResolution::default() };
        let mut resolutions = [of(&[own]), of(&[stray]), of(&[stray, own])];
        bring_relations_home(&mut resolutions);
        assert_eq!(resolutions.map(|resolution| resolution.relations), [vec![stray, own], vec![], vec![]]);
    }
}
