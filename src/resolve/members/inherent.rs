//! Types whose members come from several places outside of their body: inherent ones first, then
//! those of interfaces, then those of what a value stands for; and members that types from outside
//! of the repository gain in it.

use crate::grammar::TypeFlow;
use crate::model::SymbolKind;
use crate::model::facts::{BindingId, Expr, ExprId, flags};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::types::builtin_types::last_segment;
use crate::resolve::types::infer::DEPTH;
use crate::resolve::types::return_types::unify;
use crate::resolve::types::ty::Member;
use crate::resolve::types::ty::{Entity, Ty};
use crate::resolve::{Name, Resolver, Symbols};
use std::rc::Rc;

/// The key of members that every type gains.
const EVERY_TYPE: &str = "";

/// The table of type flow for members that every type may have.
const ANY_TYPE: &str = "*";

/// The table of type flow for members that every enumeration has.
const ANY_ENUM: &str = "enum";

impl Resolver<'_, '_> {
    /// Of members of one name, those that belong to the type itself, where there are any.
    pub(in crate::resolve) fn inherent(&self, found: Symbols) -> Symbols {
        let is_inherent = |member: &SymbolRef| !self.program.symbol(*member).implements.is_some();
        if found.iter().any(is_inherent) {
            found.into_iter().filter(is_inherent).collect()
        } else {
            found
        }
    }

    /// A member that is not the type's own: of what the value stands for, one that every type
    /// gains, or one from outside.
    pub(super) fn beyond_type(&mut self, value: &Ty, name: Name) -> Option<Member> {
        if let Some(found) = self.beyond_value(value, name) {
            return Some(found);
        }
        if let Some(found) = self.gained(EVERY_TYPE, name) {
            return Some(Member::Symbols(found));
        }
        let (Ty::Instance(symbol, _) | Ty::Type(symbol, _)) = value else { return None };
        let (interface, _) = self.outside_interface(*symbol, name)?;
        let text = self.program.text(name);
        Some(Member::Outside(if interface == ANY_TYPE {
            Rc::from(text)
        } else {
            Rc::from(format!("{interface}.{text}"))
        }))
    }

    /// The interface from outside, with its table, that gives a type of the repository a member.
    fn outside_interface(
        &self,
        symbol: SymbolRef,
        name: Name,
    ) -> Option<(&'static str, &'static TypeFlow)> {
        let language = self.program.known(symbol.file).language;
        let text = self.program.text(name);
        let implemented = self
            .program
            .implemented_outside(symbol)
            .into_iter()
            .flatten()
            .map(|interface| &**interface);
        let of_kind = (self.program.symbol(symbol).kind == SymbolKind::Enum).then_some(ANY_ENUM);
        let tables = implemented.chain(of_kind).chain(std::iter::once(ANY_TYPE));
        let mut tables = tables.filter_map(|interface| language.flow(interface));
        tables.find(|(_, flow)| flow.members.contains_key(text))
    }

    /// What a member from outside gives on a type of the repository.
    pub(in crate::resolve) fn outside_member_of(&mut self, value: &Ty, name: Name) -> Option<Ty> {
        let (Ty::Instance(symbol, _) | Ty::Type(symbol, _)) = value else { return None };
        let (_, flow) = self.outside_interface(*symbol, name)?;
        let template = flow.members.get(self.program.text(name))?;
        let instance = crate::resolve::types::infer::instance_of(value);
        let mut element = Ty::Unknown;
        if flow.element.is_some() && self.depth < DEPTH {
            self.depth += 1;
            element = self.next_item(&instance);
            self.depth -= 1;
        }
        let args: Vec<Ty> =
            flow.params
                .iter()
                .map(|param| {
                    if flow.element.as_ref() == Some(param) { element.clone() } else { Ty::Unknown }
                })
                .collect();
        Some(self.template(template, flow, &args, &instance))
    }

