//! Variants of one thing that are compiled under different conditions: which of them a place under conditions of its own means.

use super::{Name, Resolver, Symbols};
use crate::model::Step;
use crate::model::facts::Condition;
use crate::model::graph::{FileId, SymbolRef};

/// What must hold, and whether it must or must not.
type Held = (Name, bool);

impl Resolver<'_, '_> {
    /// Of several symbols of one name, those that may be compiled together with a place: none that needs the opposite of what
    /// holds there, and where some need the same as the place, only those.
    pub(super) fn compiled_with(&self, file: FileId, at: u32, symbols: Symbols) -> Symbols {
        if symbols.len() < 2 {
            return symbols;
        }
        let here = self.conditions_at(file, at);
        if here.is_empty() || symbols.iter().all(|symbol| self.program.known(symbol.file).facts.conditions.is_empty()) {
            return symbols;
        }
        let needs: Vec<Vec<Held>> = symbols.iter().map(|symbol| self.conditions_of(*symbol)).collect();
        let possible = |needs: &&Vec<Held>| !needs.iter().any(|(tested, holds)| here.contains(&(*tested, !*holds)));
        let shared = |needs: &Vec<Held>| needs.iter().filter(|need| here.contains(need)).count();
        let most = needs.iter().filter(possible).map(shared).max().unwrap_or(0);
        let left = symbols.iter().zip(&needs).filter(|(_, needs)| possible(needs) && shared(needs) == most);
        let left: Symbols = left.map(|(symbol, _)| *symbol).collect();
        if left.is_empty() { symbols } else { left }
    }

    /// The reason why several symbols are left: they are variants under conditions, or as `otherwise` says.
    pub(super) fn why_several(&self, symbols: &Symbols, otherwise: Step) -> Step {
        let needs = || symbols.iter().map(|symbol| self.conditions_of(*symbol));
        let are_variants = symbols.len() > 1 && needs().all(|needs| !needs.is_empty()) && {
            let all: Vec<Vec<Held>> = needs().collect();
            all.iter().any(|needs| *needs != all[0])
        };
        if are_variants { Step::Conditional } else { otherwise }
    }

    fn conditions_of(&self, symbol: SymbolRef) -> Vec<Held> {
        self.conditions_at(symbol.file, self.program.symbol(symbol).extent.end_byte.saturating_sub(1))
    }

    fn conditions_at(&self, file: FileId, at: u32) -> Vec<Held> {
        let unit = self.program.known(file);
        let holds_at = |condition: &&Condition| condition.start <= at && at < condition.end;
        let around = unit.facts.conditions.iter().take_while(|condition| condition.start <= at).filter(holds_at);
        around.map(|condition| (unit.name(condition.tested), condition.holds)).collect()
    }
}
