//! Lookups restricted by kind: in languages with a separate namespace for callables, a call never
//! refers to a variable and a value never to a callable; a call never refers to a module.

use crate::model::facts::{Binding, BindingKind, Expr, ExprId, ScopeId};
use crate::model::graph::{FileId, SymbolRef};
use crate::model::{Step, SymbolKind};
use crate::resolve::types::ty::{Entity, Ty};
use crate::resolve::{Name, Resolver, Wanted};

impl Resolver<'_, '_> {
    /// Looks a name up among callables only, or among everything else, where the language of `file`
    /// separates them. Falls back to all names if the result `is_missing` (accessors without a
    /// body, callables named without a call).
    pub(in crate::resolve) fn among<T>(
        &mut self,
        file: FileId,
        callables: bool,
        look: impl Fn(&mut Self) -> T,
        is_missing: impl Fn(&T) -> bool,
    ) -> T {
        if !self.program.known(file).language.manifest.resolution.separate_callables {
            return look(self);
        }
        let before =
            self.wanted.replace(if callables { Wanted::Callables } else { Wanted::Others });
        let mut found = look(self);
        self.wanted = None;
        if is_missing(&found) {
            found = look(self);
        }
        self.wanted = before;
        found
    }

    /// Looks up a called name that resolves to a module, ignoring modules.
    pub(in crate::resolve) fn ignoring_modules<T>(
        &mut self,
        look: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.wanted.replace(Wanted::NoModules);
        let found = look(self);
        self.wanted = before;
        found
    }

    /// Looks a name up in value position, where tags are ignored.
    pub(in crate::resolve) fn lookup_value(
        &mut self,
        file: FileId,
        is_call: bool,
        look: impl Fn(&mut Self) -> Option<(Entity, Step)>,
    ) -> Option<(Entity, Step)> {
        if !self.program.known(file).language.manifest.resolution.tagged_types {
            return self.among(file, is_call, look, Option::is_none);
        }
        let before = self.wanted.replace(Wanted::Untagged);
        let found = look(self);
        self.wanted = before;
        found
    }

    /// Looks a name up in type position, in languages with declared types: nearer fields or
    /// functions of the same name are ignored.
    pub(in crate::resolve) fn lookup_type(
        &mut self,
        file: FileId,
        name: Name,
        scope: ScopeId,
        at: u32,
    ) -> Option<(Entity, Step)> {
        if !self.program.known(file).language.manifest.resolution.declarations {
            return self.among(
                file,
                false,
                |resolver| resolver.lookup(file, name, scope, at),
                Option::is_none,
            );
        }
        let before = self.wanted.replace(Wanted::Types);
        let found = self.lookup(file, name, scope, at);
        self.wanted = before;
        found
    }

    /// Returns the type of a callee.
    pub(in crate::resolve) fn callee_ty(&mut self, file: FileId, callee: ExprId) -> Ty {
        let unit = self.program.known(file);
        if !unit.language.manifest.resolution.separate_callables {
            let of = self.ty(file, callee);
            return if matches!(of, Ty::Module(_)) {
                self.called_ignoring_modules(file, callee)
            } else {
                of
            };
        }
        let Some(position) = callee.get() else { return Ty::Unknown };
        match unit.facts.exprs[position] {
            Expr::Name(name, scope) => {
                let (name, at) = (self.name(file, name), unit.facts.positions[position]);
                match self.among(
                    file,
                    true,
                    |resolver| resolver.lookup(file, name, scope, at),
                    Option::is_none,
                ) {
                    // The implicit receiver binds the parameters of its type.
                    Some((Entity::Symbols(symbols), _)) => {
                        let receiver = self.scope_type(file, scope);
                        self.symbols_ty(&symbols, false, receiver.as_ref())
                    }
                    Some((entity, _)) => self.entity_ty(&entity, false),
                    None => Ty::Unknown,
                }
            }
            Expr::Member(object, name) => {
                let object = self.ty(file, object);
                let name = self.name(file, name);
                self.among(
                    file,
                    true,
                    |resolver| resolver.member_ty(&object, name),
                    |ty| !ty.is_known(),
                )
            }
            _ => self.ty(file, callee),
        }
    }

    /// Returns the type of a callee whose name is also that of a module.
    fn called_ignoring_modules(&mut self, file: FileId, callee: ExprId) -> Ty {
        let unit = self.program.known(file);
        let Some(position) = callee.get() else { return Ty::Unknown };
        match unit.facts.exprs[position] {
            Expr::Name(name, scope) => {
                let (name, at) = (self.name(file, name), unit.facts.positions[position]);
                let found =
                    self.ignoring_modules(|resolver| resolver.lookup(file, name, scope, at));
                found.map_or(Ty::Unknown, |(entity, _)| self.entity_ty(&entity, false))
            }
            Expr::Member(object, name) => {
                let (object, name) = (self.ty(file, object), self.name(file, name));
                self.ignoring_modules(|resolver| resolver.member_ty(&object, name))
            }
            _ => Ty::Unknown,
        }
    }

    /// True if a symbol passes the filter of the lookup.
    pub(in crate::resolve) fn is_wanted(&self, symbol: SymbolRef) -> bool {
        let Some(wanted) = self.wanted else { return true };
        let kind = self.program.symbol(symbol).kind;
        match wanted {
            Wanted::Callables => kind.is_callable(),
            Wanted::Others => !kind.is_callable(),
            Wanted::NoModules => !matches!(kind, SymbolKind::Module | SymbolKind::Namespace),
            Wanted::Untagged => !self.is_tag(symbol),
            // A constant may be a macro without parameters.
            Wanted::Types => !matches!(
                kind,
                SymbolKind::Function
                    | SymbolKind::Method
                    | SymbolKind::Constructor
                    | SymbolKind::Field
                    | SymbolKind::Variable
            ),
        }
    }

    /// True if a type is visible only by its tag.
    fn is_tag(&self, symbol: SymbolRef) -> bool {
        let entry = self.program.symbol(symbol);
        let language = self.program.known(symbol.file).language;
        entry.kind.is_type() && language.tag_word(&entry.signature).is_some()
    }

    /// True if modules pass the filter of the lookup.
    pub(super) fn wants_modules(&self) -> bool {
        self.wanted != Some(Wanted::NoModules)
    }

    /// True if a binding may pass the filter of the lookup.
    pub(super) fn is_wanted_binding(&self, file: FileId, binding: &Binding) -> bool {
        let is_value = matches!(
            binding.kind,
            BindingKind::Value
                | BindingKind::Param
                | BindingKind::Field
                | BindingKind::Narrow
                | BindingKind::Result
        );
        if self.types_only && is_value {
            return false;
        }
        match (self.wanted, binding.kind) {
            (None, _) | (_, BindingKind::Import | BindingKind::Outer) => true,
            (Some(_), BindingKind::Symbol) => {
                self.is_wanted(SymbolRef { file, symbol: binding.symbol })
            }
            (Some(Wanted::Types), kind) => kind == BindingKind::TypeParam,
            (Some(wanted), _) => wanted != Wanted::Callables,
        }
    }
}
