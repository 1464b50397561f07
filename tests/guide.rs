//! The guide to manifests, `grammars/README.md`: its reference part is made from the doc comments
//! of the types that manifests are read into, and every manifest is commented.
//!
//! `COGRAPH_WRITE_FIXTURES=1` writes the reference part anew, for a person to read; the run fails
//! then, since it has compared nothing.

mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use cograph::model::{SymbolKind, Visibility};
use source::{Declaration, Member, declarations};

const START: &str = "<!-- reference: made from src/grammar by tests/guide.rs -->\n";
const END: &str = "<!-- /reference -->";

/// The tables of rules: the section in a manifest, and the type of a rule.
const RULES: [(&str, &str); 3] =
    [("nodes", "Rule"), ("patterns", "Pattern"), ("types", "TypeRule")];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The types of `src/grammar` that are read from manifests, by name.
fn types() -> BTreeMap<String, Declaration> {
    let mut pending = vec![root().join("src/grammar"), root().join("grammars/tier.rs")];
    let mut found = BTreeMap::new();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(path).expect("the project's folders are readable");
            let entries = entries.map(|entry| entry.expect("the project's folders are readable"));
            pending.extend(entries.map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            {
                let text = fs::read_to_string(&path).expect("sources are UTF-8");
                let read = declarations(&text)
                    .into_iter()
                    .filter(|declared| declared.attributes.contains("Deserialize"));
                found.extend(read.map(|declared| (declared.name.clone(), declared)));
            }
        }
    }
    found
}

/// The reference, as far as it is written.
struct Reference {
    types: BTreeMap<String, Declaration>,
    text: String,
    described: BTreeSet<String>,
}

impl Reference {
    /// The whole of it.
    fn write(types: BTreeMap<String, Declaration>) -> String {
        let mut reference = Self { types, text: String::new(), described: BTreeSet::new() };
        reference.manifest();
        for (section, ty) in RULES {
            let docs = reference.types[ty].docs.clone();
            reference.text += &format!(
                "\n### `[{section}]`\n\n{docs}\n\n| role | keys | meaning |\n| --- | --- | --- |\n"
            );
            reference.variants(ty);
        }
        reference.text
    }

    fn manifest(&mut self) {
        let manifest = self.types.remove("Manifest").expect("there is a manifest");
        let (sections, keys): (Vec<&Member>, Vec<&Member>) =
            manifest.members.iter().partition(|member| self.section(&member.ty).is_some());
        self.text += "### Top level\n\n";
        self.fields(&keys, &manifest.attributes);
        for section in sections {
            let (name, ty) = (key(section), self.section(&section.ty).expect("it is one"));
            let name =
                if section.ty.starts_with("BTreeMap") { format!("{name}.NAME") } else { name };
            let declared = &self.types[&ty];
            let (members, attributes) = (fields_of(declared), declared.attributes.clone());
            self.text += &format!("\n### `[{name}]`\n\n{}\n\n", section.docs);
            let fields: Vec<&Member> = members.iter().collect();
            self.fields(&fields, &attributes);
        }
    }

    /// The struct that a section holds, if the type of a key of the manifest is one.
    fn section(&self, ty: &str) -> Option<String> {
        let ty = ty
            .strip_prefix("BTreeMap<String,")
            .and_then(|rest| rest.strip_suffix('>'))
            .unwrap_or(ty);
        self.types.get(ty).filter(|declared| !declared.is_enum).map(|_| ty.to_owned())
    }

    /// The table of fields, then that of each type which they name and no earlier field did.
    fn fields(&mut self, fields: &[&Member], attributes: &str) {
        self.text += "| key | value | meaning |\n| --- | --- | --- |\n";
        for field in fields {
            let needed = if is_required(field, attributes) { ", required" } else { "" };
            self.text += &format!(
                "| `{}` | {}{needed} | {} |\n",
                key(field),
                self.value(&field.ty),
                cell(&field.docs)
            );
        }
        self.named_types(fields.iter().map(|field| field.ty.clone()));
    }

