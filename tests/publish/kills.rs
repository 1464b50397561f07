//! Publishers and pulls that are killed at each point of their way: what others see is the state
//! before or the one after, and the next one succeeds.

use std::process::Child;

use super::team::{Team, files, is_store, module};

/// Kills a child as soon as a condition holds; false if it has ended before.
fn kill_when(mut child: Child, mut condition: impl FnMut() -> bool) -> bool {
    while !condition() {
        if child.try_wait().expect("it is a child").is_some() {
            return false;
        }
        std::thread::yield_now();
    }
    // It may end at this moment.
    let _ = child.kill();
    let status = child.wait().expect("it is a child");
    !status.success()
}

#[test]
fn a_killed_publisher_leaves_the_commit_before_or_its_own() {
    let team = Team::new();
    let url = team.published();
    let url = url.to_str().expect("a plain path").to_owned();
    team.publish("ci");
    let mut last = team.git("ci", &["rev-parse", "HEAD"]);
    team.clone_to("laptop");
    let mut killed = 0;
    // After each of its objects, and after the temporary file of each.
    for more in 0..6_usize {
        team.write("ci", "shop/m7.py", &module(7).replace("f7_3", &format!("g7_{more}")));
        let own = team.commit("ci");
        team.done("ci", &["index", "--json"]);
        team.git("laptop", &["pull", "-q"]);
        let before = files(&team.published()).len();
        let child = team.start("ci", &["publish", &url]);
        killed += usize::from(kill_when(child, || {
            files(&team.published()).len() > before + more.saturating_sub(1)
                || (more == 0 && files(&team.cache("ci")).iter().any(|path| is_temporary(path)))
        }));
        let pulled = team.pull("laptop");
        assert!(
            pulled.contains(&own[..12]) || pulled.contains(&last[..12]),
            "{more}: {pulled} is of neither {last} nor {own}"
        );
        assert_eq!(team.rows("laptop"), team.fresh_rows("laptop"), "{more}");
        // The next publisher starts where this one ended.
        team.publish("ci");
        assert!(team.pull("laptop").contains(&own[..12]), "{more}");
        last = own;
    }
    assert!(killed > 0, "a publisher was killed");
}

fn is_temporary(path: &std::path::Path) -> bool {
    path.to_string_lossy().contains(".building")
}

#[test]
fn a_killed_pull_leaves_the_index_before_or_the_new_one() {
    let team = Team::new();
    let url = team.published();
    let url = url.to_str().expect("a plain path").to_owned();
    team.publish("ci");
    team.clone_to("laptop");
    team.pull("laptop");
    let mut killed = 0;
    for point in 0..6 {
        let old = team.store("laptop");
        let bytes = |path: &std::path::Path| path.metadata().map_or(0, |file| file.len());
        let child = team.start("laptop", &["pull", &url]);
        killed += usize::from(kill_when(child, || {
            let all = files(&team.cache("laptop"));
            match point {
                0 => all.iter().any(|path| is_temporary(path)),
                1 => all.iter().any(|path| is_temporary(path) && bytes(path) > 0),
                2 => all.iter().any(|path| is_temporary(path) && bytes(path) > 100_000),
                3 => all.iter().filter(|path| is_temporary(path)).count() > 1,
                4 => all.iter().any(|path| is_store(path) && *path != old),
                _ => !old.exists(),
            }
        }));
        let status = team.done("laptop", &["status"]);
        assert!(status.contains("40"), "{point}: {status}");
        assert_eq!(team.rows("laptop"), team.fresh_rows("laptop"), "{point}");
        team.pull("laptop");
        let left: Vec<_> =
            files(&team.cache("laptop")).into_iter().filter(|path| is_temporary(path)).collect();
        assert!(left.is_empty(), "{point}: {left:?}");
    }
    assert!(killed > 0, "a pull was killed");
}
