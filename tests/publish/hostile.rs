//! Damaged and hostile objects: each costs an error that names it, and leaves the present index as
//! it is.

use std::fs;
use std::path::{Path, PathBuf};

use cograph::publish::{Digest, FileMap, Manifest, PIECE_BYTES, Piece, Reference, UnitRun};
use rusqlite::Connection;

use super::team::{Team, files};

/// Published index in a directory, to be damaged.
struct Published {
    top: PathBuf,
}

impl Published {
    fn reference(&self) -> PathBuf {
        let mut found = files(&self.top.join("branches"));
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    fn manifest_path(&self) -> PathBuf {
        let reference = fs::read(self.reference()).expect("it is readable");
        let reference = Reference::parse(&reference).expect("it is one");
        self.top.join("manifests").join(reference.commits[0].manifest.to_string())
    }

    fn manifest(&self) -> Manifest {
        let bytes = fs::read(self.manifest_path()).expect("it is readable");
        Manifest::decoded(&bytes).expect("it keeps the rules")
    }

    /// Replaces the manifest, under its digest, and in the reference.
    fn put_manifest(&self, bytes: &[u8]) {
        let digest = Digest::of(bytes);
        fs::write(self.top.join("manifests").join(digest.to_string()), bytes).expect("written");
        let path = self.reference();
        let reference = fs::read(&path).expect("it is readable");
        let mut reference = Reference::parse(&reference).expect("it is one");
        reference.commits[0].manifest = digest;
        fs::write(path, reference.encoded()).expect("written");
    }

    fn edit(&self, edit: impl FnOnce(&mut Manifest)) {
        let mut manifest = self.manifest();
        edit(&mut manifest);
        self.put_manifest(&manifest.encoded());
    }

    fn piece_path(&self, piece: &Piece) -> PathBuf {
        let name = piece.digest.to_string();
        self.top.join("pieces").join(&name[..2]).join(name)
    }

    /// First piece, of the database.
    fn piece(&self) -> PathBuf {
        self.piece_path(&self.manifest().pieces[0])
    }

    /// Writes a piece with these compressed bytes, which states a size.
    fn put_piece(&self, stored: &[u8], bytes: usize) -> Piece {
        let (digest, stated) = (Digest::of(stored), u32::try_from(bytes).expect("it fits"));
        let piece =
            Piece { digest, stored: u32::try_from(stored.len()).expect("it fits"), bytes: stated };
        let path = self.piece_path(&piece);
        fs::create_dir_all(path.parent().expect("a parent")).expect("created");
        fs::write(path, stored).expect("written");
        piece
    }

    /// Bytes of a file, from its pieces.
    fn file(&self, part: usize) -> Vec<u8> {
        let manifest = self.manifest();
        let unit = [4_096, PIECE_BYTES][part];
        let file = &manifest.files[part];
        let mut bytes = Vec::new();
        for run in &file.runs {
            let stored = fs::read(self.piece_path(&manifest.pieces[run.piece as usize]));
            let units = zstd::bulk::decompress(&stored.expect("it is readable"), PIECE_BYTES);
            let units = units.expect("it is whole");
            let start = run.start as usize * unit;
            bytes.extend(&units[start..units.len().min(start + run.count as usize * unit)]);
        }
        bytes
    }

    /// Replaces a file so that all digests fit.
    fn put_file(&self, part: usize, bytes: &[u8]) {
        let unit = [4_096, PIECE_BYTES][part];
        self.edit(|manifest| {
            let mut old = manifest.files[part].runs.clone();
            old.dedup_by_key(|run| run.piece);
            assert_eq!(old.len(), 1, "a small file is one piece");
            let stored = zstd::bulk::compress(bytes, 1).expect("memory");
            manifest.pieces[old[0].piece as usize] = self.put_piece(&stored, bytes.len());
            let count = bytes.len().div_ceil(unit);
            manifest.files[part] = FileMap {
                part: manifest.files[part].part,
                bytes: bytes.len() as u64,
                digest: Digest::of(bytes),
                units: bytes.chunks(unit).map(Digest::of_unit).collect(),
                runs: vec![UnitRun {
                    piece: old[0].piece,
                    start: 0,
                    count: u32::try_from(count).expect("it fits"),
                }],
            };
        });
    }

    /// Changes the database so that all digests fit.
    fn sql(&self, statements: &str) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("rows.db");
        fs::write(&path, self.file(0)).expect("written");
        let connection = Connection::open(&path).expect("it is a database");
        connection.execute_batch(statements).expect("the statements are valid");
        connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("one connection");
        connection.close().expect("nothing is open");
        self.put_file(0, &fs::read(path).expect("it is readable"));
    }
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).expect("it is readable");
    let at = at.min(bytes.len() - 1);
    bytes[at] ^= 4;
    fs::write(path, bytes).expect("written");
}

