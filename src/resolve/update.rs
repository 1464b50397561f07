//! Takes changed files into the tables, and finds out which files have to be resolved again: those that are new or changed,
//! and those that were told something which is no longer so.

use super::answers::Answers;
use super::asked::{Asked, Files, Question};
use super::tables::{Content, File, Tables, content};
use super::{Name, ProjectFile};
use crate::model::graph::{FileId, FileRecord};
use rustc_hash::FxHashMap;
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
    /// only equal ones. `asked` has what was looked at for each file before, and then for each file that is not affected.
    pub fn update(&mut self, records: &[FileRecord], project_files: &[ProjectFile], asked: &mut Vec<Asked>) -> Updated {
        let taken = self.take_in(records);
        let in_place =
            !taken.is_other_shape && project_files == self.project_files && !asks_about(&self.asked, &taken.flipped, self);
        let mut affected: Vec<bool> = if in_place {
            for (file, content) in self.files.iter_mut().zip(taken.contents) {
                file.content = content;
            }
            asked.iter().map(|asked| asked.unknown || asks_about(asked, &taken.flipped, self)).collect()
        } else {
            let files = records.iter().zip(taken.contents);
            let files = files.map(|(record, content)| File { path: record.path.clone(), content }).collect();
            let names = std::mem::take(&mut self.names);
            let mut tables = Self::over(files, names, project_files.to_vec());
            std::mem::swap(self, &mut tables);
            let before = tables;
            let told = self.told_otherwise(before, &taken.moved, &taken.changed_before, asked);
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

    /// Compares the files with those before and counts their names; changes nothing else.
    fn take_in(&mut self, records: &[FileRecord]) -> Taken {
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
            let known = self.files.get(before).filter(|known| known.path == record.path);
            let old = known.and_then(|known| known.content.clone());
            if known.is_some() {
                taken.moved[before] = Some(file);
            } else {
                taken.is_other_shape = true;
            }
            let same = match (&old, record.content.as_ref().ok()) {
                (Some(old), Some(facts)) => {
                    Arc::ptr_eq(&old.facts, facts)
                        && record.language.is_some_and(|is| std::ptr::eq(old.language, crate::grammar::language(is)))
                }
                (None, None) => known.is_some(),
                _ => false,
            };
            if same {
                taken.contents.push(old);
            } else {
                let new = content(record, &mut self.names);
                if let Some(new) = &new {
                    taken.flipped.extend(self.names.add(&new.table));
                }
                let alike = |old: &Content, new: &Content| {
                    old.table.interface == new.table.interface && std::ptr::eq(old.language, new.language)
                };
                let looks_the_same = matches!((&old, &new), (Some(old), Some(new)) if alike(old, new));
                if !looks_the_same {
                    taken.is_other_shape = true;
                    if known.is_some() {
                        taken.changed_before.insert(FileId(u32::try_from(before).expect("it was a position before")));
                    }
                }
                left.extend(old);
                taken.changed.push(file);
                taken.contents.push(new);
            }
            before += usize::from(known.is_some());
        }
        taken.is_other_shape |= before < self.files.len();
        left.extend(self.files[before..].iter().filter_map(|file| file.content.clone()));
        for old in left {
            taken.flipped.extend(self.names.remove(&old.table));
        }
        taken
    }

    /// For each file before the change: whether something it was told is otherwise now.
    fn told_otherwise(&self, before: Self, moved: &[Option<FileId>], changed: &Files, asked: &[Asked]) -> Vec<bool> {
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
        let mut known: FxHashMap<&Question, bool> = FxHashMap::default();
        let at = |file: FileId| moved.get(file.0 as usize).copied().flatten();
        asked
            .iter()
            .map(|asked| {
                asked.unknown
                    || asked.facts.meets(&facts)
                    || asked.links.meets(&links)
                    || asked.given.meets(&given)
                    || asked.reach.meets(&reach)
                    || asked.questions.iter().any(|question| {
                        *known.entry(question).or_insert_with(|| match question {
                            Question::Name(_) => new.answer(question, at) == 0,
                            Question::NoName(_) => new.answer(question, at) != 0,
                            _ => old.answer(question, Some) != new.answer(question, at),
                        })
                    })
            })
            .collect()
    }
}

/// The files after a change beside those before.
#[derive(Default)]
struct Taken {
    /// By position before.
    moved: Vec<Option<FileId>>,
    /// By position now.
    contents: Vec<Option<Content>>,
    /// Files that have other facts now, by position now.
    changed: Vec<FileId>,
    /// Files of which others see something else now, by position before.
    changed_before: Files,
    /// Names that some file has now and none had, or the other way round.
    flipped: Vec<Name>,
    /// Whether tables may be others: files came or went, or others see something else of one.
    is_other_shape: bool,
}

fn asks_about(asked: &Asked, flipped: &[Name], tables: &Tables) -> bool {
    flipped.iter().any(|name| asked.has(&Question::Name(*name)) || asked.has(&Question::NoName(tables.names.text(*name).into())))
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
