//! Declarations and their definitions, in languages that separate them.

use crate::model::SymbolKind;
use crate::model::facts::{Expr, ExprId, Symbol, flags};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::units::space::Space;
use crate::resolve::{Name, Resolver, Symbols};
use rustc_hash::FxHashSet;

/// Number of symbols up to which the memo is not worth its cost.
const MAX_UNMEMOIZED: usize = 4;

/// Minimum number of symbols that are compared by signature instead of pairwise.
const MIN_BY_SIGNATURE: usize = 32;

/// Sort of a symbol and, in languages with overloads, its signature.
type Signature = (u8, Option<(bool, Vec<String>)>);

impl Resolver<'_, '_> {
    /// Returns the symbols of one name with distinct signatures. A declaration represents its
    /// signature, because it has the default arguments.
    pub(in crate::resolve) fn distinct_signatures(&mut self, symbols: &Symbols) -> Symbols {
        if symbols.len() <= MIN_BY_SIGNATURE {
            return self.first_of_each(symbols);
        }
        if let Some(known) = self.distinct.get(symbols) {
            return known.clone();
        }
        let distinct = self.first_of_each(symbols);
        self.distinct.insert(symbols.clone(), distinct.clone());
        distinct
    }

    fn first_of_each(&self, symbols: &Symbols) -> Symbols {
        let mut left = Symbols::new();
        let mut signatures = (symbols.len() > MIN_BY_SIGNATURE).then(FxHashSet::default);
        let is_declaration =
            |symbol: &SymbolRef| self.program.symbol(*symbol).flags & flags::DECLARATION != 0;
        let declared = symbols.iter().filter(|symbol| is_declaration(symbol));
        for symbol in declared.chain(symbols.iter().filter(|symbol| !is_declaration(symbol))) {
            let repeats = match &mut signatures {
                // Declarations come first: a symbol with a known signature is a repetition.
                Some(declared) if is_declaration(symbol) => {
                    !declared.insert(self.signature(*symbol))
                }
                Some(declared) => declared.contains(&self.signature(*symbol)),
                None => left.iter().any(|known| {
                    (is_declaration(known) || is_declaration(symbol))
                        && self.same_signature(*known, *symbol)
                }),
            };
            if !repeats {
                left.push(*symbol);
            }
        }
        left
    }

    /// Replaces declarations by their definitions.
    pub(in crate::resolve) fn with_definitions(&mut self, symbols: &Symbols) -> Symbols {
        if symbols.len() <= MAX_UNMEMOIZED {
            return self.replace_declarations(symbols);
        }
        if let Some(known) = self.with_definitions.get(symbols) {
            return known.clone();
        }
        let found = self.replace_declarations(symbols);
        self.with_definitions.insert(symbols.clone(), found.clone());
        found
    }

    fn replace_declarations(&mut self, symbols: &Symbols) -> Symbols {
        let (mut found, mut open) = (Symbols::new(), Symbols::new());
        let mut signatures = (symbols.len() > MIN_BY_SIGNATURE).then(FxHashSet::default);
        for symbol in symbols {
            if let Some(space) = self.program.space_of_symbol(*symbol) {
                // A namespace is one symbol, regardless of how many times it is opened.
                if found.iter().any(|known| self.program.space_of_symbol(*known) == Some(space)) {
                    continue;
                }
            }
            if !self.is_declaration(*symbol) {
                if !found.contains(symbol) {
                    found.push(*symbol);
                }
                continue;
            }
            let definitions = self.definitions_of(*symbol);
            let is_new = match &mut signatures {
                _ if !definitions.is_empty() => false,
                Some(known) => known.insert(self.signature(*symbol)),
                None => !open.iter().any(|known| self.same_signature(*known, *symbol)),
            };
            if is_new {
                open.push(*symbol);
            }
            for definition in definitions {
                if !found.contains(&definition) {
                    found.push(definition);
                }
            }
        }
        if signatures.is_some() {
            let defined: FxHashSet<Signature> =
                found.iter().map(|symbol| self.signature(*symbol)).collect();
            open.retain(|symbol| !defined.contains(&self.signature(*symbol)));
        } else {
            open.retain(|symbol| !found.iter().any(|known| self.same_signature(*known, *symbol)));
        }
        found.extend(open);
        found
    }

