//! Macro invocations: approximates the expressions in their tokens by names, member operators and
//! bracketed lists.

pub(super) mod bodies;
pub(super) mod items;

use super::walk::{READ, Usage, Walk};
use crate::walk::input::Input;
use crate::walk::{children, names, rule_choice, texts};
use crate::{macros, types};
use cograph_grammar::{Body, Rule, Selector, TokenWords};
use cograph_model::SiteKind;
use cograph_model::facts::{Expr, ExprId, NameId, Site};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use tree_sitter::Node;

/// State of the current expression.
struct Reading<'t> {
    value: ExprId,
    /// The last token was a member operator: a following name is a member of the value.
    joined: bool,
    /// Preceding name, which a list of arguments makes a callee.
    callee: Option<(Node<'t>, NameId)>,
}

impl Reading<'_> {
    const NOTHING: Self = Reading { value: ExprId::NONE, joined: false, callee: None };
}

/// Tokens of one list, and the token words of the language.
struct Tokens<'t> {
    items: SmallVec<[Node<'t>; 8]>,
    list_kind: u16,
    words: &'static TokenWords,
    suffix: &'static str,
    /// Type before the list, which its labels are fields of.
    of: ExprId,
}

impl<'t> Tokens<'t> {
    fn word(&self, position: usize) -> &'t str {
        self.items.get(position).filter(|token| !token.is_named()).map_or("", |token| token.kind())
    }

    fn is_list(&self, position: usize) -> bool {
        self.items.get(position).is_some_and(|token| token.kind_id() == self.list_kind)
    }

    /// True if the name at `position` is the key of a list of fields.
    fn is_key(&self, position: usize) -> bool {
        self.of.is_some() && self.begins_item(position)
    }

    /// True if the token at `position` is the first one of an item of the list.
    fn begins_item(&self, position: usize) -> bool {
        position == 1 || position > 1 && self.word(position - 1) == self.words.separator
    }

    fn joins(&self, position: usize) -> bool {
        self.words.joiners.iter().any(|joiner| joiner == self.word(position))
    }

    /// Returns the position behind type arguments (`::<A, B>`) that start at `position`, if any.
    fn after_types(&self, position: usize) -> Option<usize> {
        if !self.joins(position) || self.word(position + 1) != self.words.open {
            return None;
        }
        let mut open = 0usize;
        for (at, token) in self.items.iter().enumerate().skip(position + 1) {
            if token.is_named() {
                continue;
            }
            open += token.kind().matches(self.words.open.as_str()).count();
            open = open.checked_sub(token.kind().matches(self.words.close.as_str()).count())?;
            if open == 0 {
                return Some(at + 1);
            }
        }
        None
    }
}

pub(super) fn macro_call<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::MacroCall { name, tokens, read, items, mark } = rule else { return ExprId::NONE };
    let suffix = walk.input.language.manifest.names.macro_suffix.as_deref().unwrap_or_default();
    let Some(name_node) = name.first(node) else { return walk.visit_children(node) };
    let callee = macro_name(walk, name_node, suffix);
    let site = walk.take_call_site();
    let Some(list) = tokens.first(node) else { return ExprId::NONE };
    let items = items.as_deref().unwrap_or_default();
    if macros::items::embedded_items(walk, list, items, mark.as_deref()) {
        return ExprId::NONE;
    }
    let outer = std::mem::replace(&mut walk.context.in_macro, true);
    let values = token_list(walk, list, list.kind_id(), read, suffix);
    walk.context.in_macro = outer;
    let args = walk.facts.list(&values);
    if let Some(site) = site.get() {
        walk.facts.sites[site].args = args;
        walk.facts.sites[site].spread = true;
    }
    walk.facts.expr(Expr::Call(callee, args))
}

/// Visits a macro's name, possibly at the end of a path: returns its expression and records the
/// call site.
fn macro_name<'t>(walk: &mut Walk<'t>, node: Node<'t>, suffix: &str) -> ExprId {
    let (path, last) = match rule_choice::rule_at(&walk.input, node) {
        Some(Rule::Member { object, name, .. }) => {
            let object =
                object.as_ref().and_then(|selector: &'static Selector| selector.first(node));
            (object, name.first(node).unwrap_or(node))
        }
        _ => (None, node),
    };
    let name = names::name_of(walk, last);
    let marked = format!("{}{suffix}", walk.facts.text(name));
    let marked = walk.facts.name(&marked);
    let value = match path {
        Some(path) => {
            let path = walk.visit(path, READ);
            let path = names::known(&mut walk.facts, path);
            walk.facts.expr(Expr::Member(path, marked))
        }
        None => walk.facts.expr(Expr::Name(marked, walk.context.scope)),
    };
    walk.take_call_site();
    walk.site(Usage::Site(SiteKind::Call), last, name, value);
    value
}

