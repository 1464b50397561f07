//! Bindings: what a name means in a scope.

use super::ids::{ExprId, ImportId, LocalSymbol, NameId, ScopeId};

/// Binding of a name in a scope.
#[derive(Clone, PartialEq, Debug)]
pub struct Binding {
    /// Scope that owns it.
    pub scope: ScopeId,
    /// Name.
    pub name: NameId,
    /// Kind.
    pub kind: BindingKind,
    /// Innermost scope at its position in 24 bits, of which these are the last.
    block: u16,
    /// Its first bits.
    block_high: u8,
    /// First byte at which it is visible.
    pub from: u32,
    /// Symbol, import or declared type, by kind: one field, because there are as many bindings in
    /// memory as symbols.
    target: u32,
    /// Value.
    pub value: ExprId,
}

impl Binding {
    /// In place of an innermost scope that is the own one.
    const OWN: u32 = (1 << 24) - 1;

    /// Position of a member of what a file exports: no name in the file finds it.
    pub const OF_EXPORTS: u32 = u32::MAX;

    /// Place of a name, bound to nothing yet.
    pub const fn at(scope: ScopeId, name: NameId, from: u32) -> Self {
        let (kind, value) = (BindingKind::Symbol, ExprId::NONE);
        let (block, block_high) = (u16::MAX, u8::MAX);
        Self { scope, block, block_high, name, kind, from, target: u32::MAX, value }
    }

    /// Innermost scope at its position (differs from its scope inside flow blocks).
    #[inline]
    pub fn block(&self) -> ScopeId {
        match (u32::from(self.block_high) << u16::BITS) | u32::from(self.block) {
            Self::OWN => self.scope,
            block => ScopeId(block),
        }
    }

    /// The same name with this innermost scope; none if a file has fewer scopes.
    #[inline]
    pub fn within(self, block: ScopeId) -> Option<Self> {
        let number = match block.0 {
            _ if block == self.scope => Self::OWN,
            number => Some(number).filter(|number| *number < Self::OWN)?,
        };
        let (low, high) = (number & u32::from(u16::MAX), number >> u16::BITS);
        Some(Self { block: u16::try_from(low).ok()?, block_high: u8::try_from(high).ok()?, ..self })
    }

    /// The same name in the same place, bound to a symbol.
    pub fn of_symbol(self, symbol: LocalSymbol) -> Self {
        Self { kind: BindingKind::Symbol, target: symbol.0, value: ExprId::NONE, ..self }
    }

    /// The same name in the same place, bound to an import.
    pub fn of_import(self, import: ImportId) -> Self {
        Self { kind: BindingKind::Import, target: import.0, value: ExprId::NONE, ..self }
    }

    /// The same name in the same place, bound to a value of a declared type. The kind is neither
    /// that of symbols nor that of imports.
    pub fn of_value(self, kind: BindingKind, ty: ExprId, value: ExprId) -> Self {
        debug_assert!(!matches!(kind, BindingKind::Symbol | BindingKind::Import));
        Self { kind, target: ty.0, value, ..self }
    }

    /// Symbol, for `BindingKind::Symbol`.
    pub fn symbol(&self) -> LocalSymbol {
        LocalSymbol(if self.kind == BindingKind::Symbol { self.target } else { u32::MAX })
    }

    /// Import, for `BindingKind::Import`.
    pub fn import(&self) -> ImportId {
        ImportId(if self.kind == BindingKind::Import { self.target } else { u32::MAX })
    }

    /// Declared type.
    pub fn ty(&self) -> ExprId {
        let is_typed = !matches!(self.kind, BindingKind::Symbol | BindingKind::Import);
        ExprId(if is_typed { self.target } else { u32::MAX })
    }

    /// Changes the declared type, unless it is bound to a symbol or an import.
    pub fn set_ty(&mut self, ty: ExprId) {
        if !matches!(self.kind, BindingKind::Symbol | BindingKind::Import) {
            self.target = ty.0;
        }
    }
}

// As for symbols.
const _: () = assert!(size_of::<Binding>() <= 24);

/// Kind of a binding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BindingKind {
    /// Definition.
    Symbol,
    /// Import.
    Import,
    /// Parameter; `ty` or the default `value` may be known.
    Param,
    /// Type parameter; `ty` is its bound.
    TypeParam,
    /// Declaration or assignment of a variable.
    Value,
    /// Field assigned through the receiver (`self.x = value`), owned by the type's scope.
    Field,
    /// Narrowing of an existing variable: in `block` it has type `ty`, or the one that the type
    /// guard `value` implies.
    Narrow,
    /// Belongs to an outer scope although it is assigned here (`global`, `nonlocal`).
    Outer,
    /// No variable: `value` is the result of the closure with this scope, or `ty` the declared type
    /// of its holder.
    Result,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_scope_is_the_own_one_unless_another_is_set() {
        let at = |scope: u32| Binding::at(ScopeId(scope), NameId(1), 0);
        assert_eq!(at(5).block(), ScopeId(5));
        for block in [0, 5, 9, (1 << 24) - 2] {
            let within = at(5).within(ScopeId(block)).expect("a file may have as many scopes");
            assert_eq!((within.scope, within.block()), (ScopeId(5), ScopeId(block)));
        }
        assert_eq!(at(5).within(ScopeId((1 << 24) - 1)), None, "it is the null id");
        assert_eq!(at(5).within(ScopeId(1 << 24)), None);
        let nowhere = at(u32::MAX).within(ScopeId::NONE).expect("it has no scope");
        assert_eq!(nowhere.block(), ScopeId::NONE);
    }
}