    /// Returns the definitions of a declaration.
    pub(in crate::resolve) fn definitions_of(&mut self, declaration: SymbolRef) -> Symbols {
        if let Some(known) = self.definitions.get(&declaration) {
            return known.clone();
        }
        let found = self.find_definitions(declaration);
        self.definitions.insert(declaration, found.clone());
        found
    }

    fn find_definitions(&mut self, declaration: SymbolRef) -> Symbols {
        let program = self.program;
        let entry = program.symbol(declaration);
        let name = program.name_of(declaration);
        let mut found = match program.space_of_scope(declaration.file, entry.scope) {
            Some(space) => self.defined_in(space, name),
            None => {
                let container = SymbolRef { file: declaration.file, symbol: entry.container };
                if container.symbol.is_some() && program.symbol(container).kind.is_type() {
                    let members =
                        program.extensions(container).and_then(|members| members.get(&name));
                    self.without_declarations(members)
                } else {
                    // A declaration inside a function refers to the enclosing namespace.
                    let unit = program.known(declaration.file);
                    let space = program.space_around(declaration.file, unit, entry.scope);
                    space.map_or_else(Symbols::new, |space| self.defined_in(space, name))
                }
            }
        };
        let is_internal = entry.flags & (flags::EXPORTED | flags::LOCAL) == 0
            && entry.flags & flags::STATIC != 0
            && !entry.owner.is_some();
        found.retain(|candidate| {
            let other = program.symbol(*candidate);
            let is_exported = other.flags & flags::EXPORTED != 0;
            // An internal declaration in a header is defined in a file that includes it.
            let links = match is_internal && entry.kind.is_callable() {
                true => !is_exported && self.reachable(candidate.file).contains(declaration.file),
                false => is_exported || other.owner.is_some(),
            };
            same_sort(entry, other) && (candidate.file == declaration.file || links)
        });
        if entry.flags & flags::CONDITIONAL != 0 {
            found.retain(|candidate| !self.exclude_each_other(declaration, *candidate));
        }
        if found.iter().any(|candidate| self.same_signature(declaration, *candidate)) {
            found.retain(|candidate| self.same_signature(declaration, *candidate));
        } else {
            found.retain(|candidate| program.symbol(*candidate).params.len == entry.params.len);
        }
        if found.iter().any(|candidate| candidate.file == declaration.file) {
            found.retain(|candidate| candidate.file == declaration.file);
        } else if found.len() > 1 {
            let including: Symbols = found
                .iter()
                .copied()
                .filter(|candidate| self.reachable(candidate.file).contains(declaration.file))
                .collect();
            if !including.is_empty() {
                found = including;
            }
        }
        found
    }

    /// Returns the definitions of a namespace with a name. Memoized: some names have hundreds of
    /// declarations, each of which needs them.
    fn defined_in(&mut self, space: Space, name: Name) -> Symbols {
        if let Some(known) = self.defined.get(&(space, name)) {
            return known.clone();
        }
        let found = self.without_declarations(self.program.in_space(space, name));
        self.defined.insert((space, name), found.clone());
        found
    }

    fn without_declarations(&self, symbols: Option<&Symbols>) -> Symbols {
        symbols
            .into_iter()
            .flatten()
            .copied()
            .filter(|symbol| !self.is_declaration(*symbol))
            .collect()
    }

    fn is_declaration(&self, symbol: SymbolRef) -> bool {
        self.program.symbol(symbol).flags & flags::DECLARATION != 0
    }

