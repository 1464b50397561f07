//! Takes changed files into the tables, and finds out which files have to be resolved again: those that are new or changed,
//! and those that were told something which is no longer so.

use super::answers::Answers;
use super::asked::{Asked, Files, Question};
use super::tables::{Content, File, Tables, content};
use super::unit::Unit;
use super::{Name, ProjectFile};
use crate::model::graph::{FileId, FileRecord};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What a change of files means for what is known of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Updated {
    /// Where each file is now, by its position before; none for those that are gone.
    pub moved: Vec<Option<FileId>>,
    /// The files to resolve, in order.
    pub affected: Vec<FileId>,
}

impl Tables {
    /// Makes the tables those of `records`, which are sorted by path; a file that has not changed has the same facts, not
    /// only equal ones. `changed` names the files that may have changed, if the paths are those before. `asked` has what was
    /// looked at for each file before, and then for each file that is not affected.
    pub fn update(
        &mut self,
        records: &[FileRecord],
        changed: Option<&[FileId]>,
        project_files: &[ProjectFile],
        asked: &mut Vec<Asked>,
    ) -> Updated {
        let taken = match changed {
            Some(changed) => self.take_in_some(records, changed),
            None => self.take_in_all(records),
        };
        let flipped = Otherwise::of_names(&taken.flipped, self);
        let in_place = !taken.is_other_shape && project_files == self.project_files && !flipped.concerns(&self.asked);
        let mut affected: Vec<bool> = if in_place {
            for Apart { file, symbols, old, .. } in &taken.apart {
                self.linkage.remove_last(*file, &old.unit(&self.names), *symbols);
            }
            for Apart { file, symbols, new, .. } in &taken.apart {
                self.linkage.add_last(*file, &new.unit(&self.names), *symbols);
            }
            for (file, content) in taken.contents {
                self.files[file.0 as usize].content = content;
            }
            asked.iter().map(|asked| asked.unknown || flipped.concerns(asked)).collect()
        } else {
            let mut files: Vec<File> = records.iter().map(|record| File { path: record.path.clone(), content: None }).collect();
            for (file, to) in self.files.iter().zip(&taken.moved) {
                if let Some(to) = to {
                    files[to.0 as usize].content.clone_from(&file.content);
                }
            }
            for (file, content) in taken.contents {
                files[file.0 as usize].content = content;
            }
            let names = std::mem::take(&mut self.names);
            let mut tables = Self::over(files, names, project_files.to_vec());
            std::mem::swap(self, &mut tables);
            let before = tables;
            let told = self.told_otherwise(before, &taken.moved, &taken.changed_before, flipped, asked);
            let mut affected = vec![true; self.files.len()];
            let mut kept = vec![Asked::default(); self.files.len()];
            let stays = taken.moved.iter().all(Option::is_some) && taken.moved.len() == records.len();
            for ((asked, to), told) in asked.iter_mut().zip(&taken.moved).zip(told) {
                let Some(to) = to else { continue };
                affected[to.0 as usize] = told;
                if !told {
                    kept[to.0 as usize] = if stays { std::mem::take(asked) } else { asked.moved(&taken.moved) };
                }
            }
            *asked = kept;
            affected
        };
        for file in taken.changed {
            affected[file.0 as usize] = true;
        }
        let affected = self.ids().filter(|file| affected[file.0 as usize] && self.unit(*file).is_some()).collect();
        Updated { moved: taken.moved, affected }
    }

    /// Compares some files with those before, where the paths are the same; see `take_in_all`.
    fn take_in_some(&mut self, records: &[FileRecord], changed: &[FileId]) -> Taken {
        let mut taken = Taken { moved: self.ids().map(Some).collect(), ..Taken::default() };
        let mut left: Vec<Content> = Vec::new();
        for &file in changed {
            let place = file.0 as usize;
            self.compare(&mut taken, &mut left, file, Some(place), &records[place]);
        }
        self.let_go(&mut taken, left);
        taken
    }

