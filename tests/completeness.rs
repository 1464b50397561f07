//! Answers on which a reader acts, as the program gives them: that a symbol has no uses, that
//! nothing else overrides it. The same answer has what else the repository has of that symbol, or
//! reports that there is nothing else.

use super::bad_input::setup::Repository;

const FILES: [(&str, &[u8]); 5] = [
    (
        "app.py",
        b"from timers import every\n\n\ndef tick():\n    pass\n\n\ndef set_command():\n    pass\n\n\
          \ndef get_command():\n    pass\n\n\n\
          def lonely():\n    pass\n\n\nevery(5, tick)\n",
    ),
    ("commands.def", b"{\"set\", set_command},\n{\"get\", get_command},\n\
                       {\"get\", get_command},\n"),
    (
        "chain.py",
        b"class Handler:\n    def respond(self, request):\n        chain = self.load()\n        \
          return chain(request)\n\n    def load(self):\n        \
          return unknown.middleware\n\n\ndef view(request):\n    return request\n",
    ),
    ("quiet.py", b"def start():\n    return 1\n\n\ndef stop():\n    return 2\n"),
    ("other.py", b"def set_command_later():\n    pass\n"),
];

fn asked(arguments: &[&str]) -> String {
    Repository::with(&FILES).asked(arguments)
}

#[test]
fn a_function_that_is_handed_on_as_a_value_is_not_said_to_be_unused() {
    let trace = asked(&["trace", "tick"]);
    assert!(
        trace.starts_with(
            "0 callers of tick (app.py:4); call sites: 0; used without a call at 1 place"
        ),
        "{trace}"
    );
    assert!(trace.contains("\napp.py: read (top level):20"), "{trace}");
}

#[test]
fn a_name_in_text_that_no_language_reads_is_shown() {
    for command in ["references", "trace"] {
        let answer = asked(&[command, "get_command"]);
        assert!(
            answer.contains("its name stands in 2 lines that no reference accounts for"),
            "{answer}"
        );
        assert!(answer.contains("\ncommands.def:2,3"), "{answer}");
        let answer = asked(&[command, "set_command"]);
        assert!(
            answer.contains("its name stands in 1 line that no reference accounts for"),
            "of whole words: {answer}"
        );
    }
}

#[test]
fn where_every_line_with_the_name_is_accounted_for_that_is_reported() {
    for command in ["references", "trace"] {
        let answer = asked(&[command, "lonely"]);
        assert!(
            answer.contains(
                "; every other line with its name belongs to a symbol or reference that is known"
            ),
            "{answer}"
        );
    }
}

#[test]
fn no_path_is_final_only_where_every_call_could_be_followed() {
    let answer = asked(&["trace", "Handler.respond", "--to", "view"]);
    assert!(
        answer.contains("none along calls whose target is known; 1 other on the way not followed"),
        "{answer}"
    );
    assert!(answer.contains("\nchain.py: chain:4"), "{answer}");
    let answer = asked(&["trace", "start", "--to", "stop"]);
    assert!(answer.contains("there is none at any depth"), "{answer}");
}

#[test]
fn a_call_through_a_field_leaves_open_what_else_the_field_holds() {
    let source = b"struct cmd { void (*proc)(int); };\nstatic void set(int x) {}\n\
                   static void mod(int x) {}\nstatic struct cmd table[] = { { set } };\n\
                   void add(struct cmd *c) { c->proc = mod; }\n\
                   void call(struct cmd *c) { c->proc(1); }\n";
    let answer = Repository::with(&[("cmd.c", source)]).asked(&["trace", "call", "--to", "set"]);
    assert!(
        answer.contains("none along calls whose target is known; 1 other on the way not followed"),
        "{answer}"
    );
    assert!(answer.contains("\ncmd.c: proc:6"), "{answer}");
}

