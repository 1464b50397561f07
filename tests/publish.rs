//! An index that one machine publishes and others pull: what is sent, what arrives, who works at
//! the same time, and what hostile or damaged objects cost.

mod hostile;
mod kills;
mod team;
mod web;

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use cograph::publish::{Reference, Remote, Retention, retain};
use team::{Team, files, module};

#[test]
fn a_pulled_index_is_that_of_a_fresh_build() {
    let team = Team::new();
    team.clone_to("laptop");
    let published = team.publish("ci");
    assert!(published.contains(" on main: "), "{published}");
    // The checkout has a commit and a change of its own.
    team.write("laptop", "shop/extra.py", "from shop.m3 import f3_1\n\nf3_1(2)\n");
    team.commit("laptop");
    team.write("laptop", "shop/m5.py", "def f5_0(value):\n    return value\n");
    fs::remove_file(team.root("laptop").join("shop/m9.py")).expect("removed");
    let pulled = team.pull("laptop");
    assert!(pulled.contains("1 commit before the one that is checked out"), "{pulled}");
    assert_eq!(team.rows("laptop"), team.fresh_rows("laptop"));
    let status = team.done("laptop", &["status"]);
    let other = team.root("ci");
    assert!(!status.contains(&*other.to_string_lossy()), "of the other machine: {status}");
    // It is changed in place afterwards, with the segment that came along.
    team.write("laptop", "shop/m7.py", &module(7).replace("f7_3", "g7_3"));
    let changed = team.done("laptop", &["index", "--json"]);
    assert!(changed.contains("\"generation\""), "{changed}");
    assert_eq!(team.rows("laptop"), team.fresh_rows("laptop"));
}

#[test]
fn a_copy_on_its_way_has_nothing_of_its_machine() {
    let team = Team::new();
    team.publish("ci");
    let root = team.root("ci");
    team.clone_to("laptop");
    team.pull("laptop");
    // A build publishes what another machine pulled: only the page with the generation differs.
    let again = team.publish("laptop");
    assert!(again.contains(" 0 of ") || again.contains(" 1 of "), "{again}");
    let store = fs::read(team.store("laptop")).expect("it is readable");
    let root = root.to_str().expect("a plain path").as_bytes();
    assert!(!store.windows(root.len()).any(|bytes| bytes == root), "the root of the publisher");
}

#[test]
fn a_commit_publishes_its_difference() {
    let team = Team::new();
    team.publish("ci");
    let size = |team: &Team| -> u64 {
        let all = files(&team.published()).into_iter();
        all.filter(|path| path.to_string_lossy().contains("/pieces/"))
            .map(|path| fs::metadata(path).expect("it exists").len())
            .sum()
    };
    let full = size(&team);
    team.write("ci", "shop/m7.py", &module(7).replace("f7_3", "g7_3"));
    team.commit("ci");
    team.publish("ci");
    let more = size(&team) - full;
    assert!(more * 2 < full, "{more} of {full} bytes were sent again");
    let before = files(&team.published());
    team.publish("ci");
    assert_eq!(files(&team.published()), before, "a second publication has nothing to add");
}

#[test]
fn the_newest_ancestor_is_found_on_any_branch() {
    let team = Team::new();
    let first = team.git("ci", &["rev-parse", "HEAD"]);
    team.publish("ci");
    team.git("ci", &["checkout", "-q", "-b", "feature/x"]);
    team.write("ci", "shop/m1.py", &module(1).replace("f1_3", "g1_3"));
    let second = team.commit("ci");
    team.publish("ci");
    team.clone_to("laptop");
    assert!(team.pull("laptop").contains(&second[..12]));
    team.git("laptop", &["checkout", "-q", "--detach", &first]);
    assert!(team.pull("laptop").contains(&first[..12]));
    let url = team.published();
    let url = url.to_str().expect("a plain path");
    team.git("laptop", &["checkout", "-q", "--detach", &second]);
    let only = team.done("laptop", &["pull", url, "--branch", "main"]);
    assert!(only.contains(&first[..12]), "{only}");
    // Nothing of an unrelated history, nothing of other settings.
    let (code, _, message) = team.run("laptop", &["pull", url, "--branch", "other"]);
    assert_eq!(code, Some(1), "{message}");
    let mut command = team.command("laptop", &["pull", url]);
    let output = command.env("COGRAPH_LINE_LIMIT", "5000000").output().expect("it starts");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("this version and these settings"), "{message}");
    team.git("laptop", &["checkout", "-q", "--orphan", "alone"]);
    team.commit("laptop");
    let (code, _, message) = team.run("laptop", &["pull", url]);
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("is an ancestor of the checkout"), "{message}");
}

