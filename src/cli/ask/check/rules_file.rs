//! `.cograph/rules.toml`: what `cograph check` holds a repository to.

use std::path::Path;

use crate::output::stop::Stop;
use cograph_config::FileRules;
use cograph_query::overview::rules::{ArchitectureRule, RuleContent, RuleException};
use cograph_query::overview::thresholds::Measure;
use cograph_query::references::unused::Class;
use cograph_server as server;
use toml::{Table, Value};

/// Where the rules are, below the root.
pub(super) const RULES: &str = ".cograph/rules.toml";

/// Maximum size of a file of rules or of a baseline, in bytes.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// What is checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Checked {
    /// Classes of unused code.
    pub(super) unused: Vec<Class>,
    /// Cycles of imports.
    pub(super) cycles: bool,
    pub(super) rules: Vec<ArchitectureRule>,
    pub(super) exceptions: Vec<RuleException>,
    pub(super) thresholds: Vec<(Measure, u32)>,
}

impl Checked {
    /// Reads the file; without one, unused code and cycles are checked.
    pub(super) fn read(path: &Path, is_named: bool) -> Result<Self, Stop> {
        let at = |problem: String| {
            Stop::Usage(server::one_line(&format!("{}: {problem}", path.display())))
        };
        let text = FileRules::settings(MOST_BYTES).read(path).map_err(|it| at(it.to_string()))?;
        match text {
            Some(text) => Self::parse(&text).map_err(at),
            None if is_named => Err(at("there is no such file".to_owned())),
            None => Self::parse("").map_err(at),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let root = Section { text, path: String::new(), table: &table };
        root.knows(&["check", "limits", "layers", "forbidden", "independent", "exceptions"])?;
        let mut checked = Self {
            unused: vec![Class::Unused],
            cycles: true,
            rules: Vec::new(),
            exceptions: Vec::new(),
            thresholds: Vec::new(),
        };
        if let Some(check) = root.section("check")? {
            check.knows(&["unused", "cycles"])?;
            if let Some(classes) = check.texts("unused")? {
                checked.unused =
                    classes.iter().map(|word| class(&check, word)).collect::<Result<_, _>>()?;
            }
            if let Some(cycles) = check.table.get("cycles") {
                checked.cycles =
                    cycles.as_bool().ok_or_else(|| check.wrong("cycles", "true or false"))?;
            }
        }
        if let Some(limits) = root.section("limits")? {
            limits.knows(&Measure::ALL.map(Measure::word))?;
            for measure in Measure::ALL {
                let Some(limit) = limits.table.get(measure.word()) else { continue };
                let limit = limit.as_integer().and_then(|limit| u32::try_from(limit).ok());
                let limit = limit.filter(|limit| *limit > 0);
                let limit =
                    limit.ok_or_else(|| limits.wrong(measure.word(), "a number above 0"))?;
                checked.thresholds.push((measure, limit));
            }
        }
        for section in root.sections("layers")? {
            section.knows(&["name", "layers"])?;
            checked.add(&section, RuleContent::Layers(section.layers()?))?;
        }
        for section in root.sections("forbidden")? {
            section.knows(&["name", "from", "to", "reason"])?;
            section.text("reason")?;
            let (from, to) = (section.some_texts("from")?, section.some_texts("to")?);
            checked.add(&section, RuleContent::Forbidden(from, to))?;
        }
        for section in root.sections("independent")? {
            section.knows(&["name", "modules"])?;
            checked.add(&section, RuleContent::Independent(section.some_texts("modules")?))?;
        }
        for section in root.sections("exceptions")? {
            section.knows(&["rule", "from", "to", "reason"])?;
            section.text("reason")?;
            let rule = section.text("rule")?;
            if checked.rules.iter().all(|known| known.name != rule) {
                return Err(format!("{}: there is no rule `{rule}`", section.at("rule")));
            }
            let (from, to) = (section.text("from")?, section.text("to")?);
            checked.exceptions.push(RuleException { rule, from, to });
        }
        Ok(checked)
    }

    fn add(&mut self, section: &Section<'_>, content: RuleContent) -> Result<(), String> {
        let name = section.text("name")?;
        if self.rules.iter().any(|known| known.name == name) {
            return Err(format!("{}: there are two rules `{name}`", section.at("name")));
        }
        self.rules.push(ArchitectureRule { name, content });
        Ok(())
    }
}

fn class(section: &Section<'_>, word: &str) -> Result<Class, String> {
    let known = [Class::Unused, Class::UnusedHere, Class::OnlyTests];
    known.into_iter().find(|class| class.word() == word).ok_or_else(|| {
        let words = known.map(Class::word).join(", ");
        format!("{}: `{word}` is none of {words}", section.at("unused"))
    })
}

/// Table of the file, with its path in it.
struct Section<'t> {
    text: &'t str,
    path: String,
    table: &'t Table,
}

