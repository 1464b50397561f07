//! What an answer of `explore` shows of the symbols that it finds: whole functions first, else the
//! lines around the words of the question; names of further functions; the same in JSON.

use serde_json::Value;

use super::bad_input::setup::Repository;

fn repository(files: &[(&str, &str)]) -> Repository {
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    Repository::with(&files)
}

/// A function with a number of lines, one of which differs.
fn long_function(name: &str, lines: usize, at: usize, special: &str) -> String {
    let mut text = format!("def {name}(rows):\n");
    for number in 2..=lines {
        let line = format!("    step_{number} = rows[{number}].plain\n");
        text.push_str(if number == at { special } else { &line });
    }
    text
}

/// Numbers of the lines of source that an answer shows.
fn numbers(answer: &str) -> Vec<u32> {
    let number = |line: &str| line.trim_start().split_once("| ")?.0.parse().ok();
    answer.lines().filter_map(number).collect()
}

#[test]
fn a_function_that_fits_is_whole() {
    let text = long_function("settle", 60, 55, "    refund(rows)  # the ledger\n");
    let files = [("ledger.py", text.as_str()), ("b.py", "def other(x):\n    return x\n")];
    let answer = repository(&files).asked(&["explore", "settle the ledger"]);
    assert_eq!(numbers(&answer), (1..=60).collect::<Vec<_>>(), "{answer}");
    assert!(!answer.contains("lines\n") && !answer.contains("folded"), "{answer}");
}

#[test]
fn a_large_function_is_shown_around_the_words_of_the_question() {
    for (file, head, line, special, end) in [
        ("a.py", "def settle(rows):\n", "    step(rows[N].plain)\n", "    refund(rows)\n", ""),
        ("a.go", "package a\n\nfunc settle(rows R) {\n", "\tstep(N)\n", "\trefund(rows)\n", "}\n"),
        ("a.ts", "function settle(rows) {\n", "  step(rows, N);\n", "  refund(rows);\n", "}\n"),
    ] {
        let mut text = head.to_owned();
        for number in 0..900 {
            let line = line.replace('N', &number.to_string());
            text.push_str(if number == 640 { special } else { &line });
        }
        text.push_str(end);
        let at = 641 + head.lines().count() as u32;
        let answer =
            repository(&[(file, &text)]).asked(&["explore", "when does it settle a refund?"]);
        let shown = numbers(&answer);
        assert!((at - 2..=at + 2).all(|line| shown.contains(&line)), "{answer}");
        assert!(shown.contains(&(head.lines().count() as u32)), "the first line: {answer}");
        assert!(!shown.contains(&300), "{answer}");
        assert!(answer.lines().any(|line| line.starts_with("   ") && line.ends_with(" lines")));
        let folded = answer.lines().filter_map(|line| line.trim().strip_prefix("… "));
        let folded: usize =
            folded.filter_map(|line| line.strip_suffix(" lines")?.parse::<usize>().ok()).sum();
        let all = 901 + usize::from(!end.is_empty());
        assert_eq!(folded + shown.len(), all, "every line is shown or counted: {answer}");
        assert!(answer.len() <= 8000 && answer.len() > 4000, "{}", answer.len());
        assert!(answer.contains("\n… folded lines: `show`, or raise `budget`"), "{answer}");
    }
}

#[test]
fn small_functions_are_whole_next_to_a_large_one() {
    let large = long_function("settle_ledger", 600, 400, "    ledger.refund(rows)\n");
    let small = long_function("ledger_totals", 20, 9, "    ledger = rows\n");
    let files = [("large.py", large.as_str()), ("small.py", small.as_str())];
    let answer = repository(&files).asked(&["explore", "settle a refund of the ledger totals"]);
    let (_, own) = answer.split_once("small.py::ledger_totals\n").expect("its source");
    let own: Vec<u32> = numbers(own).into_iter().take(20).collect();
    assert_eq!(own, (1..=20).collect::<Vec<_>>(), "{answer}");
    assert!(numbers(&answer).contains(&400), "{answer}");
}

#[test]
fn lines_of_two_symbols_are_shown_once() {
    let files = [
        (
            "data/labels.json",
            "{\n  \"exportDialog\": {\n    \"title\": \"Export dialog\",\n\
             \x20   \"exportButton\": \"Export\"\n  }\n}\n",
        ),
        ("src/shape.py", "class ExportDialog:\n    def export_dialog(self):\n        return 1\n"),
    ];
    let answer = repository(&files).asked(&["explore", "export dialog button"]);
    for line in ["|     def export_dialog(self):", "|     \"title\": \"Export dialog\","] {
        assert_eq!(answer.matches(line).count(), 1, "{line}: {answer}");
    }
}