#[test]
fn callers_do_not_hide_that_the_function_is_handed_on_too() {
    let source = b"export function wrap(e) { return new Error(e); }\n\
                   export function one(p) { return p.catch(wrap); }\n\
                   export function two(e) { return wrap(e); }\n";
    let answer = Repository::with(&[("wrap.js", source)]).asked(&["trace", "wrap"]);
    let first = "1 caller of wrap (wrap.js:1); used without a call at 1 place: `references`";
    assert!(answer.starts_with(first), "{answer}");
}

#[test]
fn uses_of_an_alias_are_shown_though_they_lead_to_another_symbol() {
    let source = b"var res = Object.create({});\nres.set =\n\
                   res.header = function header(f, v) { return v; };\n\
                   res.type = function type(t) { return this.set('Content-Type', t); };\n";
    let repository = Repository::with(&[("response.js", source)]);
    let answer = repository.asked(&["trace", "res.set"]);
    assert!(answer.contains("; its name leads to another symbol at 1 place"), "{answer}");
    assert!(answer.contains("\nresponse.js: to res.header:4"), "{answer}");
    assert!(!answer.contains("every other line"), "{answer}");
    // The call of the function that the name holds is a read of the name.
    let answer = repository.asked(&["references", "res.set"]);
    assert!(answer.contains("1 certain in 1 file"), "{answer}");
    assert!(answer.contains("\nresponse.js: res.type:4| "), "{answer}");
}

#[test]
fn a_call_of_the_own_name_on_an_unknown_object_is_possible_only() {
    let source = b"var app = exports = module.exports = {};\n\
                   app.init = function init() { Object.defineProperty(this, 'router', {}); };\n\
                   app.handle = function handle(req, res) { this.router.handle(req, res); };\n";
    let answer = Repository::with(&[("own.js", source)]).asked(&["trace", "app.handle"]);
    assert!(answer.starts_with("0 callers of app.handle"), "{answer}");
    assert!(answer.contains("1 possible"), "{answer}");
    assert!(answer.contains("(receiver-unknown):\nown.js: app.handle:3"), "{answer}");
}

#[test]
fn a_call_leads_to_every_variant_of_its_target_and_counts_once() {
    let files: [(&str, &[u8]); 3] = [
        (
            "work.h",
            b"#ifdef FAST\nint work(int n);\n#else\nstatic inline int work(int n) { return 0; }\n\
              #endif\nint get(void);\n",
        ),
        (
            "fast.c",
            b"#include \"work.h\"\nint work(int n) { return n; }\nint get(void) { return 1; }\n",
        ),
        ("use.c", b"#include \"work.h\"\nint use(void) { return work(get()); }\n"),
    ];
    let repository = Repository::with(&files);
    for definition in ["work.h:4", "fast.c:2"] {
        let answer = repository.asked(&["trace", definition]);
        assert!(answer.starts_with("1 caller of work"), "{answer}");
        assert!(answer.contains("\nuse.c: one variant: use:2| int use(void)"), "{answer}");
        let answer = repository.asked(&["references", definition]);
        assert!(answer.contains("1 certain in 1 file"), "{answer}");
    }
    let answer = repository.asked(&["trace", "use", "--direction", "callees"]);
    assert!(answer.starts_with("3 callees of use"), "{answer}");
    assert!(
        answer.contains(
            "\nfast.c: get:3 at 2; one variant: work:2 at 2\n\
             work.h: one variant: work:4 at 2\n"
        ),
        "{answer}"
    );
    let path = repository.asked(&["trace", "use", "--to", "fast.c:2"]);
    assert!(path.contains("use.c: use:2 calls at 2 (one variant)"), "{path}");
    let calls = "SELECT callee_path, verdict FROM calls WHERE callee = 'work' ORDER BY 1";
    let answer = repository.asked(&["sql", calls]);
    assert!(answer.contains("fast.c | resolved\nwork.h | resolved"), "{answer}");
    let exported = repository.asked(&["export", "calls"]);
    let is_call = |line: &&str| line.contains("\"callee_name\":\"work\"");
    assert_eq!(exported.lines().filter(is_call).count(), 2, "{exported}");
}