fn cut(path: &Path) {
    let bytes = fs::read(path).expect("it is readable");
    fs::write(path, &bytes[..bytes.len() / 2]).expect("written");
}

/// Replaces a word of the first line of commits.
fn replace_word(published: &Published, word: usize, by: &str) {
    let path = published.reference();
    let text = fs::read_to_string(&path).expect("it is readable");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut words: Vec<&str> = lines[1].split(' ').collect();
    words[word] = by;
    lines[1] = words.join(" ");
    fs::write(path, lines.join("\n")).expect("written");
}

/// A case: its name, the damage, and what the error says.
type Case = (&'static str, fn(&Published), &'static str);

const REFERENCES: &[Case] = &[
    ("empty", |p| fs::write(p.reference(), "").expect("written"), "no reference of this version"),
    ("not UTF-8", |p| fs::write(p.reference(), [0xff; 90]).expect("written"), "not UTF-8"),
    (
        "of a later version",
        |p| fs::write(p.reference(), "cograph reference 2\n").expect("written"),
        "no reference of this version",
    ),
    (
        "too large",
        |p| fs::write(p.reference(), vec![b'\n'; (1 << 20) + 1]).expect("written"),
        "too large",
    ),
    (
        "too many commits",
        |p| {
            let path = p.reference();
            let text = fs::read_to_string(&path).expect("it is readable");
            let line = text.lines().nth(1).expect("a commit");
            let lines = vec![line; 1_001].join("\n");
            fs::write(path, format!("cograph reference 1\n{lines}\n")).expect("written");
        },
        "too many commits",
    ),
    ("a path as commit", |p| replace_word(p, 0, "../../etc/passwd"), "a commit has no name"),
    ("a path as manifest", |p| replace_word(p, 1, "../../etc/passwd"), "has no digest"),
    ("a time that is none", |p| replace_word(p, 2, "-1"), "a time is no number"),
    ("words", |p| replace_word(p, 2, "1 2"), "has not three words"),
];

