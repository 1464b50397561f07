//! Which tests a change leads to where no single reference does, and their order.

use super::repository::GitRepository;

/// Paths and names of the tests of an answer, best first.
fn tests(repository: &GitRepository, question: &[&str]) -> Vec<String> {
    let answer = repository.json(question);
    let tests = answer["tests"].as_array().expect("a list");
    tests
        .iter()
        .map(|test| {
            let text = |key: &str| test[key].as_str().expect("a text").to_owned();
            format!("{} {}", text("path"), text("name"))
        })
        .collect()
}

#[test]
fn a_test_is_found_by_the_name_of_its_file_and_the_titles_around_it() {
    let repository = GitRepository::new();
    let handlers = "const table = {};\n\nfunction register(name, f) {\n  table[name] = f;\n}\n\n\
        register('protocol', function () {\n  return 'http';\n});\n\n\
        register('secure', function () {\n  return false;\n});\n\nmodule.exports = table;\n";
    repository.write("lib/handlers.js", handlers);
    repository.write("index.js", "module.exports = require('./lib/load');\n");
    repository.write("lib/load.js", "module.exports = eval(\"require('./handlers')\");\n");
    let test = |title: &str| {
        format!(
            "const all = require('../');\n\ndescribe('request', function () {{\n  \
             describe('.{title}', function () {{\n    \
             it('should work', function () {{\n      all.ask();\n    }});\n  }});\n}});\n"
        )
    };
    repository.write("test/request.protocol.js", &test("protocol"));
    repository.write("test/request.secure.js", &test("secure"));
    repository.write("test/request.range.js", &test("range"));
    repository.commit("one");
    repository.write("lib/handlers.js", &handlers.replace("return false", "return null"));
    assert_eq!(
        tests(&repository, &["impact"])[0],
        "test/request.secure.js request..secure.should work"
    );
    repository.write("lib/handlers.js", &handlers.replace("'http'", "'https'"));
    assert_eq!(
        tests(&repository, &["impact"])[0],
        "test/request.protocol.js request..protocol.should work"
    );
}

#[test]
fn a_call_of_one_of_several_overloads_reaches_each() {
    let repository = GitRepository::new();
    let writer = "class Writer {\n  void value(double number) { put(1); }\n  \
        void value(Number number) { put(2); }\n  void put(int kind) {}\n}\n";
    repository.write("src/main/java/Writer.java", writer);
    let adapter = "class Adapter {\n  void write(Writer out, Source source) {\n    \
        out.value(source.next());\n  }\n}\n";
    repository.write("src/main/java/Adapter.java", adapter);
    let test =
        "class AdapterTest {\n  @Test\n  void writes() { new Adapter().write(null, null); }\n}\n";
    repository.write("src/test/java/AdapterTest.java", test);
    repository.commit("one");
    repository.write("src/main/java/Writer.java", &writer.replace("put(1)", "put(3)"));
    assert_eq!(
        tests(&repository, &["impact"]),
        ["src/test/java/AdapterTest.java AdapterTest.writes"]
    );
}
