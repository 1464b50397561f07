//! Functions that are assigned to variables and fields: calls through these are found from the
//! caller and from the function, and what is not known is reported.

use super::bad_input::setup::Repository;

const FILES: [(&str, &[u8]); 4] = [
    (
        "a.h",
        b"struct file;\n\
          struct ops { int (*read)(struct file *f); int (*write)(struct file *f); void \
          (*sync)(struct file *f); };\n\
          struct file { const struct ops *ops; };\n",
    ),
    (
        "a.c",
        b"#include \"a.h\"\n\
          static int my_read(struct file *f) { return 0; }\n\
          static int my_write(struct file *f) { return 1; }\n\
          static int other_write(struct file *f) { return 2; }\n\
          static const struct ops my_ops = {\n\
          \t.read = my_read,\n\
          \t.write = my_write,\n\
          };\n\
          static const struct ops by_place = { my_read, my_write };\n\
          void change(struct ops *o) { o->write = other_write; }\n\
          int use(struct file *f) { return f->ops->read(f) + f->ops->write(f); }\n\
          void flush(struct file *f) { f->ops->sync(f); }\n",
    ),
    (
        "c.py",
        b"class Box:\n    @property\n    def size(self):\n        return measure\n\n\n\
          def measure():\n    return 1\n\n\n\
          class Holder:\n    def __init__(self, box: Box):\n        self.measured = box.size\n\
          \n    def apply(self):\n        return self.measured()\n",
    ),
    (
        "b.ts",
        b"class Task {\n  done: () => void = finish;\n  run() {\n    this.done();\n  }\n}\n\
               function finish(): void {}\n",
    ),
];

fn asked(arguments: &[&str]) -> String {
    Repository::with(&FILES).asked(arguments)
}

#[test]
fn a_field_that_one_function_is_put_into_leads_to_its_callers() {
    let answer = asked(&["trace", "my_read"]);
    assert!(answer.starts_with("1 caller of my_read (a.c:2)"), "{answer}");
    assert!(answer.contains("\na.c: likely, by a function value: use:11| "), "{answer}");
    let answer = asked(&["trace", "use", "--direction", "callees"]);
    assert!(answer.contains("likely, by a function value: my_read:2 at 11"), "{answer}");
}

#[test]
fn of_several_functions_each_is_one_of_the_candidates() {
    for function in ["my_write", "other_write"] {
        let answer = asked(&["trace", function]);
        assert!(answer.starts_with(&format!("0 callers of {function}")), "{answer}");
        assert!(
            answer.contains("not followed, target not certain (function-value):\na.c: use:11"),
            "{answer}"
        );
        let answer = asked(&["trace", function, "--certainty", "possible"]);
        assert!(answer.contains("\na.c: possible, by a function value: use:11| "), "{answer}");
    }
    let answer = asked(&["trace", "use", "--direction", "callees", "--certainty", "possible"]);
    assert!(
        answer.contains("possible, by a function value: my_write:3 at 11, other_write:4 at 11"),
        "what stands in a list by place is not taken for it: {answer}"
    );
}

#[test]
fn a_field_that_is_called_has_the_calls_among_its_references() {
    let answer = asked(&["references", "ops.write"]);
    assert!(
        answer.starts_with("references to field ops.write (a.h:2): 3 certain in 1 file"),
        "{answer}"
    );
    assert!(answer.contains("by kind: 2 write, 1 call"), "{answer}");
    let answer = asked(&["trace", "flush", "--direction", "callees"]);
    assert!(
        answer.contains("(function-value):\na.c: sync:12"),
        "it is no call of `void` outside: {answer}"
    );
}

#[test]
fn a_path_goes_through_what_a_field_holds() {
    let answer = asked(&["trace", "use", "--to", "my_read"]);
    assert!(answer.contains("reaches my_read (a.c:2) in 1 call"), "{answer}");
    assert!(answer.contains("a.c: use:11 calls by a function value at 11 (likely)"), "{answer}");
}

#[test]
fn a_member_that_holds_a_closure_is_called_where_it_is() {
    let answer = asked(&["references", "Task.done"]);
    assert!(answer.contains("\nb.ts: Task.run:4| "), "{answer}");
}

#[test]
fn reading_a_property_puts_no_function_anywhere() {
    let answer = asked(&["trace", "Box.size", "--certainty", "possible"]);
    assert!(answer.contains("Holder.__init__") && !answer.contains("Holder.apply"), "{answer}");
    assert!(!answer.contains('='), "{answer}");
}

#[test]
fn what_a_variable_with_very_many_references_holds_is_left_open() {
    let start = "struct ops { int (*go)(int); };\nint act(int x) { return x; }\n\
                 struct ops all = { .go = act };\n\
                 int use(struct ops *o) { return o->go(1); }\nvoid keep(struct ops *o) {\n";
    for (reads, expected) in
        [(10, "likely, by a function value: act:2 at 4"), (5000, "not followed")]
    {
        let text = format!("{start}{}}}\n", "    put(o->go);\n".repeat(reads));
        let answer = Repository::with(&[("a.c", text.as_bytes())]).asked(&[
            "trace",
            "use",
            "--direction",
            "callees",
        ]);
        assert!(answer.contains(expected), "{reads}: {answer}");
    }
}
