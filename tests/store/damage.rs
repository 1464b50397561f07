//! Files that are no stores of ours, or no longer: passed over with a reason, never deleted, never
//! a crash.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cograph::model::cancel::CancelToken;
use cograph::store::{Location, Store, StoreErrorKind};

use crate::sample::{Cache, functions};

/// Does harm to the bytes of a store.
type Damage = fn(&mut Vec<u8>);

/// A cache whose only store has the bytes that `change` makes of a sound one.
fn damaged(change: impl FnOnce(&mut Vec<u8>)) -> (Cache, PathBuf) {
    let cache = Cache::new();
    let path = cache.publish(&functions(400)).expect("a sound store").path;
    let mut bytes = fs::read(&path).expect("a file");
    change(&mut bytes);
    fs::write(&path, bytes).expect("a file");
    (cache, path)
}

#[test]
fn what_is_no_store_is_recognized_by_its_header() {
    let cases: [(&str, Damage, StoreErrorKind); 6] = [
        ("empty", Vec::clear, StoreErrorKind::Corrupt),
        ("truncated", |bytes| bytes.truncate(bytes.len() / 2), StoreErrorKind::Corrupt),
        ("a few bytes", |bytes| bytes.truncate(60), StoreErrorKind::Corrupt),
        (
            "random",
            |bytes| {
                bytes.iter_mut().zip(0_u32..).for_each(|(byte, n)| *byte = (n * 31 % 251) as u8)
            },
            StoreErrorKind::Foreign,
        ),
        (
            "another application",
            |bytes| bytes[68..72].copy_from_slice(b"none"),
            StoreErrorKind::Foreign,
        ),
        ("a later format", |bytes| bytes[63] += 1, StoreErrorKind::OtherVersion),
    ];
    for (name, change, kind) in cases {
        let (cache, path) = damaged(change);
        let before = fs::read(&path).expect("a file");
        let error = Store::open_newest(&cache.location).expect_err(name);
        assert_eq!(error.kind, kind, "{name}: {error}");
        assert_eq!(error.path, path);
        assert!(error.calls_for_build(), "{name}");
        assert_eq!(fs::read(&path).expect("a file"), before, "{name}: it is left alone");
        cache.publish(&functions(2)).expect("a new generation beside it");
        assert_eq!(cache.snapshot().meta().symbols, 2, "{name}");
    }
}

#[test]
fn a_sound_older_generation_serves_while_the_newest_is_damaged() {
    let cache = Cache::new();
    let path = cache.publish(&functions(3)).expect("a sound store").path;
    fs::write(
        cache.location.generation_path(9),
        "nonsense, but long enough to be looked at; ".repeat(9),
    )
    .expect("a file");
    assert_eq!(Store::open_newest(&cache.location).expect("the older one").path(), path);
    assert_eq!(cache.publish(&functions(4)).expect("a newer one").identity.generation, 10);
}

#[test]
fn damage_inside_is_an_error_of_the_question() {
    let (cache, _) = damaged(|bytes| {
        let pages = bytes.len() / 4_096;
        bytes[4_096 * (pages / 2)..].fill(0xEE);
    });
    // The header is sound: depending on the page the store opens or not, but nothing panics and
    // nothing is answered wrongly.
    let outcome = Store::open_newest(&cache.location)
        .map(std::sync::Arc::new)
        .and_then(|store| store.verify(&CancelToken::new()));
    assert_eq!(outcome.expect_err("it is damaged").kind, StoreErrorKind::Corrupt);
}

#[test]
fn a_file_that_gets_shorter_while_it_is_read_is_an_error_of_the_question() {
    let cache = Cache::new();
    // More than is kept of a store while it is open.
    let path = cache.publish(&functions(60_000)).expect("a store").path;
    assert!(fs::metadata(&path).expect("it exists").len() > 4 << 20);
    let snapshot = cache.snapshot();
    assert_eq!(snapshot.meta().symbols, 60_000);
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_len(8_192))
        .expect("it is ours");
    assert!(
        snapshot.files().and_then(|files| snapshot.symbols_of(&files[0])).is_err(),
        "there is nothing left to read"
    );
}

#[test]
fn a_directory_that_cannot_be_written_can_be_read() {
    let cache = Cache::new();
    cache.publish(&functions(3)).expect("a store");
    let directory = cache.location.directory();
    fs::set_permissions(directory, fs::Permissions::from_mode(0o555)).expect("own directory");
    let symbols = cache.snapshot().meta().symbols;
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).expect("own directory");
    assert_eq!(symbols, 3);
}

#[test]
fn a_place_where_nothing_can_be_written_is_an_error_with_its_name() {
    // Not even the superuser can make directories here.
    let location = Location::new(Path::new("/sys"), Path::new("/somewhere/sample"));
    let error = location.lock(Duration::ZERO).expect_err("no directory can be made");
    assert_eq!(error.kind, StoreErrorKind::Permission, "{error}");
    assert_eq!(error.path, location.directory());
    assert!(!error.calls_for_build());
}
