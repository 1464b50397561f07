//! What type an expression has. Values and types are one language of expressions; `ty` reads one as a value, `type_of` as a type.

use super::member::Member;
use super::ty::{Entity, Ty};
use super::{Name, Resolver, Symbols};
use crate::grammar::{FlowKind, TypeFlow};
use crate::model::SymbolKind;
use crate::model::facts::{BindingId, BindingKind, Expr, ExprId, LocalSymbol, Run, ScopeId, flags};
use crate::model::graph::{FileId, SymbolRef};
use std::rc::Rc;

/// Longest chain of expressions that is followed; longer ones have no known type.
const DEPTH: u32 = 80;

/// The names under which arrays, slices and mappings without a name of their own stand in tables of type flow.
pub(super) const ARRAY: &str = "[]";
pub(super) const MAPPING: &str = "{}";

impl Resolver<'_, '_> {
    /// The type of an expression's value.
    pub(super) fn ty(&mut self, file: FileId, expr: ExprId) -> Ty {
        let Some(position) = expr.get() else { return Ty::Unknown };
        if let Some(known) = self.types.get(&(file, expr)) {
            return known.clone();
        }
        if self.depth >= DEPTH {
            return Ty::Unknown;
        }
        // A value that depends on itself is not known by that way.
        self.types.insert((file, expr), Ty::Unknown);
        self.depth += 1;
        let ty = self.compute(file, self.program.known(file).facts.exprs[position], position);
        self.depth -= 1;
        self.types.insert((file, expr), ty.clone());
        ty
    }

    fn compute(&mut self, file: FileId, expr: Expr, position: usize) -> Ty {
        match expr {
            Expr::Name(name, scope) => {
                let at = self.program.known(file).facts.positions[position];
                let name = self.name(file, name);
                match self.lookup(file, name, scope, at) {
                    Some((entity, _)) => self.entity_ty(&entity, false),
                    None => Ty::Unknown,
                }
            }
            Expr::Member(object, name) => {
                let object = self.ty(file, object);
                let name = self.name(file, name);
                self.member_ty(&object, name)
            }
            Expr::Call(callee, args) => {
                let callee = self.ty(file, callee);
                self.call_result(file, &callee, args)
            }
            Expr::Construct(ty, _) => {
                let made = self.type_of(file, ty);
                instance_of(&made)
            }
            Expr::Index(object, key) => {
                let object = self.ty(file, object);
                self.indexed(file, &object, key)
            }
            Expr::Element(value) => {
                let value = self.ty(file, value);
                self.element(file, &value)
            }
            Expr::Key(value) => match self.ty(file, value) {
                Ty::Builtin(_, args) if args.len() > 1 => args[0].clone(),
                _ => Ty::Unknown,
            },
            Expr::Await(value) => {
                let value = self.ty(file, value);
                self.through(file, &value, |flow| flow.awaited.as_deref()).unwrap_or(value)
            }
            Expr::Unwrapped(value) => {
                let value = self.ty(file, value);
                self.through(file, &value, |flow| flow.unwrapped.as_deref()).unwrap_or(value)
            }
            Expr::Enter(value) => {
                let value = self.ty(file, value);
                self.entered(file, &value)
            }
            Expr::Item(value, item) => {
                let value = self.ty(file, value);
                self.item(file, &value, item as usize)
            }
            Expr::SelfValue(scope) => self.scope_type(file, scope).unwrap_or(Ty::Unknown),
            Expr::SuperValue(scope) => match self.scope_type(file, scope) {
                Some(Ty::Instance(symbol, _)) => Ty::Super(symbol),
                _ => Ty::Unknown,
            },
            Expr::SelfType(scope) => match self.scope_type(file, scope) {
                Some(Ty::Instance(symbol, args)) => Ty::Type(symbol, args),
                Some(other) => other,
                None => Ty::Unknown,
            },
            Expr::Literal(name) => {
                let name = self.program.known(file).facts.names[name.get().unwrap_or(0)].as_ref();
                Ty::builtin(name, &[])
            }
            Expr::OfType(ty) => self.instance_of_expr(file, ty),
            Expr::Union(list) => {
                let parts = self.all(file, list);
                Ty::union(parts)
            }
            Expr::Tuple(list) => Ty::Tuple(self.all(file, list).into()),
            Expr::Lambda(scope) => Ty::Lambda(file, scope),
            Expr::Members(scope) => Ty::Members(file, scope),
            Expr::Apply(base, args) => {
                let base = self.ty(file, base);
                let args: Vec<Ty> = self.all(file, args).iter().map(instance_of).collect();
                self.applied(file, base, &args)
            }
            Expr::Mapping(key, value) => {
                let parts = [self.ty(file, key), self.ty(file, value)].map(|part| instance_of(&part));
                Ty::builtin(MAPPING, &parts)
            }
            Expr::Wrap(..) | Expr::Array(_) | Expr::Function(_) | Expr::Base(..) => self.type_of(file, ExprId::at(position)),
            Expr::TypeOf(value) => self.ty(file, value),
            Expr::Unknown => Ty::Unknown,
        }
    }

