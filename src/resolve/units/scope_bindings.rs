//! Bindings of a file grouped by scope, and within a scope sorted by name and position.

use cograph_model::facts::{BindingId, FileFacts, ScopeId};

/// Number of bindings that are scanned before a binary search.
const MAX_SCANNED: usize = 8;

/// Bindings by scope. Who looks one up says what the name of a binding is, in a form that can be
/// compared, as when they were grouped: a full build has the bindings of all files in memory.
#[derive(Debug)]
pub(crate) struct ByScope {
    /// Bindings grouped by scope; those without a scope come last.
    bindings: Box<[BindingId]>,
    /// Start of each scope's bindings, and the end of the last.
    starts: Box<[u32]>,
}

impl ByScope {
    /// Groups the first bindings of a file, which are in its first scopes or in none; `name_of`
    /// returns the name of a binding, or `None` to leave it out.
    pub(crate) fn of<N: Copy + Ord>(
        facts: &FileFacts,
        scopes: usize,
        bindings: usize,
        name_of: impl Fn(BindingId) -> Option<N>,
    ) -> Self {
        let owner = |id: BindingId| facts.bindings[id.0 as usize].scope.get().unwrap_or(scopes);
        let named = (0..bindings).map(BindingId::at).filter_map(|id| Some((name_of(id)?, id)));
        let mut starts = vec![0_u32; scopes + 2];
        for (_, id) in named.clone() {
            starts[owner(id) + 1] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let Some(blank) = named.clone().next() else {
            return Self { bindings: Box::default(), starts: starts.into() };
        };
        let (mut ordered, mut next) = (vec![blank; end as usize], starts.clone());
        for (name, id) in named {
            let place = &mut next[owner(id)];
            ordered[*place as usize] = (name, id);
            *place += 1;
        }
        for scope in starts.windows(2) {
            ordered[scope[0] as usize..scope[1] as usize].sort_unstable();
        }
        let bindings = ordered.into_iter().map(|(_, id)| id).collect();
        Self { bindings, starts: starts.into() }
    }

    /// Returns the bindings of a scope, or those without one.
    pub(crate) fn of_scope(&self, scope: ScopeId) -> &[BindingId] {
        let place = scope.get().unwrap_or(self.starts.len() - 2);
        match self.starts.get(place..) {
            Some([start, end, ..]) => &self.bindings[*start as usize..*end as usize],
            _ => &[],
        }
    }

    /// Returns the bindings of a name in a scope.
    pub(crate) fn of_name<N: Ord>(
        &self,
        scope: ScopeId,
        name: N,
        name_of: impl Fn(BindingId) -> N,
    ) -> &[BindingId] {
        self.place_of_name(scope, name, name_of).1
    }

    /// Returns the bindings of a name in a scope and the index of the first.
    pub(crate) fn place_of_name<N: Ord>(
        &self,
        scope: ScopeId,
        name: N,
        name_of: impl Fn(BindingId) -> N,
    ) -> (usize, &[BindingId]) {
        let bindings = self.of_scope(scope);
        let first = bindings.partition_point(|&bound| name_of(bound) < name);
        let from = &bindings[first..];
        // Most names have one or two bindings.
        let count = match from
            .iter()
            .take(MAX_SCANNED)
            .take_while(|&&bound| name_of(bound) == name)
            .count()
        {
            MAX_SCANNED => from.partition_point(|&bound| name_of(bound) == name),
            count => count,
        };
        let place = scope.get().unwrap_or(self.starts.len() - 2);
        (self.starts.get(place).map_or(0, |start| *start as usize) + first, &from[..count])
    }
}
