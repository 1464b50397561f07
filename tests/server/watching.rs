//! A session that edits and queries: every answer is about the files as they were when its request
//! was sent, with a watch and without.

use std::fs;
use std::time::{Duration, Instant};

use cograph::store::Location;
use serde_json::json;

use super::client::{Client, PATIENCE, PROMPT};

fn save(client: &Client, path: &str, text: &str) {
    let path = client.place.path().join("repository").join(path);
    fs::create_dir_all(path.parent().expect("it is below the repository"))
        .expect("directories can be made");
    fs::write(path, text).expect("files can be written");
}

#[test]
fn an_answer_is_about_the_files_at_the_moment_of_the_question() {
    let mut client = Client::connected(&[]);
    client.ask("search", json!({"query": "helper"}));
    for number in 0..40 {
        let path =
            if number % 3 == 0 { format!("made_{number}/deep/b.py") } else { "a.py".to_owned() };
        save(&client, &path, &format!("def name_{number}():\n    return {number}\n"));
        let text = client.ask_fresh("search", &json!({"query": format!("name_{number}")}));
        assert!(
            text.contains(&format!("name_{number}()")) && text.contains("up to date"),
            "{number}: {text}"
        );
        if number % 3 == 0 {
            // The same question again: nothing was reported, and nothing is forgotten.
            let text = client.ask("search", json!({"query": format!("name_{number}")}));
            assert!(text.contains(&path) && text.contains("up to date"), "{number}: {text}");
        }
    }
    let status = client.ask("status", json!({}));
    assert!(status.contains("directories watched"), "{status}");
    fs::remove_dir_all(client.place.path().join("repository/made_0")).expect("it was made");
    let text = client.ask_fresh("search", &json!({"query": "name_0"}));
    assert!(!text.contains("made_0/") && text.contains("up to date"), "{text}");
}

/// Words of files without a language are remembered from one question for the next.
#[test]
fn a_word_that_comes_into_a_file_without_a_language_is_found_after_it_was_not() {
    let mut client = Client::connected(&[]);
    save(&client, "lonely.py", "def lonely_one():\n    return 1\n");
    let ask =
        |client: &mut Client| client.ask_fresh("references", &json!({"symbol": "lonely_one"}));
    for number in 0..12 {
        save(&client, "notes.txt", &format!("nothing of it in version {number}\n"));
        for _ in 0..2 {
            let text = ask(&mut client);
            assert!(text.contains("every other line with its name"), "{number}: {text}");
        }
        // As long as before, so that only times and contents differ.
        let version = format!("nothing of lonely_one in {number}\n");
        save(&client, "notes.txt", &version);
        let text = ask(&mut client);
        assert!(text.contains("notes.txt:1"), "{number}: {text}");
    }
}

#[test]
fn a_root_that_went_and_came_back_is_swept_as_a_whole() {
    let mut client = Client::connected(&[]);
    for _ in 0..3 {
        client.ask("search", json!({"query": "helper"}));
    }
    let root = client.place.path().join("repository");
    fs::rename(&root, root.with_file_name("elsewhere")).expect("renamed");
    fs::create_dir(&root).expect("it is gone");
    save(&client, "c.py", "def another():\n    return 1\n");
    let text = client.ask_fresh("search", &json!({"query": "another"}));
    assert!(text.contains("another()") && text.contains("up to date"), "{text}");
    save(&client, "c.py", "def a_third():\n    return 1\n");
    let text = client.ask_fresh("search", &json!({"query": "a_third"}));
    assert!(text.contains("a_third()") && text.contains("up to date"), "{text}");
    let until = Instant::now() + PATIENCE;
    while !client.ask("status", json!({})).contains("directories watched") {
        assert!(Instant::now() < until, "what is there now is watched as well");
    }
}

#[test]
fn pending_files_and_progress_are_named_in_every_form_of_an_answer() {
    let mut client = Client::connected(&[]);
    client.ask_fresh("search", &json!({"query": "helper"}));
    let top = fs::canonicalize(client.place.path()).expect("it exists");
    let location = Location::new(&top.join("cache"), &top.join("repository"));
    let lock = location.lock(Duration::from_secs(30)).expect("nobody else writes for long");
    for number in 0..12 {
        save(&client, &format!("new_{number:02}.py"), "def newcomer():\n    pass\n");
    }
    let begun = Instant::now();
    client.call("late", "search", json!({"query": "newcomer"}));
    let answer = client.answer(&json!("late"));
    assert!(
        begun.elapsed() < PROMPT,
        "an answer does not wait for another writer: {:?}",
        begun.elapsed()
    );
    // The run waits for the other writer: that is how far it is.
    let so_far = "indexing: ";
    let stale = format!("12 files pending: {so_far}");
    let named = format!(
        "; stale: 12 files pending (new_00.py, new_01.py, new_02.py, new_03.py, new_04.py, 7 \
         more): {so_far}"
    );
    let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
    assert!(
        text.starts_with("0 of 0") && text.lines().next().is_some_and(|head| head.contains(&named)),
        "{text}"
    );
    assert!(
        answer["result"]["_meta"]["stale"].as_str().is_some_and(|said| said.starts_with(&stale)),
        "{answer}"
    );
    let status = client.ask("status", json!({}));
    assert!(status.lines().next().is_some_and(|head| head.contains(&named)), "{status}");
    // What is not there may be in a file that is not indexed yet.
    for (tool, arguments) in [
        ("outline", json!({"path": "new_00.py"})),
        ("show", json!({"targets": ["new_01.py:1-2"]})),
        ("trace", json!({"symbol": "newcomer"})),
        ("references", json!({"symbol": "newcomer"})),
        ("sql", json!({"statement": "SELECT newcomer FROM symbols"})),
    ] {
        client.call(tool, tool, arguments);
        let answer = client.answer(&json!(tool));
        let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
        assert!(answer["result"]["isError"] == json!(true), "{text}");
        assert!(text.lines().next().is_some_and(|head| head.contains(&named)), "{text}");
        assert!(
            answer["result"]["_meta"]["stale"]
                .as_str()
                .is_some_and(|said| said.starts_with(&stale)),
            "{answer}"
        );
    }
    drop(lock);
    let text = client.ask_fresh("search", &json!({"query": "newcomer"}));
    assert!(text.starts_with("12 of 12"), "{text}");
}

#[test]
fn an_answer_says_that_a_run_has_failed_and_why() {
    let mut client = Client::connected(&[]);
    client.ask_fresh("search", &json!({"query": "helper"}));
    let top = fs::canonicalize(client.place.path()).expect("it exists");
    let location = Location::new(&top.join("cache"), &top.join("repository"));
    let lock = location.directory().join("writer.lock");
    fs::remove_file(&lock).expect("there was a run");
    fs::create_dir(&lock).expect("it is gone");
    save(&client, "new.py", "def newcomer():\n    pass\n");
    client.call("failed", "search", json!({"query": "newcomer"}));
    let answer = client.answer(&json!("failed"));
    let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
    let head = text.lines().next().unwrap_or_default();
    assert!(
        head.contains("; stale: 1 file not indexed (new.py): ") && head.contains("writer.lock"),
        "{text}"
    );
    let marked =
        answer["result"]["_meta"]["stale"].as_str().expect("it is said for programs as well");
    assert!(
        marked.starts_with("1 file not indexed: ") && marked.contains("writer.lock"),
        "{marked}"
    );
    fs::remove_dir(&lock).expect("it is empty");
    let text = client.ask_fresh("search", &json!({"query": "newcomer"}));
    assert!(text.starts_with("1 of 1"), "{text}");
}
