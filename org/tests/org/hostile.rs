//! Files that are damaged or made to harm: an error that names the file, and no panic.

use std::fs;

use super::data::Data;

const QUESTION: [&str; 2] = ["callers", "f"];
const ROWS: [[&str; 4]; 2] = [
    ["team/a", "cograph pip lib 1.0 f.", "cograph pip a 1 `a.py`/g().", "a.py"],
    ["team/b", "cograph pip lib 1.1 f.", "cograph pip b 1 `b.py`/g().", "b.py"],
];

/// What happens to the bytes of a file.
type Damage = dyn Fn(&mut Vec<u8>);

#[test]
fn a_file_that_is_cut_or_overwritten_is_named() {
    let data = Data::empty();
    let path = data.write_calls("good.parquet", "1", &ROWS);
    data.write_calls("bad.parquet", "1", &ROWS);
    assert!(data.answer(&QUESTION).contains("4 calls in 2 repositories"));
    let good = fs::read(&path).expect("readable");
    let bad = path.with_file_name("bad.parquet");
    let damages: [&Damage; 6] = [
        &|bytes| bytes.truncate(bytes.len() / 2),
        &|bytes| bytes.clear(),
        &|bytes| bytes.truncate(3),
        &|bytes| bytes[4..200].fill(0xff),
        &|bytes| {
            let end = bytes.len();
            bytes[end - 100..end - 8].fill(0x7f);
        },
        &|bytes| {
            // A footer that is longer than the file.
            let end = bytes.len();
            bytes[end - 8..end - 4].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
        },
    ];
    for (at, damage) in damages.iter().enumerate() {
        let mut bytes = good.clone();
        damage(&mut bytes);
        fs::write(&bad, bytes).expect("written");
        for question in [&QUESTION[..], &["sql", "SELECT * FROM calls"], &["compact"]] {
            let message = data.error(question);
            assert!(
                message.contains("calls/bucket=07/bad.parquet"),
                "{at}, {question:?}: {message}"
            );
        }
    }
}

#[test]
fn every_byte_may_be_wrong() {
    let data = Data::empty();
    let path = data.write_calls("one.parquet", "1", &ROWS);
    let good = fs::read(&path).expect("readable");
    for at in (0..good.len()).step_by(good.len() / 40) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x5a;
        fs::write(&path, bytes).expect("written");
        let ran = data.run(&QUESTION);
        assert!(!ran.err.contains("panicked"), "{at}: {}", ran.err);
        assert!(ran.is_success || ran.err.contains("one.parquet"), "{at}: {}", ran.err);
    }
}

#[test]
fn other_schemas_are_named() {
    let data = Data::empty();
    let path = data.write_calls("new.parquet", "2", &ROWS);
    let message = data.error(&QUESTION);
    assert!(message.contains("calls/bucket=07/new.parquet has another schema"), "{message}");
    assert!(message.contains("version 2"), "{message}");
    let other = data.tables().join("packages/bucket=07");
    fs::create_dir_all(&other).expect("created");
    fs::rename(&path, other.join("new.parquet")).expect("moved");
    data.write_calls("good.parquet", "1", &ROWS);
    data.answer(&QUESTION);
    fs::copy(data.tables().join("calls/bucket=07/good.parquet"), other.join("new.parquet"))
        .expect("copied");
    let message = data.error(&["versions", "lib"]);
    assert!(message.contains("packages/bucket=07/new.parquet"), "{message}");
    assert!(message.contains("no column `manager`"), "{message}");
}

#[test]
fn a_damaged_manifest_is_named_and_made_again() {
    let data = Data::empty();
    data.write_calls("one.parquet", "1", &ROWS);
    data.answer(&["compact"]);
    let manifest = data.tables().join("_org/current.json");
    let good = fs::read_to_string(&manifest).expect("readable");
    for bad in [
        "{".to_owned(),
        good.replace("\"format\":1", "\"format\":9"),
        good.replace("_org/calls", "../calls"),
    ] {
        fs::write(&manifest, bad).expect("written");
        let message = data.error(&QUESTION);
        assert!(message.contains("_org/current.json"), "{message}");
        data.answer(&["compact"]);
        assert!(data.answer(&QUESTION).contains("2 calls in 2 repositories"));
    }
    let calls = fs::read_dir(data.tables().join("_org/callers")).expect("a directory");
    let file = calls.last().expect("a file").expect("readable").path();
    fs::write(&file, "PAR1").expect("written");
    let message = data.error(&QUESTION);
    assert!(message.contains("_org/callers/"), "{message}");
}

#[test]
fn hidden_characters_are_escaped() {
    let data = Data::empty();
    let callee = "cograph pip lib 1.0 `f\u{1b}[2J`.";
    let rows = [["team/\u{202e}a", callee, "cograph pip a 1 `x\ny`().", "a\u{1b}]0;x\u{7}.py"]];
    data.write_calls("one.parquet", "1", &rows);
    for question in [
        &["callers", callee][..],
        &["sql", "SELECT * FROM calls"],
        &["callers", "no\u{1b}[2Jthing"],
    ] {
        let text = data.answer(question);
        assert!(!text.contains(|c: char| c != '\n' && c.is_control()), "{text:?}");
        assert!(!text.contains('\u{202e}'), "{text:?}");
    }
    let text = data.answer(&["callers", callee]);
    assert!(
        text.contains("team/\\u{202e}a  lib 1.0\n  a\\u{1b}]0;x\\u{7}.py:1  x\\ny\n"),
        "{text}"
    );
}

#[test]
fn a_directory_without_tables_is_an_error() {
    let data = Data::empty();
    let text = data.answer(&QUESTION);
    assert_eq!(text, "no calls of `f`\n");
    let message = data.error(&["compact"]);
    assert!(message.contains("there are no tables at"), "{message}");
}
