//! Exports, read back by other libraries. A SCIP index has every definition and every resolved
//! reference of the store.

mod import;
mod parquet;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use cograph::model::cancel::CancelToken;
use cograph::model::{Position, Verdict};
use cograph::store::{Location, SiteTarget, Snapshot, Store};
use protobuf::{Enum, Message};
use scip::types::symbol_information::Kind;
use scip::types::{Document, Index, Occurrence, SymbolInformation, SymbolRole};
use tempfile::TempDir;

struct Project(TempDir);

const SHOP: &[(&str, &str)] = &[
    (".git/HEAD", "ref: refs/heads/main\n"),
    ("pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1.2.0\"\n"),
    ("requirements.txt", "flask==3.0.1\n"),
    ("package.json", "{\"name\": \"@own/web\", \"version\": \"0.3.0\"}\n"),
    (
        "shop/base.py",
        "class Base:\n    \"\"\"What is sold.\"\"\"\n\n    def price(self):\n        return 1\n\n\
         def helper():\n    return Base()\n",
    ),
    (
        "shop/main.py",
        "import shop.base\nfrom flask import Flask\nfrom .base import Base, helper as h\n\n\n\
         class Item(Base):\n    def __init__(self, x):\n        self.x = x\n\n    \
         def price(self):\n        self.x = 3\n        return h().price()\n\n\ndef main():\n    \
         ä, item = 'é', Item(1); item.price()\n\n    def inner():\n        return \
         item.price()\n\n    \
         return inner\n\n\napp = Flask(__name__)\nif app:\n    y = 1\nelse:\n    y = 2\nprint(y, \
         main()(), unknown)\n",
    ),
    (
        "web/shape.ts",
        "export interface Shape { area(): number; \"quoted-name\": string }\n\
         export class Square implements Shape {\n  \"quoted-name\" = \"x\";\n  \
         constructor(private side: number) {}\n  area(): number;\n  area(scale?: number): number \
         { return this.side * this.side }\n}\nexport const make = (n: number) => new \
         Square(n);\nexport default function () { return make(3).area() }\n",
    ),
    ("c/api.h", "int twice(int a);\n#define LIMIT 3\n"),
    ("c/api.c", "#include \"api.h\"\nint twice(int a) { return a * LIMIT; }\n"),
    ("c/use.c", "#include \"api.h\"\nint use(void) { return twice(2); }\n"),
    ("go.mod", "module example.org/till\n\nrequire git.host/x/y v1.2.0\n"),
    (
        "till/till.go",
        "package till\n\nimport \"git.host/x/y\"\n\ntype Till struct{ open bool }\n\nfunc New() \
         *Till { y.Start(); return &Till{} }\n",
    ),
    (
        "till/open.go",
        "package till\n\nfunc (t *Till) Open() { t.open = true }\n\nfunc run() { New().Open() }\n",
    ),
];

impl Project {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().expect("a temporary directory"));
        SHOP.iter().for_each(|(path, text)| project.write(path, text));
        project
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
        fs::write(path, text).expect("written");
    }

    /// Runs the program: exit code, stdout, stderr.
    fn run(&self, arguments: &[&str]) -> (Option<i32>, Vec<u8>, String) {
        self.run_with("cache", arguments)
    }

    /// The same with another cache.
    fn run_with(&self, cache: &str, arguments: &[&str]) -> (Option<i32>, Vec<u8>, String) {
        let ran = Command::new(env!("CARGO_BIN_EXE_cograph"))
            .current_dir(self.root())
            .env("COGRAPH_CACHE_DIR", self.root().join(".git").join(cache))
            .env_remove("CLAUDE_PROJECT_DIR")
            .args(arguments)
            .output()
            .expect("the program starts");
        let remarks = String::from_utf8(ran.stderr).expect("remarks are UTF-8");
        (ran.status.code(), ran.stdout, remarks)
    }

    fn export(&self) -> (Vec<u8>, String) {
        let (code, bytes, remarks) = self.run(&["export", "scip", "--output", "-"]);
        assert_eq!(code, Some(0), "{remarks}");
        (bytes, remarks)
    }

    fn snapshot(&self) -> Snapshot {
        let location = Location::new(&self.root().join(".git/cache"), &self.root());
        let store = Store::open_newest(&location).expect("a store");
        Arc::new(store).snapshot(&CancelToken::new()).expect("a snapshot")
    }
}

fn decoded(bytes: &[u8]) -> Index {
    Index::parse_from_bytes(bytes).expect("it is a SCIP index")
}

fn document<'i>(index: &'i Index, path: &str) -> &'i Document {
    let found = index.documents.iter().find(|document| document.relative_path == path);
    found.unwrap_or_else(|| panic!("{path} has a document"))
}

