//! Conditional compilation: conditions of regions, of decorated definitions, of whole files.
//! Records the conditions; does not evaluate them.

use crate::facts::builder::Builder;
use crate::walk::input::Input;
use crate::walk::position::offset;
use crate::walk::{Walk, children, rule_choice, texts};
use cograph_grammar::{Conditions, DecoratorMeaning, EndingOf, Rule};
use cograph_model::facts::{Condition, ExprId, FileFacts, NameId};
use std::ops::Range;
use tree_sitter::Node;

pub(crate) fn conditional<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Conditional { name, guard, condition, alternative, negated } = rule else {
        return ExprId::NONE;
    };
    let first = |selector: &'static Option<cograph_grammar::Selector>| {
        selector.as_ref().and_then(|it| it.first(node))
    };
    let (name, guard, other) = (first(name), first(guard), first(alternative));
    if let (Some(name), Some(guard)) = (name, guard)
        && texts::text_of(&walk.input, name) == texts::text_of(&walk.input, guard)
    {
        let parts = children::named_children(&walk.input, node);
        // Nothing else refers to the mark of an included file, which is no symbol.
        let mut is_mark = true;
        for child in children::children(&walk.input, node) {
            let is_guard =
                child.start_byte() <= guard.start_byte() && guard.end_byte() <= child.end_byte();
            let is_seen = !is_guard || is_default(&walk.input, child, guard, parts.len() <= 2);
            is_mark &= !is_guard || !is_seen;
            if is_seen && child.id() != name.id() {
                walk.visit_child(child);
            }
        }
        if !is_mark {
            walk.visit_child(name);
        }
        return ExprId::NONE;
    }
    if let Some(tested) = name.or(first(condition)) {
        let turned =
            node.child(0).is_some_and(|word| negated.iter().any(|negated| negated == word.kind()));
        let end = other.map_or(node.end_byte(), |other| other.start_byte());
        self::condition(
            &walk.input,
            &mut walk.facts,
            texts::text_of(&walk.input, tested),
            !turned,
            node.start_byte()..end,
        );
        if let Some(other) = other {
            self::condition(
                &walk.input,
                &mut walk.facts,
                texts::text_of(&walk.input, tested),
                turned,
                other.start_byte()..node.end_byte(),
            );
        }
    }
    let outer = std::mem::replace(&mut walk.context.around.conditional, true);
    let value = walk.visit_children(node);
    walk.context.around.conditional = outer;
    value
}

/// Records the conditions of branches of which one has a definition, in languages in which these
/// are statements: the branches may define one name.
pub(crate) fn branches<'t>(
    walk: &mut Walk<'t>,
    tested: Option<Node<'t>>,
    then: Option<Node<'t>>,
    others: &[Node<'t>],
) {
    if !walk.input.language.manifest.resolution.conditional_definitions {
        return;
    }
    let defines = |branch: &Node<'t>| has_definition(&walk.input, *branch);
    let any = then.iter().chain(others).any(defines);
    let Some(tested) = tested.filter(|_| any) else { return };
    let text = texts::text_of(&walk.input, tested);
    let held = then.into_iter().map(|then| (then, true));
    for (branch, holds) in held.chain(others.iter().map(|other| (*other, false))) {
        condition(&walk.input, &mut walk.facts, text, holds, branch.byte_range());
    }
}

/// True if a definition stands directly in a branch, or in the body that is its last part.
fn has_definition<'t>(input: &Input<'t>, branch: Node<'t>) -> bool {
    let is_definition = |node: &Node<'t>| {
        let rule = rule_choice::rule_at(input, *node);
        matches!(rule, Some(Rule::Function { .. } | Rule::Decorated { .. } | Rule::Type { .. }))
    };
    let direct = children::named_children(input, branch);
    let body = direct.last().map(|body| children::named_children(input, *body));
    is_definition(&branch) || direct.iter().chain(body.iter().flatten()).any(is_definition)
}

/// True if the definition of a guard gives it a value, which is then a default that users may
/// replace. A number may be the mark of an included file, unless it is `alone` in its region.
fn is_default<'t>(input: &Input<'t>, node: Node<'t>, guard: Node<'t>, alone: bool) -> bool {
    let text = texts::text_of(input, node);
    let value = text.get(guard.end_byte() - node.start_byte()..).unwrap_or_default();
    let value = value.trim_matches(|c: char| c.is_whitespace() || c == ';');
    let is_number = value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && value.starts_with(|c: char| c.is_ascii_digit());
    !value.is_empty() && (alone || !is_number)
}

/// Records the conditions that decorators set for the next node.
pub(crate) fn decorated_conditions<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let modifiers = &walk.input.language.manifest.modifiers;
    if !modifiers.has_decorator(DecoratorMeaning::Conditional) {
        return;
    }
    for decorator in walk.context.pending.decorators.clone() {
        let text = texts::text_of(&walk.input, decorator.node);
        let is_condition = modifiers.is_decorator(&decorator.name, DecoratorMeaning::Conditional);
        if let (true, Some(open), Some(close)) = (is_condition, text.find('('), text.rfind(')'))
            && open < close
        {
            condition(
                &walk.input,
                &mut walk.facts,
                &text[open + 1..close],
                true,
                node.byte_range(),
            );
        }
    }
}