    /// What the member that gives an iterator's next item gives, without its wrapper.
    fn next_item(&mut self, value: &Ty) -> Ty {
        let Ty::Instance(symbol, _) = value else { return Ty::Unknown };
        let language = self.program.known(symbol.file).language;
        let Some(next) =
            language.manifest.names.iterator_members.last().map(|next| self.program.named(next))
        else {
            return Ty::Unknown;
        };
        match &self.own_members(*symbol, next)[..] {
            [next] => {
                let result = self.return_ty(*next, Some(value), &[]);
                self.through(symbol.file, &result, |flow| flow.unwrapped.as_deref())
                    .unwrap_or(Ty::Unknown)
            }
            _ => Ty::Unknown,
        }
    }

    /// Of an interface's members found on a value that is known by the interface alone, the one
    /// that every type gains for the same arguments of the interface, if there is one.
    pub(super) fn gained_for_arguments(&mut self, of: &Ty, name: Name, found: Member) -> Member {
        let (Ty::Instance(interface, args), Member::Symbols(symbols)) = (of, &found) else {
            return found;
        };
        let is_open =
            |symbol: &SymbolRef| self.program.symbol(*symbol).flags & flags::ABSTRACT != 0;
        if args.is_empty()
            || self.program.symbol(*interface).kind != SymbolKind::Trait
            || !symbols.iter().all(is_open)
        {
            return found;
        }
        let Some(gained) = self.gained(EVERY_TYPE, name) else { return found };
        let fitting: Symbols = gained
            .into_iter()
            .filter(|member| {
                let implements = self.program.symbol(*member).implements;
                matches!(
                    self.type_of(member.file, implements),
                    Ty::Type(of, given) if of == *interface && given == *args
                )
            })
            .collect();
        if fitting.len() == 1 { Member::Symbols(fitting) } else { found }
    }

    /// A member of what a value stands for when it has no such member itself.
    fn beyond_value(&mut self, value: &Ty, name: Name) -> Option<Member> {
        let Ty::Instance(symbol, _) = value else { return None };
        let names = &self.program.known(symbol.file).language.manifest.names;
        let text = self.program.text(name);
        if names.deref_members.iter().any(|member| member == text) || self.depth >= DEPTH {
            return None;
        }
        let wanted = self.wanted.take();
        self.depth += 1;
        let inner = names
            .deref_members
            .iter()
            .map(|member| self.result_of_member(value, member))
            .find(Ty::is_known);
        self.wanted = wanted;
        let found = inner.filter(|inner| inner != value).map(|inner| self.member(&inner, name));
        self.depth -= 1;
        found.filter(|member| !matches!(member, Member::None | Member::Unknown))
    }

    /// What a value stands for, where that and not the value itself has these members.
    pub(in crate::resolve) fn holder(&mut self, value: &Ty, members: &Symbols) -> Option<Ty> {
        let Ty::Instance(symbol, _) = value else { return None };
        let names = &self.program.known(symbol.file).language.manifest.names;
        if names.deref_members.is_empty() || self.depth >= DEPTH {
            return None;
        }
        let first = *members.first()?;
        let name = self.program.name_of(first);
        if self.type_member(*symbol, name).contains(&first) {
            return None;
        }
        let inner = names
            .deref_members
            .iter()
            .map(|member| self.result_of_member(value, member))
            .find(Ty::is_known)?;
        self.depth += 1;
        let deeper = self.holder(&inner, members);
        self.depth -= 1;
        Some(deeper.unwrap_or(inner))
    }