    /// Returns the declarations of a definition.
    pub(in crate::resolve) fn declarations_of(&mut self, definition: SymbolRef) -> Symbols {
        let program = self.program;
        let entry = program.symbol(definition);
        let unit = program.known(definition.file);
        if !unit.language.manifest.resolution.declarations
            || entry.flags & (flags::DECLARATION | flags::LOCAL) != 0
        {
            return Symbols::new();
        }
        let name = program.name_of(definition);
        // A symbol with internal linkage is declared in its own file only.
        let is_own = entry.flags & flags::EXPORTED == 0 && !entry.owner.is_some();
        let here = |candidate: &SymbolRef| !is_own || candidate.file == definition.file;
        let mut found: Symbols = match program.container(definition) {
            Some(&container) => {
                self.own_members(container, name).into_iter().filter(here).collect()
            }
            None => {
                let space = program.space_of_scope(definition.file, entry.scope);
                let all = space.and_then(|space| program.with_declarations(space, name));
                all.into_iter().flatten().copied().filter(here).collect()
            }
        };
        found.retain(|candidate| {
            program.symbol(*candidate).flags & flags::DECLARATION != 0
                && same_sort(entry, program.symbol(*candidate))
        });
        found
            .into_iter()
            .filter(|candidate| self.definitions_of(*candidate).contains(&definition))
            .collect()
    }

    /// True if two symbols declare the same entity: the same sort and, in languages with overloads,
    /// the same parameters.
    fn same_signature(&self, a: SymbolRef, b: SymbolRef) -> bool {
        let (left, right) = (self.program.symbol(a), self.program.symbol(b));
        if !same_sort(left, right) {
            return false;
        }
        if !left.kind.is_callable()
            || !self.program.known(a.file).language.manifest.resolution.overloads
        {
            return true;
        }
        left.params.len == right.params.len
            && tail(left) == tail(right)
            && left.params.range().zip(right.params.range()).all(|(x, y)| {
                let x = self.program.known(a.file).facts.bindings[x].ty;
                let y = self.program.known(b.file).facts.bindings[y].ty;
                self.type_text(a.file, x) == self.type_text(b.file, y)
            })
    }

    /// Returns the part of a symbol that is equal for declarations of the same entity.
    fn signature(&self, symbol: SymbolRef) -> Signature {
        let (entry, unit) = (self.program.symbol(symbol), self.program.known(symbol.file));
        let overloads = entry.kind.is_callable() && unit.language.manifest.resolution.overloads;
        let types = || {
            entry
                .params
                .range()
                .map(|param| self.type_text(symbol.file, unit.facts.bindings[param].ty))
        };
        (sort(entry.kind), overloads.then(|| (tail(entry), types().collect())))
    }

    /// Returns the text of a type without qualifiers.
    fn type_text(&self, file: FileId, ty: ExprId) -> String {
        let unit = self.program.known(file);
        let (facts, name) = (unit.facts, |name: crate::model::facts::NameId| unit.text(name));
        let Some(position) = ty.get() else { return String::new() };
        let list = |run: crate::model::facts::Run| {
            let parts: Vec<String> =
                facts.lists[run.range()].iter().map(|part| self.type_text(file, *part)).collect();
            parts.join(",")
        };
        match facts.exprs[position] {
            Expr::Name(text, _) | Expr::Member(_, text) | Expr::Literal(text) => {
                name(text).to_owned()
            }
            Expr::Wrap(inner, wrapper) => {
                format!("{} {}", self.type_text(file, inner), name(wrapper))
            }
            Expr::Array(inner) => format!("{} pointer", self.type_text(file, inner)),
            Expr::Apply(base, args) => format!("{}<{}>", self.type_text(file, base), list(args)),
            Expr::Function(parts) => format!("({})", list(parts)),
            _ => String::new(),
        }
    }
}

/// True if one symbol can be the definition of the other.
fn same_sort(a: &Symbol, b: &Symbol) -> bool {
    sort(a.kind) == sort(b.kind)
}

fn sort(kind: SymbolKind) -> u8 {
    match kind {
        SymbolKind::Macro => 5,
        kind if kind.is_callable() => 0,
        SymbolKind::TypeAlias => 1,
        kind if kind.is_type() => 2,
        SymbolKind::Variable | SymbolKind::Constant | SymbolKind::Field => 3,
        _ => 4,
    }
}

/// True if the header ends with a qualifier that distinguishes overloads.
fn tail(symbol: &Symbol) -> bool {
    let header = symbol.signature.rsplit_once(')').map_or("", |(_, tail)| tail);
    header.split_whitespace().any(|word| word == "const")
}
