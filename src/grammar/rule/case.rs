//! Conditional rules: conditions on the text or presence of a child, on the node itself, and on its
//! parent.

use crate::rule::Rule;
use crate::selector::{Selector, kind_ids};
use serde::de::{self, Deserialize, Deserializer};
use smallvec::SmallVec;
use toml::Value;
use tree_sitter::Node;

/// Key of a condition on the node itself.
const ITSELF: &str = ".";
/// Key of a condition on the parent node.
const AROUND: &str = "^";

/// Conditions of a case, all of which must hold. In a manifest a table with a key for each
/// condition: a selector, `.` (the node itself) or `^` (its parent). The value is a list of
/// alternative texts (node kinds, for the parent), or true or false for the presence of the node.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct When(Vec<Condition>);

#[derive(Clone, PartialEq, Debug)]
enum Condition {
    There(Selector, bool),
    Text(Selector, Vec<String>),
    OwnText(Vec<String>),
    Around(SmallVec<[u16; 2]>, bool),
}

impl When {
    /// True if all conditions hold for a node; `text` returns the text of a node.
    pub fn holds<'t, 's>(&self, node: Node<'t>, text: impl Fn(Node<'t>) -> &'s str) -> bool {
        let is_one = |texts: &[String], node: Node<'t>| texts.iter().any(|one| one == text(node));
        self.0.iter().all(|condition| match condition {
            Condition::There(selector, there) => selector.first(node).is_some() == *there,
            Condition::Text(selector, texts) => {
                selector.first(node).is_some_and(|child| is_one(texts, child))
            }
            Condition::OwnText(texts) => is_one(texts, node),
            Condition::Around(kinds, there) => {
                node.parent().is_some_and(|around| kinds.contains(&around.kind_id())) == *there
            }
        })
    }

    fn read(table: toml::Table) -> Result<Self, String> {
        let mut conditions = Vec::new();
        for (key, value) in table {
            let texts = |value: &Value| -> Result<Vec<String>, String> {
                let list = value.as_array().ok_or_else(|| {
                    format!("`when.{key}` must be a list of texts, true or false")
                })?;
                let text = |text: &Value| {
                    text.as_str()
                        .map(str::to_owned)
                        .ok_or_else(|| format!("`when.{key}` must list texts"))
                };
                list.iter().map(text).collect()
            };
            conditions.push(match (key.as_str(), &value) {
                (ITSELF, _) => Condition::OwnText(texts(&value)?),
                (AROUND, _) => {
                    let mut kinds = SmallVec::new();
                    let listed = texts(&value)?;
                    let absent = listed.iter().any(|kind| kind.starts_with('!'));
                    for kind in &listed {
                        let ids = kind_ids(kind.trim_start_matches('!'));
                        if ids.is_empty() {
                            return Err(format!("`when`: the grammar has no node kind `{kind}`"));
                        }
                        kinds.extend(ids);
                    }
                    Condition::Around(kinds, !absent)
                }
                (_, Value::Boolean(there)) => Condition::There(selector(&key)?, *there),
                _ => Condition::Text(selector(&key)?, texts(&value)?),
            });
        }
        // Conditions on the parent come last: it is found by a descent from the root.
        conditions.sort_by_key(|condition| matches!(condition, Condition::Around(..)));
        Ok(Self(conditions))
    }
}

fn selector(text: &str) -> Result<Selector, String> {
    Value::from(text).try_into().map_err(|error: toml::de::Error| error.message().to_owned())
}

/// Rules of one node kind: one, or a list of which the first with a matching `when` applies.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Cases(Vec<(When, Rule)>);

impl Cases {
    pub(crate) fn into_rule(mut self) -> Rule {
        match self.0.as_slice() {
            [(when, _)] if when.0.is_empty() => self.0.remove(0).1,
            _ => Rule::Cases { cases: self.0 },
        }
    }
}

impl<'de> Deserialize<'de> for Cases {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let cases = match Value::deserialize(deserializer)? {
            Value::Array(cases) => cases,
            only => vec![only],
        };
        let mut read = Vec::new();
        for mut case in cases {
            let when = case.as_table_mut().and_then(|table| table.remove("when"));
            let when = match when {
                Some(Value::Table(table)) => When::read(table).map_err(de::Error::custom)?,
                Some(_) => return Err(de::Error::custom("`when` must be a table")),
                None => When::default(),
            };
            read.push((
                when,
                case.try_into()
                    .map_err(|error: toml::de::Error| de::Error::custom(error.message()))?,
            ));
        }
        if read.is_empty() {
            return Err(de::Error::custom("a list of cases is empty"));
        }
        Ok(Self(read))
    }
}

impl Rule {
    /// The rules that a node of the kind may have.
    pub(crate) fn cases(&self) -> impl Iterator<Item = &Rule> {
        let cases = if let Self::Cases { cases } = self { cases.as_slice() } else { &[] };
        let alone = cases.is_empty().then_some(self);
        cases.iter().map(|(_, rule)| rule).chain(alone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selector::with_grammar;

    /// Parses the cases of a node in a grammar that has the kind `{kind}`.
    fn read(text: &str) -> Result<Cases, String> {
        let grammar = crate::all()[0].grammar.clone();
        let kind = (1..)
            .find(|id| grammar.node_kind_is_named(*id))
            .and_then(|id| grammar.node_kind_for_id(id));
        let text = text.replace("{kind}", kind.expect("a grammar has named kinds"));
        let table: toml::Table = text.parse().expect("a table");
        with_grammar(&grammar, || table["case"].clone().try_into())
            .map_err(|error: toml::de::Error| error.message().to_owned())
    }

    #[test]
    fn a_rule_alone_is_no_choice() {
        let alone = read("case = { role = \"skip\" }").expect("it fits").into_rule();
        assert_eq!(alone, Rule::Skip {});
        let several =
            read("case = [{ when = { \".\" = [\"a\"] }, role = \"skip\" }, { role = \"pass\" }]")
                .expect("it fits");
        let several = several.into_rule();
        assert_eq!(several.cases().count(), 2);
        assert!(matches!(several, Rule::Cases { .. }));
    }

    #[test]
    fn conditions_on_the_parent_are_checked_last() {
        let read = read(
            "case = { when = { \"^\" = [\"{kind}\"], \".\" = [\"a\"], \"<{kind}>\" = true }, role \
             = \"skip\" }",
        );
        let Rule::Cases { cases } = read.expect("it fits").into_rule() else {
            panic!("it has conditions")
        };
        let is_around = |condition: &Condition| matches!(condition, Condition::Around(..));
        assert_eq!(cases[0].0.0.iter().position(is_around), Some(2));
    }

    #[test]
    fn conditions_that_do_not_fit_are_errors() {
        for (text, expected) in [
            ("case = []", "a list of cases is empty"),
            ("case = { when = 1, role = \"skip\" }", "`when` must be a table"),
            (
                "case = { when = { \"0\" = 1 }, role = \"skip\" }",
                "`when.0` must be a list of texts, true or false",
            ),
            ("case = { when = { \"0\" = [1] }, role = \"skip\" }", "`when.0` must list texts"),
            (
                "case = { when = { no_field_is_called_so = true }, role = \"skip\" }",
                "the grammar has no field",
            ),
            (
                "case = { when = { \"^\" = [\"no_such\"] }, role = \"skip\" }",
                "`when`: the grammar has no node kind `no_such`",
            ),
        ] {
            let error = read(text).err().unwrap_or_default();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