/// Visits the names in a list of tokens as applied by a decorator (`derive(A, b::C)`).
pub(super) fn applied_names<'t>(walk: &mut Walk<'t>, list: Node<'t>) {
    let tokens = children::children(&walk.input, list);
    let mut value = ExprId::NONE;
    for (position, token) in tokens.iter().enumerate() {
        if !matches!(rule_choice::rule_at(&walk.input, *token), Some(Rule::Name { .. })) {
            continue;
        }
        let name = names::name_of(walk, *token);
        value = match value.is_some() {
            true => walk.facts.expr(Expr::Member(value, name)),
            false => walk.facts.expr(Expr::Name(name, walk.context.scope)),
        };
        if tokens
            .get(position + 1)
            .is_none_or(|next| !is_path_joiner(&walk.input, texts::text_of(&walk.input, *next)))
        {
            walk.site(Usage::Site(SiteKind::Decorate), *token, name, value);
            value = ExprId::NONE;
        }
    }
}

/// Reads the body of a macro definition. Names that it binds itself are no references.
fn body<'t>(walk: &mut Walk<'t>, list: Node<'t>, body: &'static Body, suffix: &'static str) {
    let mut bound = FxHashSet::default();
    let (mut waiting, mut before) = (vec![list], "");
    while let Some(node) = waiting.pop() {
        let parts = children::children(&walk.input, node);
        waiting.extend(parts.iter().rev());
        if parts.is_empty() {
            let text = texts::text_of(&walk.input, node);
            if body.binds.iter().any(|word| word == before) {
                bound.insert(text);
            }
            before = text;
        }
    }
    let first = walk.facts.sites.len();
    let outer = std::mem::replace(&mut walk.context.in_macro, true);
    token_list(walk, list, list.kind_id(), &body.read, suffix);
    walk.context.in_macro = outer;
    let facts = &mut walk.facts;
    let found = facts.sites.split_off(first);
    let is_kept = |site: &Site| {
        let is_name = matches!(facts.get(site.target), Expr::Name(..));
        !(is_name && bound.contains(facts.text(site.name)))
    };
    let kept: Vec<Site> = found.into_iter().filter(is_kept).collect();
    facts.sites.extend(kept);
}

/// Reads a list of tokens in which lists have the kind `list_kind`; returns the values between its
/// separators.
fn token_list<'t>(
    walk: &mut Walk<'t>,
    list: Node<'t>,
    list_kind: u16,
    words: &'static TokenWords,
    suffix: &'static str,
) -> Vec<ExprId> {
    token_list_of(walk, list, list_kind, words, suffix, ExprId::NONE)
}

/// Reads a list of tokens behind the expression `of`.
fn token_list_of<'t>(
    walk: &mut Walk<'t>,
    list: Node<'t>,
    list_kind: u16,
    words: &'static TokenWords,
    suffix: &'static str,
    of: ExprId,
) -> Vec<ExprId> {
    let items = children::children(&walk.input, list);
    let tokens = Tokens { items, list_kind, words, suffix, of };
    let mut values = Vec::new();
    let mut reading = Reading::NOTHING;
    let mut position = 0;
    while position < tokens.items.len() {
        position = token(walk, &tokens, position, &mut reading, &mut values);
    }
    if reading.value.is_some() {
        values.push(reading.value);
    }
    values
}

/// Reads the token at `position` into the current expression; returns the next position.
fn token<'t>(
    walk: &mut Walk<'t>,
    tokens: &Tokens<'t>,
    position: usize,
    reading: &mut Reading<'t>,
    values: &mut Vec<ExprId>,
) -> usize {
    let (token, words) = (tokens.items[position], tokens.words);
    if tokens.joins(position) {
        reading.joined = true;
        // What follows is a member, of whatever it be.
        if position > 0
            && !reading.value.is_some()
            && !is_path_joiner(&walk.input, tokens.word(position))
        {
            reading.value = walk.facts.expr(Expr::Unknown);
        }
        return position + 1;
    }
    if tokens.is_list(position) {
        let is_named = matches!(
            reading.value.get().map(|_| walk.facts.get(reading.value)),
            Some(Expr::Name(..) | Expr::Member(..) | Expr::SelfType(_))
        );
        let of = if is_named && reading.callee.is_none() { reading.value } else { ExprId::NONE };
        let inner = token_list_of(walk, token, tokens.list_kind, words, tokens.suffix, of);
        let args = walk.facts.list(&inner);
        reading.value = match reading.callee.take() {
            Some((name_node, name)) => {
                walk.take_call_site();
                walk.site(Usage::Site(SiteKind::Call), name_node, name, reading.value);
                if let Some(site) = walk.take_call_site().get() {
                    walk.facts.sites[site].args = args;
                    walk.facts.sites[site].spread = true;
                }
                walk.facts.of(reading.value, |callee| Expr::Call(callee, args))
            }
            None if inner.len() == 1
                && texts::text_of(&walk.input, token).starts_with(words.call.as_str()) =>
            {
                inner[0]
            }
            // The item of a value, by a list without a name before it.
            None if of.is_some() && inner.len() == 1 => {
                walk.facts.of(reading.value, |value| Expr::Index(value, inner[0]))
            }
            None => ExprId::NONE,
        };
        reading.joined = false;
        return position + 1;
    }
    if !token.is_named() {
        match token.kind() {
            word if word == words.separator => {
                values.push(names::known(&mut walk.facts, reading.value));
                *reading = Reading::NOTHING;
            }
            word if word == words.unwrap => {
                reading.value = walk.facts.of(reading.value, Expr::Unwrapped)
            }
            word if word == words.awaits && reading.joined => {
                reading.value = walk.facts.of(reading.value, Expr::Await);
                reading.joined = false;
            }
            _ => *reading = Reading::NOTHING,
        }
        return position + 1;
    }
    named_token(walk, tokens, position, reading)
}