    /// The named parts of a variant, where an expression in type position names one (`value` is
    /// what it would be as a type).
    pub(in crate::resolve) fn variant_members(
        &mut self,
        file: FileId,
        named: ExprId,
        value: &Ty,
    ) -> Option<Ty> {
        let Ty::Instance(of, _) = value else { return None };
        if self.program.symbol(*of).kind != SymbolKind::Enum {
            return None;
        }
        let unit = self.program.known(file);
        let position = named.get()?;
        let found = match unit.facts.exprs[position] {
            Expr::Name(name, scope) => {
                match self.lookup(file, unit.name(name), scope, unit.facts.positions[position])? {
                    (Entity::Symbols(symbols), _) => symbols,
                    _ => return None,
                }
            }
            Expr::Member(object, name) => {
                let object = self.type_of(file, object);
                self.member_symbols(&object, unit.name(name))
            }
            _ => return None,
        };
        let variant = found
            .into_iter()
            .find(|symbol| self.program.symbol(*symbol).kind == SymbolKind::Variant)?;
        let parts = self.program.symbol(variant).inner;
        parts.is_some().then_some(Ty::Members(variant.file, parts))
    }

    /// A member that a type from outside gains in the repository.
    pub(in crate::resolve) fn gained(&mut self, outer: &str, name: Name) -> Option<Symbols> {
        let found =
            self.program.gained(last_segment(outer)).and_then(|members| members.get(&name))?;
        let found: Symbols =
            found.iter().copied().filter(|member| self.is_wanted(*member)).collect();
        (!found.is_empty()).then(|| self.inherent(found))
    }

    /// The name of the type from outside, or of every type, that members written for `owner` belong
    /// to.
    pub(in crate::resolve) fn outside_owner(
        &mut self,
        file: FileId,
        owner: ExprId,
    ) -> Option<Box<str>> {
        match self.instance_of_expr(file, owner) {
            Ty::Builtin(name, _) | Ty::External(name) => Some(Box::from(last_segment(&name))),
            Ty::Param(..) => Some(Box::from(EVERY_TYPE)),
            _ => None,
        }
    }

    /// A type in which the parameters of the place where a member is written are those of its
    /// receiver.
    pub(in crate::resolve) fn seen_by_receiver(
        &mut self,
        symbol: SymbolRef,
        ty: Ty,
        receiver: Option<&Ty>,
    ) -> Ty {
        let owner = self.program.symbol(symbol).owner;
        let (true, Some(receiver)) = (owner.is_some(), receiver) else { return ty };
        let receiver = crate::resolve::types::infer::instance_of(receiver);
        let owner = self.instance_of_expr(symbol.file, owner);
        let mut known: Vec<((FileId, BindingId), Ty)> = Vec::new();
        unify(&owner, &receiver, &mut known);
        if known.is_empty() {
            return ty;
        }
        ty.map(&|ty: &Ty| match ty {
            Ty::Param(file, binding) => known
                .iter()
                .find(|(param, _)| *param == (*file, *binding))
                .map(|(_, ty)| ty.clone()),
            _ => None,
        })
    }

    /// A type that is a member of the type around: the one given where the name is written comes
    /// before all others.
    pub(in crate::resolve) fn associated_here(
        &mut self,
        file: FileId,
        object: ExprId,
        name: Name,
    ) -> Option<Ty> {
        let unit = self.program.known(file);
        let Expr::SelfType(scope) = unit.facts.exprs[object.get()?] else { return None };
        let here = unit.type_scope(scope);
        let found: Symbols = unit
            .bindings(here, name)
            .filter(|(_, binding)| binding.symbol.is_some())
            .map(|(_, binding)| SymbolRef { file, symbol: binding.symbol })
            .filter(|symbol| self.program.symbol(*symbol).kind == SymbolKind::TypeAlias)
            .collect();
        (!found.is_empty()).then(|| self.symbols_ty(&found, true, None))
    }

    /// The field of a value by its position.
    pub(in crate::resolve) fn positional(&mut self, value: &Ty, position: usize) -> Ty {
        let name = self.program.named(&position.to_string());
        match self.member_ty(&crate::resolve::types::infer::instance_of(value), name) {
            // No type from outside has members with such names.
            Ty::External(_) => Ty::Unknown,
            found => found,
        }
    }
}
