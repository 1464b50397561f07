//! An editor that speaks the Language Server Protocol: what it asks is answered as the tools answer
//! it, about the files on disk.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

const SHAPES: &str = concat!(
    "\"\"\"é\"\"\"\nclass Base:\n    def area(self) -> int:\n        return 0\n\n\n",
    "class Square(Base):\n    def area(self) -> int:\n        return side()\n\n\n",
    "def side():\n    \"\"\"Length of a side.\"\"\"\n    return 1\n",
);
const USES: &str = "from shapes import Square, side\n\nx = \"𝕏\"; y = side()\n\n\
                    def use():\n    return Square().area() + side()\n";

struct Editor {
    place: TempDir,
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
    /// What the server has said without being asked.
    said: Vec<Value>,
    initialized: Value,
}

impl Editor {
    fn open(capabilities: &Value, folders: &[&str]) -> Self {
        let place = tempfile::tempdir().expect("a temporary directory");
        let root = place.path().join("work");
        for folder in folders {
            fs::create_dir_all(root.join(folder).join(".git")).expect("created");
            fs::write(root.join(folder).join(".git/HEAD"), "ref: refs/heads/main\n")
                .expect("written");
        }
        let first = root.join(folders[0]);
        fs::write(first.join("shapes.py"), SHAPES).expect("written");
        fs::write(first.join("uses.py"), USES).expect("written");
        let mut server = Command::new(env!("CARGO_BIN_EXE_cograph"))
            .args(["lsp", "--stdio"])
            .env("COGRAPH_CACHE_DIR", place.path().join("cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let input = server.stdin.take().expect("piped");
        let output = BufReader::new(server.stdout.take().expect("piped"));
        let (said, initialized) = (Vec::new(), Value::Null);
        let mut editor = Self { place, server, input, output, asked: 0, said, initialized };
        let folders: Vec<Value> = folders
            .iter()
            .map(|folder| json!({"uri": editor.uri(folder, ""), "name": folder}))
            .collect();
        editor.initialized = editor.ask(
            "initialize",
            json!({"processId": null, "rootUri": null, "workspaceFolders": folders,
                   "capabilities": capabilities}),
        );
        editor.tell("initialized", json!({}));
        editor
    }

    fn path(&self, folder: &str, file: &str) -> PathBuf {
        let root = fs::canonicalize(self.place.path()).expect("it exists").join("work");
        if file.is_empty() { root.join(folder) } else { root.join(folder).join(file) }
    }

    fn uri(&self, folder: &str, file: &str) -> String {
        format!("file://{}", self.path(folder, file).display())
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it reads");
        self.input.flush().expect("it reads");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(json!({"method": method, "params": params}));
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("it writes");
            match line.trim().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().expect("a number");
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).expect("it writes");
        serde_json::from_slice(&text).expect("JSON")
    }

    /// The result, or the error, of a request.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(json!({"id": id, "method": method, "params": params}));
        self.answer(id)
    }

    fn answer(&mut self, id: u64) -> Value {
        loop {
            let mut message = self.read();
            if message["method"].is_null() && message["id"] == json!(id) {
                let result = message["result"].take();
                return if result.is_null() { message["error"].take() } else { result };
            }
            if !message["method"].is_null() && !message["id"].is_null() {
                let id = message["id"].clone();
                self.send(json!({"id": id, "result": null}));
            }
            self.said.push(message);
        }
    }

    fn at(&mut self, method: &str, file: &str, line: u32, character: u32) -> Value {
        let document = json!({"uri": self.uri("one", file)});
        self.ask(
            method,
            json!({"textDocument": document, "context": {"includeDeclaration": false},
                   "position": {"line": line, "character": character}}),
        )
    }

    /// `file:line:character`, both from 0, of a list of places.
    fn places(&self, found: &Value) -> Vec<String> {
        let found = found.as_array().unwrap_or_else(|| panic!("a list: {found}"));
        let place = |place: &Value| {
            let uri = place["uri"].as_str().expect("an address");
            let start = &place["range"]["start"];
            let name = Path::new(uri).file_name().expect("a file").to_string_lossy();
            format!("{name}:{}:{}", start["line"], start["character"])
        };
        found.iter().map(place).collect()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // A test that has failed leaves no process behind.
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

fn nested() -> Value {
    json!({"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": true}}})
}

#[test]
fn positions_lead_to_definitions_references_and_implementations() {
    let mut editor = Editor::open(&nested(), &["one"]);
    assert_eq!(editor.initialized["capabilities"]["positionEncoding"], json!("utf-16"));
    // Behind a letter of two UTF-16 code units.
    let found = editor.at("textDocument/definition", "uses.py", 2, 14);
    assert_eq!(editor.places(&found), ["shapes.py:11:4"]);
    let found = editor.at("textDocument/references", "shapes.py", 11, 6);
    assert_eq!(
        editor.places(&found),
        ["shapes.py:8:15", "uses.py:0:27", "uses.py:2:14", "uses.py:5:29"]
    );
    let found = editor.at("textDocument/implementation", "shapes.py", 2, 9);
    assert_eq!(editor.places(&found), ["shapes.py:7:8"]);
    let found = editor.at("textDocument/definition", "uses.py", 1, 0);
    assert_eq!(editor.places(&found), [""; 0], "nothing is there");
}

