//! The functions of a file as bytes, decoded by need.

use cograph_model::packed::{put_varint, take_varint};

/// Tests of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FunctionRecord {
    /// Qualified name; empty for the whole file.
    pub(crate) name: String,
    /// Line of the name; 0 if the content with that hash has no such body.
    pub(crate) line: u32,
    pub(crate) fingerprint: u64,
    /// Positions among the tests, in order.
    pub(crate) tests: Vec<u32>,
}

/// Functions of a file as [`encoded_functions`] made them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Functions {
    pub(super) bytes: Box<[u8]>,
    /// Number of tests that there are.
    pub(super) tests: u32,
}

impl Functions {
    /// The functions. The hash of all records says that the bytes were made here; others are
    /// no functions.
    pub(crate) fn decoded(&self) -> Vec<FunctionRecord> {
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

pub(crate) fn encoded_functions(functions: &[FunctionRecord]) -> Vec<u8> {
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

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

pub(crate) fn take_text<'b>(bytes: &mut &'b [u8]) -> Option<&'b str> {
    let length = usize::try_from(take_varint(bytes)?).ok()?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    std::str::from_utf8(text).ok()
}

pub(crate) fn take<const LENGTH: usize>(bytes: &mut &[u8]) -> Option<[u8; LENGTH]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}
