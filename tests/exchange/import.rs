//! Edges of imported SCIP indexes: they replace what is inferred, while a file has the content that
//! they are of; a damaged index costs an error.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::Project;
use protobuf::{Enum, EnumOrUnknown, Message, MessageField};
use scip::types::{Document, Index, Metadata, Occurrence, PositionEncoding, SymbolRole, ToolInfo};

/// A call whose receiver has no known type, behind characters of several bytes.
const CALLER: &str = "def run(x):\n    é = '𝄞'; x.price(); x.other()\n    return x.price\n";
const CALLEE: &str = "class Till:\n    def price(self):\n        return 1\n\n    \
                      def other(self):\n        \
                      return 2\n\nclass Shop:\n    def price(self):\n        return 3\n";

const PRICE: &str = "c p n v `till.py`/Till#price().";

fn occurrence(range: [i32; 3], symbol: &str, roles: i32) -> Occurrence {
    let (range, symbol) = (range.to_vec(), symbol.to_owned());
    Occurrence { range, symbol, symbol_roles: roles, ..Occurrence::default() }
}

fn document(path: &str, occurrences: Vec<Occurrence>) -> Document {
    Document { relative_path: path.to_owned(), occurrences, ..Document::default() }
}

/// What a compiler would state of the two files.
fn stated() -> Index {
    let define = SymbolRole::Definition.value();
    let tool =
        ToolInfo { name: "checker".to_owned(), version: "7.1".to_owned(), ..ToolInfo::default() };
    Index {
        metadata: MessageField::some(Metadata {
            tool_info: MessageField::some(tool),
            ..Metadata::default()
        }),
        documents: vec![
            // Columns are UTF-16 by default: the character before takes two.
            document(
                "caller.py",
                vec![
                    occurrence([0, 4, 7], "c p n v `caller.py`/run().", define),
                    occurrence([1, 16, 21], PRICE, 0),
                    occurrence([1, 27, 32], "c p n v `till.py`/Till#other().", 0),
                    occurrence([2, 13, 18], "local 3", 0),
                    occurrence([0, 8, 9], "local 3", define),
                    occurrence([0, 4, 7], "c p gone v x.", 0),
                    occurrence([0, 0, 3], PRICE, 0),
                ],
            ),
            document(
                "till.py",
                vec![
                    occurrence([0, 6, 10], "c p n v `till.py`/Till#", define),
                    occurrence([1, 8, 13], PRICE, define),
                    occurrence([4, 8, 13], "c p n v `till.py`/Till#other().", define),
                    occurrence([8, 8, 13], "c p n v `till.py`/Shop#price().", define),
                ],
            ),
        ],
        ..Index::default()
    }
}

fn project() -> Project {
    let project = Project::new();
    project.write("caller.py", CALLER);
    project.write("till.py", CALLEE);
    project
}

fn import(project: &Project, index: &Index) -> (Option<i32>, String, String) {
    let bytes = index.write_to_bytes().expect("it is written");
    import_bytes(project, &bytes)
}

fn import_bytes(project: &Project, bytes: &[u8]) -> (Option<i32>, String, String) {
    fs::write(project.root().join(".git/in.scip"), bytes).expect("written");
    let (code, said, remarks) = project.run(&["import", "scip", ".git/in.scip"]);
    (code, String::from_utf8(said).expect("text"), remarks)
}

const EDGES: &str = "SELECT r.path, r.line, r.col, r.kind, r.verdict, r.step, s.path, s.line, \
    s.name FROM refs r LEFT JOIN candidates c ON c.site_id = r.id \
    LEFT JOIN symbols s ON s.id = coalesce(r.to_id, c.symbol_id) \
    ORDER BY r.path, r.line, r.col, r.kind, r.verdict, s.path, s.line";

fn rows(project: &Project, cache: &str, statement: &str) -> Vec<String> {
    let (code, said, remarks) = project.run_with(cache, &["sql", statement, "--budget", "10000"]);
    assert_eq!(code, Some(0), "{remarks}");
    let said = String::from_utf8(said).expect("text");
    let words: Vec<&str> = said.split(' ').collect();
    assert!(words[0] == words[2], "all rows: {said}");
    said.lines().skip(2).map(str::to_owned).collect()
}

fn scip_rows(project: &Project) -> Vec<String> {
    let mut rows = rows(project, "cache", EDGES);
    rows.retain(|row| row.contains(" scip "));
    rows
}

const RAISED: [&str; 2] = [
    "caller.py | 2 | 19 | call | resolved | scip | till.py | 2 | price",
    "caller.py | 2 | 30 | call | resolved | scip | till.py | 5 | other",
];

