//! Nodes around definitions: type parameters, friends, visibility sections, test macros.

use crate::preprocess::edits::Made;
use crate::walk::context::{Declared, READ, Surroundings, Usage};
use crate::walk::input::Input;
use crate::walk::{Walk, children, names, rule_choice, texts};
use cograph_grammar::{Rule, Selector, TestMacroKind};
use cograph_model::facts::{Expr, ExprId, NameId, ScopeKind, flags};
use cograph_model::{SiteKind, Visibility};
use tree_sitter::Node;

/// Test that a macro defines from a body.
pub(crate) struct TestMacro<'t> {
    pub(crate) name: NameId,
    pub(crate) node: Node<'t>,
    /// Type that the test is a member of.
    pub(crate) fixture: Option<Node<'t>>,
}

/// Visits a definition behind its type parameters.
pub(crate) fn generic<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    params: &'static Selector,
) -> ExprId {
    let params = params.first(node);
    let start = walk.context.pending.start.or(Some(node));
    let outer = walk.context.waiting_type_params;
    let mut pending = std::mem::take(&mut walk.context.pending);
    pending.start = start;
    for child in children::named_children(&walk.input, node) {
        if params.is_some_and(|params| params.id() == child.id()) {
            continue;
        }
        walk.context.waiting_type_params = params;
        walk.context.pending = pending.clone();
        walk.visit(child, READ);
    }
    walk.context.waiting_type_params = outer;
    ExprId::NONE
}

/// Visits definitions that belong to the scope around the type.
pub(crate) fn outside<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> ExprId {
    let before = (walk.context.scope, walk.context.around, walk.context.enclosing);
    let pending = std::mem::take(&mut walk.context.pending);
    walk.context.scope = walk
        .facts
        .nearest(walk.context.scope, |kind| !matches!(kind, ScopeKind::Type | ScopeKind::Flow));
    walk.context.around = Surroundings::NONE;
    for child in children::named_children(&walk.input, node) {
        walk.context.pending = pending.clone();
        walk.visit(child, READ);
    }
    (walk.context.scope, walk.context.around, walk.context.enclosing) = before;
    ExprId::NONE
}

/// Returns the test that a macro before a body defines.
pub(crate) fn test_macro<'t>(
    walk: &mut Walk<'t>,
    name: Node<'t>,
    declared: Option<&Declared<'t>>,
) -> Option<TestMacro<'t>> {
    let rules = &walk.input.language.manifest.tests;
    let text = texts::text_of(&walk.input, name);
    let with_fixture = rules.macro_kind(text)? == TestMacroKind::Fixture;
    let arguments = children::named_children(&walk.input, declared?.params?);
    let test = *arguments.get(1).filter(|_| with_fixture).or(arguments.last())?;
    let id = names::name_of(walk, name);
    let target = walk.facts.expr(Expr::Name(id, walk.context.scope));
    walk.site(Usage::Site(SiteKind::Call), name, id, target);
    walk.take_call_site();
    let fixture = arguments.first().filter(|_| with_fixture && arguments.len() > 1);
    let fixture = fixture.and_then(|fixture| children::first_named_child(&walk.input, *fixture));
    let parts: Vec<&str> =
        arguments.iter().map(|argument| texts::text_of(&walk.input, *argument)).collect();
    let name = if fixture.is_some() {
        names::name_of(walk, test)
    } else {
        walk.facts.name(&parts.concat())
    };
    Some(TestMacro { name, node: test, fixture })
}

/// Returns the definition created by a macro whose arguments or name contain a name in a
/// header.
pub(crate) fn made_at<'t>(input: &Input<'t>, name: Node<'t>) -> Option<&'t Made> {
    let byte = name.start_byte();
    let made = &input.made[input.made.partition_point(|made| made.head.end <= byte)..];
    made.first().filter(|made| made.head.start <= byte)
}

/// Visits a base or field that a constructor initializes with arguments.
pub(crate) fn member_init<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    name: &'static Selector,
    args: &'static Selector,
) -> ExprId {
    let Some(name_node) = name.first(node) else { return walk.visit_children(node) };
    let name_node = walk.plain_name(name_node);
    walk.take_call_site();
    if matches!(rule_choice::rule_at(&walk.input, name_node), Some(Rule::Member { .. })) {
        walk.visit(name_node, Usage::Site(SiteKind::Construct));
    } else {
        let name = names::name_of(walk, name_node);
        let target = walk.facts.expr(Expr::Name(name, walk.context.scope));
        walk.site(Usage::Site(SiteKind::Write), name_node, name, target);
        walk.site(Usage::Site(SiteKind::Construct), name_node, name, target);
    }
    let site = walk.take_call_site();
    let (args, spread, _) = walk.arguments(args.first(node));
    if let Some(site) = site.get() {
        (walk.facts.sites[site].args, walk.facts.sites[site].spread) = (args, spread);
    }
    ExprId::NONE
}

/// Sets the visibility that `mark`, by default the node, says.
pub(crate) fn section<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    mark: Option<&'static Selector>,
    of: Option<&'static Selector>,
) -> ExprId {
    let mark = mark.and_then(|selector| selector.first(node)).unwrap_or(node);
    let word = texts::text_of(&walk.input, mark).trim_end_matches(':').trim();
    let visibility = walk.input.language.manifest.visibility.words.get(word);
    let visibility = visibility.and_then(|word| Visibility::from_word(word));
    let Some(of) = of.and_then(|selector| selector.first(node)) else {
        if visibility.is_some() {
            walk.context.around.section = visibility;
        }
        return ExprId::NONE;
    };
    for part in children::named_children(&walk.input, of) {
        if matches!(rule_choice::rule_at(&walk.input, part), Some(Rule::Literal { .. })) {
            let name = names::name_of(walk, part);
            set_visibility(walk, name, visibility);
            continue;
        }
        let outer = std::mem::replace(&mut walk.context.around.section, visibility);
        walk.visit(part, READ);
        walk.context.around.section = outer;
    }
    ExprId::NONE
}

/// Sets the visibility of the members of this name that the type around has so far.
fn set_visibility(walk: &mut Walk<'_>, name: NameId, visibility: Option<Visibility>) {
    let (Some(visibility), around) = (visibility, walk.context.enclosing) else { return };
    let members = walk.facts.facts.symbols.iter_mut();
    for member in members.filter(|member| member.container == around && member.name == name) {
        member.visibility = visibility;
        match visibility {
            Visibility::Public | Visibility::Protected => member.flags |= flags::EXPORTED,
            _ => member.flags &= !flags::EXPORTED,
        }
    }
}