    /// Compares all files with those before and counts their names; changes nothing else.
    fn take_in_all(&mut self, records: &[FileRecord]) -> Taken {
        let mut taken = Taken { moved: vec![None; self.files.len()], ..Taken::default() };
        let mut left: Vec<Content> = Vec::new();
        let mut before = 0;
        for (position, record) in records.iter().enumerate() {
            let file = FileId(u32::try_from(position).expect("a repository has far fewer than 2^32 files"));
            while before < self.files.len() && self.files[before].path < record.path {
                left.extend(self.files[before].content.clone());
                taken.is_other_shape = true;
                before += 1;
            }
            let known = Some(before).filter(|&before| self.files.get(before).is_some_and(|known| known.path == record.path));
            match known {
                Some(known) => taken.moved[known] = Some(file),
                None => taken.is_other_shape = true,
            }
            self.compare(&mut taken, &mut left, file, known, record);
            before += usize::from(known.is_some());
        }
        taken.is_other_shape |= before < self.files.len();
        left.extend(self.files[before..].iter().filter_map(|file| file.content.clone()));
        self.let_go(&mut taken, left);
        taken
    }

    /// Compares a file with what it was at a position before, if it was there. What it was is `left` if it is not that any more.
    fn compare(&mut self, taken: &mut Taken, left: &mut Vec<Content>, file: FileId, known: Option<usize>, record: &FileRecord) {
        let old = known.and_then(|known| self.files[known].content.as_ref());
        let same = match (old, record.content.as_ref().ok()) {
            (Some(old), Some(facts)) => {
                Arc::ptr_eq(&old.facts, facts)
                    && record.language.is_some_and(|is| std::ptr::eq(old.language, crate::grammar::language(is)))
            }
            (None, None) => known.is_some(),
            _ => false,
        };
        if same {
            return;
        }
        let old = old.cloned();
        let new = content(record, &mut self.names);
        if let Some(new) = &new {
            taken.flipped.extend(self.names.add(&new.table));
        }
        let known = known.map(|known| FileId(u32::try_from(known).expect("it was a position before")));
        match (&old, &new, known) {
            (Some(old), Some(new), Some(known)) if std::ptr::eq(old.language, new.language) => {
                if old.table.interface != new.table.interface {
                    taken.unlike.push((known, old.clone(), new.clone()));
                }
            }
            _ => taken.look_different(known),
        }
        left.extend(old);
        taken.changed.push(file);
        taken.contents.push((file, new));
    }

    /// Counts out the names of files as they were, and tells which files others see something else of.
    fn let_go(&mut self, taken: &mut Taken, left: Vec<Content>) {
        for old in left {
            taken.flipped.extend(self.names.remove(&old.table));
        }
        let flipped = taken.flipped.iter().copied().collect();
        for (file, old, new) in std::mem::take(&mut taken.unlike) {
            match differ_after(&old.unit(&self.names), &new.unit(&self.names), &flipped) {
                Some(symbols) => taken.apart.push(Apart { file, symbols, old, new }),
                None => taken.look_different(Some(file)),
            }
        }
    }

    /// For each file before the change: whether something it was told is otherwise now.
    fn told_otherwise(
        &self,
        before: Self,
        moved: &[Option<FileId>],
        changed: &Files,
        mut otherwise: Otherwise,
        asked: &[Asked],
    ) -> Vec<bool> {
        // Both look at the same names: the tables before have given theirs away.
        let (old, new) = (Answers::new(&before, &self.names), Answers::new(self, &self.names));
        let (old_links, new_links) = (old.links(), new.links());
        let (old_given, new_given) = (old.given(), new.given());
        let (mut facts, mut links, mut given) = (changed.clone(), Files::default(), Files::default());
        for (file, to) in before.ids().zip(moved) {
            let (position, to) = (file.0 as usize, to.map(|to| to.0 as usize));
            if to.is_none() {
                facts.insert(file);
            }
            if to.is_none_or(|to| old_links[position] != new_links[to]) {
                links.insert(file);
            }
            if to.is_none_or(|to| old_given[position] != new_given[to]) {
                given.insert(file);
            }
        }
        let reach = leading_to(&before, &links);
        otherwise.0.extend(old.differing(&new));
        let mut known: FxHashMap<&Question, bool> = FxHashMap::default();
        let at = |file: FileId| moved.get(file.0 as usize).copied().flatten();
        let mut is_elsewhere =
            |question| *known.entry(question).or_insert_with(|| old.place(question, Some) != new.place(question, at));
        asked
            .iter()
            .map(|asked| {
                asked.unknown
                    || asked.facts.meets(&facts)
                    || asked.links.meets(&links)
                    || asked.given.meets(&given)
                    || asked.reach.meets(&reach)
                    || otherwise.concerns(asked)
                    || asked.about_places().iter().any(&mut is_elsewhere)
            })
            .collect()
    }
}

