//! Resolution of one reference: verdict, with the step that decided it or the reason for the
//! failure.

use super::outcome::{chosen, external, held_by, module_target, unresolved};
use crate::grammar::{ModuleSystem, Tier};
use crate::model::facts::{BindingKind, Expr, ExprId, ImportKind, Run, Site};
use crate::model::graph::{FileId, Resolution, SymbolRef};
use crate::model::{SiteKind, Step, SymbolKind, Verdict};
use crate::resolve::calls::call::CallArguments;
use crate::resolve::names::scopes::Visited;
use crate::resolve::types::ty::Member;
use crate::resolve::types::ty::{Entity, Ty};
use crate::resolve::units::import_target::ImportTarget;
use crate::resolve::{Name, Resolver, Symbols};

impl Resolver<'_, '_> {
    /// Returns the verdict of a reference of a file; results that exhaust the budget are discarded.
    pub(in crate::resolve) fn site(&mut self, file: FileId, site: &Site) -> Resolution {
        if self.budget.is_spent() {
            return unresolved(Step::Fault);
        }
        let found = self.find_site(file, site);
        let found = self.limited_by_tier(file, site, found);
        let found = self.or_variants(file, found);
        if self.budget.is_spent() { unresolved(Step::Fault) } else { found }
    }

    fn find_site(&mut self, file: FileId, site: &Site) -> Resolution {
        let facts = self.program.known(file).facts;
        if site.kind == SiteKind::Import {
            return self.import_site(file, site);
        }
        let Some(target) = site.target.get() else { return unresolved(Step::Dynamic) };
        if !self.matches_target_name(file, site) {
            tracing::error!(path = %self.program.path(file), byte = site.byte, "a reference and \
                what it names do not belong together");
            return unresolved(Step::Fault);
        }
        match facts.exprs[target] {
            Expr::Name(name, scope) => {
                let name = self.name(file, name);
                let look = |resolver: &mut Self| resolver.lookup(file, name, scope, site.byte);
                let found = match site.kind {
                    SiteKind::Type | SiteKind::Inherit => {
                        self.lookup_type(file, name, scope, site.byte)
                    }
                    kind => self.lookup_value(file, kind == SiteKind::Call, look),
                };
                match found {
                    Some((Entity::Module(_), _)) if is_call(site.kind) => {
                        match self.ignoring_modules(look) {
                            Some((entity, step)) => self.entity_site(file, site, &entity, step),
                            None => unresolved(Step::Dynamic),
                        }
                    }
                    Some((entity, step)) => self.entity_site(file, site, &entity, step),
                    None => {
                        let found = self.unbound_site(file, site, name);
                        let is_open = found.verdict == Verdict::Unresolved;
                        let apart = is_open.then(|| self.by_alternatives(file, site, name, scope));
                        apart.flatten().unwrap_or(found)
                    }
                }
            }
            Expr::Member(object, name) => {
                let name = self.name(file, name);
                self.member_site(file, site, object, name)
            }
            Expr::SelfValue(_) if site.kind == SiteKind::Call => {
                let of = self.ty(file, site.target);
                match of {
                    Ty::Instance(symbol, _)
                        if self
                            .program
                            .known(file)
                            .language
                            .manifest
                            .names
                            .call_member
                            .is_none() =>
                    {
                        self.construct_site(
                            file,
                            site,
                            &Symbols::from_slice(&[symbol]),
                            Step::SelfMember,
                        )
                    }
                    _ => self.value_site(file, site, &of),
                }
            }
            Expr::SuperValue(_) => {
                let of = self.ty(file, site.target);
                self.super_site(file, site, &of)
            }
            _ => {
                let callee = self.ty(file, site.target);
                self.value_site(file, site, &callee)
            }
        }
    }