/// Records the condition of a region.
fn condition(
    input: &Input<'_>,
    facts: &mut Builder,
    text: &str,
    holds: bool,
    region: Range<usize>,
) {
    for (text, holds) in parts(&input.language.manifest.conditions, text, holds) {
        let tested = facts.name(&text);
        facts.facts.conditions.push(Condition {
            start: offset(region.start),
            end: offset(region.end),
            tested,
            holds,
        });
    }
}

/// Records the conditions of a whole file: by its name, or by a line in it.
pub(crate) fn of_file(facts: &mut FileFacts, rules: &Conditions, path: &str, source: &[u8]) {
    let mut found = Vec::new();
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let endings = stem
        .split('_')
        .skip(1)
        .filter(|part| rules.endings_of(EndingOf::File).iter().any(|ending| ending == part));
    found.extend(endings.map(|ending| (ending.to_owned(), true)));
    let folders = path.split('/').rev().skip(1);
    let of_folder = |folder: &str| {
        let mut endings = rules.endings_of(EndingOf::Folder).iter();
        endings.find_map(|ending| folder.strip_suffix(ending.as_str())).map(str::to_owned)
    };
    found.extend(folders.filter_map(of_folder).next().map(|condition| (condition, true)));
    if let Some(start) = &rules.line {
        let head = String::from_utf8_lossy(source);
        let header = head
            .lines()
            .take_while(|line| line.is_empty() || line.starts_with(&start[..start.len().min(2)]));
        for line in header.filter_map(|line| line.strip_prefix(start.as_str())) {
            found.extend(parts(rules, line, true));
        }
    }
    let end = offset(source.len());
    for (text, holds) in found {
        let tested = match facts.names.iter().position(|name| **name == *text) {
            Some(position) => NameId::at(position),
            None => {
                facts.names.push(text.into());
                NameId::at(facts.names.len() - 1)
            }
        };
        facts.conditions.push(Condition { start: 0, end, tested, holds });
    }
    facts.conditions.sort_by_key(|condition| (condition.start, condition.end));
}

/// Splits a condition into its conjuncts, each with whether it must hold.
fn parts(rules: &Conditions, text: &str, holds: bool) -> Vec<(String, bool)> {
    let and = rules.and.as_deref().filter(|and| holds && text.contains(and) && !text.contains('('));
    let parts: Vec<&str> = match and {
        Some(and) => text.split(and).collect(),
        None => vec![text],
    };
    parts.into_iter().map(|part| plain(rules, part, holds)).collect()
}

/// Normalizes a condition: strips white space, parentheses, tests and negations.
fn plain(rules: &Conditions, text: &str, mut holds: bool) -> (String, bool) {
    // Far beyond real code; each iteration reads the whole text inside.
    const MAX_WORDS: usize = 100;
    let mut text = text.trim();
    for _ in 0..MAX_WORDS {
        let inner = |rest: &str| {
            let rest = rest.trim();
            let is_word = !rest.is_empty() && rest.chars().all(|c| c.is_alphanumeric() || c == '_');
            is_word
                || is_wrapped(rest)
                || rules.tests.iter().any(|test| rest.starts_with(test.as_str()))
        };
        let negated = rules
            .negations
            .iter()
            .find_map(|word| text.strip_prefix(word.as_str()))
            .filter(|rest| inner(rest));
        let tested =
            rules.tests.iter().find_map(|word| text.strip_prefix(word.as_str())).filter(|rest| {
                let separated = rest.starts_with(|c: char| c == '(' || c.is_whitespace());
                separated
                    && (is_wrapped(rest.trim())
                        || !rest.trim().contains(|c: char| !c.is_alphanumeric() && c != '_'))
            });
        text = match (negated, tested) {
            (Some(rest), _) => {
                holds = !holds;
                rest.trim()
            }
            (None, Some(rest)) => rest.trim(),
            (None, None) if is_wrapped(text) => text[1..text.len() - 1].trim(),
            (None, None) => break,
        };
    }
    (text.split_whitespace().collect(), holds)
}

/// True if the first parenthesis is closed by the last character.
fn is_wrapped(text: &str) -> bool {
    let mut depth = 0usize;
    text.starts_with('(')
        && text.ends_with(')')
        && text.char_indices().all(|(at, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth > 0 || at + 1 == text.len()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_compared_without_the_words_around_them() {
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
        let rules = Conditions {
            negations: words(&["!", "not"]),
            tests: words(&["defined"]),
            and: Some("&&".to_owned()),
            ..Conditions::default()
        };
        let plain = |text: &str| plain(&rules, text, true);
        assert_eq!(plain("defined( _WIN32 )"), ("_WIN32".to_owned(), true));
        assert_eq!(plain("!defined _WIN32"), ("_WIN32".to_owned(), false));
        assert_eq!(plain("not(feature = \"x\")"), ("feature=\"x\"".to_owned(), false));
        assert_eq!(plain("!(A || B)"), ("A||B".to_owned(), false));
        assert_eq!(plain("(A) || (B)"), ("(A)||(B)".to_owned(), true));
        assert_eq!(plain("!A || B"), ("!A||B".to_owned(), true));
        assert_eq!(
            parts(&rules, "linux && !cgo", true),
            [("linux".to_owned(), true), ("cgo".to_owned(), false)]
        );
    }
}