    fn all(&mut self, file: FileId, list: Run) -> Vec<Ty> {
        let items = &self.program.known(file).facts.lists[list.range()];
        items.iter().map(|item| self.ty(file, *item)).collect()
    }

    /// The type that an expression in type position names, as a type.
    pub(super) fn type_of(&mut self, file: FileId, expr: ExprId) -> Ty {
        let Some(position) = expr.get() else { return Ty::Unknown };
        if self.depth >= DEPTH {
            return Ty::Unknown;
        }
        self.depth += 1;
        let facts = self.program.known(file).facts;
        let list = |list: Run| facts.lists[list.range()].iter().copied();
        let ty = match facts.exprs[position] {
            Expr::Name(name, scope) => {
                let name = self.name(file, name);
                match self.lookup(file, name, scope, facts.positions[position]) {
                    Some((entity, _)) => self.entity_ty(&entity, true),
                    None => Ty::Unknown,
                }
            }
            Expr::Member(object, name) => {
                let object = self.type_of(file, object);
                let name = self.name(file, name);
                match self.member(&object, name) {
                    Member::Symbols(symbols) => self.symbols_ty(&symbols, true, None),
                    Member::Entity(entity) => self.entity_ty(&entity, true),
                    Member::Outside(name) => Ty::External(name),
                    Member::None | Member::Unknown => Ty::Unknown,
                }
            }
            Expr::Apply(base, args) => {
                let base = self.type_of(file, base);
                let args: Vec<Ty> = list(args).map(|arg| self.instance_of_expr(file, arg)).collect();
                self.applied(file, base, &args)
            }
            Expr::Wrap(inner, _) | Expr::Base(inner, _) => self.type_of(file, inner),
            Expr::Array(inner) => Ty::builtin(ARRAY, &[self.instance_of_expr(file, inner)]),
            Expr::Mapping(key, value) => {
                let parts = [self.instance_of_expr(file, key), self.instance_of_expr(file, value)];
                Ty::builtin(MAPPING, &parts)
            }
            Expr::Tuple(parts) => Ty::Tuple(list(parts).map(|part| self.instance_of_expr(file, part)).collect()),
            Expr::Union(parts) => Ty::union(list(parts).map(|part| self.type_of(file, part)).collect::<Vec<_>>()),
            Expr::Function(parts) => match list(parts).last() {
                Some(result) => Ty::Function(Rc::new(self.instance_of_expr(file, result))),
                None => Ty::Unknown,
            },
            _ => self.ty(file, expr),
        };
        self.depth -= 1;
        ty
    }

    /// A value of the type that an expression names.
    pub(super) fn instance_of_expr(&mut self, file: FileId, expr: ExprId) -> Ty {
        let ty = self.type_of(file, expr);
        let ty = instance_of(&ty);
        self.unaliased(ty)
    }