const MANIFESTS: &[Case] = &[
    ("missing", |p| fs::remove_file(p.manifest_path()).expect("removed"), "it does not exist"),
    ("truncated", |p| cut(&p.manifest_path()), "its digest is another"),
    ("one bit", |p| flip(&p.manifest_path(), 60), "its digest is another"),
    ("anything", |p| p.put_manifest(b"<html>"), "it is no manifest"),
    (
        "the reference itself",
        |p| p.put_manifest(&fs::read(p.reference()).expect("it is readable")),
        "it is no manifest",
    ),
    ("no content", |p| p.put_manifest(b"cograph manifest\n"), "it has no version"),
    ("another layout", |p| p.edit(|m| m.layout = 2), "its layout is 2"),
    ("another format", |p| p.edit(|m| m.format += 1), "another version or other settings"),
    ("another build", |p| p.edit(|m| m.fingerprint ^= 1), "another version or other settings"),
    ("another commit", |p| p.edit(|m| m.commit = "a".repeat(40)), "it is of another commit"),
    ("a path as commit", |p| p.edit(|m| m.commit = "../x".to_owned()), "no valid name"),
    ("a long program", |p| p.edit(|m| m.program = "x".repeat(101)), "no valid name"),
    (
        "more bytes",
        |p| p.put_manifest(&[p.manifest().encoded(), vec![0]].concat()),
        "more bytes than it needs",
    ),
    (
        "a count without end",
        |p| {
            let mut bytes = b"cograph manifest\n\x01\x12\x00\x00\x00".to_vec();
            bytes.extend([0xff; 9]);
            bytes.push(1);
            p.put_manifest(&bytes);
        },
        "it cannot be decoded",
    ),
    ("an unknown part", |p| p.edit(|m| m.files[1].part = 9), "not those of a store"),
    ("a part twice", |p| p.edit(|m| m.files[1].part = 0), "not those of a store"),
    ("no file", |p| p.edit(|m| m.files.clear()), "not those of a store"),
    ("a huge file", |p| p.edit(|m| m.files[0].bytes = u64::MAX), "larger than 64 GiB"),
    ("another size", |p| p.edit(|m| m.files[0].bytes += 4_096), "an invalid size"),
    ("an empty file", |p| p.edit(|m| m.files[0].bytes = 0), "an invalid size"),
    ("a run without a piece", |p| p.edit(|m| m.files[0].runs[0].piece = 77), "has no piece"),
    ("a run that leaves", |p| p.edit(|m| m.files[0].runs[0].start = 9), "leaves its piece"),
    (
        "a run without end",
        |p| p.edit(|m| m.files[0].runs[0].count = u32::MAX),
        "do not fit its size",
    ),
    ("too few units", |p| p.edit(|m| m.files[0].runs[0].count -= 1), "do not cover a file"),
    (
        "a piece of two files",
        |p| p.edit(|m| m.files[1].runs[0].piece = m.files[0].runs[0].piece),
        "part of two files",
    ),
    ("a huge piece", |p| p.edit(|m| m.pieces[0].bytes = u32::MAX), "a piece has an invalid size"),
    ("a piece of nothing", |p| p.edit(|m| m.pieces[0].stored = 0), "a piece has an invalid size"),
    (
        "a piece without use",
        |p| {
            let more = p.put_piece(b"more", 4);
            p.edit(|m| m.pieces.push(more));
        },
        "is not used",
    ),
    (
        "far more pieces than needed",
        |p| {
            p.edit(|m| {
                let piece = Piece { bytes: 1 << 20, ..m.pieces[0] };
                m.pieces.extend(vec![piece; 100]);
            });
        },
        "more bytes than its files need",
    ),
    (
        "another digest of a file",
        |p| p.edit(|m| m.files[0].digest = Digest::of(b"another")),
        "the digest of a file is another",
    ),
];

const PIECES: &[Case] = &[
    ("missing", |p| fs::remove_file(p.piece()).expect("removed"), "it does not exist"),
    ("truncated", |p| cut(&p.piece()), "bytes instead of"),
    ("empty", |p| fs::write(p.piece(), "").expect("written"), "bytes instead of"),
    ("one bit", |p| flip(&p.piece(), 1_000), "its digest is another"),
    (
        "too long",
        |p| {
            let bytes = fs::read(p.piece()).expect("it is readable");
            fs::write(p.piece(), [bytes, vec![0; 9]].concat()).expect("written");
        },
        "too large",
    ),
    (
        "the content of another",
        |p| {
            let manifest = p.manifest();
            let [first, second] = [0, 1].map(|at| p.piece_path(&manifest.pieces[at]));
            fs::copy(second, first).expect("copied");
        },
        "",
    ),
    (
        "far more bytes than stated",
        |p| {
            let stored = zstd::bulk::compress(&vec![0; 512 << 20], 1).expect("memory");
            let piece = p.put_piece(&stored, p.manifest().pieces[0].bytes as usize);
            p.edit(|m| m.pieces[0] = piece);
        },
        "it cannot be decompressed",
    ),
    (
        "fewer bytes than stated",
        |p| {
            let stored = zstd::bulk::compress(&[0; 10], 1).expect("memory");
            let piece = p.put_piece(&stored, p.manifest().pieces[0].bytes as usize);
            p.edit(|m| m.pieces[0] = piece);
        },
        "bytes of units instead of",
    ),
    (
        "not compressed",
        |p| {
            let piece = p.put_piece(&[7; 5_000], p.manifest().pieces[0].bytes as usize);
            p.edit(|m| m.pieces[0] = piece);
        },
        "it cannot be decompressed",
    ),
];

