//! Members of what functions, properties and fields of another repository give.

use super::{Workspace, check};

#[test]
fn types_that_no_header_says_typescript() {
    check(
        &[
            ("lib/package.json", "{\"name\": \"@acme/tree\", \"main\": \"dist/index.js\"}"),
            (
                "lib/src/index.ts",
                "export class Place {\n  constructor(readonly at: number) {}\n  after() {}\n}\n\
                 export class Tree {\n  kids: Tree[] = []\n  place = new Place(0)\n  \
                 resolve(at: number) { return Tree.cached(at) }\n  \
                 static cached(at: number) {\n    let found = new Place(at)\n    \
                 if (at) return found\n    return new Place(1)\n  }\n  \
                 child(at: number) {\n    let found = this.kids[at]\n    \
                 if (!found) throw new Error('')\n    return found\n  }\n  \
                 get first() { return this.resolve(0) }\n}\n\
                 export class Other {\n  after() {}\n  resolve(at: number) {}\n}\n",
            ),
            ("user/package.json", "{\"dependencies\": {\"@acme/tree\": \"^1.0.0\"}}"),
            (
                "user/app.ts",
                "import { Tree } from '@acme/tree';\n\
                 export function main(tree: Tree) {\n  tree.resolve(1).after();\n  \
                 tree.child(0).resolve(2).after();\n  tree.first.after();\n  \
                 tree.place.after();\n}\n",
            ),
        ],
        &[
            ("Place.after", &["user/app.ts: likely: main:3,4,5,6"]),
            ("Tree.resolve", &["user/app.ts: main:3; likely: main:4"]),
        ],
    );
}

#[test]
fn types_that_no_header_says_python() {
    check(
        &[
            ("lib/pyproject.toml", "[project]\nname = 'treelib'\n"),
            (
                "lib/treelib.py",
                "class Place:\n    def after(self):\n        pass\n\n\n\
                 class Tree:\n    def __init__(self):\n        self.place = Place()\n\n    \
                 def resolve(self):\n        found = Place()\n        return found\n\n    \
                 @property\n    def first(self):\n        return self.resolve()\n\n\n\
                 class Other:\n    def after(self):\n        pass\n\n\n\
                 def make():\n    return Tree()\n",
            ),
            ("user/pyproject.toml", "[project]\nname = 'app'\ndependencies = ['treelib']\n"),
            (
                "user/app.py",
                "from treelib import make\n\n\ndef main():\n    make().resolve().after()\n    \
                 tree = make()\n    tree.place.after()\n    tree.first.after()\n",
            ),
        ],
        &[("Place.after", &["user/app.py: likely: main:5,7,8"])],
    );
}

const HELD: &[(&str, &str)] = &[
    ("lib/Cargo.toml", "[package]\nname = \"acme\"\nversion = \"1.0.0\"\n"),
    (
        "lib/src/lib.rs",
        "pub struct Range;\nimpl Range {\n    pub fn len(&self) {}\n    pub fn start(&self) {}\n}\n\
         #[derive(Clone, Default)]\npub struct Class;\nimpl Class {\n    \
         pub fn ranges(&self) -> &[Range] { &[] }\n    \
         pub fn first(&self) -> Option<&Range> { None }\n    \
         pub fn size(&self) {}\n}\n\
         pub struct Other;\nimpl Other {\n    \
         pub fn start(&self) {}\n    pub fn size(&self) {}\n}\n",
    ),
    (
        "user/Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\n\n[dependencies]\nacme = \"1\"\n",
    ),
    (
        "user/src/lib.rs",
        "use acme::Class;\npub fn run(class: Class) {\n    class.ranges().len();\n    \
         class.first().unwrap().start();\n    class.ranges().first().unwrap().start();\n    \
         Class::default().size();\n    class.clone().size();\n}\n",
    ),
];

#[test]
fn a_list_or_an_optional_hands_on_what_it_holds_rust() {
    check(
        HELD,
        &[
            ("Range.start", &["user/src/lib.rs: likely: run:4,5"]),
            // Members that the language gives to every type.
            ("Class.size", &["user/src/lib.rs: likely: run:6,7"]),
        ],
    );
}

#[test]
fn a_member_of_a_list_is_none_of_its_elements_rust() {
    let (_, answer, _) = Workspace::with(HELD).run(&["trace", "Range.len"]);
    assert!(!answer.contains("user/src/lib.rs"), "{answer}");
}

#[test]
fn a_member_of_a_type_hides_that_for_an_interface_rust() {
    check(
        &[
            ("lib/Cargo.toml", "[package]\nname = \"acme\"\nversion = \"1.0.0\"\n"),
            (
                "lib/src/lib.rs",
                "mod other;\npub struct Label;\nimpl Label {\n    pub fn text(&self) {}\n}\n",
            ),
            (
                "lib/src/other.rs",
                "use crate::Label;\npub trait Sealed {\n    fn text(&self);\n}\n\
                 impl Sealed for Label {\n    fn text(&self) {}\n}\n",
            ),
            (
                "user/Cargo.toml",
                "[package]\nname = \"app\"\nversion = \"0.1.0\"\n\n[dependencies]\nacme = \"1\"\n",
            ),
            (
                "user/src/lib.rs",
                "use acme::Label;\npub fn run(label: Label) {\n    label.text();\n}\n",
            ),
        ],
        &[("Label.text", &["user/src/lib.rs: run:3"])],
    );
}

