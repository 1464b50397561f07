//! The form of a piece that is kept beside a store: its words, then which files it speaks of and in how many bytes, then what it
//! says of them. A file's facts and what was found for it can stand in different pieces; of two that speak of one file the later
//! one holds.

use crate::model::RepoPath;
use crate::model::facts::FileFacts;
use crate::model::graph::FileStamp;
use crate::model::packed::{self, Pass, Reader, Writer};
use crate::resolve::ProjectFile;

/// Takes a piece down.
#[derive(Default)]
pub(super) struct PieceWriter {
    /// The key of each file, and the bytes of its facts and of what was found.
    entries: Vec<(u32, u64, u64)>,
    body: Writer,
}

impl PieceWriter {
    /// Adds what is said of a file.
    pub(super) fn add(&mut self, key: u32, facts: impl FnOnce(&mut Writer), found: impl FnOnce(&mut Writer)) {
        let start = self.body.len();
        facts(&mut self.body);
        let middle = self.body.len();
        found(&mut self.body);
        self.entries.push((key, (middle - start) as u64, (self.body.len() - middle) as u64));
    }

    /// The piece, with the project files if they are to stand in it.
    pub(super) fn finish(self, project_files: Option<&[ProjectFile]>) -> Vec<u8> {
        let mut head = Writer::default();
        let mut write = || -> Option<()> {
            head.flag(project_files.is_some())?;
            if let Some(files) = project_files {
                head.number(files.len() as u64)?;
                for file in files {
                    head.text(file.path.as_str())?;
                    head.text(&file.text)?;
                }
            }
            head.list(&self.entries, &NO_ENTRY, |head, &(key, facts, found)| {
                Some((head.small(key)?, head.number(facts)?, head.number(found)?))
            })?;
            Some(())
        };
        write().expect("writing does not fail");
        let (words, body) = self.body.into_parts();
        [words, head.into_parts().1, body].concat()
    }
}

const NO_ENTRY: (u32, u64, u64) = (0, 0, 0);

/// A piece, taken apart.
pub(super) struct Opened<'p> {
    /// In terms of which all is said.
    pub(super) words: Vec<&'p str>,
    /// The project files, if they stand in it.
    pub(super) project_files: Option<Vec<ProjectFile>>,
    pub(super) entries: Vec<Entry<'p>>,
}

/// What a piece says of one file.
pub(super) struct Entry<'p> {
    pub(super) key: u32,
    /// Nothing where only what was found is said.
    pub(super) facts: &'p [u8],
    pub(super) found: &'p [u8],
}

impl<'p> Opened<'p> {
    /// Takes a piece apart; none if it is none.
    pub(super) fn read(piece: &'p [u8]) -> Option<Self> {
        let (words, rest) = Reader::words(piece)?;
        let mut head = Reader::new(rest, &[]);
        let mut project_files = None;
        if head.flag(false)? {
            let mut files = Vec::new();
            for _ in 0..head.number(0)? {
                let path = RepoPath::new(&head.text("")?)?;
                files.push(ProjectFile { path, text: head.text("")?.into() });
            }
            project_files = Some(files);
        }
        let lengths = head.list(&[], &NO_ENTRY, |head, _| Some((head.small(0)?, head.number(0)?, head.number(0)?)))?;
        let mut body = head.rest();
        let mut entries = Vec::with_capacity(lengths.len());
        for (key, facts_bytes, found_bytes) in lengths {
            let (facts, rest) = body.split_at_checked(usize::try_from(facts_bytes).ok()?)?;
            let (found, rest) = rest.split_at_checked(usize::try_from(found_bytes).ok()?)?;
            entries.push(Entry { key, facts, found });
            body = rest;
        }
        Some(Self { words, project_files, entries })
    }
}

/// Writes a file's facts, and gives the number of the word that each name is.
pub(super) fn write_facts(body: &mut Writer, stamp: &FileStamp, facts: &FileFacts, interface: u64) -> Vec<u32> {
    for part in [stamp.hash as u64, (stamp.hash >> 64) as u64, interface] {
        body.bits(part).expect("writing does not fail");
    }
    packed::facts::write(body, facts)
}

/// Reads what stands before a file's facts: the hash of its bytes, and the number of what others may look at.
pub(super) fn read_head(reader: &mut Reader<'_>) -> Option<(u128, u64)> {
    let hash = u128::from(reader.bits(0)?) | u128::from(reader.bits(0)?) << 64;
    Some((hash, reader.bits(0)?))
}