/// The files after a change beside those before.
#[derive(Default)]
struct Taken {
    /// By position before.
    moved: Vec<Option<FileId>>,
    /// What the files are that are not what they were, by position now.
    contents: Vec<(FileId, Option<Content>)>,
    /// Files that have other facts now, by position now.
    changed: Vec<FileId>,
    /// Files of which others see something else now, by position before.
    changed_before: Files,
    /// Names that some file has now and none had, or the other way round.
    flipped: Vec<Name>,
    /// Files of which others may see something else, by position before, as they were and as they are.
    unlike: Vec<(FileId, Content, Content)>,
    /// Files that differ in functions that only they can speak of.
    apart: Vec<Apart>,
    /// Whether tables may be others: files came or went, or others see something else of one.
    is_other_shape: bool,
}

impl Taken {
    /// Others see something else of a file, which was at this position if it was there.
    fn look_different(&mut self, known: Option<FileId>) {
        self.is_other_shape = true;
        if let Some(known) = known {
            self.changed_before.insert(known);
        }
    }
}

/// A file that differs from what it was in functions that nobody else can have asked about.
struct Apart {
    /// Its position before.
    file: FileId,
    /// How many symbols it has before these functions.
    symbols: usize,
    old: Content,
    new: Content,
}

/// After how many symbols two states of a file differ, as far as others can tell, if it is only in functions at its end whose names
/// no file had before, or none has any more. A function is found by its name alone, so that nobody who asked before got one of
/// them for an answer, or missed one, and the symbols before them keep their places.
fn differ_after(old: &Unit<'_>, new: &Unit<'_>, flipped: &FxHashSet<Name>) -> Option<usize> {
    let symbols = old.symbols_before(flipped);
    let has_any = symbols < old.facts.symbols.len() || symbols < new.facts.symbols.len();
    let is_so = has_any && symbols == new.symbols_before(flipped);
    (is_so && old.interface_of_first(symbols) == new.interface_of_first(symbols)).then_some(symbols)
}

/// Questions that have another answer now.
struct Otherwise(FxHashSet<Question>);

impl Otherwise {
    /// About names that some file has now and none had, or the other way round.
    fn of_names(names: &[Name], tables: &Tables) -> Self {
        let asked = |name: &Name| [Question::Name(*name), Question::NoName(tables.names.text(*name).into())];
        Self(names.iter().flat_map(asked).collect())
    }

    /// Whether one of them was asked.
    fn concerns(&self, asked: &Asked) -> bool {
        // Either is quick where the other is slow.
        let steps = asked.questions.len().checked_ilog2().unwrap_or(0) as usize + 1;
        if self.0.len() * steps <= asked.questions.len() {
            return self.0.iter().any(|question| asked.has(question));
        }
        !self.0.is_empty() && asked.questions.iter().any(|question| self.0.contains(question))
    }
}

/// The files from which some of `targets` are reached over imports.
fn leading_to(tables: &Tables, targets: &Files) -> Files {
    let mut found = targets.clone();
    let mut waiting: Vec<FileId> = targets.iter().collect();
    if waiting.is_empty() {
        return found;
    }
    let mut from: Vec<Vec<FileId>> = vec![Vec::new(); tables.files.len()];
    for file in tables.ids() {
        for next in tables.next_to(file) {
            from[next.0 as usize].push(file);
        }
    }
    while let Some(file) = waiting.pop() {
        for &before in &from[file.0 as usize] {
            if !found.contains(before) {
                found.insert(before);
                waiting.push(before);
            }
        }
    }
    found
}
