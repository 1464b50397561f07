//! Overload resolution by arity, and results of calls.

use crate::grammar::Tier;
use crate::model::SymbolKind;
use crate::model::facts::{ExprId, LocalSymbol, Run, ScopeId};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::types::ty::Member;
use crate::resolve::types::ty::{Ty, TyList, no_types};
use crate::resolve::units::bounds::qualified;
use crate::resolve::{Resolver, Symbols};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Marker in result tables: calling the first argument.
const FIRST_CALLEE: &str = "callee0";

/// Arguments of a call.
#[derive(Clone, Copy)]
pub(in crate::resolve) enum CallArguments<'t> {
    /// Types of the arguments.
    Typed(&'t [Ty]),
    /// Expressions of the arguments: their types are inferred only if several callables accept
    /// their number.
    Written(Run),
}

impl CallArguments<'_> {
    fn count(self) -> u16 {
        let count = match self {
            Self::Typed(types) => types.len(),
            Self::Written(args) => args.len as usize,
        };
        u16::try_from(count).unwrap_or(u16::MAX)
    }
}

impl Resolver<'_, '_> {
    /// Returns the result of calling a value.
    pub(in crate::resolve) fn call_result(&mut self, file: FileId, callee: &Ty, args: Run) -> Ty {
        match callee {
            Ty::Callable(symbols, receiver) => {
                let given = self.argument_types(file, args);
                let chosen = self.fitting(file, symbols, CallArguments::Typed(&given), false);
                self.result_of(&chosen, receiver.as_deref(), &given)
            }
            Ty::Type(symbol, given) => self.constructed(file, *symbol, given, args),
            Ty::Instance(..) => self.result_of_calling_value(file, callee, args),
            Ty::Lambda(file, scope) => self.lambda_result(*file, *scope),
            Ty::Function(result) => self.filled(file, result, args),
            Ty::BuiltinType(name, given) => self.builtin_result(file, name, given, args),
            Ty::External(name) => self.outside_result(file, name, args),
            Ty::Union(parts) => Ty::union(
                parts
                    .clone()
                    .iter()
                    .map(|part| self.call_result(file, part, args))
                    .collect::<Vec<_>>(),
            ),
            _ => Ty::Unknown,
        }
    }

    fn result_of_calling_value(&mut self, file: FileId, value: &Ty, args: Run) -> Ty {
        if let Some(underlying) = self.underlying(value) {
            return self.call_result(file, &underlying, args);
        }
        let Ty::Instance(symbol, _) = value else { return Ty::Unknown };
        let names = &self.program.known(symbol.file).language.manifest.names;
        let Some(name) = names.call_member.as_deref().map(|member| self.program.named(member))
        else {
            return Ty::Unknown;
        };
        let member = self.member_ty(value, name);
        match member {
            Ty::Callable(..) => self.call_result(file, &member, args),
            _ => Ty::Unknown,
        }
    }

    fn builtin_result(&mut self, file: FileId, name: &Rc<str>, given: &TyList, args: Run) -> Ty {
        let manifest = &self.program.known(file).language.manifest;
        let Some(template) = manifest.builtins.results.get(&**name) else {
            return Ty::Builtin(name.clone(), given.clone());
        };
        let args = self.argument_types(file, args);
        if template == FIRST_CALLEE {
            return args.into_iter().next().unwrap_or(Ty::Unknown);
        }
        let elements: Vec<Ty> = args.iter().map(|arg| self.element(file, arg)).collect();
        let flow = crate::grammar::TypeFlow {
            params: ["arg0", "arg1", "item0", "item1"].map(str::to_owned).to_vec(),
            ..crate::grammar::TypeFlow::default()
        };
        let pick =
            |list: &[Ty], position: usize| list.get(position).cloned().unwrap_or(Ty::Unknown);
        let values = [pick(&args, 0), pick(&args, 1), pick(&elements, 0), pick(&elements, 1)];
        let result = self.template(template, &flow, &values, &Ty::Unknown);
        crate::resolve::types::infer::instance_of(&result)
    }

    /// A call of an external callable has an external result, unless a table of results defines it.
    fn outside_result(&mut self, file: FileId, name: &Rc<str>, args: Run) -> Ty {
        let language = self.program.known(file).language;
        let last = crate::resolve::types::builtin_types::last_segment(name);
        if language.manifest.builtins.results.contains_key(last) {
            return self.builtin_result(file, &Rc::from(last), &no_types(), args);
        }
        match language.flow(last) {
            Some((canonical, _)) => Ty::builtin(canonical, &[]),
            None => Ty::External(qualified(name, "", "()")),
        }
    }

    pub(in crate::resolve) fn argument_types(&mut self, file: FileId, args: Run) -> Vec<Ty> {
        let items: &[ExprId] = &self.program.known(file).facts.lists[args.range()];
        items.iter().map(|item| self.ty(file, *item)).collect()
    }

