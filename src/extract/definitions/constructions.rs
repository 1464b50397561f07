//! Constructions that are written as declarations: local variables with arguments in parentheses,
//! which a grammar may take for declarations of functions, and variants of an enumeration.

use crate::types;
use crate::walk::children::Children;
use crate::walk::input::Input;
use crate::walk::{Declared, READ, Usage, Walk, children, names, rule_choice};
use cograph_grammar::{Rule, TypeRule};
use cograph_model::facts::{BindingKind, Expr, ExprId, LocalSymbol, Run, ScopeKind, Symbol};
use cograph_model::{SiteKind, SymbolKind};
use tree_sitter::Node;

/// Returns the names in a parameter list that are arguments: inside a function, bare and each
/// without a declarator. A qualified name, or one that is not known, may be a type, but a local
/// declaration of a function is much rarer than the construction of an object with a member.
pub(super) fn bare_arguments<'t>(
    walk: &mut Walk<'t>,
    declared: &Declared<'t>,
    ty_node: Option<Node<'t>>,
) -> Option<Children<'t>> {
    if !walk.input.language.manifest.resolution.locals_construct || !declared.wraps.is_empty() {
        return None;
    }
    if !matches!(walk.facts.scope_kind(walk.owner_scope()), ScopeKind::Function | ScopeKind::Block)
    {
        return None;
    }
    let params = children::named_children(&walk.input, declared.params?);
    let language = walk.input.language;
    let rule = |node: Node<'t>| language.type_rule(node.kind_id());
    let constructs = ty_node.is_some_and(|ty| !matches!(rule(ty), Some(TypeRule::Builtin { .. })));
    let mut names = Children::new();
    for param in params {
        let Some(Rule::Param { ty: Some(ty), .. }) = rule_choice::rule_at(&walk.input, param)
        else {
            return None;
        };
        let only = children::only_named_child(&walk.input, param)?;
        let name = ty.first(param).filter(|name| name.id() == only.id())?;
        let is_argument = match rule(name) {
            Some(TypeRule::Name {}) => is_value(walk, name).unwrap_or(constructs),
            Some(TypeRule::Member { .. }) => constructs,
            _ => false,
        };
        if !is_argument {
            return None;
        }
        names.push(name);
    }
    (!names.is_empty()).then_some(names)
}

/// True if the visible binding of a name is a value; `None` if the file does not say what it is, as
/// of a member of a base.
fn is_value<'t>(walk: &mut Walk<'t>, name: Node<'t>) -> Option<bool> {
    let name = names::name_of(walk, name);
    let binding = walk.facts.visible(walk.context.scope, name)?;
    let is_value = match binding.kind {
        BindingKind::Param | BindingKind::Value | BindingKind::Narrow => true,
        BindingKind::Symbol => {
            let symbol = &walk.facts.facts.symbols[binding.symbol().get()?];
            !symbol.kind.is_type() && !symbol.is_macro()
        }
        _ => false,
    };
    Some(is_value)
}

/// Value of a declared type with constructor arguments; the call site is at the name of the
/// type.
pub(super) fn constructed<'t>(
    walk: &mut Walk<'t>,
    ty_node: Option<Node<'t>>,
    ty: ExprId,
    arguments: &[Node<'t>],
) -> ExprId {
    let named = ty_node.and_then(|node| type_name_node(&walk.input, node));
    let mut list = Vec::new();
    for argument in arguments {
        let value = walk.visit(*argument, READ);
        list.push(names::known(&mut walk.facts, value));
    }
    let Some(name_node) = named.filter(|_| ty.is_some()) else {
        return walk.facts.of(ty, Expr::OfType);
    };
    let list = walk.facts.list(&list);
    let name = names::name_of(walk, name_node);
    walk.take_call_site();
    walk.site(Usage::Site(SiteKind::Construct), name_node, name, ty);
    if let Some(site) = walk.take_call_site().get() {
        walk.facts.sites[site].args = list;
    }
    walk.facts.expr(Expr::Construct(ty, list))
}

/// True for a list of arguments instead of a value (`T x = {a, b}`).
pub(super) fn is_list<'t>(input: &Input<'t>, value: Node<'t>) -> bool {
    input.language.manifest.resolution.locals_construct
        && matches!(
            rule_choice::rule_at(input, value),
            Some(Rule::Construct { ty: None, args: None, fields: None, .. })
        )
        && !children::named_children(input, value)
            .into_iter()
            .any(|part| matches!(rule_choice::rule_at(input, part), Some(Rule::Initializer { .. })))
}

/// A list of arguments as an element of an array: the site is where it begins.
pub(crate) fn element<'t>(walk: &mut Walk<'t>, node: Node<'t>, wanted: ExprId, args: &[ExprId]) {
    let Expr::OfType(ty) = walk.facts.get(wanted) else { return };
    let named = match walk.facts.get(ty) {
        Expr::Apply(base, _) => walk.facts.get(base),
        plain => plain,
    };
    let (Expr::Name(name, _) | Expr::Member(_, name)) = named else { return };
    if !is_list(&walk.input, node) {
        return;
    }
    let args: Vec<ExprId> = args.iter().map(|arg| names::known(&mut walk.facts, *arg)).collect();
    let list = walk.facts.list(&args);
    walk.take_call_site();
    walk.site(Usage::Site(SiteKind::Construct), node, name, ty);
    if let Some(site) = walk.take_call_site().get() {
        walk.facts.sites[site].args = list;
    }
}