    /// A value of an alias is a value of what the alias names.
    fn unaliased(&mut self, ty: Ty) -> Ty {
        if let Ty::Instance(symbol, args) = &ty {
            let entry = self.program.symbol(*symbol);
            if entry.kind == SymbolKind::TypeAlias && entry.ty.is_some() && self.depth < DEPTH {
                self.depth += 1;
                let target = self.instance_of_expr(symbol.file, entry.ty);
                self.depth -= 1;
                let map = self.arguments_of(*symbol, args);
                return if target.is_known() { target.map(&map) } else { Ty::Unknown };
            }
        }
        ty
    }

    /// A generic type with arguments, or a wrapper that types are seen through.
    fn applied(&mut self, file: FileId, base: Ty, args: &[Ty]) -> Ty {
        match &base {
            Ty::Type(symbol, _) => Ty::Type(*symbol, args.into()),
            Ty::Instance(symbol, _) => Ty::Instance(*symbol, args.into()),
            Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _) => {
                let Some((canonical, flow)) = self.flow(file, name) else { return base };
                match flow.kind {
                    Some(FlowKind::Transparent) => Ty::union(args.iter().cloned()),
                    Some(FlowKind::Tuple) => Ty::Tuple(args.into()),
                    Some(FlowKind::TypeObject) => match args.first() {
                        Some(Ty::Instance(symbol, args)) => Ty::Type(*symbol, args.clone()),
                        _ => Ty::Unknown,
                    },
                    Some(FlowKind::Function) => Ty::Function(Rc::new(args.last().cloned().unwrap_or(Ty::Unknown))),
                    None => Ty::builtin(canonical, args),
                }
            }
            _ => base,
        }
    }

    /// The table of type flow for a builtin or outside type, by the last part of its name.
    fn flow(&self, file: FileId, name: &str) -> Option<(&'static str, &'static TypeFlow)> {
        let language = self.program.known(file).language;
        language.flow(name).or_else(|| language.flow(last_segment(name)))
    }

    /// What a table of type flow says that a value gives in some way.
    fn through(&mut self, file: FileId, value: &Ty, what: impl Fn(&TypeFlow) -> Option<&str>) -> Option<Ty> {
        let (Ty::Builtin(name, args) | Ty::BuiltinType(name, args)) = value else { return None };
        let (_, flow) = self.flow(file, name)?;
        let template = what(flow)?;
        Some(self.template(file, template, flow, args, value))
    }

    /// A type written in a table of type flow: a parameter, `Self`, or a name with arguments.
    pub(super) fn template(&mut self, file: FileId, text: &str, flow: &TypeFlow, args: &[Ty], this: &Ty) -> Ty {
        let text = text.trim();
        if let Some(position) = flow.params.iter().position(|param| param == text) {
            return args.get(position).cloned().unwrap_or(Ty::Unknown);
        }
        if text == "Self" {
            return this.clone();
        }
        let (head, inner) = match text.split_once('<') {
            Some((head, rest)) => (head, rest.strip_suffix('>').unwrap_or(rest)),
            None => (text, ""),
        };
        let parts: Vec<Ty> = split_top(inner).into_iter().map(|part| self.template(file, part, flow, args, this)).collect();
        match head {
            "tuple" | "()" => Ty::Tuple(parts.into()),
            "" | "?" => Ty::Unknown,
            head => Ty::builtin(head, &parts),
        }
    }

    /// What iterating over a value yields.
    pub(super) fn element(&mut self, file: FileId, value: &Ty) -> Ty {
        match value {
            Ty::Tuple(parts) => Ty::union(parts.iter().cloned()),
            Ty::Union(parts) => Ty::union(parts.clone().iter().map(|part| self.element(file, part)).collect::<Vec<_>>()),
            Ty::Builtin(name, args) => match self.through(file, value, |flow| flow.element.as_deref()) {
                Some(element) => element,
                None if &**name == ARRAY => args.first().cloned().unwrap_or(Ty::Unknown),
                None => Ty::Unknown,
            },
            Ty::Instance(symbol, _) => {
                let members = self.program.known(symbol.file).language.manifest.names.iterator_members.clone();
                let Some((first, rest)) = members.split_first() else { return Ty::Unknown };
                let iterator = self.result_of_member(value, first);
                match iterator {
                    Ty::Instance(..) => match rest.first() {
                        Some(next) => self.result_of_member(&iterator, next),
                        None => iterator,
                    },
                    Ty::Unknown => Ty::Unknown,
                    other => self.element(file, &other),
                }
            }
            _ => Ty::Unknown,
        }
    }

    /// What calling a member of a value without arguments gives.
    fn result_of_member(&mut self, value: &Ty, member: &str) -> Ty {
        let Some(name) = self.program.names.get(member) else { return Ty::Unknown };
        match self.member_ty(value, name) {
            Ty::Callable(symbols, receiver) => self.result_of(&symbols, receiver.as_deref(), &[]),
            _ => Ty::Unknown,
        }
    }

    fn indexed(&mut self, file: FileId, object: &Ty, key: ExprId) -> Ty {
        match object {
            // A generic function or type with explicit arguments.
            Ty::Type(symbol, _) => {
                let arg = self.instance_of_expr(file, key);
                Ty::Type(*symbol, Rc::from([arg]))
            }
            Ty::Callable(..) => object.clone(),
            Ty::Tuple(parts) => Ty::union(parts.iter().cloned()),
            Ty::Union(parts) => Ty::union(parts.clone().iter().map(|part| self.indexed(file, part, key)).collect::<Vec<_>>()),
            Ty::Builtin(name, args) => match self.through(file, object, |flow| flow.index.as_deref().or(flow.element.as_deref()))
            {
                Some(item) => item,
                None if &**name == ARRAY => args.first().cloned().unwrap_or(Ty::Unknown),
                None if &**name == MAPPING => args.get(1).cloned().unwrap_or(Ty::Unknown),
                None => Ty::Unknown,
            },
            Ty::Instance(symbol, _) => match &self.program.known(symbol.file).language.manifest.names.index_member {
                Some(member) => self.result_of_member(object, member),
                None => Ty::Unknown,
            },
            Ty::External(name) => self.applied_outside(file, name, key),
            _ => Ty::Unknown,
        }
    }

    fn applied_outside(&mut self, file: FileId, name: &Rc<str>, key: ExprId) -> Ty {
        let arg = self.instance_of_expr(file, key);
        self.applied(file, Ty::External(name.clone()), &[arg])
    }

    fn entered(&mut self, file: FileId, value: &Ty) -> Ty {
        match value {
            Ty::Instance(symbol, _) => {
                let member = self.program.known(symbol.file).language.manifest.names.enter_member.clone();
                match member {
                    Some(member) => {
                        let entered = self.result_of_member(value, &member);
                        if entered.is_known() { entered } else { value.clone() }
                    }
                    None => value.clone(),
                }
            }
            Ty::Union(parts) => Ty::union(parts.clone().iter().map(|part| self.entered(file, part)).collect::<Vec<_>>()),
            other => self.through(file, other, |flow| flow.entered.as_deref()).unwrap_or(Ty::Unknown),
        }
    }

    fn item(&mut self, file: FileId, value: &Ty, position: usize) -> Ty {
        match value {
            Ty::Tuple(parts) => parts.get(position).cloned().unwrap_or(Ty::Unknown),
            Ty::Union(parts) => Ty::union(parts.clone().iter().map(|part| self.item(file, part, position)).collect::<Vec<_>>()),
            Ty::Callable(symbols, receiver) => {
                // A variant whose parts are taken out again.
                let Some(&variant) = symbols.first() else { return Ty::Unknown };
                let entry = self.program.symbol(variant);
                if entry.kind != SymbolKind::Variant {
                    return Ty::Unknown;
                }
                let parts = self.instance_of_expr(variant.file, entry.ty);
                let parts = self.substituted(parts, receiver.as_deref());
                match parts {
                    Ty::Tuple(parts) => parts.get(position).cloned().unwrap_or(Ty::Unknown),
                    _ => Ty::Unknown,
                }
            }
            Ty::Builtin(name, _) if &**name == ARRAY || self.flow(file, name).is_some() => self.element(file, value),
            _ => Ty::Unknown,
        }
    }

    /// The type of what a name means.
    pub(super) fn entity_ty(&mut self, entity: &Entity, as_type: bool) -> Ty {
        match entity {
            Entity::Symbols(symbols) => self.symbols_ty(symbols, as_type, None),
            Entity::Module(module) => Ty::Module(*module),
            Entity::External(name) => Ty::External(name.clone()),
            Entity::Builtin(name) => Ty::BuiltinType(Rc::from(self.program.text(*name)), Rc::from([])),
            Entity::Local(file, bindings) => {
                let parts: Vec<Ty> = bindings.iter().map(|binding| self.binding_ty(*file, *binding)).collect();
                // Where one of several values is not known, the known ones do not speak for all.
                Ty::union(parts)
            }
        }
    }

    fn binding_ty(&mut self, file: FileId, id: BindingId) -> Ty {
        let binding = self.program.known(file).binding(id);
        match binding.kind {
            BindingKind::TypeParam => Ty::Param(file, id),
            BindingKind::Narrow => self.instance_of_expr(file, binding.ty),
            _ if binding.ty.is_some() => self.instance_of_expr(file, binding.ty),
            _ => self.ty(file, binding.value),
        }
    }

    /// The type of a reference to symbols of one name, taken from a value or not.
    pub(super) fn symbols_ty(&mut self, symbols: &Symbols, as_type: bool, receiver: Option<&Ty>) -> Ty {
        let program = self.program;
        let kind = |symbol: &SymbolRef| program.symbol(*symbol).kind;
        let chosen = match as_type {
            true => symbols.iter().find(|symbol| is_scope(kind(symbol))),
            false => symbols.iter().find(|symbol| !matches!(kind(symbol), SymbolKind::Interface | SymbolKind::TypeAlias)),
        };
        let Some(&chosen) = chosen.or(symbols.first()) else { return Ty::Unknown };
        let entry = self.program.symbol(chosen);
        match entry.kind {
            kind if is_scope(kind) => Ty::Type(chosen, Rc::from([])),
            SymbolKind::Variant if entry.ty.is_some() => Ty::Callable(symbols.clone(), receiver.cloned().map(Rc::new)),
            SymbolKind::Variant => self.container_instance(chosen, receiver),
            kind if kind.is_callable() => {
                if entry.flags & flags::PROPERTY != 0 {
                    return self.result_of(&Symbols::from_slice(&[chosen]), receiver, &[]);
                }
                let callables =
                    symbols.iter().copied().filter(|symbol| self.program.symbol(*symbol).kind.is_callable()).collect();
                Ty::Callable(callables, receiver.cloned().map(Rc::new))
            }
            _ => {
                let value = self.value_ty(chosen);
                self.substituted(value, receiver)
            }
        }
    }

    /// A value of the type that a symbol is a part of.
    pub(super) fn container_instance(&mut self, symbol: SymbolRef, receiver: Option<&Ty>) -> Ty {
        let container = match self.program.containers.get(&symbol) {
            Some(&container) => container,
            None => SymbolRef { file: symbol.file, symbol: self.program.symbol(symbol).container },
        };
        if container.symbol.get().is_none() {
            return Ty::Unknown;
        }
        match receiver {
            Some(Ty::Type(of, args) | Ty::Instance(of, args)) if *of == container => Ty::Instance(container, args.clone()),
            _ => Ty::instance(container),
        }
    }

    /// The type of a variable, field or constant: as declared, or of the values it is given.
    fn value_ty(&mut self, symbol: SymbolRef) -> Ty {
        if let Some(known) = self.results.get(&symbol) {
            return known.clone();
        }
        self.results.insert(symbol, Ty::Unknown);
        let entry = self.program.symbol(symbol);
        let ty = if entry.ty.is_some() {
            self.instance_of_expr(symbol.file, entry.ty)
        } else {
            let parts = self.all(symbol.file, entry.values);
            Ty::union(parts)
        };
        self.results.insert(symbol, ty.clone());
        ty
    }

    /// The type of a member of a value.
    pub(super) fn member_ty(&mut self, object: &Ty, name: Name) -> Ty {
        if let Ty::Union(parts) = object {
            let parts = parts.clone();
            return Ty::union(parts.iter().map(|part| self.member_ty(part, name)).collect::<Vec<_>>());
        }
        match self.member(object, name) {
            Member::Symbols(symbols) => self.symbols_ty(&symbols, false, Some(object)),
            Member::Entity(entity) => self.entity_ty(&entity, false),
            Member::Outside(qualified) => self.outside_member(object, name, &qualified),
            Member::None | Member::Unknown => Ty::Unknown,
        }
    }

    /// A member of a builtin value: as the table of type flow says.
    fn outside_member(&mut self, object: &Ty, name: Name, qualified: &Rc<str>) -> Ty {
        let (Ty::Builtin(outer, args) | Ty::BuiltinType(outer, args)) = object else { return Ty::External(qualified.clone()) };
        let text = self.program.text(name);
        // Tables of all languages of the program are asked; a builtin's name and member tell which is meant.
        let mut current: Rc<str> = outer.clone();
        for _ in 0..8 {
            let found = crate::grammar::all().iter().find_map(|language| language.flow(&current));
            let Some((_, flow)) = found else { break };
            if let Some(template) = flow.members.get(text) {
                let file = FileId(0);
                let result = self.template(file, template, flow, args, object);
                return Ty::Function(Rc::new(result));
            }
            let Some(base) = &flow.base else { break };
            current = Rc::from(base.as_str());
        }
        Ty::External(qualified.clone())
    }

    /// A type with the parameters of its receiver's type replaced by the receiver's arguments.
    pub(super) fn substituted(&mut self, ty: Ty, receiver: Option<&Ty>) -> Ty {
        let Some(Ty::Instance(symbol, args) | Ty::Type(symbol, args)) = receiver else { return ty };
        if args.is_empty() && self.program.symbol(*symbol).bases.len == 0 {
            return ty;
        }
        let own = self.arguments_of(*symbol, args);
        let hierarchy = self.hierarchy(*symbol);
        let mut ty = ty;
        for (base, base_args) in hierarchy.types.iter().skip(1) {
            if !base_args.is_empty() {
                let map = self.arguments_of(*base, base_args);
                ty = ty.map(&map);
            }
        }
        ty.map(&own)
    }

    /// The result of one callable for a receiver and arguments.
    pub(super) fn return_ty(&mut self, symbol: SymbolRef, receiver: Option<&Ty>, args: &[Ty]) -> Ty {
        let entry = self.program.symbol(symbol);
        if matches!(entry.kind, SymbolKind::Constructor | SymbolKind::Variant) {
            return self.container_instance(symbol, receiver);
        }
        let facts = self.program.known(symbol.file).facts;
        let returns_self = |expr: ExprId| {
            matches!(expr.get().map(|position| facts.exprs[position]), Some(Expr::SelfType(_) | Expr::SelfValue(_)))
        };
        if returns_self(entry.ty)
            && let Some(receiver @ (Ty::Instance(..) | Ty::Type(..))) = receiver
        {
            return instance_of(receiver);
        }
        let result = self.declared_or_inferred(symbol);
        let result = self.bind_parameters(symbol, result, args);
        self.substituted(result, receiver)
    }

    fn declared_or_inferred(&mut self, symbol: SymbolRef) -> Ty {
        if let Some(known) = self.results.get(&symbol) {
            return known.clone();
        }
        self.results.insert(symbol, Ty::Unknown);
        let entry = self.program.symbol(symbol);
        let infers = self.program.known(symbol.file).language.manifest.resolution.infer_returns;
        let ty = if entry.ty.is_some() {
            self.instance_of_expr(symbol.file, entry.ty)
        } else if infers || entry.flags & flags::FUNCTION_VALUE != 0 {
            let parts = self.all(symbol.file, entry.values);
            let union = Ty::union(parts);
            if entry.flags & flags::GENERATOR != 0 { Ty::builtin("Iterator", &[union]) } else { union }
        } else {
            Ty::Unknown
        };
        self.results.insert(symbol, ty.clone());
        ty
    }

    /// Replaces a callable's own type parameters by what the arguments show.
    fn bind_parameters(&mut self, symbol: SymbolRef, result: Ty, args: &[Ty]) -> Ty {
        let entry = self.program.symbol(symbol);
        if entry.type_params.len == 0 || args.is_empty() {
            return result;
        }
        let mut known: Vec<((FileId, BindingId), Ty)> = Vec::new();
        for (position, arg) in entry.params.range().zip(args) {
            let param = &self.program.known(symbol.file).facts.bindings[position];
            let declared = self.instance_of_expr(symbol.file, param.ty);
            unify(&declared, arg, &mut known);
        }
        result.map(&|ty: &Ty| match ty {
            Ty::Param(file, binding) => known.iter().find(|(param, _)| *param == (*file, *binding)).map(|(_, ty)| ty.clone()),
            _ => None,
        })
    }

    /// What a closure gives back.
    pub(super) fn lambda_result(&mut self, file: FileId, scope: ScopeId) -> Ty {
        let symbol = self.program.known(file).scope_symbol(scope);
        match symbol.get() {
            Some(_) => self.return_ty(SymbolRef { file, symbol: LocalSymbol(symbol.0) }, None, &[]),
            None => Ty::Unknown,
        }
    }
}

