//! Edges that a compiler states: for the references of a file with a certain content, the symbols
//! that they lead to. Kept as bytes, by the path of the file; decoded file by file. Pure.
//!
//! A target in the same file is a position, as the content is the same. One in another file, which
//! may change, is found by the names of what encloses it and by its own, its number among the
//! symbols of that file with the same names, and how many those are: if they are other ones than
//! when the edge was stated, the edge is not taken.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::packed::{put_varint, take_varint};
use crate::{Position, RepoPath};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Name of the file next to a store that has them.
pub const FILE: &str = "scip";

/// Form of the bytes; another one is not read.
const MAGIC: &[u8; 8] = b"cgstate1";

/// Length of what comes before the content: the form, and the hash of the content.
pub const STATED_HEAD: usize = 16;

/// Maximum number of stated targets.
pub const MAX_STATED: u64 = 20_000_000;

/// Symbol of another file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StatedSymbol {
    /// File.
    pub path: RepoPath,
    /// Names of the symbols around it, and its own.
    pub names: Vec<Box<str>>,
    /// Number among the symbols of the file with these names.
    pub number: u32,
    /// How many these are.
    pub count: u32,
}

/// Target of a stated edge.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StatedTarget {
    /// Symbol of the same file, by the position of its name.
    Own(Position),
    /// Symbol of another file: position in [`Stated::symbols`].
    Symbol(u32),
    /// File as a whole: position in [`Stated::paths`].
    File(u32),
}

/// Reference with the targets that are stated for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatedEdge {
    /// Position of the name.
    pub at: Position,
    /// Targets: at least one.
    pub targets: Vec<StatedTarget>,
}

/// What is stated for one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatedFile {
    /// Hash of the content that the edges are of.
    pub hash: u128,
    /// Program that states them: position in [`Stated::tools`].
    pub tool: u32,
    /// Number of edges.
    pub edges: u32,
    bytes: Box<[u8]>,
}

/// Everything that is stated.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stated {
    /// Programs, with their versions.
    pub tools: Vec<String>,
    /// Files that are targets as a whole.
    pub paths: Vec<RepoPath>,
    /// Symbols of other files.
    pub symbols: Vec<StatedSymbol>,
    /// Files with edges.
    pub files: BTreeMap<RepoPath, StatedFile>,
}

impl StatedFile {
    /// Edges of a file, in order of position.
    pub fn new(hash: u128, tool: u32, edges: &[StatedEdge]) -> Self {
        let mut bytes = Vec::new();
        let mut line = 0;
        for edge in edges {
            put_varint(&mut bytes, u64::from(edge.at.line.wrapping_sub(line)));
            put_varint(&mut bytes, u64::from(edge.at.column));
            line = edge.at.line;
            put_varint(&mut bytes, edge.targets.len() as u64);
            for target in &edge.targets {
                let (kind, number) = match target {
                    StatedTarget::Own(at) => (0, at.line),
                    StatedTarget::Symbol(number) => (1, *number),
                    StatedTarget::File(number) => (2, *number),
                };
                put_varint(&mut bytes, u64::from(number) << 2 | kind);
                if let StatedTarget::Own(at) = target {
                    put_varint(&mut bytes, u64::from(at.column));
                }
            }
        }
        let edges = u32::try_from(edges.len()).expect("a file has far fewer than 2^32 references");
        Self { hash, tool, edges, bytes: bytes.into() }
    }

    /// The edges, decoded; none if the bytes are damaged.
    pub fn edges(&self) -> Option<Vec<StatedEdge>> {
        let mut bytes = &*self.bytes;
        let mut number = || u32::try_from(take_varint(&mut bytes)?).ok();
        let mut edges = Vec::new();
        let mut line = 0_u32;
        for _ in 0..self.edges {
            line = line.checked_add(number()?)?;
            let at = Position { line, column: number()? };
            let count = number()?;
            let mut targets = Vec::new();
            for _ in 0..count {
                let coded = number()?;
                targets.push(match (coded & 3, coded >> 2) {
                    (0, line) => StatedTarget::Own(Position { line, column: number()? }),
                    (1, number) => StatedTarget::Symbol(number),
                    (2, number) => StatedTarget::File(number),
                    _ => return None,
                });
            }
            edges.push(StatedEdge { at, targets });
        }
        bytes.is_empty().then_some(edges)
    }
}

impl Stated {
    /// Hash of the content that bytes with this start have; none if they have another form.
    pub fn hash_of(head: &[u8]) -> Option<u64> {
        let hash = head.strip_prefix(MAGIC)?.get(..STATED_HEAD - MAGIC.len())?;
        Some(u64::from_le_bytes(hash.try_into().ok()?))
    }

    /// What is stated for a file with this content.
    pub fn of(&self, path: &RepoPath, hash: u128) -> Option<&StatedFile> {
        self.files.get(path).filter(|file| file.hash == hash && hash != 0)
    }

