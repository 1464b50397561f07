//! Members that a type above or below requires with other parameters, or at all.

use super::breaks::Breaks;
use crate::graph::answer::Certainty;
use crate::graph::error::QueryError;
use crate::impact::breaks::kind::{Break, BreakKind};
use cograph_grammar::{self as grammar, Language};
use cograph_model::change::SymbolSide;
use cograph_model::facts::flags;
use cograph_model::{RelationKind, SymbolKind};
use cograph_store::{SymbolKey, SymbolRow};

/// Decorator by which a method says that it overrides another one, where compilers check that.
const OVERRIDE: &str = "Override";

impl Breaks<'_, '_, '_> {
    /// Adds the methods above and below in the hierarchy that have the old number of parameters,
    /// and the types that have nothing else for a member that is required of them.
    pub(super) fn required(
        &mut self,
        old: &SymbolSide,
        new: &SymbolSide,
        own: &SymbolRow,
    ) -> Result<(), QueryError> {
        if old.arity == new.arity || own.kind == SymbolKind::Constructor {
            return Ok(());
        }
        let Some(container) = own.container else { return Ok(()) };
        let language = self.language_of(own)?;
        let is_chosen = language.is_some_and(|one| one.manifest.resolution.inherited_overloads);
        let is_required = own.flags & flags::ABSTRACT != 0;
        for (member, how) in self.namesakes(container, own)? {
            if member.arity != old.arity {
                continue;
            }
            let is_below = how == BELOW;
            // One that only has the same name is a method of its own, unless it is marked.
            let is_marked = self.says_override(&member, language);
            if !is_chosen || is_below && is_marked {
                let line = match is_marked {
                    true => member.extent.start.line,
                    false => member.name_at.line,
                };
                let name = self.lookup.info(&member)?.qualified_name();
                let reason = format!("{how} {}, which has other parameters", new.qualified_name());
                self.mark(BreakKind::Override, &member, line, name, reason, Certainty::Certain)?;
            }
            if is_below
                && is_chosen
                && is_required
                && let Some(container) = member.container
            {
                self.lacks(container, new)?;
            }
        }
        Ok(())
    }

    /// Adds the types that an added member without a body is required of.
    pub(super) fn missing(&mut self, new: &SymbolSide, own: &SymbolRow) -> Result<(), QueryError> {
        let Some(container) = own.container else { return Ok(()) };
        let around = self.lookup.symbol(container)?;
        // A field of an interface has no value, unless it is one for all.
        let is_field = own.kind == SymbolKind::Field
            && around.kind == SymbolKind::Interface
            && !own.signature.contains(['?', '=']);
        if !around.kind.is_type() || own.flags & flags::ABSTRACT == 0 && !is_field {
            return Ok(());
        }
        for key in self.without(container, own)? {
            self.lacks(key, new)?;
        }
        Ok(())
    }

    fn lacks(&mut self, key: SymbolKey, member: &SymbolSide) -> Result<(), QueryError> {
        let row = self.lookup.symbol(key)?;
        if row.flags & flags::ABSTRACT != 0 || row.kind == SymbolKind::Interface {
            return Ok(());
        }
        let reason = format!("{} does not have it", row.name_text);
        let (line, name) = (row.name_at.line, member.qualified_name());
        self.mark(BreakKind::Missing, &row, line, name, reason, Certainty::Likely)
    }

    fn mark(
        &mut self,
        kind: BreakKind,
        at: &SymbolRow,
        line: u32,
        symbol: String,
        reason: String,
        certainty: Certainty,
    ) -> Result<(), QueryError> {
        let path = self.lookup.place(at.file)?.path.clone();
        self.found.push(Break { kind, path, line, symbol, reason, certainty });
        Ok(())
    }

    fn language_of(&self, symbol: &SymbolRow) -> Result<Option<&'static Language>, QueryError> {
        let language = self.lookup.place(symbol.file)?.language;
        Ok(grammar::by_name(self.lookup.language(language)))
    }

    /// True if a method has a decorator that compilers check.
    fn says_override(&self, member: &SymbolRow, language: Option<&Language>) -> bool {
        let has =
            |language: &Language| language.manifest.modifiers.decorators.contains_key(OVERRIDE);
        member.extent.start.line < member.name_at.line && language.is_some_and(has)
    }

    /// Members that override one, by which the calls are those of the member they override.
    pub(super) fn dispatched(
        &self,
        old: &SymbolSide,
        own: &SymbolRow,
    ) -> Result<Vec<SymbolKey>, QueryError> {
        let language = self.language_of(own)?;
        // Where a member is written outside of its type for an interface, calls are checked
        // against the interface.
        let is_checked = language.is_some_and(|one| one.manifest.visibility.implementing.is_some());
        let (Some(container), true) = (own.container, is_checked) else { return Ok(Vec::new()) };
        let below = self.namesakes(container, own)?.into_iter();
        let below = below.filter(|(member, how)| *how == BELOW && member.arity == old.arity);
        Ok(below.map(|(member, _)| member.key).collect())
    }

    /// Callables of the same name in the types below and above one, and how they relate to it.
    fn namesakes(
        &self,
        container: SymbolKey,
        member: &SymbolRow,
    ) -> Result<Vec<(SymbolRow, &'static str)>, QueryError> {
        let mut found: Vec<(SymbolRow, &'static str)> = Vec::new();
        if !self.lookup.symbol(container)?.kind.is_type() {
            return Ok(found);
        }
        for how in [BELOW, ABOVE] {
            let (mut types, mut at) = (vec![container], 0);
            while let Some(&of) = types.get(at).filter(|_| self.is_within(types.len())) {
                at += 1;
                self.lookup.check()?;
                let relations = match how == BELOW {
                    true => self.lookup.relations_to(of)?,
                    false => self.lookup.relations_from(of)?,
                };
                for relation in relations.iter().filter(|one| is_derivation(one.kind)) {
                    let next = if how == BELOW { relation.from } else { relation.to };
                    let own = self.lookup.snapshot.symbols_in(next)?.into_iter();
                    let own = own.filter(|one| one.name == member.name && one.kind.is_callable());
                    let own: Vec<SymbolRow> = own.collect();
                    if types.contains(&next) {
                        continue;
                    }
                    // What is beyond a type that has one is compared with that one.
                    if own.is_empty() {
                        types.push(next);
                    }
                    found.extend(own.into_iter().map(|one| (one, how)));
                }
            }
        }
        // Members that stand outside of their type are related by themselves.
        for relation in self.lookup.relations_to(member.key)?.iter() {
            let is_new = !found.iter().any(|(known, _)| known.key == relation.from);
            if relation.kind == RelationKind::Overrides && is_new {
                found.push((SymbolRow::clone(&*self.lookup.symbol(relation.from)?), BELOW));
            }
        }
        Ok(found)
    }

    /// Concrete types below one without a member of this name, of their own or inherited.
    fn without(&self, base: SymbolKey, member: &SymbolRow) -> Result<Vec<SymbolKey>, QueryError> {
        let (mut found, mut next, mut at) = (Vec::new(), vec![base], 0);
        while let Some(&of) = next.get(at).filter(|_| self.is_within(next.len())) {
            at += 1;
            self.lookup.check()?;
            for relation in self.lookup.relations_to(of)?.iter() {
                if !is_derivation(relation.kind) || next.contains(&relation.from) {
                    continue;
                }
                let own = self.lookup.snapshot.symbols_in(relation.from)?;
                if own.iter().any(|one| one.name == member.name) {
                    continue;
                }
                let row = self.lookup.symbol(relation.from)?;
                let is_abstract = row.flags & flags::ABSTRACT != 0;
                if is_abstract || matches!(row.kind, SymbolKind::Interface | SymbolKind::Trait) {
                    next.push(relation.from);
                } else {
                    // What derives from it inherits the same gap.
                    found.push(relation.from);
                }
            }
        }
        Ok(found)
    }
}

const BELOW: &str = "overrides";
const ABOVE: &str = "is overridden by";

fn is_derivation(kind: RelationKind) -> bool {
    matches!(kind, RelationKind::Inherits | RelationKind::Implements)
}