    /// True if a reference and its target expression have the same name. References and expressions
    /// are numbered separately; a stale id would yield the result of another expression.
    fn matches_target_name(&self, file: FileId, site: &Site) -> bool {
        let unit = self.program.known(file);
        match site.target.get().map(|target| unit.facts.exprs[target]) {
            // The name of a macro may have a suffix that its call omits.
            Some(Expr::Name(name, _) | Expr::Member(_, name)) => {
                name == site.name || unit.text(name).starts_with(unit.text(site.name))
            }
            _ => true,
        }
    }

    fn import_site(&mut self, file: FileId, site: &Site) -> Resolution {
        let Some(import) = site.import.get() else { return unresolved(Step::NoSuchName) };
        let kind = self.program.known(file).facts.imports[import].kind;
        if kind != ImportKind::Include
            && self.program.known(file).language.manifest.modules.system == ModuleSystem::Includes
            && let Some(Entity::Symbols(symbols)) = self.using_declaration(file, site.import)
        {
            let symbols = self.with_definitions(&symbols);
            return chosen(&symbols, Step::Import, Step::Overloads);
        }
        match self.program.import_target(file, import) {
            ImportTarget::External(name) => external(name, Step::ExternalImport),
            ImportTarget::Path { module, path }
                if path.is_empty() || kind == ImportKind::Wildcard =>
            {
                module_target(*module, Step::Import)
            }
            ImportTarget::Path { .. } => {
                match self.import_entity(file, site.import, &mut Visited::default()) {
                    Some(Entity::Symbols(mut symbols)) => {
                        self.defined(&mut symbols);
                        chosen(&symbols, Step::Import, Step::SeveralValues)
                    }
                    Some(Entity::Module(module)) => module_target(module, Step::Import),
                    Some(Entity::External(name)) => external(&name, Step::ExternalImport),
                    Some(Entity::Local(..) | Entity::Builtin(_)) => unresolved(Step::LocalValue),
                    None => unresolved(Step::NoSuchName),
                }
            }
        }
    }

    fn entity_site(
        &mut self,
        file: FileId,
        site: &Site,
        entity: &Entity,
        step: Step,
    ) -> Resolution {
        match entity {
            Entity::Symbols(symbols) => self.symbols_site(file, site, symbols, step),
            Entity::Module(module) => module_target(*module, step),
            // An external wildcard import is no evidence that the namespace has the name.
            Entity::External(_) if step == Step::Wildcard && self.tier(file) != Tier::Full => {
                unresolved(Step::NoSuchName)
            }
            Entity::External(name) => external(name, Step::ExternalImport),
            Entity::Builtin(name) => external(self.program.text(*name), Step::Builtin),
            Entity::Local(..) if !is_call(site.kind) => unresolved(Step::LocalValue),
            Entity::Local(local, bindings) => {
                let is_type_param = bindings.iter().any(|binding| {
                    self.program.known(*local).binding(*binding).kind == BindingKind::TypeParam
                });
                if is_type_param {
                    return unresolved(Step::LocalValue);
                }
                let callee = self.entity_ty(entity, false);
                let found = self.value_site(file, site, &callee);
                self.limited_by_known_values(*local, bindings, found)
            }
        }
    }