fn has_role(occurrence: &Occurrence, role: SymbolRole) -> bool {
    occurrence.symbol_roles & role.value() != 0
}

fn defines(occurrence: &Occurrence) -> bool {
    has_role(occurrence, SymbolRole::Definition)
        || has_role(occurrence, SymbolRole::ForwardDefinition)
}

fn at(position: Position) -> [i32; 2] {
    [position.line as i32 - 1, position.column as i32]
}

fn symbol<'i>(document: &'i Document, name: &str) -> &'i SymbolInformation {
    let found = document.symbols.iter().find(|one| one.display_name == name);
    found.unwrap_or_else(|| panic!("{name} is in {}", document.relative_path))
}

#[test]
fn an_index_has_every_definition_and_every_resolved_reference() {
    let project = Project::new();
    let (bytes, remarks) = project.export();
    let (index, snapshot) = (decoded(&bytes), project.snapshot());
    let (mut definitions, mut references) = (0, 0);
    let mut names = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let files = snapshot.files().expect("files");
    for file in files.iter().filter(|file| file.skipped.is_none()) {
        let document = document(&index, file.path.as_str());
        for row in snapshot.symbols_of(file).expect("symbols") {
            let here: Vec<&Occurrence> = document
                .occurrences
                .iter()
                .filter(|one| one.range[..2] == at(row.name_at) && defines(one))
                .filter(|one| {
                    let information =
                        document.symbols.iter().find(|info| info.symbol == one.symbol);
                    information.expect("a symbol has information").display_name == *row.name_text
                })
                .collect();
            let [occurrence] = here.as_slice() else { panic!("{}: {here:?}", row.name_text) };
            let parsed = scip::symbol::parse_symbol(&occurrence.symbol);
            let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error:?}", occurrence.symbol));
            assert_eq!(scip::symbol::format_symbol(parsed), occurrence.symbol);
            let local = occurrence.symbol.starts_with("local ").then_some(&file.path);
            assert!(
                seen.insert((local, occurrence.symbol.clone())),
                "{} is unique",
                occurrence.symbol
            );
            names.insert(row.key, occurrence.symbol.clone());
            definitions += 1;
        }
    }
    for file in files.iter().filter(|file| file.skipped.is_none()) {
        let document = document(&index, file.path.as_str());
        for site in snapshot.sites_of(file).expect("sites") {
            let here: Vec<&str> = document
                .occurrences
                .iter()
                .filter(|one| one.range[..2] == at(site.at) && !defines(one))
                .map(|one| one.symbol.as_str())
                .collect();
            for target in snapshot.targets(&site).expect("targets") {
                assert!(here.contains(&names[&target].as_str()), "{here:?}: {}", names[&target]);
                references += 1;
            }
            match site.verdict {
                Verdict::External => assert!(!here.is_empty(), "{site:?}"),
                Verdict::Resolved if site.target == SiteTarget::None => {
                    assert_eq!(here.len(), 1, "a whole file: {here:?}");
                }
                Verdict::Resolved | Verdict::Likely => {}
                _ => assert!(here.is_empty(), "{here:?}"),
            }
        }
    }
    assert!(definitions > 25 && references > 20, "{definitions} and {references}");
    assert!(remarks.contains(&format!("{definitions} definitions")), "{remarks}");
    assert!(remarks.contains("1 unresolved"), "{remarks}");
}

