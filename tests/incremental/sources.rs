//! Small random files in every language. Few names are shared by all, so that edits make and end
//! ambiguities, overrides and imports that lead nowhere.

use super::edits::Random;

/// How a language writes what the generator can say.
pub(super) struct Style {
    /// The ending of its files.
    pub(super) ending: &'static str,
    /// Makes the text of a file.
    pub(super) text: fn(&mut Random, &[String]) -> String,
}

/// Every language.
pub(super) const STYLES: [Style; 9] = [
    Style { ending: "py", text: indented },
    Style { ending: "js", text: scripted },
    Style { ending: "ts", text: typed },
    Style { ending: "tsx", text: typed },
    Style { ending: "rs", text: crated },
    Style { ending: "go", text: packaged },
    Style { ending: "java", text: declared },
    Style { ending: "c", text: pasted },
    Style { ending: "cpp", text: pasted_with_classes },
];

fn pick<'a>(random: &mut Random, from: &[&'a str]) -> &'a str {
    from[random.below(from.len())]
}

fn function(random: &mut Random) -> &'static str {
    pick(random, &["open", "read", "close", "merge", "split", "apply"])
}

fn class(random: &mut Random) -> &'static str {
    pick(random, &["Alpha", "Beta", "Gamma", "Delta"])
}

fn method(random: &mut Random) -> &'static str {
    pick(random, &["start", "step", "finish", "reset"])
}

