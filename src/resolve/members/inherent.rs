//! Members from outside of a type's body, in order of precedence: inherent members, those of
//! interfaces, those of the dereferenced target; and extension members of external types.

use crate::grammar::TypeFlow;
use crate::model::SymbolKind;
use crate::model::facts::{BindingId, Expr, ExprId, flags};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::types::builtin_types::last_segment;
use crate::resolve::types::infer::MAX_DEPTH;
use crate::resolve::types::return_types::unify;
use crate::resolve::types::ty::Member;
use crate::resolve::types::ty::{Entity, Ty};
use crate::resolve::{Name, Resolver, Symbols};
use std::rc::Rc;

/// Key of members that every type has (blanket extensions).
const EVERY_TYPE: &str = "";

/// Type flow table for members of any type.
const ANY_TYPE: &str = "*";

/// Type flow table for members of any enumeration.
const ANY_ENUM: &str = "enum";

impl Resolver<'_, '_> {
    /// Returns the inherent members among members of one name; all if there are none.
    pub(in crate::resolve) fn inherent(&self, found: Symbols) -> Symbols {
        let is_inherent = |member: &SymbolRef| !self.program.symbol(*member).implements.is_some();
        if found.iter().any(is_inherent) {
            found.into_iter().filter(is_inherent).collect()
        } else {
            found
        }
    }

    /// Returns a member that is not the type's own: of the dereferenced target, of every type, or
    /// external.
    pub(super) fn fallback_member(&mut self, value: &Ty, name: Name) -> Option<Member> {
        if let Some(found) = self.deref_member(value, name) {
            return Some(found);
        }
        if let Some(found) = self.external_extensions(EVERY_TYPE, name) {
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

    /// Returns the external interface, with its table, that provides a member of a type of the
    /// repository.
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

    /// Returns the type of an external member of a type of the repository.
    pub(in crate::resolve) fn outside_member_of(&mut self, value: &Ty, name: Name) -> Option<Ty> {
        let (Ty::Instance(symbol, _) | Ty::Type(symbol, _)) = value else { return None };
        let (_, flow) = self.outside_interface(*symbol, name)?;
        let template = flow.members.get(self.program.text(name))?;
        let instance = crate::resolve::types::infer::instance_of(value);
        let mut element = Ty::Unknown;
        if flow.element.is_some() && self.depth < MAX_DEPTH {
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

    /// Returns the item type of an iterator: the result of its `next` member without its wrapper.
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

    /// Returns the blanket extension member for the same arguments of the interface, if one exists,
    /// for a member found on a value known only by an interface; else the member found.
    pub(super) fn blanket_extension(&mut self, of: &Ty, name: Name, found: Member) -> Member {
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
        let Some(external_extensions) = self.external_extensions(EVERY_TYPE, name) else {
            return found;
        };
        let fitting: Symbols = external_extensions
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

    /// Returns a member of the dereferenced target of a value.
    fn deref_member(&mut self, value: &Ty, name: Name) -> Option<Member> {
        let Ty::Instance(symbol, _) = value else { return None };
        let names = &self.program.known(symbol.file).language.manifest.names;
        let text = self.program.text(name);
        if names.deref_members.iter().any(|member| member == text) || self.depth >= MAX_DEPTH {
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

    /// Returns the dereferenced target of a value if that, and not the value itself, has these
    /// members.
    pub(in crate::resolve) fn holder(&mut self, value: &Ty, members: &Symbols) -> Option<Ty> {
        let Ty::Instance(symbol, _) = value else { return None };
        let names = &self.program.known(symbol.file).language.manifest.names;
        if names.deref_members.is_empty() || self.depth >= MAX_DEPTH {
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

    /// Returns the named fields of a variant, where an expression in type position names one
    /// (`value` is its type as a type expression).
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

    /// Returns the extension members of an external type.
    pub(in crate::resolve) fn external_extensions(
        &mut self,
        outer: &str,
        name: Name,
    ) -> Option<Symbols> {
        let found = self
            .program
            .external_extensions(last_segment(outer))
            .and_then(|members| members.get(&name))?;
        let found: Symbols =
            found.iter().copied().filter(|member| self.is_wanted(*member)).collect();
        (!found.is_empty()).then(|| self.inherent(found))
    }

    /// Returns the name of the external type, or of every type, that members defined for `owner`
    /// extend.
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

    /// Substitutes the type parameters of the scope that defines a member by those of its receiver.
    pub(in crate::resolve) fn bind_receiver_parameters(
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

    /// Returns an associated type defined in the enclosing block, which takes precedence over
    /// others.
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

    /// Returns the field of a value by position.
    pub(in crate::resolve) fn positional(&mut self, value: &Ty, position: usize) -> Ty {
        let name = self.program.named(&position.to_string());
        match self.member_ty(&crate::resolve::types::infer::instance_of(value), name) {
            // No external type has members with such names.
            Ty::External(_) => Ty::Unknown,
            found => found,
        }
    }
}