#[test]
fn symbols_say_package_file_and_what_encloses_them() {
    let project = Project::new();
    let index = decoded(&project.export().0);
    let tool = index.metadata.tool_info.as_ref().expect("a tool");
    assert_eq!(tool.name, "cograph");
    let main = document(&index, "shop/main.py");
    assert_eq!(main.language, "Python");
    let prefix = "cograph pip shop 1.2.0 shop/`main.py`/";
    assert_eq!(symbol(main, "Item").symbol, format!("{prefix}Item#"));
    assert_eq!(symbol(main, "__init__").symbol, format!("{prefix}Item#__init__()."));
    assert_eq!(symbol(main, "x").symbol, format!("{prefix}Item#x."));
    assert_eq!(symbol(main, "inner").symbol, "local 0");
    assert_eq!(symbol(main, "inner").enclosing_symbol, format!("{prefix}main()."));
    assert_eq!(symbol(main, "main.py").symbol, prefix);
    let base = document(&index, "shop/base.py");
    let described = symbol(base, "Base");
    assert_eq!(described.documentation, ["What is sold."]);
    assert_eq!(described.signature_documentation.text, "class Base");
    assert_eq!(described.kind.enum_value(), Ok(Kind::Class));
    let overridden = symbol(main, "price");
    let [relation] = overridden.relationships.as_slice() else { panic!("{overridden}") };
    assert!(relation.is_implementation && relation.is_reference);
    assert_eq!(relation.symbol, symbol(base, "price").symbol);

    let shape = document(&index, "web/shape.ts");
    let prefix = "cograph npm @own/web 0.3.0 web/`shape.ts`/";
    assert_eq!(symbol(shape, "make").symbol, format!("{prefix}make()."));
    let quoted = shape.occurrences.iter().find(|one| one.symbol.ends_with("Square#`quoted-name`."));
    assert!(quoted.is_none(), "a hyphen needs no quotes");
    let quoted = shape.occurrences.iter().find(|one| one.symbol.ends_with("Square#quoted-name."));
    assert_eq!(quoted.expect("a definition").range, [2, 2, 15]);
    let areas: Vec<&str> = shape
        .occurrences
        .iter()
        .filter(|one| defines(one) && one.symbol.contains("Square#area"))
        .map(|one| one.symbol.strip_prefix(prefix).expect("the same file"))
        .collect();
    assert_eq!(areas, ["Square#area().", "Square#area(+1)."]);
    assert_eq!(symbol(shape, "Square").relationships[0].symbol, format!("{prefix}Shape#"));

    let (header, source) = (document(&index, "c/api.h"), document(&index, "c/api.c"));
    let declared = header.occurrences.iter().find(|one| one.symbol.ends_with("twice()."));
    let declared = declared.expect("a declaration");
    assert!(has_role(declared, SymbolRole::ForwardDefinition));
    let relation = &symbol(header, "twice").relationships[0];
    assert!(relation.is_definition);
    assert_eq!(relation.symbol, symbol(source, "twice").symbol);
    assert!(symbol(header, "LIMIT").symbol.ends_with("LIMIT!"));
    let open = document(&index, "till/open.go");
    assert_eq!(
        symbol(open, "Open").symbol,
        "cograph gomod example.org/till . till/`open.go`/Till#Open()."
    );
}

#[test]
fn occurrences_have_ranges_in_bytes_and_roles() {
    let project = Project::new();
    let index = decoded(&project.export().0);
    let main = document(&index, "shop/main.py");
    assert_eq!(
        main.position_encoding.enum_value(),
        Ok(scip::types::PositionEncoding::UTF8CodeUnitOffsetFromLineStart)
    );
    let uses = |end: &str| -> Vec<(&[i32], i32)> {
        let found =
            main.occurrences.iter().filter(|one| one.symbol.ends_with(end) && !defines(one));
        found.map(|one| (one.range.as_slice(), one.symbol_roles)).collect()
    };
    // The line has two characters of two bytes before the name.
    assert_eq!(uses("Item#"), [(&[15, 21, 25][..], SymbolRole::ReadAccess.value())]);
    assert_eq!(uses("Item#x."), [(&[10, 13, 14][..], SymbolRole::WriteAccess.value())]);
    assert_eq!(uses("base.py`/"), [(&[0, 12, 16][..], SymbolRole::Import.value())]);
    let item = main.occurrences.iter().find(|one| one.symbol.ends_with("Item#") && defines(one));
    assert_eq!(item.expect("a definition").enclosing_range, [5, 0, 11, 26]);
}

#[test]
fn names_outside_have_the_package_of_the_manifests() {
    let project = Project::new();
    let index = decoded(&project.export().0);
    let outside: Vec<&str> = index.external_symbols.iter().map(|one| one.symbol.as_str()).collect();
    for expected in [
        "cograph pip flask 3.0.1 Flask.",
        "cograph pip . . print.",
        "cograph gomod git.host/x/y v1.2.0 Start.",
    ] {
        assert!(outside.contains(&expected), "{expected}: {outside:#?}");
    }
    let distinct: BTreeSet<&&str> = outside.iter().collect();
    assert_eq!(distinct.len(), outside.len(), "each once");
    for document in &index.documents {
        for one in &document.occurrences {
            assert!(
                scip::symbol::parse_symbol(&one.symbol).is_ok(),
                "{} is in the grammar",
                one.symbol
            );
        }
    }
}

#[test]
fn the_same_repository_gives_the_same_bytes() {
    let project = Project::new();
    let (bytes, _) = project.export();
    assert_eq!(project.export().0, bytes);
    // Keys differ after a change in place.
    let (path, text) = SHOP[5];
    project.write(path, &format!("{text}\ndef later():\n    pass\n"));
    assert_ne!(project.export().0, bytes);
    project.write(path, text);
    assert_eq!(project.export().0, bytes);
    let (code, _, remarks) = project.run(&["export", "scip"]);
    assert_eq!(code, Some(0), "{remarks}");
    assert_eq!(fs::read(project.root().join("index.scip")).expect("the default file"), bytes);
    let (code, _, remarks) = project.run(&["export", "scip", "--output", "no/where.scip"]);
    assert_eq!(code, Some(3));
    assert!(remarks.contains("cannot write no/where.scip"), "{remarks}");
}
