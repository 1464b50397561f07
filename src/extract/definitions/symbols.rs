//! Symbols: conversion of definitions, with their modifiers and decorators.

use crate::definitions::{decorators, doc_types, generated};
use crate::facts::builder::Builder;
use crate::facts::text;
use crate::walk::input::Input;
use crate::walk::position::{offset, position};
use crate::walk::{Context, Definition, Pending, READ, Walk, children, rule_choice, texts};
use cograph_grammar::{ConstructorNames, DecoratorMeaning, ExportRule, ModifierMeaning, Rule};
use cograph_model::facts::{
    Binding, Clauses, Details, Expr, ExprId, LocalSymbol, Run, ScopeId, ScopeKind, Symbol, flags,
};
use cograph_model::{Position, Span, SymbolKind, Visibility};
use tree_sitter::Node;

/// Modifiers and decorators of a definition.
#[derive(Default)]
pub(crate) struct Marks {
    pub(crate) flags: u32,
    visibility: Option<Visibility>,
    exported: bool,
    constant: bool,
}

/// Returns the function that a clause continues: the last one in its scope, of its name and number
/// of parameters.
pub(super) fn continued<'t>(
    walk: &mut Walk<'t>,
    clause: &Definition<'t>,
    params: usize,
) -> Option<LocalSymbol> {
    let declaring = declaring_scope(walk, clause.kind);
    let (count, symbols) = (u16::try_from(params).ok()?, &walk.facts.facts.symbols);
    let position = symbols.iter().rposition(|symbol| symbol.scope == declaring)?;
    let entry = &symbols[position];
    if entry.name != clause.name
        || entry.arity != (count, count)
        || !entry.kind.is_callable()
        || entry.flags & flags::DECLARATION != 0
    {
        return None;
    }
    let end = self::extent(&walk.input, clause.node, clause.node);
    let symbol = LocalSymbol::at(position);
    let entry = walk.facts.symbol_mut(symbol);
    entry.end_byte = end.end_byte;
    walk.facts.details_mut(symbol).end = end.end;
    walk.context.pending = Default::default();
    Some(symbol)
}