const PARTS: &[(&str, &str)] = &[
    ("lib/Cargo.toml", "[package]\nname = \"acme\"\nversion = \"1.0.0\"\n"),
    (
        "lib/src/lib.rs",
        "pub struct Name;\nimpl Name {\n    pub fn text(&self) {}\n}\n\
         pub struct Value;\nimpl Value {\n    pub fn bytes(&self) {}\n}\n\
         pub struct Other;\nimpl Other {\n    \
         pub fn text(&self) {}\n    pub fn bytes(&self) {}\n}\n\
         pub struct Full;\nimpl Full {\n    pub fn insert(&self) {}\n}\n\
         pub struct Empty;\nimpl Empty {\n    pub fn insert(&self) {}\n}\n\
         pub enum Entry {\n    Full(Full),\n    Empty(Empty),\n}\n\
         pub struct Iter<T>(T);\nimpl<T> Iterator for Iter<T> {\n    type Item = (Name, T);\n    \
         fn next(&mut self) -> Option<Self::Item> { None }\n}\n\
         pub struct Map<T = Value>(T);\nimpl<T> Map<T> {\n    pub fn append(&self) {}\n    \
         pub fn entry(&self) -> Entry { loop {} }\n    \
         pub fn parts(&self) -> (Name, Value) { loop {} }\n    \
         pub fn values(&self) -> Vec<T> { loop {} }\n}\n\
         impl<T> IntoIterator for Map<T> {\n    type Item = (Name, T);\n    \
         type IntoIter = Iter<T>;\n    fn into_iter(self) -> Iter<T> { loop {} }\n}\n",
    ),
    (
        "user/Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\n\n[dependencies]\nacme = \"1\"\n",
    ),
    (
        "user/src/lib.rs",
        "use acme::{Entry, Map};\npub fn run(map: Map) {\n    match map.entry() {\n        \
         Entry::Full(one) => one.insert(),\n        Entry::Empty(one) => one.insert(),\n    }\n    \
         let (name, value) = map.parts();\n    name.text();\n    value.bytes();\n    \
         for value in map.values() {\n        value.bytes();\n    }\n    \
         for (name, value) in map {\n        name.text();\n        value.bytes();\n    }\n}\n",
    ),
];

#[test]
fn a_pattern_has_the_parts_of_what_a_library_gives_rust() {
    check(
        PARTS,
        &[
            ("Full.insert", &["user/src/lib.rs: likely: run:4"]),
            ("Empty.insert", &["user/src/lib.rs: likely: run:5"]),
            ("Name.text", &["user/src/lib.rs: likely: run:8,14"]),
            ("Value.bytes", &["user/src/lib.rs: likely: run:9,11,15"]),
        ],
    );
}

#[test]
fn a_call_is_none_of_a_field_of_the_name_rust() {
    let files = &[
        ("lib/Cargo.toml", "[package]\nname = \"acme\"\nversion = \"1.0.0\"\n"),
        (
            "lib/src/lib.rs",
            "pub trait Parser {\n    fn label(self) -> Labelled;\n}\n\
             pub struct Labelled {\n    pub(crate) label: u8,\n}\n\
             impl Parser for Labelled {\n    fn label(self) -> Labelled { self }\n}\n\
             pub fn word() -> Labelled { loop {} }\n",
        ),
        ("user/Cargo.toml", "[package]\nname = \"app\"\n[dependencies]\nacme = \"1\"\n"),
        ("user/src/lib.rs", "pub fn run() {\n    acme::word().label().label();\n}\n"),
    ];
    check(files, &[("Labelled.label", &["user/src/lib.rs: likely: run:2,2"])]);
    let (_, answer, _) = Workspace::with(files).run(&["trace", "Labelled.label"]);
    assert!(answer.contains("0 calls of Labelled.label (src/lib.rs:5) from other"), "{answer}");
}

#[test]
fn uses_by_a_name_that_the_user_gives_typescript() {
    check(
        &[
            ("lib/package.json", "{\"name\": \"@acme/tree\", \"main\": \"index.js\"}"),
            ("lib/index.ts", "export function make() {}\nexport function bake() {}\n"),
            ("user/package.json", "{\"dependencies\": {\"@acme/tree\": \"^1.0.0\"}}"),
            (
                "user/imported.ts",
                "import { make as made } from '@acme/tree';\nexport function run() { made(); }\n",
            ),
            (
                "user/held.ts",
                "import * as tree from '@acme/tree';\n\
                 export function run() {\n  const made = tree.bake;\n  made();\n}\n\
                 export function call() { tree.bake(); }\n",
            ),
        ],
        &[("make", &["user/imported.ts: run:2"]), ("bake", &["user/held.ts: run:4, call:6"])],
    );
}

#[test]
fn an_answer_says_what_is_not_followed_to_another_repository() {
    let workspace = super::Workspace::with(super::PYTHON);
    let deep = "calls from other repositories are direct ones: callers of those are not followed";
    let callees = "callees stay within one repository: calls into another are not followed";
    for (arguments, line) in [
        (&["--depth", "2"][..], deep),
        (&["--direction", "callees"], callees),
        (&["--to", "hello"], "a path stays within one repository"),
    ] {
        let (_, answer, _) = workspace.run(&[&["trace", "greet"], arguments].concat());
        assert!(answer.lines().any(|own| own == line), "{arguments:?}: {answer}");
    }
    let answer = workspace.asked(&["trace", "greet", "--depth", "1"]);
    assert!(!answer.contains("not followed"), "{answer}");
}