#[test]
fn json_has_the_symbols_and_lines_of_the_text() {
    let mut files: Vec<(String, String)> = Vec::new();
    for number in 0..30 {
        let name = format!("ledger_{number}");
        let text = long_function(&name, 20 + number * 9, 15, "    refund(ledger)\n");
        files.push((format!("part{}/ledger{number}.py", number % 4), text));
    }
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let repository = repository(&files);
    for budget in ["300", "1000", "2000", "6000"] {
        let ask = |more: &[&str]| {
            let base = ["explore", "refund of a ledger", "--budget", budget];
            repository.asked(&[base.as_slice(), more].concat())
        };
        let text = ask(&[]);
        let json: Value = serde_json::from_str(&ask(&["--json"])).expect("JSON");
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let (symbols, others) = (list(&json["symbols"]), list(&json["others"]));
        let shown = text.split(" of ").next().and_then(|count| count.parse().ok());
        assert_eq!(shown, Some(symbols.len() + others.len()), "{budget}: {text}");
        let sources = symbols.iter().chain(&others).flat_map(|one| list(&one["source"]["parts"]));
        let lines: Vec<String> = sources
            .flat_map(|part| list(&part["lines"]))
            .map(|line| line.as_str().unwrap_or_default().to_owned())
            .collect();
        let printed: Vec<&str> = text
            .lines()
            .filter(|line| !numbers(line).is_empty())
            .filter_map(|line| Some(line.split_once("| ")?.1))
            .collect();
        assert_eq!(lines, printed, "{budget}: {text}");
        for one in &symbols {
            let place = format!(
                "{}:{}-",
                one["symbol"]["path"].as_str().unwrap_or_default(),
                one["symbol"]["line"]
            );
            assert!(text.contains(&place), "{budget}: {place} {text}");
        }
        for function in list(&json["functions"]).iter().flat_map(|file| list(&file["symbols"])) {
            let name = function["symbol"].as_str().and_then(|name| name.rsplit("::").next());
            let name = format!("{}:{}", name.unwrap_or_default(), function["line"]);
            assert!(text.contains(&name), "{budget}: {name} {text}");
        }
    }
}

#[test]
fn further_functions_of_the_best_files_are_named() {
    let mut text = "class Ledger:\n".to_owned();
    for number in 0..50 {
        text.push_str(&format!("    def refund_{number}(self):\n        return self.ledger\n\n"));
    }
    let files = [("src/ledger.py", text.as_str()), ("src/z.py", "def z():\n    return 0\n")];
    let answer = repository(&files).asked(&["explore", "refund of a ledger"]);
    let mut lines = answer.lines().skip_while(|line| !line.starts_with("further functions"));
    let line = lines.nth(1).unwrap_or_default();
    assert!(line.starts_with("src/ledger.py: refund_"), "{answer}");
    let names: Vec<&str> = line.split(": ").nth(1).unwrap_or_default().split(", ").collect();
    assert!(names.len() > 15 && names.len() <= 40, "{answer}");
    for name in names {
        let (name, at) = name.rsplit_once(':').expect("a line");
        let at: usize = at.parse().expect("a number");
        let listed = format!("{at}-{} method {name}", at + 1);
        assert!(!answer.contains(&listed), "named and listed: {listed} {answer}");
        let number: usize = name.trim_start_matches("refund_").parse().expect("its number");
        assert_eq!(at, 2 + 3 * number);
    }
}

#[test]
fn further_functions_are_the_best_of_three_files_not_all_of_the_first() {
    let function = |name: String, words: &str| {
        format!("def {name}({words}):\n    rows = {words}\n    return rows\n\n")
    };
    let (mut first, mut second) = (String::new(), String::new());
    for number in 0..40 {
        // Four of the first file are the best symbols, and its others fit less than the second.
        let (name, words) = if number < 4 {
            (format!("refund_invoice_ledger_{number}"), "refund, invoice, ledger")
        } else {
            (format!("plain_{number}"), "ledger, rows")
        };
        first.push_str(&function(name, words));
        second.push_str(&function(format!("invoice_ledger_{number}"), "invoice, ledger"));
    }
    let files = [("src/a.py".to_owned(), first), ("src/b.py".to_owned(), second)];
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let answer = repository(&files).asked(&["explore", "refund an invoice of the ledger"]);
    let lines = answer.lines().skip_while(|line| !line.starts_with("further functions"));
    let line = lines.skip(1).find(|line| line.starts_with("src/b.py: "));
    assert!(line.is_some_and(|line| line.matches("invoice_ledger_").count() > 10), "{answer}");
}