fn named_token<'t>(
    walk: &mut Walk<'t>,
    tokens: &Tokens<'t>,
    position: usize,
    reading: &mut Reading<'t>,
) -> usize {
    let (token, next) = (tokens.items[position], position + 1);
    match rule_choice::rule_at(&walk.input, token) {
        Some(Rule::Name { .. }) => return name_token(walk, tokens, position, reading),
        Some(Rule::SelfValue { .. })
            if tokens.joins(next) && is_path_joiner(&walk.input, tokens.word(next)) =>
        {
            return name_token(walk, tokens, position, reading);
        }
        Some(Rule::Literal { .. }) if reading.joined && reading.value.is_some() => {
            let name = names::name_of(walk, token);
            reading.value = walk.facts.expr(Expr::Member(reading.value, name));
        }
        Some(Rule::SelfValue { .. } | Rule::Literal { .. } | Rule::Text { .. }) => {
            reading.value = walk.visit(token, READ)
        }
        // Tokens in a form of their own, as those of a repetition.
        Some(Rule::Pass { .. }) => {
            token_list(walk, token, tokens.list_kind, tokens.words, tokens.suffix);
            reading.value = ExprId::NONE;
        }
        _ => {
            walk.visit(token, READ);
            reading.value = ExprId::NONE;
        }
    }
    reading.joined = false;
    reading.callee = None;
    next
}

fn is_path_joiner(input: &Input<'_>, word: &str) -> bool {
    word == input.language.manifest.modules.separator
}

fn name_token<'t>(
    walk: &mut Walk<'t>,
    tokens: &Tokens<'t>,
    position: usize,
    reading: &mut Reading<'t>,
) -> usize {
    let token = tokens.items[position];
    let mut next = position + 1;
    if !tokens.suffix.is_empty() && tokens.word(next) == tokens.suffix && tokens.is_list(next + 1) {
        let callee = macro_name(walk, token, tokens.suffix);
        walk.take_call_site();
        let list = tokens.items[next + 1];
        let inner = token_list(walk, list, tokens.list_kind, tokens.words, tokens.suffix);
        let args = walk.facts.list(&inner);
        *reading = Reading {
            value: walk.facts.expr(Expr::Call(callee, args)),
            joined: false,
            callee: None,
        };
        return next + 2;
    }
    let is_member = reading.joined && reading.value.is_some();
    if !is_member && tokens.words.labels.iter().any(|label| label == tokens.word(next)) {
        if tokens.is_key(position) {
            let name = names::name_of(walk, token);
            let made = walk.facts.of(tokens.of, Expr::OfType);
            let field = walk.facts.of(made, |made| Expr::Member(made, name));
            walk.site(Usage::Site(SiteKind::Write), token, name, field);
        } else if tokens.words.capital_labels
            && tokens.begins_item(position)
            && texts::text_of(&walk.input, token).starts_with(char::is_uppercase)
        {
            let name = names::name_of(walk, token);
            let value = walk.facts.expr(Expr::Name(name, walk.context.scope));
            walk.site(READ, token, name, value);
        }
        *reading = Reading::NOTHING;
        return next;
    }
    let name = names::name_of(walk, token);
    let path_word =
        if is_member { None } else { names::path_word(walk, texts::text_of(&walk.input, token)) };
    let silent = path_word.is_some();
    reading.value = match path_word {
        Some(value) => value,
        None if is_member => walk.facts.expr(Expr::Member(reading.value, name)),
        None if names::is_self_type(&walk.input, texts::text_of(&walk.input, token)) => {
            walk.facts.expr(Expr::SelfType(walk.context.scope))
        }
        None => walk.facts.expr(Expr::Name(name, walk.context.scope)),
    };
    if let Some(after) = tokens.after_types(next) {
        for token in &tokens.items[next..after] {
            if token.is_named()
                && matches!(rule_choice::rule_at(&walk.input, *token), Some(Rule::Name { .. }))
            {
                types::visit_type(walk, *token, Usage::Site(SiteKind::Type));
            }
        }
        next = after;
    }
    let calls = tokens.is_list(next)
        && texts::text_of(&walk.input, tokens.items[next]).starts_with(tokens.words.call.as_str());
    reading.callee = calls.then_some((token, name));
    if !calls
        && !silent
        && matches!(walk.facts.get(reading.value), Expr::Name(..) | Expr::Member(..))
    {
        walk.site(READ, token, name, reading.value);
    }
    reading.joined = false;
    next
}