    /// Resolves a call of a value: the function or type that it holds, or the call operator of its
    /// type.
    fn value_site(&mut self, file: FileId, site: &Site, callee: &Ty) -> Resolution {
        match callee {
            Ty::Callable(symbols, _) => self.symbols_site(file, site, symbols, Step::InferredType),
            Ty::Type(symbol, _) => {
                self.symbols_site(file, site, &Symbols::from_slice(&[*symbol]), Step::InferredType)
            }
            Ty::Lambda(of, scope) => match self.program.known(*of).scope_symbol(*scope) {
                symbol if symbol.is_some() => chosen(
                    &Symbols::from_slice(&[SymbolRef { file: *of, symbol }]),
                    Step::InferredType,
                    Step::SeveralValues,
                ),
                _ => unresolved(Step::LocalValue),
            },
            Ty::Instance(symbol, _) => {
                let names = &self.program.known(symbol.file).language.manifest.names;
                let member = names.call_member.as_deref().map(|member| self.program.named(member));
                match member.map(|member| self.member_symbols(callee, member)) {
                    Some(symbols) if !symbols.is_empty() => {
                        self.symbols_site(file, site, &symbols, Step::InferredType)
                    }
                    _ => unresolved(Step::Dynamic),
                }
            }
            Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _) => {
                external(name, Step::Builtin)
            }
            Ty::Union(parts) => {
                let mut symbols = Symbols::new();
                for part in parts.iter() {
                    match part {
                        Ty::Callable(more, _) => symbols.extend(more.iter().copied()),
                        Ty::Type(symbol, _) => symbols.push(*symbol),
                        _ => {}
                    }
                }
                if symbols.is_empty() {
                    return unresolved(Step::Dynamic);
                }
                let found = self.symbols_site(file, site, &symbols, Step::InferredType);
                // A function passed by a caller is another possible target.
                let given =
                    |part: &Ty| matches!(part, Ty::Function(_) | Ty::External(_) | Ty::Param(..));
                if parts.iter().any(given) {
                    crate::resolve::references::exhaustiveness::one_of_several(found)
                } else {
                    found
                }
            }
            _ => unresolved(Step::Dynamic),
        }
    }

    /// Resolves a reference to one of several symbols of a name.
    fn symbols_site(
        &mut self,
        file: FileId,
        site: &Site,
        symbols: &Symbols,
        step: Step,
    ) -> Resolution {
        if !self.budget.take(symbols.len()) {
            return unresolved(Step::Fault);
        }
        let symbols = self.macros_or_functions(file, site, self.fitting_kind(site.kind, symbols));
        let symbols = self.without_stubs(self.compiled_with(file, site.byte, symbols));
        let declarations = self.program.known(file).language.manifest.resolution.declarations;
        if !is_call(site.kind) {
            let symbols = if declarations { self.with_definitions(&symbols) } else { symbols };
            let mut symbols = self.without_own_names(symbols);
            self.defined(&mut symbols);
            let symbols = self.compiled_with(file, site.byte, symbols);
            return chosen(&symbols, step, self.ambiguity_step(&symbols, Step::SeveralValues));
        }
        let program = self.program;
        let kind = |position: usize| program.symbol(symbols[position]).kind;
        if kind(0).is_type() && (symbols.len() == 1 || declarations) {
            let symbols = if declarations { self.with_definitions(&symbols) } else { symbols };
            return self.construct_site(file, site, &symbols, step);
        }
        let is_variable =
            matches!(kind(0), SymbolKind::Variable | SymbolKind::Constant | SymbolKind::Field);
        if is_variable && declarations && site.kind == SiteKind::Construct {
            return self.field_site(file, site, symbols[0]);
        }
        if symbols.len() == 1
            && is_variable
            && site.kind == SiteKind::Call
            && self.has_accessor(symbols[0])
        {
            // Call of a name that only a field has: its implied accessor.
            return chosen(&symbols, step, step);
        }
        if symbols.len() == 1 && is_variable {
            let callee = self.symbols_ty(&symbols, false, None);
            let found = self.value_site(file, site, &callee);
            // A builtin value is not callable: the type is the result of the held function.
            let is_open = found.verdict == Verdict::Unresolved || matches!(callee, Ty::Builtin(..));
            return if is_open && site.kind == SiteKind::Call {
                held_by(symbols[0])
            } else {
                found
            };
        }
        let fitting = self.fitting(file, &symbols, CallArguments::Written(site.args), site.spread);
        let fitting = self.compiled_with(file, site.byte, fitting);
        let scope = |symbol: &SymbolRef| (symbol.file, self.program.symbol(*symbol).scope);
        let together = symbols.iter().all(|symbol| scope(symbol) == scope(&symbols[0]));
        let several = if together { Step::Overloads } else { Step::SeveralValues };
        chosen(&fitting, step, self.ambiguity_step(&fitting, several))
    }

    /// Resolves an instantiation: to the constructor, where overloads distinguish constructors,
    /// else to the type.
    fn construct_site(
        &mut self,
        file: FileId,
        site: &Site,
        symbols: &Symbols,
        step: Step,
    ) -> Resolution {
        let of = self.alias_target(symbols[0]).unwrap_or(symbols[0]);
        if self.is_conversion(of) {
            return external(self.program.text(self.program.name_of(symbols[0])), Step::Builtin);
        }
        if !self.program.known(of.file).language.manifest.resolution.overloads {
            return chosen(&Symbols::from_slice(&[of]), step, step);
        }
        let constructors = self.constructors(of);
        if constructors.is_empty() {
            return chosen(&Symbols::from_slice(&[of]), step, step);
        }
        let fitting =
            self.fitting(file, &constructors, CallArguments::Written(site.args), site.spread);
        chosen(&fitting, step, Step::Overloads)
    }

    /// Resolves the initialization of a field with arguments: to the constructor of the field's
    /// type.
    fn field_site(
        &mut self,
        file: FileId,
        site: &Site,
        field: crate::model::graph::SymbolRef,
    ) -> Resolution {
        let ty = self.program.symbol(field).ty;
        let facts = self.program.known(field.file).facts;
        let holds_value = matches!(
            ty.get().map(|position| facts.exprs[position]),
            Some(Expr::Name(..) | Expr::Member(..) | Expr::Apply(..))
        );
        if !holds_value {
            return unresolved(Step::LocalValue);
        }
        match self.instance_of_expr(field.file, ty) {
            Ty::Instance(symbol, _) => {
                self.construct_site(file, site, &Symbols::from_slice(&[symbol]), Step::DeclaredType)
            }
            Ty::External(name) | Ty::Builtin(name, _) => external(&name, Step::Builtin),
            _ => unresolved(Step::ReceiverUnknown),
        }
    }

    /// Resolves a name without a visible binding: a called one by argument-dependent lookup.
    fn unbound_site(&mut self, file: FileId, site: &Site, name: Name) -> Resolution {
        let rules = &self.program.known(file).language.manifest.resolution;
        let args = match site.kind == SiteKind::Call && rules.argument_lookup {
            true => self.argument_types(file, site.args),
            false => Vec::new(),
        };
        let found = self.by_arguments(name, &args);
        if found.is_empty() {
            return unresolved(if site.in_macro { Step::Macro } else { Step::NoSuchName });
        }
        let fitting = self.fitting(file, &found, CallArguments::Typed(&args), site.spread);
        chosen(&fitting, Step::Package, Step::Overloads)
    }

    /// Selects the symbols of the kind that a reference uses, where types and values share names.
    pub(super) fn fitting_kind(&self, kind: SiteKind, symbols: &Symbols) -> Symbols {
        if symbols.len() < 2 {
            return symbols.clone();
        }
        let is_type = |position: usize| {
            let kind = self.program.symbol(symbols[position]).kind;
            kind.is_type() || matches!(kind, SymbolKind::Module | SymbolKind::Namespace)
        };
        let wanted = matches!(kind, SiteKind::Type | SiteKind::Inherit | SiteKind::Implement);
        let is_value = |position: &usize| {
            let kind = self.program.symbol(symbols[*position]).kind;
            !matches!(kind, SymbolKind::Interface | SymbolKind::TypeAlias | SymbolKind::Namespace)
        };
        let fits = |position: &usize| match kind {
            SiteKind::Call => is_value(position),
            _ => is_type(*position) == wanted,
        };
        let mut fitting: Symbols =
            (0..symbols.len()).filter(fits).map(|position| symbols[position]).collect();
        if fitting.is_empty() && !wanted {
            fitting.extend((0..symbols.len()).filter(is_value).map(|position| symbols[position]));
        }
        if fitting.is_empty() { symbols.clone() } else { fitting }
    }

    fn member_site(&mut self, file: FileId, site: &Site, object: ExprId, name: Name) -> Resolution {
        let of = self.ty(file, object);
        let step = self.receiver_step(file, object, &of);
        let called = site.kind == SiteKind::Call;
        let is_missing = |member: &Member| *member == Member::None;
        match self.among(file, called, |resolver| resolver.member(&of, name), is_missing) {
            Member::Entity(Entity::Module(_)) if is_call(site.kind) => {
                match self.ignoring_modules(|resolver| resolver.member(&of, name)) {
                    Member::Symbols(symbols) => self.symbols_site(file, site, &symbols, step),
                    Member::Entity(entity) => self.entity_site(file, site, &entity, step),
                    _ => unresolved(Step::Dynamic),
                }
            }
            Member::Symbols(symbols) => self.symbols_site(file, site, &symbols, step),
            Member::Entity(entity) => self.entity_site(file, site, &entity, step),
            Member::Outside(_) if self.may_have_member(&of, name) => {
                self.by_unique_name(file, site, name)
            }
            Member::Outside(name) => external(
                &name,
                if step == Step::ModuleMember { Step::ExternalImport } else { Step::Builtin },
            ),
            Member::None => unresolved(Step::NoSuchMember),
            Member::Unknown => self.by_unique_name(file, site, name),
        }
    }

    /// Resolves a call of `super(...)` itself: to the constructor of the base.
    fn super_site(&mut self, file: FileId, site: &Site, of: &Ty) -> Resolution {
        let Ty::Super(symbol) = of else { return unresolved(Step::ReceiverUnknown) };
        match self.extended(*symbol) {
            Some(Ty::Type(base, _) | Ty::Instance(base, _)) => {
                self.construct_site(file, site, &Symbols::from_slice(&[base]), Step::SuperMember)
            }
            Some(Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _)) => {
                external(&name, Step::Builtin)
            }
            Some(_) => unresolved(Step::ReceiverUnknown),
            None => unresolved(Step::NoSuchMember),
        }
    }

    /// True if a field implies a callable of its name, as a component of a record does.
    fn has_accessor(&self, field: crate::model::graph::SymbolRef) -> bool {
        let unit = self.program.known(field.file);
        let container = self.program.symbol(field).container.get();
        unit.language.manifest.resolution.separate_callables
            && container
                .is_some_and(|container| unit.facts.symbols[container].kind == SymbolKind::Struct)
    }

    /// Returns the step by which the type of a receiver was inferred.
    fn receiver_step(&self, file: FileId, object: ExprId, of: &Ty) -> Step {
        match of {
            Ty::Module(_) => return Step::ModuleMember,
            Ty::Type(..) => return Step::TypeMember,
            Ty::Super(_) => return Step::SuperMember,
            _ => {}
        }
        let unit = self.program.known(file);
        let Some(position) = object.get() else { return Step::ReceiverUnknown };
        match unit.facts.exprs[position] {
            Expr::SelfValue(_) => Step::SelfMember,
            Expr::Call(..) | Expr::Await(_) | Expr::Unwrapped(_) => Step::ReturnType,
            Expr::Construct(..) => Step::InferredType,
            Expr::Name(name, scope) => {
                let name = unit.name(name);
                let mut current = scope;
                while current.is_some() {
                    if let Some((_, binding)) =
                        self.program.bindings(file, unit, current, name).next()
                    {
                        let receiver = matches!(
                            binding.value.get().map(|position| unit.facts.exprs[position]),
                            Some(Expr::SelfValue(_) | Expr::SelfType(_))
                        );
                        return match (receiver, binding.ty.is_some()) {
                            (true, _) => Step::SelfMember,
                            (false, true) => Step::DeclaredType,
                            (false, false) => Step::InferredType,
                        };
                    }
                    current = unit.parent(current);
                }
                Step::InferredType
            }
            _ => Step::InferredType,
        }
    }
}

fn is_call(kind: SiteKind) -> bool {
    matches!(kind, SiteKind::Call | SiteKind::Construct | SiteKind::Decorate)
}

/// Returns the number of arguments of a reference.
pub(super) fn argument_count(args: Run) -> u16 {
    u16::try_from(args.len).unwrap_or(u16::MAX)
}