#[test]
fn an_import_raises_unresolved_calls_and_expires_with_the_content() {
    let project = project();
    let before = rows(&project, "cache", EDGES);
    assert!(
        before.iter().any(|row| row.starts_with("caller.py | 2 | 19 | call | unresolved")
            || row.starts_with("caller.py | 2 | 19 | call | ambiguous")),
        "{before:#?}"
    );
    let (code, said, remarks) = import(&project, &stated());
    assert_eq!(code, Some(0), "{remarks}");
    assert!(said.contains("(checker 7.1): 2 references of 2 files"), "{said}");
    assert!(said.contains("1 references lead to no document of it"), "{said}");
    assert!(said.contains("1 lead to what is no symbol here"), "{said}");
    assert!(said.contains("1 stand where no reference is known"), "{said}");
    assert_eq!(scip_rows(&project), RAISED);
    let (_, status, _) = project.run(&["status"]);
    let status = String::from_utf8(status).expect("text");
    assert!(status.contains("checker 7.1: 2 references of 2 files"), "{status}");

    // A full build takes them again.
    assert_eq!(project.run(&["index", "--force"]).0, Some(0));
    assert_eq!(scip_rows(&project), RAISED);

    // Another content is what nothing is stated of; the same one is again.
    project.write("caller.py", &format!("{CALLER}\n# more\n"));
    assert_eq!(scip_rows(&project), Vec::<String>::new());
    let (_, status, _) = project.run(&["status"]);
    let status = String::from_utf8(status).expect("text");
    assert!(status.contains("0 references of 1 file; 1 file changed since"), "{status}");
    project.write("caller.py", CALLER);
    assert_eq!(scip_rows(&project), RAISED);

    assert_eq!(project.run(&["import", "remove"]).0, Some(0));
    assert_eq!(rows(&project, "cache", EDGES), before);
    assert_eq!(project.run(&["import", "remove"]).0, Some(1));
}

#[test]
fn after_any_change_edges_are_those_of_a_fresh_build() {
    let project = project();
    assert_eq!(import(&project, &stated()).0, Some(0));
    let moved = format!("\n\n{CALLEE}");
    let body = CALLEE.replace("return 1", "return 10");
    let renamed = CALLEE.replace("def price", "def cost");
    let twice = format!("{CALLEE}\nclass Till:\n    def price(self):\n        pass\n");
    let steps: [(&str, Option<&str>, usize); 11] = [
        ("till.py", Some(&body), 2),
        ("till.py", Some(&moved), 2),
        ("till.py", Some(&renamed), 1),
        ("till.py", Some(CALLEE), 2),
        // Which of two is meant is not known any more.
        ("till.py", Some(&twice), 1),
        ("till.py", None, 0),
        ("caller.py", Some("import till\n"), 0),
        ("till.py", Some(CALLEE), 0),
        ("caller.py", Some(CALLER), 2),
        ("till.py", None, 0),
        ("till.py", Some(CALLEE), 2),
    ];
    for (number, (path, text, expected)) in steps.into_iter().enumerate() {
        match text {
            Some(text) => project.write(path, text),
            None => fs::remove_file(project.root().join(path)).expect("it is there"),
        }
        let kept = rows(&project, "cache", EDGES);
        let found = kept.iter().filter(|row| row.contains(" scip ")).count();
        assert_eq!(found, expected, "step {number}: {kept:#?}");
        let fresh = format!("fresh-{number}");
        copy_stated(&project, &fresh);
        assert_eq!(rows(&project, &fresh, EDGES), kept, "step {number}");
    }
}

/// Puts what is imported where a fresh index of the project will be.
fn copy_stated(project: &Project, fresh: &str) {
    let caches = project.root().join(".git");
    let repositories = fs::read_dir(caches.join("cache")).expect("there is an index");
    for repository in repositories.map(|one| one.expect("readable").path()) {
        let from = repository.join("scip");
        if from.is_file() {
            let to = caches.join(fresh).join(repository.file_name().expect("it has a name"));
            fs::create_dir_all(&to).expect("created");
            fs::set_permissions(&to, fs::metadata(&repository).expect("it is there").permissions())
                .expect("its owner may");
            fs::copy(from, to.join("scip")).expect("copied");
        }
    }
}

#[test]
fn an_own_export_imported_loses_no_target() {
    let project = project();
    let targets = |rows: Vec<String>| -> BTreeSet<String> {
        let known = rows.iter().map(|row| row.split(" | ").collect::<Vec<_>>());
        let known = known.filter(|row| ["resolved", "likely"].contains(&row[4]));
        known.map(|row| [&row[..4], &row[6..]].concat().join(" | ")).collect()
    };
    let (bytes, _) = project.export();
    let before = targets(rows(&project, "cache", EDGES));
    let files = "SELECT r.path, r.line, i.target FROM refs r JOIN imports i ON i.path = r.path \
                 AND i.line = r.line WHERE r.kind = 'import' AND r.verdict = 'resolved'";
    let modules = rows(&project, "cache", files);
    let (code, said, remarks) = import_bytes(&project, &bytes);
    assert_eq!(code, Some(0), "{remarks}");
    let after = rows(&project, "cache", EDGES);
    assert_eq!(targets(after.clone()), before);
    assert_eq!(rows(&project, "cache", files), modules);
    let raised = after.iter().filter(|row| row.contains(" scip ")).count();
    assert!(raised * 10 >= before.len() * 9, "{said}: {after:#?}");
    assert_eq!(project.export().0, bytes, "and so is exported again");
}

