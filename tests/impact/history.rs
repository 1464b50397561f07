//! History of the files: read once, kept with the store, continued by new commits and without
//! those of another branch.

use serde_json::Value;

use super::repository::GitRepository;
use super::{CART, shop};

/// The history of a file in an answer.
fn of(repository: &GitRepository, path: &str) -> Value {
    let answer = repository.json(&["impact"]);
    let all = answer["history"].as_array().expect("a list");
    all.iter().find(|file| file["path"] == path).cloned().unwrap_or(Value::Null)
}

fn edit(repository: &GitRepository, path: &str, text: &str, author: &str) {
    repository.write(path, text);
    repository.git(&["add", "-A"]);
    let author = format!("{author} <{author}@example.org>");
    repository.git(&["commit", "-q", "-m", "edit", "--author", &author]);
}

#[test]
fn commits_authors_and_days_are_counted_and_new_ones_added() {
    let repository = shop();
    for (round, author) in ["ann", "ann", "bob"].into_iter().enumerate() {
        edit(&repository, "shop/cart.py", &format!("{CART}\nround = {round}\n"), author);
    }
    repository.write("shop/cart.py", CART);
    let facts = of(&repository, "shop/cart.py");
    assert_eq!((&facts["commits"], &facts["authors"]), (&4.into(), &3.into()), "{facts}");
    assert_eq!(facts["owners"][0], serde_json::json!({"name": "ann", "commits": 2}));
    assert_eq!(facts["last"].as_str().map(str::len), Some(10));
    let (_, text) = repository.ask(&["impact"]);
    assert!(text.contains("shop/cart.py: 4 commits, 4 in a year, last "), "{text}");
    edit(&repository, "shop/cart.py", &format!("{CART}\nlast = 1\n"), "bob");
    repository.write("shop/cart.py", CART);
    assert_eq!(of(&repository, "shop/cart.py")["commits"], 5);
}

#[test]
fn a_branch_that_was_left_does_not_count() {
    let repository = shop();
    repository.git(&["checkout", "-q", "-b", "other"]);
    edit(&repository, "shop/cart.py", &format!("{CART}\nother = 1\n"), "ann");
    repository.write("shop/cart.py", CART);
    assert_eq!(of(&repository, "shop/cart.py")["commits"], 2);
    repository.git(&["checkout", "-q", "-f", "main"]);
    edit(&repository, "shop/cart.py", &format!("{CART}\nmain = 1\n"), "bob");
    repository.write("shop/cart.py", CART);
    let facts = of(&repository, "shop/cart.py");
    assert_eq!(facts["commits"], 2, "{facts}");
    assert!(facts["owners"].as_array().expect("a list").iter().all(|one| one["name"] != "ann"));
}

#[test]
fn renamed_files_keep_their_commits_and_reformats_are_left_out() {
    let repository = shop();
    repository.git(&["mv", "shop/cart.py", "shop/basket.py"]);
    repository.commit("rename");
    edit(&repository, "shop/basket.py", &format!("{CART}\nformatted = 1\n"), "bot");
    repository.write("shop/basket.py", CART);
    assert_eq!(of(&repository, "shop/basket.py")["commits"], 3);
    let reformat = repository.git(&["rev-parse", "HEAD"]);
    repository.write(".git-blame-ignore-revs", &format!("# formatting\n{reformat}"));
    assert_eq!(of(&repository, "shop/basket.py")["commits"], 2);
}

#[test]
fn a_commit_of_many_files_counts_for_none() {
    let repository = shop();
    for at in 0..40 {
        repository.write(&format!("many/m{at}.py"), "x = 1\n");
    }
    repository.write("shop/cart.py", &format!("{CART}\nmany = 1\n"));
    repository.commit("bulk");
    repository.write("shop/cart.py", CART);
    assert_eq!(of(&repository, "shop/cart.py")["commits"], 1);
}

#[test]
fn the_overview_names_what_changes_most_and_how_much_history_there_is() {
    let repository = shop();
    edit(&repository, "shop/use.py", "def run(cart):\n    return 1\n", "ann");
    let (_, text) = repository.ask(&["overview"]);
    assert!(text.contains("most changed files, of 2 commits:\n  shop/use.py 2 commits"), "{text}");
    let answer = repository.json(&["overview"]);
    assert_eq!(answer["changed_most"][0]["path"], "shop/use.py");
    let shallow = GitRepository::clone_of(&repository, &["--depth", "1"]);
    let (_, text) = shallow.ask(&["overview"]);
    assert!(text.contains("of 1 commit, the clone is shallow:"), "{text}");
    shallow.write("shop/use.py", "def run(cart):\n    return 2\n");
    let (_, text) = shallow.ask(&["impact"]);
    assert!(text.contains("history: 1 commit read, the clone is shallow"), "{text}");
    let (code, text) = repository.ask_without_git(&["overview"], "");
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("most changed files"), "{text}");
}