pub(crate) fn define<'t>(walk: &mut Walk<'t>, definition: &Definition<'t>) -> LocalSymbol {
    doc_types::keep_comment(&walk.input, &mut walk.context);
    let generated = match definition.kind.is_type() {
        true => Vec::new(),
        false => generated::of_pending(walk),
    };
    let pending = std::mem::take(&mut walk.context.pending);
    let whole = walk
        .context
        .whole
        .filter(|(only, _)| *only == definition.node.id())
        .map_or(definition.node, |(_, whole)| whole);
    let marks = self::marks(&walk.input, &mut walk.context, whole, &pending);
    let declaring = declaring_scope(walk, definition.kind);
    let scope_kind = walk.facts.scope_kind(declaring);
    let member = scope_kind == ScopeKind::Type;
    let name = walk.facts.text(definition.name).to_owned();
    let kind = adjusted_kind(walk, definition.kind, &name, member, declaring);
    let local = walk.facts.nearest(declaring, |kind| kind == ScopeKind::Function).is_some();
    let visibility = self::visibility(walk, &name, marks.visibility, declaring, kind);
    let mut bits = marks.flags;
    if local && !member {
        bits |= flags::LOCAL;
    }
    if is_exported(walk, &marks, visibility, declaring, local) {
        bits |= flags::EXPORTED;
    }
    if walk.context.around.conditional {
        bits |= flags::CONDITIONAL;
    }
    if walk.context.in_arguments {
        bits |= flags::ARGUMENT;
    }
    if walk.context.around.default_export {
        bits |= flags::DEFAULT_EXPORT;
    }
    let is_empty = walk.input.language.manifest.resolution.empty_bodies;
    if !definition.has_body
        && !is_empty
        && definition.kind.is_callable()
        && bits & flags::ABSTRACT == 0
    {
        bits |= if member && declares_abstractly(&walk.facts, declaring) {
            flags::ABSTRACT
        } else {
            flags::DECLARATION
        };
    }
    if member && is_expected(walk, declaring) {
        bits |= flags::DECLARATION;
    }
    let start = definition.first_node(whole, &pending);
    let extent = self::extent(&walk.input, start, whole);
    let signature =
        text::signature(&texts::text_at(&walk.input, whole.start_byte()..definition.header_end));
    let doc = doc_types::documentation(&walk.input, definition, whole, &pending);
    if doc_types::says_deprecated(&walk.input, definition, whole, &pending) {
        bits |= flags::DEPRECATED;
    }
    let applied: Vec<ExprId> = pending
        .decorators
        .iter()
        .map(|decorator| decorator.value)
        .filter(|value| value.is_some())
        .collect();
    let clauses = Clauses {
        decorators: walk.facts.list(&applied),
        owner: walk.context.around.owner,
        implements: walk.context.around.implements,
        ..Clauses::NONE
    };
    let details = Details {
        start: extent.start,
        end: extent.end,
        name_at: position(definition.name_node),
        signature,
        doc,
        complexity: None,
    };
    let symbol = Symbol {
        name: definition.name,
        kind,
        container: self::container(&walk.facts, declaring),
        scope: declaring,
        inner: ScopeId::NONE,
        flags: bits,
        visibility,
        start_byte: extent.start_byte,
        end_byte: extent.end_byte,
        params_start: 0,
        params_len: 0,
        arity: (0, u16::MAX),
        ty: ExprId::NONE,
        values: Run::default(),
        clauses: walk.facts.clauses(clauses),
    };
    let symbol = walk.facts.symbol(symbol, details);
    if definition.has_body {
        walk.facts.headers.push((symbol, offset(definition.header_end)));
    }
    let of_exports = walk.context.around.of_exports;
    let from = match walk.input.language.manifest.resolution.hoisted {
        _ if of_exports => Binding::OF_EXPORTS,
        true => 0,
        false => offset(definition.node.start_byte()),
    };
    if matches!(kind, SymbolKind::Variable | SymbolKind::Constant | SymbolKind::Field) {
        take_closures(walk, symbol, offset(whole.start_byte()));
    }
    generated::note(walk, symbol, generated);
    // A constructor named like its type is reachable only through the type.
    let is_hidden = kind == SymbolKind::Constructor
        && walk.input.language.manifest.names.constructor_rule == ConstructorNames::TypeName;
    if !walk.context.around.detached && !is_hidden {
        let block = if of_exports { declaring } else { walk.context.scope };
        walk.facts.bind_symbol(declaring, block, definition.name, from, symbol);
    }
    symbol
}

/// References in closures of the value of a variable, which was visited before, belong to the
/// variable: `x = debounce(() => f())`.
fn take_closures(walk: &mut Walk<'_>, symbol: LocalSymbol, start: u32) {
    let enclosing = walk.context.enclosing;
    let scopes = &walk.facts.facts.scopes;
    let is_in_closure = |mut scope: ScopeId| {
        while let Some(entry) = scope.get().map(|position| &scopes[position])
            && entry.start >= start
        {
            if entry.kind == ScopeKind::Function && !entry.symbol.is_some() {
                return true;
            }
            scope = entry.parent;
        }
        false
    };
    let own = walk.facts.sites.iter_mut().rev().take_while(|site| site.byte >= start);
    for site in own.filter(|site| site.enclosing == enclosing && is_in_closure(site.scope)) {
        site.enclosing = symbol;
    }
}