/// A value of a type; of anything else, itself.
pub(super) fn instance_of(ty: &Ty) -> Ty {
    match ty {
        Ty::Type(symbol, args) => Ty::Instance(*symbol, args.clone()),
        Ty::BuiltinType(name, args) => Ty::Builtin(name.clone(), args.clone()),
        Ty::Union(parts) => Ty::union(parts.iter().map(instance_of)),
        Ty::Callable(..) | Ty::Module(_) => Ty::Unknown,
        other => other.clone(),
    }
}

fn is_scope(kind: SymbolKind) -> bool {
    kind.is_type() || matches!(kind, SymbolKind::Module | SymbolKind::Namespace)
}

/// The last part of a qualified name, whatever joins its parts.
pub(super) fn last_segment(name: &str) -> &str {
    name.rsplit(['.', ':', '/']).next().unwrap_or(name)
}

fn split_top(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0usize);
    for (position, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(&text[start..]);
    }
    parts
}

fn unify(declared: &Ty, given: &Ty, known: &mut Vec<((FileId, BindingId), Ty)>) {
    match (declared, given) {
        (Ty::Param(file, binding), given) if given.is_known() => {
            if !known.iter().any(|(param, _)| *param == (*file, *binding)) {
                known.push(((*file, *binding), given.clone()));
            }
        }
        (Ty::Instance(a, declared), Ty::Instance(b, given)) if a == b => {
            declared.iter().zip(given.iter()).for_each(|(declared, given)| unify(declared, given, known));
        }
        (Ty::Builtin(a, declared), Ty::Builtin(b, given)) if a == b => {
            declared.iter().zip(given.iter()).for_each(|(declared, given)| unify(declared, given, known));
        }
        (Ty::Type(a, _), Ty::Type(b, _)) if a == b => {}
        (Ty::Union(parts), given) => parts.iter().for_each(|part| unify(part, given, known)),
        _ => {}
    }
}
