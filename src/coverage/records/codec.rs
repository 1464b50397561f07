//! The records as bytes: numbers of variable length, texts with their length, and a hash of all.
//! Bytes that were not made here are refused. Pure.

use crate::records::functions::{Functions, encoded_functions, put_text, take, take_text};
use crate::records::record::{FileRecord, Records, TestNames};
use cograph_model::RepoPath;
use cograph_model::packed::{put_varint, take_varint};
use xxhash_rust::xxh3::xxh3_64;

/// Form of the bytes; another one is not read.
const MAGIC: &[u8; 8] = b"cgcover2";
/// Length of the hash at the end.
const HASH: usize = 8;

pub(super) fn encoded(records: &Records) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    put_varint(&mut out, records.tests.texts.len() as u64);
    records.tests.texts.iter().for_each(|name| put_text(&mut out, name));
    put_varint(&mut out, records.files.len() as u64);
    for (path, file) in &records.files {
        put_text(&mut out, path.as_str());
        out.extend(file.hash.to_le_bytes());
        let functions = encoded_functions(file.functions());
        put_varint(&mut out, functions.len() as u64);
        out.extend(functions);
    }
    let hash = xxh3_64(&out);
    out.extend(hash.to_le_bytes());
    out
}

pub(super) fn decoded(bytes: &[u8]) -> Option<Records> {
    let (content, hash) = bytes.split_at_checked(bytes.len().checked_sub(HASH)?)?;
    if xxh3_64(content).to_le_bytes() != hash {
        return None;
    }
    let mut rest = content.strip_prefix(MAGIC)?;
    let bytes = &mut rest;
    let mut records = Records::default();
    let mut tests = TestNames::default();
    for _ in 0..take_varint(bytes)? {
        tests.add(take_text(bytes)?)?;
    }
    let count = u32::try_from(tests.texts.len()).ok()?;
    records.tests = tests;
    for _ in 0..take_varint(bytes)? {
        let path = RepoPath::new(take_text(bytes)?)?;
        let hash = u128::from_le_bytes(take(bytes)?);
        let length = usize::try_from(take_varint(bytes)?).ok()?;
        let (functions, after) = bytes.split_at_checked(length)?;
        *bytes = after;
        let file = FileRecord::new(hash, Functions { bytes: functions.into(), tests: count });
        records.files.insert(path, file);
    }
    bytes.is_empty().then_some(records)
}
