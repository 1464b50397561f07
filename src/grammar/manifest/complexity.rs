//! What makes code complex, by node kind: decisions, what they cost a reader, and what nests.

use serde::Deserialize;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use tree_sitter::Language;

/// Rules of complexity. A language without any has no measured bodies.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct ComplexityRules {
    /// Tokens of operators whose second operand may be left out. Each is a decision; a sequence of
    /// the same costs a reader 1.
    pub operators: Vec<String>,
    /// Nodes in which these tokens are operators.
    pub operations: Vec<String>,
    /// Nodes around an expression that do not end a sequence of operators.
    pub groups: Vec<String>,
    /// Functions without a name: their contents are one level deeper.
    pub lambdas: Vec<String>,
    /// Rules by node kind, or by the kinds of its ancestors and its own (`outer/inner`), of which
    /// the longest fit decides. A kind that is only a token is that token.
    pub nodes: BTreeMap<String, ComplexNode>,
}

/// Rule of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct ComplexNode {
    /// Paths that it adds; -1 for one that another rule counts and that is none.
    pub paths: i64,
    /// What it costs a reader.
    pub cost: Cost,
    /// Children that are one level deeper: fields, `<kind>`, or `*` for all.
    pub nests: Vec<String>,
    /// It is on the level of its parent, whatever that nests.
    pub level: bool,
    /// Its contents add no paths.
    pub whole: bool,
}

/// What a node costs a reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    /// Nothing.
    #[default]
    None,
    /// 1.
    Flat,
    /// 1, and 1 for each level around it.
    Nested,
}

/// Rule with the ids of a grammar.
#[derive(Clone, Debug)]
pub struct Weight {
    /// Kinds of the ancestors, the parent first.
    around: SmallVec<[u16; 2]>,
    /// Paths that it adds.
    pub paths: i64,
    /// What it costs a reader.
    pub cost: Cost,
    /// It is on the level of its parent.
    pub level: bool,
    /// Its contents add no paths.
    pub whole: bool,
    all: bool,
    fields: SmallVec<[u16; 2]>,
    kinds: SmallVec<[u16; 2]>,
}

impl Weight {
    /// True if it nests any child.
    pub fn is_structure(&self) -> bool {
        self.all || !self.fields.is_empty() || !self.kinds.is_empty()
    }

    /// True if it nests the child in this field, of this kind.
    pub fn nests(&self, field: impl FnOnce() -> Option<u16>, kind: u16) -> bool {
        self.all
            || self.kinds.contains(&kind)
            || !self.fields.is_empty() && field().is_some_and(|field| self.fields.contains(&field))
    }
}

/// Meaning of a kind besides its weights.
const OPERATOR: u8 = 1;
const GROUP: u8 = 1 << 1;
const LAMBDA: u8 = 1 << 2;
const OPERATION: u8 = 1 << 3;
const WEIGHED: u8 = 1 << 4;

/// Rules with the ids of a grammar.
#[derive(Debug, Default)]
pub struct ComplexityTable {
    /// By kind: weights, those with most ancestors first.
    weights: Vec<Vec<Weight>>,
    sorts: Vec<u8>,
}