#[test]
fn what_all_names_share_is_written_once() {
    let files = [
        (
            "wire.cc",
            "namespace google { namespace wire {\nstruct Reader {\n\
             \x20 int varint_size() { return varint(); }\n  int varint() { return 1; }\n};\n\
             int varint_of(int x) { return x; }\n} }\n",
        ),
        (
            "table.cc",
            "namespace google { namespace wire {\nint parse_varint(int x) { return x; }\n} }\n",
        ),
    ];
    let answer = repository(&files).asked(&["explore", "parse a varint"]);
    let first = answer.lines().next().unwrap_or_default();
    assert!(first.contains(", all in google.wire"), "{answer}");
    assert_eq!(answer.matches("google.wire").count(), 1, "{answer}");
    assert!(answer.contains(" function parse_varint(") && answer.contains("Reader.varint("));
    let mixed = [files[0], ("free.cc", "int varint_free(int x) { return x; }\n")];
    let answer = repository(&mixed).asked(&["explore", "varint"]);
    assert!(
        !answer.contains(", all in") && answer.contains("google.wire.Reader.varint"),
        "{answer}"
    );
}

#[test]
fn words_that_are_in_no_file_are_named_with_similar_names() {
    let files = [
        (
            "a.py",
            "def settle_invoices(rows):\n    return rows\n\n\ndef authenticate(user):\n\
             \x20   return user\n",
        ),
        ("b.py", "def invoice_totals(rows):\n    return settle_invoices(rows)\n"),
    ];
    let repository = repository(&files);
    let answer =
        repository.asked(&["explore", "authn and whales when it has to settle invoices of users"]);
    assert!(
        answer.contains("\nin no indexed file: `authn` (near: `authenticate`), `whales`"),
        "{answer}"
    );
    let answer = repository.asked(&["explore", "settle invoices"]);
    assert!(!answer.contains("in no indexed file"), "{answer}");
    let nothing = repository.asked(&["explore", "plankton"]);
    assert!(nothing.contains("in no indexed file: `plankton`"), "{nothing}");
}

#[test]
fn a_header_is_cut_behind_the_name_and_not_within_another_word() {
    let files = [
        (
            "a.go",
            "package a\n\ntype pairBinding struct{}\n\n\
             func (pairBinding) Bind(x int) int { return x }\n\n\
             func (Bind2) Bind2(y int) {}\n",
        ),
        (
            "D.java",
            "class D {\n    List<Item> Item(Item item) { return null; }\n\
             \x20   int t(int t) { return t; }\n}\n",
        ),
        ("i.c", "struct item { int a; };\nstruct item *item(struct item *it) { return it; }\n"),
        ("u.ts", "export function use(reuse: boolean, use2: number) { return reuse; }\n"),
        ("r.rs", "pub fn map<T>(remap: T) -> T { remap }\n"),
        ("k.kt", "fun Label.Label2(at: Int): Int = at\n"),
        ("l.json", "{\"imageExportDialog\": {\"header\": \"x\", \"second\": \"y\"}}\n"),
    ];
    let repository = repository(&files);
    for (asked, expected) in [
        ("Bind", "method pairBinding.Bind(x int) int"),
        ("Bind2", "Bind2(y int)"),
        ("Item", "method D.Item(Item item)"),
        ("t", "method D.t(int t)"),
        ("item", "function item(struct item *it)"),
        ("use", "function use(reuse: boolean, use2: number)"),
        ("map", "function map<T>(remap: T) -> T"),
        ("Label2", "Label2(at: Int): Int"),
    ] {
        for tool in ["search", "explore"] {
            let answer = repository.asked(&[tool, asked]);
            assert!(answer.contains(expected), "{tool} {asked}: {answer}");
        }
    }
    let answer = repository.asked(&["search", "imageExportDialog"]);
    assert!(answer.contains("imageExportDialog") && !answer.contains("imageExportDialog\""));
}

#[test]
fn code_comes_before_data() {
    let files = [
        ("en.json", "{\n  \"imageExportDialog\": {\n    \"header\": \"Export image\"\n  }\n}\n"),
        ("de.json", "{\n  \"exportDialog\": {\n    \"image\": \"Bild\"\n  }\n}\n"),
        ("labels.yaml", "export:\n  dialog:\n    image: x\n    button: y\n"),
        ("dialog.ts", "export function exportDialog(image: Image) {\n  return open(image);\n}\n"),
    ];
    let answer = repository(&files).asked(&["explore", "export image dialog"]);
    let first = answer.lines().nth(1).unwrap_or_default();
    assert!(first.starts_with("dialog.ts:1-3 function exportDialog"), "{answer}");
}