#[test]
fn only_what_is_committed_is_published() {
    let team = Team::new();
    let url = team.published();
    let url = url.to_str().expect("a plain path");
    team.write("ci", "secret.py", "def secret():\n    pass\n");
    let (code, _, message) = team.run("ci", &["publish", url]);
    assert_eq!(code, Some(3), "{message}");
    assert!(message.contains("`secret.py` is not as in the commit"), "{message}");
    team.commit("ci");
    team.git("ci", &["checkout", "-q", "--detach"]);
    let (code, _, message) = team.run("ci", &["publish", url]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("--branch"), "{message}");
    team.done("ci", &["publish", url, "--branch", "main"]);
    fs::create_dir(team.root("ci").join("shop/.keep")).expect("created");
    let (code, _, message) = team.run("ci", &["publish", url, "--root", "shop"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("of a repository"), "{message}");
}

#[test]
fn publishers_at_the_same_time_lose_no_commit() {
    let team = Team::new();
    team.publish("ci");
    let machines: Vec<String> = (0..4).map(|number| format!("ci{number}")).collect();
    let mut commits = Vec::new();
    for (number, machine) in machines.iter().enumerate() {
        team.clone_to(machine);
        team.write(machine, "shop/own.py", &format!("def own{number}():\n    pass\n"));
        commits.push(team.commit(machine));
        team.done(machine, &["index", "--json"]);
    }
    let url = team.published();
    let url = url.to_str().expect("a plain path");
    let running: Vec<_> =
        machines.iter().map(|machine| team.start(machine, &["publish", url])).collect();
    for mut child in running {
        assert!(child.wait().expect("it ends").success());
    }
    for (machine, commit) in machines.iter().zip(&commits) {
        let pulled = team.pull(machine);
        assert!(pulled.contains(&commit[..12]), "{machine}: {pulled}");
        assert_eq!(team.rows(machine), team.fresh_rows(machine), "{machine}");
    }
}

/// Makes every object look as if it was written before a time.
fn age(directory: &Path, by: Duration) {
    for path in files(directory) {
        let file = fs::File::options().append(true).open(path).expect("it is writable");
        file.set_modified(SystemTime::now() - by).expect("its time can be set");
    }
}

#[test]
fn retention_keeps_what_a_reference_names_and_what_is_young() {
    let team = Team::new();
    let mut commits = vec![team.git("ci", &["rev-parse", "HEAD"])];
    team.publish("ci");
    for number in 0..3 {
        team.write("ci", "shop/m7.py", &module(7).replace("f7_3", &format!("g{number}")));
        commits.push(team.commit("ci"));
        team.publish("ci");
    }
    let url = team.published();
    let remote = Remote::open(url.to_str().expect("plain"), &[], true).expect("it opens");
    let grace = Duration::from_secs(3_600);
    let removed = retain(&remote, &Retention { commits: 2, grace }).expect("it is readable");
    assert_eq!((removed.manifests, removed.pieces), (0, 0), "what was named is young");
    age(&team.published(), 2 * grace);
    let removed = retain(&remote, &Retention { commits: 2, grace }).expect("it is readable");
    assert_eq!((removed.manifests, removed.pieces), (0, 0), "publishers may build on it");
    let mut references = files(&team.published().join("cograph-1/branches"));
    assert_eq!(references.len(), 1, "{references:?}");
    let path = references.remove(0);
    let reference = fs::read(&path).expect("it is readable");
    let mut reference = Reference::parse(&reference).expect("it is one");
    assert_eq!((reference.commits.len(), reference.retired.len()), (2, 2));
    for (_, time) in &mut reference.retired {
        *time = 1;
    }
    fs::write(&path, reference.encoded()).expect("written");
    age(&team.published(), 2 * grace);
    let removed = retain(&remote, &Retention { commits: 2, grace }).expect("it is readable");
    assert_eq!(removed.manifests, 2);
    assert!(removed.pieces > 0, "{removed:?}");
    team.clone_to("laptop");
    assert!(team.pull("laptop").contains(&commits[3][..12]));
    assert_eq!(team.rows("laptop"), team.fresh_rows("laptop"));
    team.git("laptop", &["checkout", "-q", "--detach", &commits[1]]);
    let url = url.to_str().expect("a plain path");
    assert_eq!(team.run("laptop", &["pull", url]).0, Some(1), "its commit is removed");
    team.git("laptop", &["checkout", "-q", "main"]);
    // What no reference names and is old goes; what is young stays.
    let stray = team.published().join("cograph-1/pieces/ab").join("ab".repeat(32));
    fs::create_dir_all(stray.parent().expect("a parent")).expect("created");
    fs::write(&stray, "unfinished").expect("written");
    retain(&remote, &Retention { commits: 1, grace }).expect("it is readable");
    assert!(stray.exists());
    age(&team.published(), 2 * grace);
    retain(&remote, &Retention { commits: 1, grace }).expect("it is readable");
    assert!(!stray.exists());
    team.pull("laptop");
}