fn extent<'t>(input: &Input<'t>, first: Node<'t>, last: Node<'t>) -> Span {
    let mut end = last.end_position();
    let mut end_byte = last.end_byte();
    let text = input.source.get(..end_byte).unwrap_or_default();
    if end.column == 0 && end_byte > first.start_byte() && text.ends_with(b"\n") {
        // A node that includes the end of the line (a directive) ends on its own line.
        end_byte -= 1;
        end.row -= 1;
        end.column = text[..end_byte].iter().rev().take_while(|&&byte| byte != b'\n').count();
    }
    Span {
        start_byte: offset(first.start_byte()),
        end_byte: offset(end_byte),
        start: position(first),
        end: Position { line: offset(end.row + 1), column: offset(end.column) },
    }
}

/// True for the members of a type that is defined elsewhere, by a modifier of the type.
fn is_expected(walk: &Walk<'_>, declaring: ScopeId) -> bool {
    let container = container(&walk.facts, declaring);
    walk.input.language.manifest.modifiers.has_modifier(ModifierMeaning::Expected)
        && container.get().is_some_and(|container| {
            let container = &walk.facts.facts.symbols[container];
            container.kind.is_type() && container.flags & flags::DECLARATION != 0
        })
}

/// Returns the scope in which a definition of this kind is declared.
fn declaring_scope(walk: &Walk<'_>, kind: SymbolKind) -> ScopeId {
    let owns = |scope: ScopeKind| match scope {
        ScopeKind::Flow => false,
        ScopeKind::Block => !walk.input.language.manifest.resolution.function_scoped,
        _ => true,
    };
    let _ = kind;
    if walk.context.around.of_exports {
        return ScopeId(0);
    }
    walk.facts.nearest(walk.context.scope, owns)
}

fn container(facts: &Builder, declaring: ScopeId) -> LocalSymbol {
    let mut scope = declaring;
    while let Some(index) = scope.get() {
        let entry = &facts.facts.scopes[index];
        if entry.symbol.is_some() {
            return entry.symbol;
        }
        scope = entry.parent;
    }
    LocalSymbol::NONE
}

fn adjusted_kind(
    walk: &Walk<'_>,
    kind: SymbolKind,
    name: &str,
    member: bool,
    declaring: ScopeId,
) -> SymbolKind {
    let belongs = member || walk.context.around.owner.is_some();
    match kind {
        SymbolKind::Function if belongs => {
            let names = &walk.input.language.manifest.names;
            let is_constructor = match names.constructor_rule {
                ConstructorNames::Listed => {
                    names.constructors.iter().any(|constructor| constructor == name)
                }
                ConstructorNames::TypeName => {
                    type_name_of(walk, declaring).is_some_and(|type_name| type_name == name)
                }
            };
            if is_constructor { SymbolKind::Constructor } else { SymbolKind::Method }
        }
        SymbolKind::Variable | SymbolKind::Constant if member => {
            match enclosing_type_kind(&walk.facts, declaring) {
                Some(SymbolKind::Enum) if kind == SymbolKind::Constant => SymbolKind::Constant,
                _ if kind == SymbolKind::Constant => SymbolKind::Constant,
                _ => SymbolKind::Field,
            }
        }
        other => other,
    }
}

/// Returns the name of the type that owns members defined here: of the scope, or of a path
/// before the member (`A::f`).
fn type_name_of<'a>(walk: &'a Walk<'_>, declaring: ScopeId) -> Option<&'a str> {
    match walk.facts.get(walk.context.around.owner) {
        Expr::Name(name, _) | Expr::Member(_, name) => return Some(walk.facts.text(name)),
        Expr::Apply(base, _) => {
            if let Expr::Name(name, _) | Expr::Member(_, name) = walk.facts.get(base) {
                return Some(walk.facts.text(name));
            }
        }
        _ => {}
    }
    let symbol = walk.facts.facts.scopes[declaring.get()?].symbol.get()?;
    Some(walk.facts.text(walk.facts.facts.symbols[symbol].name))
}

fn enclosing_type_kind(facts: &Builder, declaring: ScopeId) -> Option<SymbolKind> {
    let symbol = facts.facts.scopes[declaring.get()?].symbol.get()?;
    Some(facts.facts.symbols[symbol].kind)
}