/// A module to import: a file of the same language by its name without folder and ending, or one
/// that does not exist.
fn module(random: &mut Random, others: &[String]) -> String {
    if others.is_empty() || random.below(8) == 0 {
        return "missing".to_owned();
    }
    others[random.below(others.len())].clone()
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn indented(random: &mut Random, others: &[String]) -> String {
    let mut text = String::new();
    for _ in 0..random.below(4) {
        let path = module(random, others);
        let dotted = path.trim_end_matches(".py").trim_end_matches("/__init__").replace('/', ".");
        let (name, dotted) =
            (if random.below(2) == 0 { function(random) } else { class(random) }, dotted.as_str());
        match random.below(4) {
            0 => text.push_str(&format!("import {dotted}\n")),
            1 => text.push_str(&format!("from {dotted} import *\n")),
            2 => text.push_str(&format!("from .{} import {name}\n", stem(&path))),
            _ => text.push_str(&format!("from {dotted} import {name}\n")),
        }
    }
    for _ in 0..random.below(3) {
        let (name, base) = (class(random), class(random));
        text.push_str(&format!(
            "\nclass {name}({base}):\n    def {}(self, x=None):\n",
            method(random)
        ));
        text.push_str(&format!(
            "        self.item = {}()\n        self.item.{}()\n",
            class(random),
            method(random)
        ));
        text.push_str(&format!(
            "        return {}(x)\n    def {}(self):\n",
            function(random),
            method(random)
        ));
        text.push_str(&format!(
            "        super().{}()\n        return self.{}()\n",
            method(random),
            method(random)
        ));
    }
    for _ in 0..random.below(4) {
        let comma = if random.below(2) == 0 { "a" } else { "a, b=1" };
        text.push_str(&format!(
            "\ndef {}({comma}):\n    value = {}()\n",
            function(random),
            class(random)
        ));
        text.push_str(&format!("    value.{}()\n    a.{}()\n", method(random), method(random)));
        text.push_str(&format!(
            "    for item in {}(a):\n        item.{}()\n",
            function(random),
            method(random)
        ));
        text.push_str(&format!("    return {}(value)\n", function(random)));
    }
    text
}

fn quoted_path(random: &mut Random, others: &[String]) -> String {
    let path = module(random, others);
    let bare = path.rsplit_once('.').map_or(path.as_str(), |(bare, _)| bare);
    match random.below(4) {
        0 => format!("@lib/{}", stem(bare)),
        1 => format!("./{}", stem(bare)),
        2 => "shared".to_owned(),
        _ => format!("../{bare}"),
    }
}

fn scripted(random: &mut Random, others: &[String]) -> String {
    let mut text = String::new();
    for _ in 0..random.below(4) {
        let path = quoted_path(random, others);
        match random.below(4) {
            0 => text.push_str(&format!("import * as {} from '{path}';\n", method(random))),
            1 => text.push_str(&format!("export * from '{path}';\n")),
            2 => text.push_str(&format!("import {} from '{path}';\n", class(random))),
            _ => text.push_str(&format!("import {{ {} }} from '{path}';\n", function(random))),
        }
    }
    for _ in 0..random.below(3) {
        let export = pick(random, &["export ", "", "export default "]);
        text.push_str(&format!("{export}class {} extends {} {{\n", class(random), class(random)));
        text.push_str(&format!(
            "  {}() {{ this.{}(); return {}(); }}\n",
            method(random),
            method(random),
            function(random)
        ));
        text.push_str(&format!(
            "  {}(a) {{ const v = new {}(); v.{}(); }}\n}}\n",
            method(random),
            class(random),
            method(random)
        ));
    }
    for _ in 0..random.below(4) {
        let export = pick(random, &["export ", ""]);
        text.push_str(&format!(
            "{export}function {}(a) {{ [a].map(x => x.{}()); ",
            function(random),
            method(random)
        ));
        text.push_str(&format!("return {}(new {}()); }}\n", function(random), class(random)));
    }
    text
}

fn typed(random: &mut Random, others: &[String]) -> String {
    let mut text = scripted(random, others);
    if random.below(2) == 0 {
        text.push_str(&format!(
            "export interface {} {{ {}(): {}; }}\n",
            class(random),
            method(random),
            class(random)
        ));
    }
    let (name, ty) = (function(random), class(random));
    text.push_str(&format!("export const {name} = (a: {ty}): {ty} => a.{}();\n", method(random)));
    text.push_str(&format!(
        "function use(a: {}) {{ a.{}().{}(); }}\n",
        class(random),
        method(random),
        method(random)
    ));
    text
}

fn crated(random: &mut Random, others: &[String]) -> String {
    let mut text = String::new();
    for _ in 0..random.below(4) {
        let path = module(random, others);
        let name = stem(&path);
        match random.below(5) {
            0 => text.push_str(&format!("use crate::{name}::{};\n", class(random))),
            1 => text.push_str(&format!("use super::{name}::*;\n")),
            2 => text.push_str(&format!("use tools::{};\n", function(random))),
            3 => text.push_str(&format!("pub use self::{name}::{};\n", function(random))),
            _ => text.push_str(&format!("pub mod {name};\n")),
        }
    }
    for _ in 0..random.below(3) {
        let name = class(random);
        text.push_str(&format!("pub struct {name} {{ pub item: {} }}\n", class(random)));
        text.push_str(&format!(
            "impl {name} {{ pub fn {}(&self) -> {name} {{ self.item.{}(); ",
            method(random),
            method(random)
        ));
        text.push_str(&format!("{}() }} }}\n", function(random)));
    }
    if random.below(2) == 0 {
        let (of, required) = (class(random), method(random));
        text.push_str(&format!(
            "pub trait {of} {{ fn {required}(&self); fn {}(&self) {{}} }}\n",
            method(random)
        ));
        text.push_str(&format!(
            "impl {} for {} {{ fn {}(&self) {{}} }}\n",
            class(random),
            class(random),
            method(random)
        ));
    }
    for _ in 0..random.below(4) {
        text.push_str(&format!(
            "pub fn {}() {{ let v: {} = {}(); ",
            function(random),
            class(random),
            function(random)
        ));
        text.push_str(&format!(
            "v.{}(); crate::{}::{}(); }}\n",
            method(random),
            function(random),
            function(random)
        ));
    }
    text
}

fn packaged(random: &mut Random, others: &[String]) -> String {
    let mut text = format!("package {}\n", pick(random, &["main", "store", "wire"]));
    for _ in 0..random.below(3) {
        let path = module(random, others);
        let module = pick(random, &["example.org/app", "example.org/other"]);
        text.push_str(&format!("import \"{module}/{}\"\n", folder(&path)));
    }
    for _ in 0..random.below(3) {
        let name = class(random);
        text.push_str(&format!("type {name} struct {{ {} }}\n", class(random)));
        text.push_str(&format!(
            "func (r *{}) {}(n int) {{ r.{}(n) }}\n",
            class(random),
            upper(method(random)),
            upper(method(random))
        ));
    }
    if random.below(2) == 0 {
        text.push_str(&format!(
            "type {} interface {{ {}(n int) }}\n",
            class(random),
            upper(method(random))
        ));
    }
    for _ in 0..random.below(4) {
        text.push_str(&format!(
            "func {}(a {}) {{ a.{}(1); ",
            function(random),
            class(random),
            upper(method(random))
        ));
        text.push_str(&format!("{}(a); a1.{}(a) }}\n", function(random), upper(function(random))));
    }
    text
}

fn upper(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn declared(random: &mut Random, others: &[String]) -> String {
    let mut text = format!("package {};\n", pick(random, &["org.a", "org.b", "org.a.inner"]));
    for _ in 0..random.below(4) {
        let package = pick(random, &["org.a", "org.b", "org.a.inner", "java.util"]);
        let item = if random.below(3) == 0 { "*" } else { class(random) };
        text.push_str(&format!("import {package}.{item};\n"));
    }
    let path = module(random, others);
    for _ in 0..=random.below(2) {
        let name = if random.below(2) == 0 { class(random).to_owned() } else { upper(stem(&path)) };
        text.push_str(&format!("public class {name} extends {} {{\n", class(random)));
        let (ty, other) = (class(random), class(random));
        text.push_str(&format!(
            "  {ty} {}({other} a) {{ a.{}(); return this.{}(a); }}\n",
            method(random),
            method(random),
            method(random)
        ));
        text.push_str(&format!(
            "  void {}(int a) {{ new {}().{}(null); }}\n",
            method(random),
            class(random),
            method(random)
        ));
        text.push_str("}\n");
    }
    text
}

fn header(random: &mut Random, others: &[String]) -> String {
    let path = module(random, others);
    if random.below(2) == 0 { format!("{}.h", stem(&path)) } else { path }
}

fn pasted(random: &mut Random, others: &[String]) -> String {
    let mut text = String::new();
    for _ in 0..random.below(4) {
        text.push_str(&format!("#include \"{}\"\n", header(random, others)));
    }
    if random.below(3) == 0 {
        text.push_str(&format!("#define {}(x) {}(x)\n", upper(function(random)), function(random)));
    }
    if random.below(2) == 0 {
        text.push_str(&format!("struct {} {{ int {}; }};\n", class(random), method(random)));
    }
    for _ in 0..random.below(3) {
        text.push_str(&format!("int {}(int a);\n", function(random)));
    }
    for _ in 0..random.below(3) {
        let private = pick(random, &["static ", "", ""]);
        text.push_str(&format!(
            "{private}int {}(int a) {{ {}(a); ",
            function(random),
            function(random)
        ));
        text.push_str(&format!(
            "return {}({}(a)); }}\n",
            upper(function(random)),
            function(random)
        ));
    }
    text
}

fn pasted_with_classes(random: &mut Random, others: &[String]) -> String {
    let mut text = pasted(random, others);
    let space = pick(random, &["net", "disk"]);
    text.push_str(&format!("namespace {space} {{\n"));
    for _ in 0..random.below(3) {
        let base = class(random);
        text.push_str(&format!(
            "class {} : public {base} {{ public: void {}(int a); ",
            class(random),
            method(random)
        ));
        text.push_str(&format!(
            "virtual void {}() {{ {}(1); }} }};\n",
            method(random),
            method(random)
        ));
    }
    text.push_str("}\n");
    if random.below(2) == 0 {
        text.push_str(&format!("using namespace {};\n", pick(random, &["net", "disk"])));
    }
    let (of, name) = (class(random), method(random));
    text.push_str(&format!(
        "void {space}::{of}::{name}(int a) {{ {}(a); {} v; v.{}(a); }}\n",
        function(random),
        class(random),
        method(random)
    ));
    text
}