/// A declared variable without a value, or with a copy as its value, is constructed as well, if its
/// type has constructors: the site is at the name of the type.
pub(super) fn implied<'t>(
    walk: &mut Walk<'t>,
    ty_node: Option<Node<'t>>,
    ty: ExprId,
    copied: ExprId,
) {
    let in_type = walk.facts.scope_kind(walk.context.scope) == ScopeKind::Type;
    if !walk.input.language.manifest.resolution.locals_construct || in_type || !ty.is_some() {
        return;
    }
    let Some(name_node) = ty_node.and_then(|node| type_name_node(&walk.input, node)) else {
        return;
    };
    let value = walk.facts.get(copied);
    let is_copy = matches!(value, Expr::Name(..) | Expr::Member(..) | Expr::Index(..));
    if copied.is_some() && !is_copy {
        return;
    }
    let given: &[ExprId] = if copied.is_some() { &[copied] } else { &[] };
    let list = walk.facts.list(given);
    let made = walk.facts.expr(Expr::Construct(ty, list));
    let name = names::name_of(walk, name_node);
    walk.take_call_site();
    walk.site(Usage::Site(SiteKind::Construct), name_node, name, made);
    if let Some(site) = walk.take_call_site().get() {
        walk.facts.sites[site].args = list;
    }
}

/// A call of a library makes an instance of a type with these arguments. The type was visited as
/// an argument of the callee.
pub(crate) fn made<'t>(walk: &mut Walk<'t>, ty_node: Node<'t>, args: Run) {
    let Some(name_node) = type_name_node(&walk.input, ty_node) else { return };
    let ty = types::visit_type(walk, ty_node, Usage::Silent);
    if !ty.is_some() {
        return;
    }
    let name = names::name_of(walk, name_node);
    walk.take_call_site();
    walk.site(Usage::Site(SiteKind::Construct), name_node, name, ty);
    if let Some(site) = walk.take_call_site().get() {
        walk.facts.sites[site].args = args;
    }
}

/// A variant with arguments constructs the type around it.
pub(crate) fn of_variant<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) {
    let Rule::Variable { name, args: Some(args), maker, .. } = rule else { return };
    let (Some(name_node), Some(args)) = (name.first(node), args.first(node)) else { return };
    let maker = maker.as_ref().and_then(|selector| selector.first(node));
    let named = std::mem::take(&mut walk.context.named);
    let pending = std::mem::take(&mut walk.context.pending);
    let (list, spread, _) = walk.arguments(Some(args));
    (walk.context.named, walk.context.pending) = (named, pending);
    variant_made(walk, (name_node, maker), list, spread);
}

/// The variants without arguments construct the type around them too: there is something to refer
/// to if it has a constructor of its own, which may stand behind them.
pub(super) fn of_bare_variants<'t>(walk: &mut Walk<'t>, of: LocalSymbol, body: Node<'t>) {
    let Some(first) = of.get() else { return };
    let symbols = &walk.facts.facts.symbols;
    let is_own = |symbol: &Symbol| symbol.container == of && symbol.kind == SymbolKind::Constructor;
    if symbols[first].params().is_empty() && !symbols[first..].iter().any(is_own) {
        return;
    }
    for child in children::named_children(&walk.input, body) {
        if let Some(Rule::Variable { name, args: Some(args), .. }) =
            rule_choice::rule_at(&walk.input, child)
            && args.first(child).is_none()
            && let Some(name_node) = name.first(child)
        {
            let list = walk.facts.list(&[]);
            variant_made(walk, (name_node, None), list, false);
        }
    }
}

fn variant_made<'t>(
    walk: &mut Walk<'t>,
    (name_node, maker): (Node<'t>, Option<Node<'t>>),
    args: Run,
    spread: bool,
) {
    let scope = walk.context.scope;
    let owner = scope.get().and_then(|scope| walk.facts.facts.scopes[scope].symbol.get());
    let Some(owner) = owner else { return };
    let ty = walk.facts.expr(Expr::SelfType(scope));
    let (kind, at, name, target) = match maker {
        Some(maker) => {
            let name = names::name_of(walk, maker);
            (SiteKind::Call, maker, name, walk.facts.expr(Expr::Member(ty, name)))
        }
        None => (SiteKind::Construct, name_node, walk.facts.facts.symbols[owner].name, ty),
    };
    walk.take_call_site();
    walk.site(Usage::Site(kind), at, name, target);
    if let Some(site) = walk.take_call_site().get() {
        let entry = &mut walk.facts.sites[site];
        (entry.args, entry.spread) = (args, spread);
    }
}

/// Returns the name node of a type that is a name, a path or a generic application.
fn type_name_node<'t>(input: &Input<'t>, node: Node<'t>) -> Option<Node<'t>> {
    match input.language.type_rule(node.kind_id())? {
        TypeRule::Name {} => Some(node),
        TypeRule::Member { name, .. } => {
            name.first(node).and_then(|name| type_name_node(input, name))
        }
        TypeRule::Apply { base, .. } => {
            base.first(node).and_then(|base| type_name_node(input, base))
        }
        TypeRule::Pass { of, .. } => {
            let inner = match of {
                Some(of) => of.first(node),
                None => children::first_named_child(input, node),
            };
            inner.and_then(|inner| type_name_node(input, inner))
        }
        TypeRule::Specifier { name: Some(name), .. } => {
            name.first(node).and_then(|name| type_name_node(input, name))
        }
        _ => None,
    }
}
