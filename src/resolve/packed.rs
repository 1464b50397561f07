//! The compact form of what resolutions looked at. Files are named by numbers that last, names by words that files share.

use super::Name;
use super::asked::{Asked, FileList, Question, sorted};
use super::tables::Tables;
use super::unit::Names;
use crate::model::graph::FileId;
use crate::model::packed::{Pass, Reader, Writer};
use rustc_hash::FxHashMap;

/// The words of a writer that names are, as far as they have been written: files ask much about the same names.
#[derive(Default, Debug)]
pub struct WordsOfNames(FxHashMap<Name, u32>);

impl WordsOfNames {
    fn write(&mut self, writer: &mut Writer, name: Name, names: &Names) -> Option<()> {
        if let Some(word) = self.0.get(&name) {
            return writer.small(*word).map(drop);
        }
        self.0.insert(name, writer.put_word(names.text(name)));
        Some(())
    }
}

impl Tables {
    /// Writes what was looked at for a file. `lasting` gives a file's number; `words` is of the same writer.
    pub fn write_asked(&self, writer: &mut Writer, words: &mut WordsOfNames, asked: &Asked, lasting: &impl Fn(FileId) -> u32) {
        let mut write = || -> Option<()> {
            writer.flag(asked.unknown)?;
            for files in [&asked.facts, &asked.links, &asked.given, &asked.reach] {
                let numbers: Vec<u32> = files.iter().map(lasting).collect();
                let mut before = 0;
                writer.list(&numbers, &0, |writer, number| {
                    before = writer.near(*number, before)?;
                    Some(before)
                })?;
            }
            writer.small(u32::try_from(asked.questions.len()).ok()?)?;
            asked.questions.iter().try_for_each(|question| self.write_question(writer, words, question, lasting))
        };
        write().expect("a file asks fewer than 2^32 questions, and writing does not fail");
    }

    fn write_question(
        &self,
        writer: &mut Writer,
        words: &mut WordsOfNames,
        question: &Question,
        lasting: &impl Fn(FileId) -> u32,
    ) -> Option<()> {
        let tag = match question {
            Question::Name(_) => 0,
            Question::NoName(_) => 1,
            Question::Gained(_) => 2,
            Question::Interfaces(_) => 3,
            Question::Members(_) => 4,
            Question::Macros(_) => 5,
            Question::Package(_) => 6,
            Question::Declared(..) => 7,
            Question::ChildOfFile(..) => 8,
            Question::ChildOfPackage(..) => 9,
            Question::Space(..) => 10,
            Question::Spaces => 11,
        };
        writer.number(tag)?;
        match question {
            Question::Name(name) | Question::Interfaces(name) | Question::Members(name) | Question::Macros(name) => {
                words.write(writer, *name, &self.names)?;
            }
            Question::NoName(text) | Question::Gained(text) => drop(writer.word(text)?),
            Question::Package(identity) => drop(writer.bits(*identity)?),
            Question::Declared(file, word) => {
                writer.small(lasting(*file))?;
                writer.word(word)?;
            }
            Question::ChildOfFile(file, name) => {
                writer.small(lasting(*file))?;
                words.write(writer, *name, &self.names)?;
            }
            Question::ChildOfPackage(identity, name) | Question::Space(identity, name) => {
                writer.bits(*identity)?;
                words.write(writer, *name, &self.names)?;
            }
            Question::Spaces => {}
        }
        Some(())
    }
}

impl Asked {
    /// Reads what was looked at for a file. `names` are the words of the reader, `position` gives the file of a number; what
    /// was asked of files that are gone is left out.
    pub fn read(reader: &mut Reader<'_>, names: &[Name], position: &impl Fn(u32) -> Option<FileId>) -> Option<Self> {
        let mut asked = Self { unknown: reader.flag(false)?, ..Self::default() };
        for files in [&mut asked.facts, &mut asked.links, &mut asked.given, &mut asked.reach] {
            *files = read_files(reader, position)?;
        }
        let mut questions = Vec::new();
        for _ in 0..reader.small(0)? {
            questions.extend(read_question(reader, names, position)?);
        }
        // Names have other numbers than when they were written.
        asked.questions = sorted(questions.into_iter());
        Some(asked)
    }
}

fn read_files(reader: &mut Reader<'_>, position: &impl Fn(u32) -> Option<FileId>) -> Option<FileList> {
    let mut files = Vec::new();
    let mut before = 0;
    let count = reader.small(0)?;
    for _ in 0..count {
        before = reader.near(0, before)?;
        files.extend(position(before));
    }
    Some(FileList::of(files))
}

/// A question; none inside if it is about a file that is gone.
fn read_question(reader: &mut Reader<'_>, names: &[Name], position: &impl Fn(u32) -> Option<FileId>) -> Option<Option<Question>> {
    let name = |reader: &mut Reader<'_>| names.get(reader.word_number()?).copied();
    Some(Some(match reader.number(0)? {
        0 => Question::Name(name(reader)?),
        1 => Question::NoName(reader.word("")?),
        2 => Question::Gained(reader.word("")?),
        3 => Question::Interfaces(name(reader)?),
        4 => Question::Members(name(reader)?),
        5 => Question::Macros(name(reader)?),
        6 => Question::Package(reader.bits(0)?),
        7 => {
            let (file, word) = (position(reader.small(0)?), reader.word("")?);
            return Some(file.map(|file| Question::Declared(file, word)));
        }
        8 => {
            let (file, name) = (position(reader.small(0)?), name(reader)?);
            return Some(file.map(|file| Question::ChildOfFile(file, name)));
        }
        9 => Question::ChildOfPackage(reader.bits(0)?, name(reader)?),
        10 => Question::Space(reader.bits(0)?, name(reader)?),
        11 => Question::Spaces,
        _ => return None,
    }))
}
