//! The records as bytes: numbers of variable length, texts with their length, and a hash of all.
//! Bytes that were not made here are refused. Pure.

use super::{FileRecord, FunctionRecord, Records, TestNames};
use cograph_model::RepoPath;
use cograph_model::packed::{put_varint, take_varint};
use xxhash_rust::xxh3::xxh3_64;

/// Form of the bytes; another one is not read.
const MAGIC: &[u8; 8] = b"cgcover2";
/// Length of the hash at the end.
const HASH: usize = 8;

/// Functions of a file as [`encoded_functions`] made them.
#[derive(Clone, Debug, Default)]
pub(super) struct Functions {
    bytes: Box<[u8]>,
    /// Number of tests that there are.
    tests: u32,
}

impl Functions {
    /// The functions. The hash of all records says that the bytes were made here; others are
    /// no functions.
    pub(super) fn decoded(&self) -> Vec<FunctionRecord> {
        self.functions().unwrap_or_default()
    }

    fn functions(&self) -> Option<Vec<FunctionRecord>> {
        let mut rest = &*self.bytes;
        let bytes = &mut rest;
        let mut functions = Vec::new();
        if bytes.is_empty() {
            return Some(functions);
        }
        for _ in 0..take_varint(bytes)? {
            let name = take_text(bytes)?.to_owned();
            let line = u32::try_from(take_varint(bytes)?).ok()?;
            let fingerprint = u64::from_le_bytes(take(bytes)?);
            let (mut tests, mut before) = (Vec::new(), 0_u32);
            for _ in 0..take_varint(bytes)? {
                before = before.checked_add(u32::try_from(take_varint(bytes)?).ok()?)?;
                tests.push(Some(before).filter(|&test| test < self.tests)?);
            }
            functions.push(FunctionRecord { name, line, fingerprint, tests });
        }
        bytes.is_empty().then_some(functions)
    }
}

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

fn encoded_functions(functions: &[FunctionRecord]) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, functions.len() as u64);
    for function in functions {
        put_text(&mut out, &function.name);
        put_varint(&mut out, u64::from(function.line));
        out.extend(function.fingerprint.to_le_bytes());
        put_varint(&mut out, function.tests.len() as u64);
        let mut before = 0;
        for &test in &function.tests {
            put_varint(&mut out, u64::from(test - before));
            before = test;
        }
    }
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

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn take_text<'b>(bytes: &mut &'b [u8]) -> Option<&'b str> {
    let length = usize::try_from(take_varint(bytes)?).ok()?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    std::str::from_utf8(text).ok()
}

fn take<const LENGTH: usize>(bytes: &mut &[u8]) -> Option<[u8; LENGTH]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}
