//! The history as bytes: numbers of variable length, texts with their length, and a hash of all.
//! Bytes that were not made here are refused. Pure.

use crate::log::commits::{Commit, History, TextTable};
use xxhash_rust::xxh3::xxh3_64;

/// Form of the bytes; another one is read anew.
const MAGIC: &[u8; 8] = b"cghist1\n";
/// Length of the hash at the end.
const HASH: usize = 8;

pub(super) fn encoded(history: &History) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    text(&mut out, &history.prefix);
    text(&mut out, &history.head);
    number(&mut out, u64::from(history.is_whole) | u64::from(history.is_shallow) << 1);
    for names in [&history.paths, &history.authors] {
        number(&mut out, names.texts.len() as u64);
        names.texts.iter().for_each(|name| text(&mut out, name));
    }
    number(&mut out, history.commits.len() as u64);
    for commit in &history.commits {
        text(&mut out, &commit.id);
        number(&mut out, commit.time);
        number(&mut out, u64::from(commit.author));
        number(&mut out, u64::from(commit.count));
        number(&mut out, commit.files.len() as u64);
        commit.files.iter().for_each(|&file| number(&mut out, u64::from(file)));
        number(&mut out, commit.renames.len() as u64);
        for &(old, new) in &commit.renames {
            number(&mut out, u64::from(old));
            number(&mut out, u64::from(new));
        }
    }
    let hash = xxh3_64(&out);
    out.extend(hash.to_le_bytes());
    out
}

pub(super) fn decoded(bytes: &[u8]) -> Option<History> {
    let (content, hash) = bytes.split_at_checked(bytes.len().checked_sub(HASH)?)?;
    if xxh3_64(content).to_le_bytes() != hash {
        return None;
    }
    let mut rest = content.strip_prefix(MAGIC)?;
    let bytes = &mut rest;
    let mut history = History {
        prefix: read_text(bytes)?.to_owned(),
        head: read_text(bytes)?.to_owned(),
        ..History::default()
    };
    let marks = read_number(bytes)?;
    (history.is_whole, history.is_shallow) = (marks & 1 != 0, marks & 2 != 0);
    history.paths = read_names(bytes)?;
    history.authors = read_names(bytes)?;
    let (paths, authors) = (history.paths.texts.len(), history.authors.texts.len());
    let path = |bytes: &mut &[u8]| read_key(bytes, paths);
    for _ in 0..read_number(bytes)? {
        let id = read_text(bytes)?.into();
        let time = read_number(bytes)?;
        let author = read_key(bytes, authors)?;
        let count = u32::try_from(read_number(bytes)?).ok()?;
        let (mut files, mut renames) = (Vec::new(), Vec::new());
        for _ in 0..read_number(bytes)? {
            files.push(path(bytes)?);
        }
        for _ in 0..read_number(bytes)? {
            renames.push((path(bytes)?, path(bytes)?));
        }
        history.commits.push(Commit { id, time, author, files, count, renames });
    }
    bytes.is_empty().then_some(history)
}

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let (mut value, mut shift) = (0_u64, 0_u32);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        shift += 7;
    }
}

fn read_text<'b>(bytes: &mut &'b [u8]) -> Option<&'b str> {
    let length = usize::try_from(read_number(bytes)?).ok()?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    std::str::from_utf8(text).ok()
}

fn read_names(bytes: &mut &[u8]) -> Option<TextTable> {
    let mut names = TextTable::default();
    for _ in 0..read_number(bytes)? {
        names.add(read_text(bytes)?);
    }
    Some(names)
}

fn read_key(bytes: &mut &[u8], count: usize) -> Option<u32> {
    let key = u32::try_from(read_number(bytes)?).ok()?;
    ((key as usize) < count).then_some(key)
}