impl ComplexityTable {
    /// Reads the rules; the errors name what the grammar does not have.
    pub(crate) fn of(rules: &ComplexityRules, grammar: &Language) -> Result<Self, Vec<String>> {
        if rules.nodes.is_empty() && rules.operators.is_empty() {
            return Ok(Self::default());
        }
        let count = grammar.node_kind_count();
        let (mut errors, mut unknown) = (Vec::new(), Vec::new());
        let mut table = Self { weights: Vec::new(), sorts: vec![0; count] };
        table.weights.resize_with(count, Vec::new);
        let mut ids = |kind: &str, only_tokens: bool| -> Vec<u16> {
            let found = kind_ids(grammar, kind, only_tokens);
            if found.is_empty() {
                errors.push(format!("complexity: the grammar has no such node kind: `{kind}`"));
            }
            found
        };
        let sorts = [
            (&rules.operators, OPERATOR, true),
            (&rules.operations, OPERATION, false),
            (&rules.groups, GROUP, false),
            (&rules.lambdas, LAMBDA, false),
        ];
        for (kinds, sort, only_tokens) in sorts {
            for id in kinds.iter().flat_map(|kind| ids(kind, only_tokens)) {
                table.sorts[usize::from(id)] |= sort;
            }
        }
        for (path, rule) in &rules.nodes {
            let mut weight = Weight {
                around: SmallVec::new(),
                paths: rule.paths,
                cost: rule.cost,
                level: rule.level,
                whole: rule.whole,
                all: rule.nests.iter().any(|child| child == "*"),
                fields: SmallVec::new(),
                kinds: SmallVec::new(),
            };
            let mut steps = path.rsplit('/');
            let own = ids(steps.next().unwrap_or_default(), false);
            weight.around = steps.filter_map(|kind| ids(kind, false).first().copied()).collect();
            for child in rule.nests.iter().filter(|child| *child != "*") {
                match child.strip_prefix('<').and_then(|child| child.strip_suffix('>')) {
                    Some(kind) => weight.kinds.extend(ids(kind, false)),
                    None => match grammar.field_id_for_name(child) {
                        Some(field) => weight.fields.push(field.get()),
                        None => unknown.push(child),
                    },
                }
            }
            for id in own {
                table.weights[usize::from(id)].push(weight.clone());
            }
        }
        for (sorts, weights) in table.sorts.iter_mut().zip(&mut table.weights) {
            *sorts |= if weights.is_empty() { 0 } else { WEIGHED };
            weights.sort_by_key(|weight| std::cmp::Reverse(weight.around.len()));
        }
        errors.extend(
            unknown
                .iter()
                .map(|field| format!("complexity: the grammar has no such field: `{field}`")),
        );
        if errors.is_empty() { Ok(table) } else { Err(errors) }
    }

    /// True if bodies are measured.
    pub fn is_known(&self) -> bool {
        !self.sorts.is_empty()
    }

    /// Weight of a kind; `around` gives the kinds of its ancestors, the parent first.
    pub fn weight(&self, kind: u16, around: impl Iterator<Item = u16> + Clone) -> Option<&Weight> {
        let fits = |weight: &&Weight| {
            let mut around = around.clone();
            weight.around.iter().all(|kind| around.next() == Some(*kind))
        };
        self.weights.get(usize::from(kind))?.iter().find(fits)
    }

    /// True if a node of this kind without children means nothing.
    pub fn is_plain(&self, kind: u16) -> bool {
        self.sorts.get(usize::from(kind)).is_none_or(|sorts| *sorts == 0)
    }

    fn is(&self, kind: u16, sort: u8) -> bool {
        self.sorts.get(usize::from(kind)).is_some_and(|sorts| sorts & sort != 0)
    }

    /// True for the token of an operator whose second operand may be left out, in this node.
    pub fn is_operator(&self, kind: u16, operation: u16) -> bool {
        self.is(kind, OPERATOR) && self.is(operation, OPERATION)
    }

    /// True for a node around an expression.
    pub fn is_group(&self, kind: u16) -> bool {
        self.is(kind, GROUP)
    }

    /// True for a function without a name.
    pub fn is_lambda(&self, kind: u16) -> bool {
        self.is(kind, LAMBDA)
    }
}

/// Ids of a kind: of nodes, or else of tokens.
fn kind_ids(grammar: &Language, kind: &str, only_tokens: bool) -> Vec<u16> {
    let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
    let all = (0..count).filter(|&id| {
        grammar.node_kind_is_visible(id) && grammar.node_kind_for_id(id) == Some(kind)
    });
    let (nodes, tokens): (Vec<u16>, Vec<u16>) = all.partition(|&id| grammar.node_kind_is_named(id));
    if only_tokens || nodes.is_empty() { tokens } else { nodes }
}