    /// The same without tools, paths and symbols that no edge names, these in order.
    pub fn compacted(self) -> Self {
        let edges = |file: &StatedFile| file.edges().unwrap_or_default();
        let (mut tools, mut paths, mut symbols) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for file in self.files.values() {
            tools.extend(self.tools.get(file.tool as usize));
            for target in edges(file).iter().flat_map(|edge| &edge.targets) {
                match target {
                    StatedTarget::Own(_) => {}
                    StatedTarget::File(at) => paths.extend(self.paths.get(*at as usize)),
                    StatedTarget::Symbol(at) => symbols.extend(self.symbols.get(*at as usize)),
                }
            }
        }
        let [tools_now, paths_now, symbols_now] = [
            places(&tools, &self.tools),
            places(&paths, &self.paths),
            places(&symbols, &self.symbols),
        ];
        let moved = |file: &StatedFile| {
            let mut edges = edges(file);
            for target in edges.iter_mut().flat_map(|edge| &mut edge.targets) {
                match target {
                    StatedTarget::Own(_) => {}
                    StatedTarget::File(at) => *at = paths_now[*at as usize],
                    StatedTarget::Symbol(at) => *at = symbols_now[*at as usize],
                }
            }
            edges.iter_mut().for_each(|edge| edge.targets.sort());
            StatedFile::new(file.hash, tools_now[file.tool as usize], &edges)
        };
        let files = self.files.iter().map(|(path, file)| (path.clone(), moved(file))).collect();
        Self {
            files,
            tools: tools.into_iter().cloned().collect(),
            paths: paths.into_iter().cloned().collect(),
            symbols: symbols.into_iter().cloned().collect(),
        }
    }

    /// Everything as bytes. Equal contents have equal bytes.
    pub fn encoded(&self) -> Vec<u8> {
        let mut content = Vec::new();
        let out = &mut content;
        let mut names: FxHashMap<&str, u64> = FxHashMap::default();
        let mut texts: Vec<&str> = Vec::new();
        for text in self.symbols.iter().flat_map(|symbol| &symbol.names) {
            names.entry(text).or_insert_with(|| {
                texts.push(text);
                texts.len() as u64 - 1
            });
        }
        let mut places: FxHashMap<&str, u64> = FxHashMap::default();
        let mut paths: Vec<&str> = self.paths.iter().map(RepoPath::as_str).collect();
        places.extend(paths.iter().enumerate().map(|(at, path)| (*path, at as u64)));
        for symbol in &self.symbols {
            places.entry(symbol.path.as_str()).or_insert_with(|| {
                paths.push(symbol.path.as_str());
                paths.len() as u64 - 1
            });
        }
        let put_texts = |out: &mut Vec<u8>, texts: &[&str]| {
            put_varint(out, texts.len() as u64);
            texts.iter().for_each(|text| put_text(out, text));
        };
        put_texts(out, &self.tools.iter().map(String::as_str).collect::<Vec<_>>());
        put_varint(out, self.paths.len() as u64);
        put_texts(out, &paths);
        put_texts(out, &texts);
        put_varint(out, self.symbols.len() as u64);
        for symbol in &self.symbols {
            put_varint(out, places[symbol.path.as_str()]);
            put_varint(out, symbol.names.len() as u64);
            symbol.names.iter().for_each(|name| put_varint(out, names[&**name]));
            put_varint(out, u64::from(symbol.number));
            put_varint(out, u64::from(symbol.count));
        }
        put_varint(out, self.files.len() as u64);
        for (path, file) in &self.files {
            put_text(out, path.as_str());
            out.extend(file.hash.to_le_bytes());
            put_varint(out, u64::from(file.tool));
            put_varint(out, u64::from(file.edges));
            put_varint(out, file.bytes.len() as u64);
            out.extend(&*file.bytes);
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend(xxh3_64(&content).to_le_bytes());
        bytes.extend(content);
        bytes
    }

    /// What bytes of [`Self::encoded`] say; none for others.
    pub fn decoded(bytes: &[u8]) -> Option<Self> {
        let hash = Self::hash_of(bytes)?;
        let mut rest = bytes.get(STATED_HEAD..)?;
        if xxh3_64(rest) != hash {
            return None;
        }
        let bytes = &mut rest;
        let tools = take_texts(bytes)?.into_iter().map(str::to_owned).collect();
        let own_paths = take_size(bytes)?;
        let paths = take_texts(bytes)?.into_iter().map(RepoPath::new);
        let mut paths: Vec<RepoPath> = paths.collect::<Option<_>>()?;
        let texts: Vec<Arc<str>> = take_texts(bytes)?.into_iter().map(Arc::from).collect();
        let mut symbols = Vec::new();
        for _ in 0..take_size(bytes)? {
            let path = paths.get(take_size(bytes)?)?.clone();
            let mut names = Vec::new();
            for _ in 0..take_size(bytes)? {
                names.push(Box::from(&**texts.get(take_size(bytes)?)?));
            }
            let (number, count) = (take_number(bytes)?, take_number(bytes)?);
            symbols.push(StatedSymbol { path, names, number, count });
        }
        let mut files = BTreeMap::new();
        for _ in 0..take_size(bytes)? {
            let path = RepoPath::new(take_text(bytes)?)?;
            let (hash, after) = bytes.split_first_chunk::<16>()?;
            *bytes = after;
            let (tool, edges) = (take_number(bytes)?, take_number(bytes)?);
            let content = take(bytes)?.into();
            let hash = u128::from_le_bytes(*hash);
            files.insert(path, StatedFile { hash, tool, edges, bytes: content });
        }
        paths.truncate(own_paths);
        bytes.is_empty().then_some(Self { tools, paths, symbols, files })
    }
}

/// Where each of the values is among those that are kept.
fn places<T: Ord>(kept: &BTreeSet<&T>, all: &[T]) -> Vec<u32> {
    let kept: Vec<&T> = kept.iter().copied().collect();
    all.iter().map(|one| kept.binary_search(&one).unwrap_or_default() as u32).collect()
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend(text.as_bytes());
}

fn take_size(bytes: &mut &[u8]) -> Option<usize> {
    usize::try_from(take_varint(bytes)?).ok()
}

fn take_number(bytes: &mut &[u8]) -> Option<u32> {
    u32::try_from(take_varint(bytes)?).ok()
}

fn take<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = take_size(bytes)?;
    let (own, after) = bytes.split_at_checked(length)?;
    *bytes = after;
    Some(own)
}