#[test]
fn columns_are_bytes_where_the_client_knows_them() {
    let capabilities = json!({"general": {"positionEncodings": ["utf-8", "utf-16"]}});
    let mut editor = Editor::open(&capabilities, &["one"]);
    assert_eq!(editor.initialized["capabilities"]["positionEncoding"], json!("utf-8"));
    let found = editor.at("textDocument/references", "shapes.py", 11, 4);
    assert!(editor.places(&found).contains(&"uses.py:2:16".to_owned()), "{found}");
}

#[test]
fn symbols_of_documents_and_folders_are_listed() {
    let mut editor = Editor::open(&nested(), &["one", "two"]);
    fs::write(editor.path("two", "other.py"), "def aside():\n    pass\n").expect("written");
    let document = json!({"textDocument": {"uri": editor.uri("one", "shapes.py")}});
    let symbols = editor.ask("textDocument/documentSymbol", document);
    let names = |symbols: &Value| -> Vec<String> {
        let symbols = symbols.as_array().into_iter().flatten();
        symbols.map(|symbol| symbol["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names(&symbols), ["Base", "Square", "side"]);
    assert_eq!(names(&symbols[1]["children"]), ["area"]);
    let found = editor.ask("workspace/symbol", json!({"query": "side"}));
    assert_eq!(names(&found), ["side", "aside"], "of both folders");
    let params =
        json!({"event": {"added": [], "removed": [{"uri": editor.uri("two", ""), "name": "two"}]}});
    editor.tell("workspace/didChangeWorkspaceFolders", params);
    let found = editor.ask("workspace/symbol", json!({"query": "side"}));
    assert_eq!(names(&found), ["side"]);
}

#[test]
fn calls_and_types_have_hierarchies() {
    let mut editor = Editor::open(&nested(), &["one"]);
    let side = editor.at("textDocument/prepareCallHierarchy", "shapes.py", 11, 4);
    let callers = editor.ask("callHierarchy/incomingCalls", json!({"item": side[0]}));
    let name = |call: &Value, end: &str| call[end]["name"].as_str().expect("a name").to_owned();
    let callers: Vec<_> =
        callers.as_array().expect("a list").iter().map(|call| name(call, "from")).collect();
    assert_eq!(callers, ["area", "use"], "what stands at the top level has no symbol");
    let user = editor.at("textDocument/prepareCallHierarchy", "uses.py", 4, 4);
    let callees = editor.ask("callHierarchy/outgoingCalls", json!({"item": user[0]}));
    let callees: Vec<_> =
        callees.as_array().expect("a list").iter().map(|call| name(call, "to")).collect();
    assert!(callees.contains(&"side".to_owned()) && callees.contains(&"area".to_owned()));
    let square = editor.at("textDocument/prepareTypeHierarchy", "shapes.py", 6, 7);
    let above = editor.ask("typeHierarchy/supertypes", json!({"item": square[0]}));
    let below = editor.ask("typeHierarchy/subtypes", json!({"item": above[0]}));
    assert_eq!((&above[0]["name"], &below[0]["name"]), (&json!("Base"), &json!("Square")));
}

#[test]
fn an_answer_is_about_the_file_and_names_it() {
    let mut editor = Editor::open(&nested(), &["one"]);
    let hover = |editor: &mut Editor| {
        let found = editor.at("textDocument/hover", "uses.py", 5, 30);
        found["contents"].as_str().unwrap_or_else(|| panic!("text: {found}")).to_owned()
    };
    let text = hover(&mut editor);
    assert!(text.contains("def side()") && text.contains("Length of a side."), "{text}");
    assert!(text.contains("4 certain") && !text.contains("unsaved"), "{text}");
    let document = editor.uri("one", "uses.py");
    let change = json!({"textDocument": {"uri": document, "version": 2}, "contentChanges": []});
    editor.tell("textDocument/didChange", change);
    assert!(hover(&mut editor).contains("unsaved changes"));
    assert!(editor.said.iter().any(|message| message["method"] == "window/logMessage"));
    fs::write(editor.path("one", "uses.py"), format!("{USES}\nside()\n")).expect("written");
    editor.tell("textDocument/didSave", json!({"textDocument": {"uri": document}}));
    let text = hover(&mut editor);
    assert!(text.contains("5 certain") && !text.contains("unsaved"), "{text}");
}

#[test]
fn what_cannot_be_answered_is_an_error_and_the_session_goes_on() {
    let mut editor = Editor::open(&nested(), &["one"]);
    let code = |error: &Value| error["code"].as_i64().unwrap_or_else(|| panic!("{error}"));
    let unknown = editor.ask("textDocument/rename", json!({}));
    assert_eq!(code(&unknown), -32601);
    let wrong = editor.ask("textDocument/hover", json!({"textDocument": 1}));
    assert_eq!(code(&wrong), -32602);
    let document = json!({"uri": "untitled:Untitled-1"});
    let position = json!({"line": 0, "character": 0});
    let other =
        editor.ask("textDocument/hover", json!({"textDocument": document, "position": position}));
    assert_eq!(code(&other), -32803);
    let found = editor.at("textDocument/definition", "missing.py", 0, 0);
    assert_eq!(editor.places(&found), [""; 0]);
    // A request that was cancelled has one answer, whichever came first.
    editor.asked += 1;
    let id = editor.asked;
    editor.send(json!({"id": id, "method": "workspace/symbol", "params": {"query": "side"}}));
    editor.tell("$/cancelRequest", json!({"id": id}));
    let answer = editor.answer(id);
    assert!(answer.is_array() || code(&answer) == -32800, "{answer}");
    editor.ask("shutdown", Value::Null);
    editor.tell("exit", Value::Null);
    assert!(editor.server.wait().expect("it ends").success());
}