#[test]
fn what_is_damaged_or_hostile_costs_an_error_and_nothing_else() {
    let project = project();
    assert_eq!(import(&project, &stated()).0, Some(0));
    let good = stated().write_to_bytes().expect("it is written");
    for (bytes, expected) in [
        (Vec::new(), "it has no documents"),
        (b"{\"documents\": []}".to_vec(), "no SCIP index"),
        (good[..good.len() - 3].to_vec(), "3 bytes are missing"),
        (vec![0x12, 0xff, 0xff, 0xff, 0xff, 0x7f], "a field of 34359738367 bytes"),
        (vec![0x12, 0x02, 0x0a, 0x50], "damaged"),
    ] {
        let (code, _, remarks) = import_bytes(&project, &bytes);
        assert_eq!(code, Some(2), "{remarks}");
        assert!(remarks.contains(expected), "{expected}: {remarks}");
    }
    // Every single damaged byte is an error, or an index of something else.
    for at in (0..good.len()).step_by(37) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x80;
        fs::write(project.root().join(".git/in.scip"), &bytes).expect("written");
        let fields = Index::parse_from_bytes(&bytes);
        let (code, _, remarks) = project.run(&["import", "scip", ".git/in.scip", "--below", "no"]);
        assert_eq!(code, Some(2), "byte {at}, {:?}: {remarks}", fields.is_ok());
    }
    let mut outside = stated();
    for (document, path) in outside.documents.iter_mut().zip(["../caller.py", "/etc/passwd"]) {
        document.relative_path = path.to_owned();
        document.occurrences.push(occurrence([-1, i32::MAX, 0], PRICE, 0));
        document.occurrences.push(occurrence([i32::MAX, 0, -5], PRICE, 1));
    }
    let (code, _, remarks) = import(&project, &outside);
    assert_eq!(code, Some(2));
    assert!(remarks.contains("2 documents are of no indexed file: ../caller.py"), "{remarks}");
    let (code, _, remarks) = project.run(&["import", "scip", "nowhere.scip"]);
    assert_eq!(code, Some(2), "{remarks}");
    assert_eq!(scip_rows(&project), RAISED, "what was imported before is still there");

    // What is kept may be damaged too.
    let kept = find(&project.root().join(".git/cache"), "scip");
    let mut bytes = fs::read(&kept).expect("it is kept");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&kept, &bytes).expect("written");
    assert_eq!(project.run(&["index", "--force"]).0, Some(0));
    assert_eq!(scip_rows(&project), Vec::<String>::new());
    assert_eq!(import(&project, &stated()).0, Some(0));
    assert_eq!(scip_rows(&project), RAISED);
}

fn find(directory: &Path, name: &str) -> std::path::PathBuf {
    let entries = fs::read_dir(directory).expect("it is readable");
    let mut found = entries.map(|one| one.expect("readable").path().join(name));
    found.find(|path| path.is_file()).expect("it is in one of them")
}

#[test]
fn documents_of_another_content_are_left_out() {
    let project = project();
    let mut index = stated();
    index.documents[1].text = CALLEE.replace("return 3", "return 4");
    let (code, _, remarks) = import(&project, &index);
    assert_eq!(code, Some(2));
    assert!(remarks.contains("1 files have changed since: till.py"), "{remarks}");
    // Without a text, definitions that stand where other words are tell it.
    project.write("till.py", &format!("\n\n\n{CALLEE}"));
    let (code, _, remarks) = import(&project, &stated());
    assert_eq!(code, Some(2));
    assert!(remarks.contains("1 files have changed since: till.py"), "{remarks}");
}

#[test]
fn columns_count_in_the_units_that_a_document_names() {
    for (encoding, columns) in [
        (PositionEncoding::UTF8CodeUnitOffsetFromLineStart, [19, 30]),
        (PositionEncoding::UTF32CodeUnitOffsetFromLineStart, [15, 26]),
    ] {
        let project = project();
        let mut index = stated();
        let caller = &mut index.documents[0];
        caller.position_encoding = EnumOrUnknown::new(encoding);
        for (number, column) in columns.into_iter().enumerate() {
            caller.occurrences[number + 1].range = vec![1, column, column + 5];
        }
        assert_eq!(import(&project, &index).0, Some(0));
        assert_eq!(scip_rows(&project), RAISED, "{encoding:?}");
    }
}

#[test]
fn paths_may_start_in_a_directory() {
    let project = Project::new();
    project.write("inner/caller.py", CALLER);
    project.write("inner/till.py", CALLEE);
    let mut index = stated();
    index.metadata.mut_or_insert_default().project_root =
        format!("file://{}/inner", project.root().display());
    let (code, _, remarks) = import(&project, &index);
    assert_eq!(code, Some(0), "{remarks}");
    assert_eq!(scip_rows(&project).len(), 2);
    index.metadata.mut_or_insert_default().project_root = "file:///elsewhere".to_owned();
    let (code, _, remarks) = import(&project, &index);
    assert_eq!(code, Some(2));
    assert!(remarks.contains("`--below` says where their paths start"), "{remarks}");
    let (code, _, remarks) = project.run(&["import", "scip", ".git/in.scip", "--below", "inner/"]);
    assert_eq!(code, Some(0), "{remarks}");
}