#[test]
fn uses_in_the_body_of_a_macro_are_references_and_other_words_in_it_lines_with_the_name() {
    let asked = |rule: &str| {
        let library = format!(
            "pub mod messages;\n#[macro_export]\nmacro_rules! message {{\n    {rule}\n}}\n"
        );
        let files: [(&str, &[u8]); 3] = [
            ("Cargo.toml", b"[package]\nname = \"a\"\n"),
            ("src/messages.rs", b"pub fn enabled() -> bool {\n    true\n}\n"),
            ("src/lib.rs", library.as_bytes()),
        ];
        Repository::with(&files).asked(&["references", "messages::enabled"])
    };
    let answer = asked("($($part:tt)*) => { if $crate::messages::enabled() { f!($($part)*); } };");
    assert!(answer.contains("1 certain in 1 file"), "{answer}");
    assert!(answer.contains("\nsrc/lib.rs: message:4| "), "{answer}");
    for rule in ["(enabled) => { 1 };", "($module:ident) => { $crate::$module::enabled() };"] {
        let answer = asked(rule);
        assert!(
            answer.contains("its name stands in 1 line that no reference accounts for"),
            "{answer}"
        );
        assert!(answer.contains("\nsrc/lib.rs:4"), "{answer}");
    }
}

#[test]
fn a_word_that_is_no_symbol_leads_to_the_function_with_it_in_its_text() {
    let source = b"struct Config {\n    path: u8,\n}\n\npub fn args() {\n    \
                   let _ = std::env::var_os(\"KIT_CONFIG_PATH\");\n}\n\npub struct Path;\n";
    let answer = Repository::with(&[("src/lib.rs", source)]).asked(&["explore", "KIT_CONFIG_PATH"]);
    let first = answer.lines().nth(1).unwrap_or_default();
    assert!(first.starts_with("src/lib.rs:5-7 function args"), "{answer}");
}

#[test]
fn what_overrides_a_method_is_listed_however_far_down_it_is() {
    let mut source = "class Base:\n    def run(self):\n        pass\n".to_owned();
    for number in 0..30 {
        let base = if number < 10 { "Base".to_owned() } else { format!("C{}", number - 10) };
        source
            .push_str(&format!("\n\nclass C{number}({base}):\n    def run(self):\n        pass\n"));
    }
    let repository = Repository::with(&[("all.py", source.as_bytes())]);
    let answer = repository.asked(&["references", "Base.run"]);
    let listed = answer.lines().skip_while(|line| *line != "overridden by:").nth(1);
    assert_eq!(listed.unwrap_or_default().matches(".run:").count(), 30, "{answer}");
    assert!(!answer.contains("more relations"), "{answer}");
}

#[test]
fn an_import_leads_to_a_link_only_as_long_as_that_exists() {
    let files: [(&str, &[u8]); 3] = [
        ("Cargo.toml", b"[package]\nname = \"a\"\n"),
        ("src/lib.rs", b"mod gone;\n"),
        ("notes.txt", b"nothing\n"),
    ];
    let repository = Repository::with(&files);
    let link = repository.root().join("src/gone.rs");
    let verdict = || {
        repository
            .asked(&["sql", "SELECT verdict FROM refs WHERE kind = 'import'"])
            .trim_end()
            .to_owned()
    };
    std::os::unix::fs::symlink("../notes.txt", &link).expect("created");
    assert!(verdict().ends_with("\nresolved"), "{}", verdict());
    std::fs::remove_file(&link).expect("removed");
    assert!(!verdict().ends_with("\nresolved"), "{}", verdict());
    std::os::unix::fs::symlink("../notes.txt", &link).expect("created");
    assert!(verdict().ends_with("\nresolved"), "{}", verdict());
}
