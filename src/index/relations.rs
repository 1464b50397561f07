//! The relations between symbols: as files speak of them, and with the files that they start in. A file can say what a type of
//! another file implements, and several can say the same. Knows nothing of how relations are found.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::graph::{FileResolution, Relation};

/// What each file speaks of, wherever it starts.
#[derive(Debug, Default)]
pub(super) struct Relations {
    spoken: Vec<Vec<Relation>>,
    /// Other files that speak of what starts in a file, by that file.
    from_elsewhere: BTreeMap<usize, BTreeSet<usize>>,
}

impl Relations {
    /// Those that each file speaks of, by position.
    pub(super) fn new(spoken: Vec<Vec<Relation>>) -> Self {
        let mut from_elsewhere: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (speaker, relations) in spoken.iter().enumerate() {
            for home in strays(speaker, relations) {
                from_elsewhere.entry(home).or_default().insert(speaker);
            }
        }
        Self { spoken, from_elsewhere }
    }

    /// Takes what each file speaks of out of its result, and puts there what starts in it.
    pub(super) fn bring_home(found: &mut [FileResolution]) -> Self {
        let relations = Self::new(found.iter_mut().map(|found| std::mem::take(&mut found.relations)).collect());
        for (place, found) in found.iter_mut().enumerate() {
            found.relations = relations.at_home(place);
        }
        relations
    }

    /// What each file speaks of.
    pub(super) fn spoken(&self) -> &[Vec<Relation>] {
        &self.spoken
    }

    /// The same, to be put elsewhere.
    pub(super) fn into_spoken(self) -> Vec<Vec<Relation>> {
        self.spoken
    }

    /// A file speaks of these now. Adds the files to `homes` in which others may start than before.
    pub(super) fn set(&mut self, speaker: usize, relations: Vec<Relation>, homes: &mut BTreeSet<usize>) {
        homes.insert(speaker);
        for home in strays(speaker, &self.spoken[speaker]) {
            homes.insert(home);
            if let Some(speakers) = self.from_elsewhere.get_mut(&home) {
                speakers.remove(&speaker);
            }
        }
        for home in strays(speaker, &relations) {
            homes.insert(home);
            self.from_elsewhere.entry(home).or_default().insert(speaker);
        }
        self.spoken[speaker] = relations;
    }

    /// Those that start in a file, sorted and once each.
    pub(super) fn at_home(&self, place: usize) -> Vec<Relation> {
        let start_here = |speaker: usize| self.spoken[speaker].iter().filter(move |relation| home(relation) == place).copied();
        let mut all: Vec<Relation> = start_here(place).collect();
        let mut others: Vec<Relation> =
            self.from_elsewhere.get(&place).into_iter().flatten().flat_map(|&speaker| start_here(speaker)).collect();
        others.sort_unstable();
        others.dedup();
        for other in others {
            if let Err(at) = all.binary_search(&other) {
                all.insert(at, other);
            }
        }
        all
    }
}

/// The files in which those relations start that do not start with the one who speaks of them.
pub(super) fn strays(speaker: usize, relations: &[Relation]) -> impl Iterator<Item = usize> {
    relations.iter().map(home).filter(move |&home| home != speaker)
}

/// The position of the file that a relation starts in.
fn home(relation: &Relation) -> usize {
    relation.from.file.0 as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RelationKind;
    use crate::model::facts::LocalSymbol;
    use crate::model::graph::{FileId, SymbolRef};

    #[test]
    fn relations_start_at_home_once_whoever_speaks_of_them_now() {
        let symbol = |file, symbol| SymbolRef { file: FileId(file), symbol: LocalSymbol(symbol) };
        let relation = |from, to| Relation { kind: RelationKind::Implements, from, to };
        let (own, stray) = (relation(symbol(0, 1), symbol(2, 0)), relation(symbol(0, 0), symbol(2, 0)));
        let mut relations = Relations::new(vec![vec![own], vec![stray], vec![stray, own]]);
        let all = |relations: &Relations| [0, 1, 2].map(|place| relations.at_home(place));
        assert_eq!(all(&relations), [vec![stray, own], vec![], vec![]]);
        let mut homes = BTreeSet::new();
        relations.set(2, Vec::new(), &mut homes);
        relations.set(0, Vec::new(), &mut homes);
        assert_eq!(homes, BTreeSet::from([0, 2]));
        assert_eq!(all(&relations), [vec![stray], vec![], vec![]]);
        let mut homes = BTreeSet::new();
        relations.set(1, Vec::new(), &mut homes);
        assert_eq!(homes, BTreeSet::from([0, 1]), "what one file says is another file's relation");
        assert_eq!(all(&relations), [vec![], vec![], vec![]]);
        let mut homes = BTreeSet::new();
        relations.set(1, vec![stray], &mut homes);
        assert_eq!(homes, BTreeSet::from([0, 1]), "and where it starts is told when it comes, too");
        assert_eq!(all(&relations), [vec![stray], vec![], vec![]]);
    }
}
