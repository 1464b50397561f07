//! Paths of calls between names with several meanings, and uses by their kind, as the program
//! prints them.

use super::bad_input::setup::Repository;

fn first_line(answer: &str) -> &str {
    answer.lines().next().unwrap_or_default()
}

#[test]
fn a_path_is_looked_for_between_all_meanings_of_two_names() {
    // Overloads, methods of several classes, functions of several files.
    let files: &[(&str, &[u8])] = &[
        (
            "Pool.java",
            b"class Pool {\n  void take() { take(1); }\n  void take(int wait) { open(); }\n\
            \x20 void open() { new Link().open(); }\n}\n\
            class Link {\n  void open() {}\n}\n\
            class Idle {\n  void take() {}\n}\n",
        ),
        ("a.py", b"def step():\n    pass\n\n\ndef end():\n    pass\n"),
        ("b.py", b"def end():\n    pass\n\n\ndef step():\n    end()\n"),
    ];
    let repository = Repository::with(files);
    let answer = repository.asked(&["trace", "take", "--to", "Link.open"]);
    assert!(first_line(&answer).contains("Link.open (Pool.java:7) in 2 calls"), "{answer}");
    assert!(
        answer.contains("Pool.java: Pool.take:3 calls at 3, Pool.open:4 calls at 4"),
        "{answer}"
    );
    let answer = repository.asked(&["trace", "step", "--to", "end"]);
    assert!(first_line(&answer).contains("end (b.py:1) in 1 call "), "{answer}");
    assert!(answer.contains("b.py: step:5 calls at 6"), "{answer}");
    let answer = repository.asked(&["trace", "Pool.take", "--via", "open", "--to", "Link.open"]);
    assert!(first_line(&answer).contains("Link.open (Pool.java:7) in 2 calls"), "{answer}");
    let answer = repository.asked(&["trace", "end", "--to", "step"]);
    let first = first_line(&answer);
    assert!(first.contains("and one like it") && first.contains("none at any depth"), "{answer}");
}

#[test]
fn a_step_by_dispatch_names_the_line_of_the_call() {
    let files: &[(&str, &[u8])] = &[
        (
            "Run.java",
            b"interface Task { void run(); }\n\
            class Quick implements Task { public void run() { done(); } void done() {} }\n\
            class Use {\n  void go(Task task) {\n    task.run();\n  }\n}\n",
        ),
        (
            "run.ts",
            b"export interface Job { work(): void }\n\
            export class Fast implements Job { work() { this.ended(); } ended() {} }\n\
            export function begin(job: Job) {\n  job.work();\n}\n",
        ),
    ];
    let repository = Repository::with(files);
    let answer = repository.asked(&["trace", "Use.go", "--to", "Quick.done"]);
    assert!(
        answer.contains("Run.java: Use.go:4 calls by dispatch at 5, Quick.run:2 calls at 2"),
        "{answer}"
    );
    let answer = repository.asked(&["trace", "begin", "--to", "Fast.ended"]);
    assert!(answer.contains("begin:3 calls by dispatch at 4"), "{answer}");
}

#[test]
fn a_kind_of_use_is_found_whatever_a_language_writes_for_it() {
    let files: &[(&str, &[u8])] = &[
        ("a.py", b"class Broken(Exception):\n    pass\n\n\ndef fail():\n    raise Broken()\n"),
        ("a.rb", b"class Basket\nend\n\ndef fill\n  Basket.new\nend\n"),
        ("A.cs", b"interface ITask {}\nclass Quick : ITask {}\nclass Slow : Quick {}\n"),
        ("a.ts", b"export interface Job {}\nexport class Fast implements Job {}\n"),
        ("A.kt", b"interface Shape\nclass Round : Shape\n"),
    ];
    let repository = Repository::with(files);
    for (symbol, kind, place) in [
        ("Broken", "construct", "a.py:6"),
        ("ITask", "implement", "A.cs:2"),
        ("Job", "implement", "a.ts:2"),
        ("Shape", "implement", "A.kt:2"),
    ] {
        let answer = repository.asked(&["references", symbol, "--kinds", kind]);
        assert!(first_line(&answer).contains("1 certain in 1 file"), "{answer}");
        let (file, line) = place.split_once(':').expect("a line");
        let is_listed = |text: &str| text.contains(file) && text.contains(&format!(":{line}"));
        assert!(answer.lines().any(is_listed), "{place}: {answer}");
    }
    let answer = repository.asked(&["references", "Quick", "--kinds", "implement"]);
    assert!(first_line(&answer).contains("0 in 0 files"), "a class is inherited: {answer}");
}