const STORES: &[Case] = &[
    ("no database", |p| p.put_file(0, &[7; 8_192]), "it is no SQLite file"),
    (
        "half of a database",
        |p| {
            let rows = p.file(0);
            p.put_file(0, &rows[..rows.len() / 8_192 * 4_096]);
        },
        "bytes",
    ),
    (
        "a damaged page",
        |p| {
            let mut rows = p.file(0);
            let middle = rows.len() / 8_192 * 4_096;
            rows[middle..middle + 4_096].fill(0xa5);
            p.put_file(0, &rows);
        },
        "accepting store",
    ),
    ("of another application", |p| p.sql("PRAGMA application_id = 7"), "another application"),
    ("of another format", |p| p.sql("PRAGMA user_version = 1"), "its format is 1"),
    (
        "with a trigger",
        |p| p.sql("CREATE TRIGGER t AFTER UPDATE ON meta BEGIN DELETE FROM file; END"),
        "its tables are not those of a store",
    ),
    (
        "with another view",
        |p| p.sql("DROP VIEW symbols; CREATE VIEW symbols AS SELECT 1"),
        "its tables are not those of a store",
    ),
    ("without a table", |p| p.sql("DROP TABLE known"), "its tables are not those of a store"),
    ("without metadata", |p| p.sql("DELETE FROM meta"), "taking over a store"),
    ("of another build", |p| p.sql("UPDATE meta SET fingerprint = 1"), "built by other rules"),
];

/// Files with their contents.
fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let is_lasting = |path: &PathBuf| !path.to_string_lossy().ends_with("-shm");
    let all = files(directory).into_iter().filter(is_lasting);
    all.map(|path| (path.clone(), fs::read(path).expect("it is readable"))).collect()
}

/// Damages a published index in each of these ways, and pulls it over a present one.
fn check(cases: &[Case]) {
    let team = Team::new();
    team.publish("ci");
    team.clone_to("laptop");
    team.pull("laptop");
    let whole = contents(&team.published());
    let rows = team.rows("laptop");
    let present = contents(&team.cache("laptop"));
    let url = team.published();
    let url = url.to_str().expect("a plain path");
    for (name, damage, expected) in cases {
        fs::remove_dir_all(team.published()).expect("removed");
        for (path, bytes) in &whole {
            fs::create_dir_all(path.parent().expect("a parent")).expect("created");
            fs::write(path, bytes).expect("written");
        }
        damage(&Published { top: team.published().join("cograph-1") });
        let (code, output, message) = team.run("laptop", &["pull", url]);
        assert_eq!(code, Some(3), "{name}: {output}{message}");
        assert!(message.contains(expected), "{name}: {message}");
        let after = contents(&team.cache("laptop"));
        let names = |all: &[(PathBuf, Vec<u8>)]| -> Vec<PathBuf> {
            all.iter().map(|(path, _)| path.clone()).collect()
        };
        assert_eq!(names(&after), names(&present), "{name}");
        assert!(after == present, "{name}: a file of the cache is another");
        assert_eq!(team.rows("laptop"), rows, "{name}");
    }
}

#[test]
fn damaged_references_cost_an_error() {
    check(REFERENCES);
}

#[test]
fn damaged_manifests_cost_an_error() {
    check(MANIFESTS);
}

#[test]
fn damaged_pieces_cost_an_error() {
    check(PIECES);
}

#[test]
fn files_that_are_no_store_cost_an_error() {
    check(STORES);
}

#[test]
fn a_damaged_segment_costs_a_build_at_the_next_change() {
    let team = Team::new();
    team.publish("ci");
    let published = Published { top: team.published().join("cograph-1") };
    published.put_file(1, &[7; 5_000]);
    team.clone_to("laptop");
    team.pull("laptop");
    assert_eq!(team.rows("laptop"), team.fresh_rows("laptop"));
    team.write("laptop", "shop/m7.py", "def f7_0(value):\n    return value\n");
    team.done("laptop", &["index", "--json"]);
    assert_eq!(team.rows("laptop"), team.fresh_rows("laptop"));
}