fn take_text<'b>(bytes: &mut &'b [u8]) -> Option<&'b str> {
    std::str::from_utf8(take(bytes)?).ok()
}

fn take_texts<'b>(bytes: &mut &'b [u8]) -> Option<Vec<&'b str>> {
    let count = take_size(bytes)?;
    (0..count).map(|_| take_text(bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Stated {
        let path = |text| RepoPath::new(text).expect("a path");
        let at = |line, column| Position { line, column };
        let edges = [
            StatedEdge { at: at(1, 4), targets: vec![StatedTarget::Own(at(9, 2))] },
            StatedEdge {
                at: at(1, 90),
                targets: vec![StatedTarget::Symbol(1), StatedTarget::Own(at(1, 0))],
            },
            StatedEdge { at: at(700, 0), targets: vec![StatedTarget::File(0)] },
        ];
        let symbol = |file, names: &[&str], number| StatedSymbol {
            path: path(file),
            names: names.iter().map(|name| Box::from(*name)).collect(),
            number,
            count: number + 1,
        };
        Stated {
            tools: vec!["one 1.0".to_owned(), "two".to_owned()],
            paths: vec![path("c/d.x")],
            symbols: vec![symbol("a.x", &["A", "f"], 0), symbol("c/d.x", &["f"], 3)],
            files: [(path("ä/b.x"), StatedFile::new(u128::MAX - 3, 1, &edges))].into(),
        }
    }

    #[test]
    fn what_was_encoded_is_decoded_and_nothing_else() {
        let stated = sample();
        let bytes = stated.encoded();
        assert_eq!(Stated::decoded(&bytes), Some(stated.clone()));
        assert_eq!(Stated::hash_of(&bytes[..STATED_HEAD]), Some(xxh3_64(&bytes[STATED_HEAD..])));
        for at in 0..bytes.len() {
            assert_eq!(Stated::decoded(&bytes[..at]), None);
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert_eq!(Stated::decoded(&other), None, "byte {at}");
        }
        let file = stated.files.values().next().expect("one file");
        assert_eq!(file.edges().expect("they were encoded").len(), 3);
        let damaged = StatedFile { edges: 4, ..file.clone() };
        assert_eq!(damaged.edges(), None);
    }

    #[test]
    fn what_no_edge_names_is_dropped() {
        let mut stated = sample();
        stated.tools.insert(0, "gone".to_owned());
        stated.files.values_mut().for_each(|file| file.tool = 2);
        let once = stated.clone().compacted();
        assert_eq!((once.tools.as_slice(), once.symbols.len()), (&["two".to_owned()][..], 1));
        assert_eq!(once.clone().compacted(), once);
        let edges = once.files.values().next().expect("one file").edges().expect("decoded");
        let at = Position { line: 1, column: 0 };
        assert_eq!(edges[1].targets, [StatedTarget::Own(at), StatedTarget::Symbol(0)]);
        assert_eq!(once.symbols[0], stated.symbols[1]);
    }

    #[test]
    fn edges_belong_to_a_content() {
        let stated = sample();
        let (path, file) = stated.files.iter().next().expect("one file");
        assert_eq!(stated.of(path, file.hash), Some(file));
        assert_eq!(stated.of(path, file.hash + 1), None);
        assert_eq!(stated.of(&RepoPath::new("a.x").expect("a path"), file.hash), None);
    }
}