/// True if members without a body are abstract: in interfaces and traits.
fn declares_abstractly(facts: &Builder, declaring: ScopeId) -> bool {
    matches!(
        enclosing_type_kind(facts, declaring),
        None | Some(SymbolKind::Interface | SymbolKind::Trait | SymbolKind::TypeAlias)
    )
}

fn visibility(
    walk: &Walk<'_>,
    name: &str,
    marked: Option<Visibility>,
    declaring: ScopeId,
    kind: SymbolKind,
) -> Visibility {
    let rule = &walk.input.language.manifest.visibility;
    if let Some(marked) = marked.or(walk.context.around.section) {
        return marked;
    }
    if rule.capital {
        return if name.chars().next().is_some_and(char::is_uppercase) {
            Visibility::Public
        } else {
            Visibility::Internal
        };
    }
    if rule.underscore && name.starts_with('_') && !(name.starts_with("__") && name.ends_with("__"))
    {
        return if name.starts_with("__") { Visibility::Private } else { Visibility::Internal };
    }
    if rule.private_prefix.as_ref().is_some_and(|prefix| name.starts_with(prefix.as_str())) {
        return Visibility::Private;
    }
    if walk.context.around.implements.is_some()
        && let Some(word) = &rule.implementing
    {
        return Visibility::from_word(word).unwrap_or(Visibility::Public);
    }
    let owner = enclosing_type_kind(&walk.facts, declaring).map(SymbolKind::word);
    let of_constructors = owner
        .filter(|_| kind == SymbolKind::Constructor)
        .and_then(|owner| rule.constructors.get(owner));
    let of_owner = || owner.and_then(|owner| rule.members.get(owner));
    let word = match kind {
        SymbolKind::Variant => None,
        _ => of_constructors.or_else(of_owner).or(rule.default.as_ref()),
    };
    word.and_then(|word| Visibility::from_word(word)).unwrap_or(Visibility::Public)
}

fn is_exported(
    walk: &Walk<'_>,
    marks: &Marks,
    visibility: Visibility,
    declaring: ScopeId,
    local: bool,
) -> bool {
    let visible = matches!(visibility, Visibility::Public | Visibility::Protected);
    if local {
        return false;
    }
    match walk.input.language.manifest.exports {
        ExportRule::TopLevel | ExportRule::Public => visible,
        ExportRule::Marked => {
            let member = walk.facts.scope_kind(declaring) == ScopeKind::Type;
            marks.exported || walk.context.around.exported || (member && visible)
        }
        ExportRule::Linkage => {
            let member = walk.facts.scope_kind(declaring) == ScopeKind::Type;
            visible && (member || marks.flags & flags::STATIC == 0)
        }
    }
}