    /// The tables of types that are named by fields and have none yet.
    fn named_types(&mut self, types: impl Iterator<Item = String>) {
        for name in types.flat_map(|ty| named(&ty)) {
            let name = name.as_str();
            let Some(declared) =
                self.types.get(name).filter(|_| !RULES.iter().any(|(_, rule)| *rule == name))
            else {
                continue;
            };
            if !self.described.insert(name.to_owned()) {
                continue;
            }
            let (docs, is_enum) = (declared.docs.clone(), declared.is_enum);
            if tag(&declared.attributes).is_some() {
                self.text += &format!(
                    "\n**{name}.** {docs}\n\n| as | keys | meaning |\n| --- | --- | --- |\n"
                );
                self.variants(name);
            } else if is_enum {
                self.text +=
                    &format!("\n**{name}.** {docs}\n\n| word | meaning |\n| --- | --- |\n");
                for variant in &self.types[name].members {
                    let default =
                        if variant.attributes.contains("default") { " (default)" } else { "" };
                    self.text += &format!(
                        "| `{}`{default} | {} |\n",
                        kebab(&variant.name),
                        cell(&variant.docs)
                    );
                }
            } else {
                let (members, attributes) = (fields_of(declared), declared.attributes.clone());
                self.text += &format!("\n**{name}.** {docs}\n\n");
                self.fields(&members.iter().collect::<Vec<_>>(), &attributes);
            }
        }
    }

    /// The rows of a tagged enum, then the types that its fields name.
    fn variants(&mut self, ty: &str) {
        let mut named = Vec::new();
        for variant in self.types[ty]
            .members
            .iter()
            .filter(|variant| !variant.attributes.contains("serde(skip)"))
        {
            let mut meaning = variant.docs.clone();
            let keys = variant.fields.iter().map(|field| {
                let mark = if is_required(field, "") { "" } else { "?" };
                format!("`{}`{mark}: {}", key(field), self.value(&field.ty))
            });
            let keys: Vec<String> = keys.collect();
            for field in variant.fields.iter().filter(|field| !field.docs.is_empty()) {
                meaning += &format!(" `{}`: {}", key(field), lowered(&field.docs));
            }
            named.extend(variant.fields.iter().map(|field| field.ty.clone()));
            let row = format!(
                "| `{}` | {} | {} |\n",
                kebab(&variant.name),
                keys.join(", "),
                cell(&meaning)
            );
            self.text += &row;
        }
        self.named_types(named.into_iter());
    }

    /// What may be written as the value of a key.
    fn value(&self, ty: &str) -> String {
        let within = |outer: &str| {
            ty.strip_prefix(outer).and_then(|rest| rest.strip_prefix('<')?.strip_suffix('>'))
        };
        if let Some(ty) = within("Option") {
            return self.value(ty);
        }
        if let Some(ty) = within("Vec") {
            return format!("list of {}", self.value(ty));
        }
        if let Some((key, ty)) = within("BTreeMap").and_then(|types| types.split_once(',')) {
            let by =
                if matches!(key, "String" | "char") { String::new() } else { format!(" by {key}") };
            return format!("table of {}{by}", self.value(ty));
        }
        match ty {
            "bool" => "flag".to_owned(),
            "u64" | "i64" => "number".to_owned(),
            "String" => "text".to_owned(),
            "Selector" => "selector".to_owned(),
            "SymbolKind" => "symbol kind".to_owned(),
            _ => self
                .types
                .get(ty)
                .map(|_| ty.to_owned())
                .unwrap_or_else(|| panic!("the guide has no words for the type {ty}")),
        }
    }
}

fn fields_of(declared: &Declaration) -> Vec<Member> {
    let fields =
        declared.members.iter().filter(|member| !member.attributes.contains("serde(skip)"));
    fields
        .map(|field| Member {
            name: field.name.clone(),
            docs: field.docs.clone(),
            attributes: field.attributes.clone(),
            ty: field.ty.clone(),
            fields: Vec::new(),
        })
        .collect()
}