    /// Returns the union of the results of callables.
    pub(in crate::resolve) fn result_of(
        &mut self,
        symbols: &Symbols,
        receiver: Option<&Ty>,
        args: &[Ty],
    ) -> Ty {
        let results: Vec<Ty> =
            symbols.iter().map(|symbol| self.return_ty(*symbol, receiver, args)).collect();
        Ty::union(results)
    }

    /// Returns the callables that accept the arguments; all if none does.
    pub(in crate::resolve) fn fitting(
        &mut self,
        file: FileId,
        symbols: &Symbols,
        args: CallArguments<'_>,
        spread: bool,
    ) -> Symbols {
        if let CallArguments::Written(written) = args
            && self.program.known(file).language.manifest.resolution.infer_returns
        {
            // The result of a recursive inference depends on its entry point: always start with the
            // arguments of calls, in order.
            let types = self.argument_types(file, written);
            return self.fitting(file, symbols, CallArguments::Typed(&types), spread);
        }
        if symbols.first().is_some_and(|symbol| self.has_declarations(*symbol)) {
            let distinct = self.distinct_signatures(symbols);
            let chosen = self.fitting_distinct(file, &distinct, args, spread);
            return self.with_definitions(&chosen);
        }
        self.fitting_distinct(file, symbols, args, spread)
    }

    fn has_declarations(&self, symbol: SymbolRef) -> bool {
        self.program.known(symbol.file).language.manifest.resolution.declarations
    }

    fn fitting_distinct(
        &mut self,
        file: FileId,
        symbols: &Symbols,
        args: CallArguments<'_>,
        spread: bool,
    ) -> Symbols {
        if symbols.len() < 2 {
            return symbols.clone();
        }
        let count = args.count();
        let by_arity: Symbols =
            symbols.iter().copied().filter(|symbol| self.accepts(*symbol, count, spread)).collect();
        let mut left = if by_arity.is_empty() { symbols.clone() } else { by_arity };
        if !self.has_declarations(symbols[0]) {
            self.defined(&mut left);
        }
        // In languages without a measurement against a compiler, several callables of the same
        // arity stay ambiguous.
        if left.len() < 2 || spread || self.tier(file) != Tier::Full {
            return left;
        }
        match args {
            CallArguments::Typed(types) => self.closest(file, left, types),
            CallArguments::Written(args) => {
                let types = self.argument_types(file, args);
                self.closest(file, left, &types)
            }
        }
    }

    /// True if a callable accepts this number of arguments; a spread argument may expand to any
    /// number.
    pub(in crate::resolve) fn accepts(&self, symbol: SymbolRef, count: u16, spread: bool) -> bool {
        let (least, most) = self.program.symbol(symbol).arity;
        count <= most && (spread || count >= least)
    }

    /// Returns the constructors that a type itself defines.
    pub(in crate::resolve) fn constructors(&mut self, symbol: SymbolRef) -> Symbols {
        let entry = self.program.symbol(symbol);
        let own = self.constructors_of(symbol.file);
        let mut found: Symbols = match own.get(&entry.inner) {
            Some(own) if entry.inner.is_some() => own.clone(),
            _ => Symbols::new(),
        };
        let elsewhere = self
            .program
            .extensions(symbol)
            .and_then(|members| members.get(&self.program.name_of(symbol)));
        for member in elsewhere.into_iter().flatten() {
            if self.program.symbol(*member).kind == SymbolKind::Constructor
                && !found.contains(member)
            {
                found.push(*member);
            }
        }
        found
    }

    /// Returns the constructors of a file by the scopes that they are in.
    fn constructors_of(&mut self, file: FileId) -> Rc<FxHashMap<ScopeId, Symbols>> {
        if let Some(known) = self.constructors.get(&file) {
            return Rc::clone(known);
        }
        let mut by_scope: FxHashMap<ScopeId, Symbols> = FxHashMap::default();
        for (position, symbol) in self.program.known(file).facts.symbols.iter().enumerate() {
            if symbol.kind == SymbolKind::Constructor {
                by_scope
                    .entry(symbol.scope)
                    .or_default()
                    .push(SymbolRef { file, symbol: LocalSymbol::at(position) });
            }
        }
        let by_scope = Rc::new(by_scope);
        self.constructors.insert(file, Rc::clone(&by_scope));
        by_scope
    }

    /// Returns the symbols of a member of a value.
    pub(in crate::resolve) fn member_symbols(
        &mut self,
        of: &Ty,
        name: crate::resolve::Name,
    ) -> Symbols {
        match self.member(of, name) {
            Member::Symbols(symbols) => symbols,
            Member::Entity(crate::resolve::types::ty::Entity::Symbols(symbols)) => symbols,
            _ => Symbols::new(),
        }
    }
}