/// Reads the words, modifier nodes and decorators of a definition.
fn marks<'t>(
    input: &Input<'t>,
    context: &mut Context<'t>,
    node: Node<'t>,
    pending: &Pending<'t>,
) -> Marks {
    let mut marks = Marks::default();
    for child in children::children(input, node) {
        let kind = child.kind_id();
        if input.language.is_token(kind) {
            if input.language.is_modifier(kind) {
                mark_word(input, &mut marks, child.kind());
            }
        } else if input.language.is_modifier_node(kind) {
            for word in texts::text_of(input, child)
                .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')'))
            {
                mark_word(input, &mut marks, word);
            }
        }
    }
    let rules = &input.language.manifest.modifiers;
    for crate::walk::Decorator { name: decorator, node, .. } in &pending.decorators {
        let last = decorator.rsplit(['.', ':']).next().unwrap_or(decorator);
        let whole: String = texts::text_of(input, *node).split_whitespace().collect();
        let whole = whole.trim_start_matches(['#', '[', '@']).trim_end_matches(']');
        let names = [last, decorator, whole];
        for meanings in names.iter().filter_map(|name| rules.decorators.get(*name)) {
            for meaning in meanings {
                match meaning {
                    DecoratorMeaning::Static => marks.flags |= flags::STATIC,
                    DecoratorMeaning::ClassMethod => marks.flags |= flags::CLASS_METHOD,
                    DecoratorMeaning::Property => marks.flags |= flags::PROPERTY,
                    DecoratorMeaning::Abstract => marks.flags |= flags::ABSTRACT,
                    DecoratorMeaning::Overload => marks.flags |= flags::DECLARATION,
                    DecoratorMeaning::Deprecated => marks.flags |= flags::DEPRECATED,
                    DecoratorMeaning::Conditional => marks.flags |= flags::CONDITIONAL,
                    DecoratorMeaning::Test => marks.flags |= flags::TEST,
                    DecoratorMeaning::Public => marks.visibility = Some(Visibility::Public),
                    DecoratorMeaning::Applying
                    | DecoratorMeaning::ApplyingIf
                    | DecoratorMeaning::Path => {}
                }
            }
        }
    }
    if context.around.declared_static {
        marks.flags |= flags::STATIC;
    }
    marks
}

/// Returns the visibility of a modifier node.
pub(crate) fn marked_visibility<'t>(walk: &Walk<'t>, node: Node<'t>) -> Option<Visibility> {
    let mut marks = Marks::default();
    for word in texts::text_of(&walk.input, node)
        .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')'))
    {
        mark_word(&walk.input, &mut marks, word);
    }
    marks.visibility
}

pub(crate) fn mark_word(input: &Input<'_>, marks: &mut Marks, word: &str) {
    let rules = &input.language.manifest.modifiers;
    for meaning in rules.words.get(word).into_iter().flatten() {
        match meaning {
            ModifierMeaning::Static => marks.flags |= flags::STATIC,
            ModifierMeaning::Abstract => marks.flags |= flags::ABSTRACT,
            ModifierMeaning::Async => marks.flags |= flags::ASYNC,
            ModifierMeaning::Property => marks.flags |= flags::PROPERTY,
            ModifierMeaning::Generator => marks.flags |= flags::GENERATOR,
            ModifierMeaning::Partial => marks.flags |= flags::PARTIAL,
            ModifierMeaning::Conditional => marks.flags |= flags::CONDITIONAL,
            ModifierMeaning::Expected => marks.flags |= flags::DECLARATION,
            ModifierMeaning::Constant => marks.constant = true,
            ModifierMeaning::ReadOnly
            | ModifierMeaning::Declaration
            | ModifierMeaning::Extension
            | ModifierMeaning::FieldDeclaration => {}
        }
    }
    if let Some(visibility) = input.language.manifest.visibility.words.get(word) {
        match Visibility::from_word(visibility) {
            Some(visibility) => marks.visibility = Some(visibility),
            None => marks.exported |= visibility == "exported",
        }
    }
}

/// Visits decorators inside modifier nodes and lists, and adds them to the pending ones. Returns
/// the ids of the visited nodes.
pub(crate) fn visit_modifiers<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> Vec<usize> {
    let mut visited = Vec::new();
    if !walk.input.language.has_decorators() {
        return visited;
    }
    let is_decorator = |walk: &Walk<'t>, node| {
        matches!(rule_choice::rule_at(&walk.input, node), Some(Rule::Decorator { .. }))
    };
    for child in children::named_children(&walk.input, node) {
        if is_decorator(walk, child) {
            walk.visit(child, READ);
            visited.push(child.id());
        } else if walk.input.language.is_modifier_node(child.kind_id())
            || decorators::is_list(walk, child)
        {
            for part in children::named_children(&walk.input, child) {
                if is_decorator(walk, part) || decorators::is_list(walk, part) {
                    walk.visit(part, READ);
                }
            }
            visited.push(child.id());
        }
    }
    visited
}