/// The types inside of options, lists and tables.
fn named(ty: &str) -> Vec<String> {
    ty.split(['<', ',', '>']).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The key that discriminates the variants of an enum, if they are tables.
fn tag(attributes: &str) -> Option<&str> {
    attributes.split("tag=\"").nth(1)?.split('"').next()
}

/// Whether a key must be written: it is no option and neither it nor its table has a default.
fn is_required(field: &Member, attributes: &str) -> bool {
    let has_default = |attributes: &str| {
        attributes.split(['(', ',', ')', ';', '=']).any(|word| word == "default")
    };
    !field.ty.starts_with("Option<") && !has_default(&field.attributes) && !has_default(attributes)
}

fn key(field: &Member) -> String {
    field.name.replace('_', "-")
}

/// `TypeName` as it is written in a manifest: `type-name`.
fn kebab(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

/// A sentence that goes on after a colon.
fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_lowercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}

/// Text inside a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[test]
fn the_reference_of_the_guide_is_that_of_the_manifest_types() {
    let path = root().join("grammars/README.md");
    let guide = fs::read_to_string(&path).expect("there is a guide");
    let (before, rest) = guide.split_once(START).expect("the guide has a reference");
    let (written, after) = rest.split_once(END).expect("the reference has an end");
    let words = |words: Vec<&str>| {
        words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
    };
    let kinds = words(SymbolKind::ALL.iter().map(|kind| kind.word()).collect());
    let visibilities = words(Visibility::ALL.iter().map(|visibility| visibility.word()).collect());
    let made = format!(
        "\nSymbol kinds: {kinds}.\nVisibilities: {visibilities}.\n\
         In tables of roles a `?` marks a key that may be left out.\n\n{}\n",
        Reference::write(types())
    );
    if env::var_os("COGRAPH_WRITE_FIXTURES").is_some() {
        fs::write(&path, format!("{before}{START}{made}{END}{after}"))
            .expect("the guide is writable");
        panic!("the reference was written anew, and nothing was compared");
    }
    for (found, expected) in written.lines().zip(made.lines()) {
        assert_eq!(
            found, expected,
            "grammars/README.md differs from the doc comments: run with COGRAPH_WRITE_FIXTURES=1"
        );
    }
    assert_eq!(written.lines().count(), made.lines().count());
}

#[test]
fn every_key_of_a_manifest_type_is_documented() {
    for declared in
        types().values().filter(|declared| declared.attributes.contains("deny_unknown_fields"))
    {
        let tagged = tag(&declared.attributes).is_some();
        for member in &declared.members {
            // What a selector of a rule names is in the name of its key.
            assert!(
                !member.docs.is_empty(),
                "{}::{} has no documentation",
                declared.name,
                member.name
            );
        }
        assert!(tagged || !declared.members.is_empty(), "{} was not read", declared.name);
    }
}

/// The sections of a manifest that have no comment right above them. Tables below a section belong
/// to it.
fn uncommented(manifest: &str) -> Vec<&str> {
    let lines: Vec<&str> = manifest.lines().collect();
    let is_section = |line: &str| line.starts_with('[') && !line.contains('.');
    let above = |at: usize| at.checked_sub(1).map_or("", |above| lines[above]);
    (0..lines.len())
        .filter(|&at| is_section(lines[at]) && !above(at).starts_with('#'))
        .map(|at| lines[at])
        .collect()
}

#[test]
fn every_section_of_a_manifest_says_what_it_holds() {
    let mut manifests = 0;
    for folder in fs::read_dir(root().join("grammars")).expect("grammars/ is readable") {
        let path: PathBuf = folder.expect("grammars/ is readable").path().join("grammar.toml");
        let Ok(manifest) = fs::read_to_string(&path) else { continue };
        let name = Path::new(&path).display();
        assert!(manifest.starts_with('#'), "{name} begins with a comment about the language");
        assert_eq!(
            uncommented(&manifest),
            Vec::<&str>::new(),
            "{name}: sections without a comment above them"
        );
        manifests += 1;
    }
    assert!(manifests > 2, "the manifests were found");
}

/// The settings of the manifests with the languages that write them: keys of sections, without
/// rules; the keys of the tables of `flow` count for all of them together.
fn settings() -> BTreeMap<String, BTreeSet<String>> {
    let mut users = BTreeMap::<_, BTreeSet<_>>::new();
    for folder in fs::read_dir(root().join("grammars")).expect("grammars/ is readable") {
        let folder = folder.expect("grammars/ is readable").path();
        let Ok(text) = fs::read_to_string(folder.join("grammar.toml")) else { continue };
        let manifest: toml::Table = text.parse().expect("manifests are TOML");
        let language = folder.file_name().expect("folders have names").display().to_string();
        for (section, value) in &manifest {
            let keys: Vec<&String> = match (section.as_str(), value.as_table()) {
                ("nodes" | "patterns" | "types" | "without", _) => continue,
                ("flow", Some(tables)) => tables
                    .values()
                    .filter_map(toml::Value::as_table)
                    .flat_map(|t| t.keys())
                    .collect(),
                (_, Some(table)) => table.keys().collect(),
                (_, None) => Vec::new(),
            };
            if keys.is_empty() {
                users.entry(section.clone()).or_default().insert(language.clone());
            }
            for key in keys {
                users.entry(format!("{section}.{key}")).or_default().insert(language.clone());
            }
        }
    }
    users
}

#[test]
fn settings_of_one_language_are_few_and_have_reasons() {
    let text =
        fs::read_to_string(root().join("grammars/single-use.toml")).expect("there is a list");
    let listed: toml::Table = text.parse().expect("the list is TOML");
    let single: BTreeSet<String> = settings()
        .into_iter()
        .filter(|(_, users)| users.len() == 1)
        .map(|(setting, _)| setting)
        .collect();
    let reasons: BTreeSet<String> = listed.keys().cloned().collect();
    assert_eq!(
        reasons,
        single,
        "grammars/single-use.toml lists the settings of one manifest: add a new one with its \
         reason, remove one that a second manifest uses: {:?}",
        reasons.symmetric_difference(&single)
    );
    for (setting, reason) in &listed {
        assert!(
            reason.as_str().is_some_and(|reason| reason.contains(": ")),
            "{setting}: no reason"
        );
    }
    assert!(
        (20..40).contains(&single.len()),
        "{} settings have one user, fewer than 40 may: use a key that there is",
        single.len()
    );
}

#[test]
fn every_grammar_is_in_one_group_of_languages() {
    let text =
        fs::read_to_string(root().join("grammars/Cargo.toml")).expect("the package has a manifest");
    let package: toml::Table = text.parse().expect("it is TOML");
    let features = package["features"].as_table().expect("it has features");
    let members = |feature: &str| -> Vec<&str> {
        let members = features[feature].as_array().expect("a feature is a list");
        members.iter().filter_map(toml::Value::as_str).collect()
    };
    let groups = members("languages");
    let mut linked: Vec<&str> = groups.iter().flat_map(|group| members(group)).collect();
    linked.sort_unstable();
    let optional = package["dependencies"].as_table().expect("it has dependencies");
    let optional = optional.iter().filter(|(_, crate_)| crate_.get("optional").is_some());
    let optional: Vec<String> = optional.map(|(name, _)| format!("dep:{name}")).collect();
    assert!(optional.len() > 50, "the grammars are optional: {optional:?}");
    assert_eq!(
        linked, optional,
        "grammars/Cargo.toml: each grammar is optional and in one group, each group in `languages`"
    );
}

#[test]
fn a_planted_section_without_a_comment_is_seen() {
    assert_eq!(
        uncommented("# Files.\n[detect]\nx = 1\n[modules]\n\n# Names.\n\n[names]\n[flow.list]"),
        ["[modules]", "[names]"]
    );
}

#[test]
fn planted_declarations_are_read() {
    let source = "use a::B;\n/// A table.\n/// Of two lines.\n#[derive(Debug, Deserialize)]\n\
                  #[serde(default)]\npub struct Table {\n    /// One.\n    \
                  #[serde(skip)]\n    pub(crate) r#static: Option<Vec<String>>,\n    \
                  pub two: BTreeMap<String, bool>,\n}\n\
                  fn f() {}\nenum Word { /// First.\n A {}, B { name: Selector }, C }\n\
                  #[cfg(test)]\nstruct Hidden { a: u8 }";
    let found = declarations(source);
    assert_eq!(found.iter().map(|declared| &*declared.name).collect::<Vec<_>>(), ["Table", "Word"]);
    let [table, word] = &found[..] else { panic!("two were declared") };
    assert_eq!(
        (&*table.docs, table.is_enum, word.is_enum),
        ("A table. Of two lines.", false, true)
    );
    assert!(table.attributes.contains("serde(default)"));
    let members = |declared: &Declaration| -> Vec<(String, String, usize)> {
        declared
            .members
            .iter()
            .map(|member| (member.name.clone(), member.ty.clone(), member.fields.len()))
            .collect()
    };
    let member = |name: &str, ty: &str, fields| (name.to_owned(), ty.to_owned(), fields);
    assert_eq!(
        members(table),
        [member("static", "Option<Vec<String>>", 0), member("two", "BTreeMap<String,bool>", 0)]
    );
    assert_eq!(members(word), [member("A", "", 0), member("B", "", 1), member("C", "", 0)]);
    assert_eq!((&*table.members[0].docs, &*word.members[0].docs), ("One.", "First."));
}