impl<'t> Section<'t> {
    /// Line and path of a key. The line is that of the first key of this name.
    fn at(&self, key: &str) -> String {
        let is_key = |line: &str| {
            let rest = line.trim_start().trim_start_matches(['[', '"', '\'']).strip_prefix(key);
            rest.is_some_and(|rest| rest.trim_start().starts_with(['=', ']', '"', '\'', '.']))
        };
        let line = self.text.lines().position(is_key);
        let path = if self.path.is_empty() { String::new() } else { format!("{}.", self.path) };
        match line {
            Some(line) => format!("line {}: {path}{key}", line + 1),
            None => format!("{path}{key}"),
        }
    }

    fn wrong(&self, key: &str, wanted: &str) -> String {
        format!("{} must be {wanted}", self.at(key))
    }

    /// Fails for a key of another name.
    fn knows(&self, keys: &[&str]) -> Result<(), String> {
        match self.table.keys().find(|key| !keys.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                Err(format!("{}: unknown key; known are {}", self.at(key), keys.join(", ")))
            }
        }
    }

    fn section(&self, key: &str) -> Result<Option<Section<'t>>, String> {
        match self.table.get(key) {
            None => Ok(None),
            Some(Value::Table(table)) => {
                Ok(Some(Section { text: self.text, path: key.to_owned(), table }))
            }
            Some(_) => Err(self.wrong(key, &format!("a table: [{key}]"))),
        }
    }

    fn sections(&self, key: &str) -> Result<Vec<Section<'t>>, String> {
        let wrong = || self.wrong(key, &format!("a list of tables: [[{key}]]"));
        let Some(value) = self.table.get(key) else { return Ok(Vec::new()) };
        let one = |(place, value): (usize, &'t Value)| {
            let table = value.as_table().ok_or_else(wrong)?;
            Ok(Section { text: self.text, path: format!("{key}[{place}]"), table })
        };
        value.as_array().ok_or_else(wrong)?.iter().enumerate().map(one).collect()
    }

    fn text(&self, key: &str) -> Result<String, String> {
        let text = self.table.get(key).and_then(Value::as_str).map(str::trim);
        let text = text.filter(|text| !text.is_empty());
        text.map(str::to_owned).ok_or_else(|| match self.table.contains_key(key) {
            true => self.wrong(key, "a text"),
            false => format!("{}: `{key}` is missing", self.path),
        })
    }

    fn texts(&self, key: &str) -> Result<Option<Vec<String>>, String> {
        self.table
            .get(key)
            .map(|value| texts(value).ok_or_else(|| self.wrong(key, "a list of texts")))
            .transpose()
    }

    fn some_texts(&self, key: &str) -> Result<Vec<String>, String> {
        let found = self.texts(key)?.unwrap_or_default();
        match found.is_empty() {
            true => {
                Err(format!("{}: `{key}` must be a list of patterns, with one at least", self.path))
            }
            false => Ok(found),
        }
    }

    fn layers(&self) -> Result<Vec<Vec<String>>, String> {
        let wrong = || {
            self.wrong(
                "layers",
                "a list of layers from the top, each a pattern or a list of patterns",
            )
        };
        let layers = self.table.get("layers").and_then(Value::as_array).ok_or_else(wrong)?;
        let layer = |value: &Value| match value {
            Value::String(pattern) => Ok(vec![pattern.clone()]),
            other => texts(other).filter(|texts| !texts.is_empty()).ok_or_else(wrong),
        };
        let layers: Vec<Vec<String>> = layers.iter().map(layer).collect::<Result<_, _>>()?;
        if layers.is_empty() { Err(wrong()) } else { Ok(layers) }
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_rules_is_read() {
        let checked = Checked::parse(
            "[check]\nunused = [\"unused\", \"only-tests-use-it\"]\ncycles = false\n\
             [limits]\ncognitive = 20\nfile-lines = 500\n\
             [[layers]]\nname = \"a\"\nlayers = [\"top\", [\"left\", \"right\"]]\n\
             [[forbidden]]\nname = \"b\"\nfrom = [\"x\"]\nto = [\"y\"]\nreason = \"why\"\n\
             [[independent]]\nname = \"c\"\nmodules = [\"m\", \"n\"]\n\
             [[exceptions]]\nrule = \"b\"\nfrom = \"x/1\"\nto = \"y/1\"\nreason = \"old\"\n",
        )
        .expect("it is right");
        assert_eq!(checked.unused, [Class::Unused, Class::OnlyTests]);
        assert!(!checked.cycles);
        assert_eq!(checked.thresholds, [(Measure::Cognitive, 20), (Measure::FileLines, 500)]);
        let names: Vec<&str> = checked.rules.iter().map(|rule| rule.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(checked.exceptions.len(), 1);
        let empty = Checked::parse("").expect("nothing is required");
        assert_eq!((empty.unused, empty.cycles), (vec![Class::Unused], true));
    }

    #[test]
    fn errors_name_their_place() {
        for (text, expected) in [
            ("[chek]\n", "line 1: chek: unknown key; known are check, limits, layers"),
            ("[limits]\n\nnestin = 3", "line 3: limits.nestin: unknown key"),
            ("[limits]\nnesting = 0", "line 2: limits.nesting must be a number above 0"),
            ("[check]\nunused = [\"all\"]", "line 2: check.unused: `all` is none of unused"),
            ("[check]\ncycles = 1", "line 2: check.cycles must be true or false"),
            ("layers = 1", "line 1: layers must be a list of tables: [[layers]]"),
            ("[[layers]]\nname = \"a\"\nlayers = []", "layers[0].layers must be a list of layers"),
            ("[[layers]]\nlayers = [\"a\"]", "layers[0]: `name` is missing"),
            ("[[forbidden]]\nname = \"a\"\nfrom = [\"x\"]\nto = [\"y\"]", "`reason` is missing"),
            ("[[forbidden]]\nname = \"a\"\nreason = \"r\"\nto = [\"y\"]", "`from` must be a list"),
            (
                "[[independent]]\nname = \"a\"\nmodules = [\"m\"]\n\
                 [[exceptions]]\nrule = \"b\"\nreason = \"r\"\nfrom = \"x\"\nto = \"y\"",
                "exceptions[0].rule: there is no rule `b`",
            ),
            (
                "[[independent]]\nname = \"a\"\nmodules = [\"m\"]\n\
                 [[independent]]\nname = \"a\"\nmodules = [\"m\"]",
                "there are two rules `a`",
            ),
            ("a = ", "TOML parse error at line 1"),
        ] {
            let error = Checked::parse(text).expect_err(text);
            assert!(error.contains(expected), "{text}\n{error}\n{expected}");
        }
    }
}
