//! Sites that no longer fit a changed symbol: its name is gone, it takes other arguments, or what
//! overrides it differs.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Break, ImpactParams};
use crate::graph::calls::certainty;
use crate::graph::lookup::Lookup;
use crate::names::keys_of;
use crate::{Certainty, QueryError};
use cograph_model::change::{CallShape, CallShapes, ChangeKind, ChangedSymbol, SymbolSide};
use cograph_model::{RelationKind, RepoPath, SiteKind, Step};
use cograph_store::{FileKey, SiteRow, SiteTarget, SymbolKey, SymbolRow};

/// Maximum number of files whose calls are read.
pub const MAX_CALL_FILES: usize = 400;
/// Maximum number of sites of one symbol that are compared.
const MAX_SITES: usize = 5_000;

/// Collects what no longer fits.
pub(super) struct Breaks<'b, 'l, 'q> {
    lookup: &'l Lookup<'q>,
    params: &'b ImpactParams<'b>,
    calls: FxHashMap<FileKey, Rc<CallShapes>>,
    pub(super) found: Vec<Break>,
    /// Files whose calls were not read.
    pub(super) unread: u64,
}

impl<'b, 'l, 'q> Breaks<'b, 'l, 'q> {
    pub(super) fn new(lookup: &'l Lookup<'q>, params: &'b ImpactParams<'b>) -> Self {
        Self { lookup, params, calls: FxHashMap::default(), found: Vec::new(), unread: 0 }
    }

    /// Adds what a changed symbol breaks; `own` is the symbol of the store, if there is one.
    pub(super) fn add(
        &mut self,
        changed: &ChangedSymbol,
        own: Option<&SymbolRow>,
        users: &FxHashSet<FileKey>,
    ) -> Result<(), QueryError> {
        match (changed.kind, &changed.old, &changed.new, own) {
            (ChangeKind::Removed, Some(old), ..) => self.gone(old, "removed", users),
            (ChangeKind::Renamed, Some(old), Some(new), _) => {
                let reason = format!("renamed to {}", new.name);
                self.gone(old, &reason, users)
            }
            (ChangeKind::Moved, Some(old), Some(new), _) => {
                let reason = format!("moved to {}", new.path);
                self.gone(old, &reason, users)
            }
            (ChangeKind::Signature, Some(old), Some(new), Some(own)) => {
                self.arguments(old, new, own)?;
                self.overrides(old, new, own)
            }
            _ => Ok(()),
        }
    }

    /// Uses of a name that nothing has any more: those that are not resolved, in the files that
    /// used its file.
    fn gone(
        &mut self,
        old: &SymbolSide,
        reason: &str,
        users: &FxHashSet<FileKey>,
    ) -> Result<(), QueryError> {
        let is_member = !old.container.is_empty();
        for name in keys_of(self.lookup, &old.name)? {
            let mut sites = self.lookup.snapshot.unresolved_named(name)?;
            sites.truncate(MAX_SITES);
            for site in sites.iter().filter(|site| site.target == SiteTarget::None) {
                self.lookup.check()?;
                let place = self.lookup.place(site.file)?;
                let is_own = place.path == old.path;
                let is_user = is_own || users.contains(&site.file);
                let degree = match site.step {
                    Step::NoSuchName if is_user && !is_member => Certainty::Certain,
                    Step::NoSuchMember if is_user => Certainty::Likely,
                    _ if site.kind == SiteKind::Import && is_user => Certainty::Certain,
                    Step::ReceiverUnknown if is_user && is_member => Certainty::Possible,
                    _ => continue,
                };
                self.push(site, &old.qualified_name(), reason, degree)?;
            }
        }
        Ok(())
    }

    /// Calls whose arguments fitted before and do not fit now.
    fn arguments(
        &mut self,
        old: &SymbolSide,
        new: &SymbolSide,
        own: &SymbolRow,
    ) -> Result<(), QueryError> {
        if !own.kind.is_callable() || old.arity == new.arity && old.parameters == new.parameters {
            return Ok(());
        }
        let mut sites = Vec::new();
        for key in self.lookup.same_entity(own.key)? {
            sites.extend(self.lookup.snapshot.sites_to(key)?);
        }
        if own.kind == cograph_model::SymbolKind::Constructor
            && let Some(container) = own.container
        {
            sites.extend(self.lookup.snapshot.sites_to(container)?);
        }
        sites.truncate(MAX_SITES);
        for site in &sites {
            if !matches!(site.kind, SiteKind::Call | SiteKind::Construct) {
                continue;
            }
            let shapes = self.calls_of(site.file)?;
            let Some(shape) = shapes.get(&site.at) else { continue };
            let (before, after) = (misfit(shape, old), misfit(shape, new));
            if let (None, Some(reason)) = (before, after) {
                self.push(site, &new.qualified_name(), &reason, certainty(site))?;
            } else if reordered(shape, old, new) {
                let reason = "order of the parameters";
                self.push(site, &new.qualified_name(), reason, Certainty::Possible)?;
            }
        }
        Ok(())
    }

    /// Methods above and below in the hierarchy that had the old number of parameters.
    fn overrides(
        &mut self,
        old: &SymbolSide,
        new: &SymbolSide,
        own: &SymbolRow,
    ) -> Result<(), QueryError> {
        if old.arity == new.arity {
            return Ok(());
        }
        let related = |kind, symbol: SymbolKey| (kind == RelationKind::Overrides).then_some(symbol);
        let below = self.lookup.relations_to(own.key)?;
        let above = self.lookup.relations_from(own.key)?;
        let below = below.iter().filter_map(|relation| related(relation.kind, relation.from));
        let above = above.iter().filter_map(|relation| related(relation.kind, relation.to));
        let below: Vec<_> = below.map(|key| (key, "overrides")).collect();
        let above: Vec<_> = above.map(|key| (key, "is overridden by")).collect();
        for (key, how) in below.into_iter().chain(above) {
            let other = self.lookup.symbol(key)?;
            if other.arity != old.arity {
                continue;
            }
            let path = self.lookup.place(other.file)?.path.clone();
            self.found.push(Break {
                path,
                line: other.name_at.line,
                symbol: self.lookup.info(&other)?.qualified_name(),
                reason: format!("{how} {}, which has other parameters", new.qualified_name()),
                certainty: Certainty::Certain,
            });
        }
        Ok(())
    }

    fn push(
        &mut self,
        site: &SiteRow,
        symbol: &str,
        reason: &str,
        certainty: Certainty,
    ) -> Result<(), QueryError> {
        self.found.push(Break {
            path: self.lookup.place(site.file)?.path.clone(),
            line: site.at.line,
            symbol: symbol.to_owned(),
            reason: reason.to_owned(),
            certainty,
        });
        Ok(())
    }

    fn calls_of(&mut self, file: FileKey) -> Result<Rc<CallShapes>, QueryError> {
        if let Some(known) = self.calls.get(&file) {
            return Ok(Rc::clone(known));
        }
        let path: RepoPath = self.lookup.place(file)?.path.clone();
        let shapes = match self.params.calls {
            Some(calls) if self.calls.len() < MAX_CALL_FILES => calls(&path),
            _ => {
                self.unread += 1;
                CallShapes::new()
            }
        };
        let shapes = Rc::new(shapes);
        self.calls.insert(file, Rc::clone(&shapes));
        Ok(shapes)
    }
}

/// Why arguments do not fit a callable; none if they do, or may.
fn misfit(shape: &CallShape, callable: &SymbolSide) -> Option<String> {
    let (least, most) = callable.arity;
    if let Some(name) = shape.named.iter().find(|name| !callable.parameters.contains(name))
        && !callable.takes_any_name
        && !callable.parameters.is_empty()
    {
        return Some(format!("no parameter `{name}`"));
    }
    let given = usize::from(shape.positional) + shape.named.len();
    if most != u16::MAX && given > usize::from(most) {
        return Some(format!("{given} arguments, {} taken", range(least, most)));
    }
    if !shape.is_open && given < usize::from(least) {
        return Some(format!("{given} arguments, {} taken", range(least, most)));
    }
    None
}

fn range(least: u16, most: u16) -> String {
    match (least, most) {
        (least, u16::MAX) => format!("at least {least}"),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    }
}

/// True if an argument by position is for another parameter now.
fn reordered(shape: &CallShape, old: &SymbolSide, new: &SymbolSide) -> bool {
    let same_names: FxHashSet<&String> = old.parameters.iter().collect();
    old.parameters.len() == new.parameters.len()
        && new.parameters.iter().all(|name| same_names.contains(name))
        && old
            .parameters
            .iter()
            .zip(&new.parameters)
            .take(usize::from(shape.positional))
            .any(|(before, after)| before != after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_model::{Position, SymbolKind, Visibility};

    fn callable(parameters: &[&str], arity: (u16, u16)) -> SymbolSide {
        SymbolSide {
            path: RepoPath::new("a.x").expect("a path"),
            name: "f".to_owned(),
            container: String::new(),
            kind: SymbolKind::Function,
            visibility: Visibility::Public,
            name_at: Position { line: 1, column: 0 },
            lines: (1, 2),
            signature: String::new(),
            arity,
            parameters: parameters.iter().map(|&name| name.to_owned()).collect(),
            takes_any_name: arity.1 == u16::MAX,
        }
    }

    fn call(positional: u16, named: &[&str], is_open: bool) -> CallShape {
        let named = named.iter().map(|&name| name.to_owned()).collect();
        CallShape { positional, named, is_open }
    }

    #[test]
    fn arguments_fit_by_number_and_name() {
        let two = callable(&["a", "b"], (1, 2));
        assert_eq!(misfit(&call(1, &[], false), &two), None);
        assert_eq!(misfit(&call(1, &["b"], false), &two), None);
        assert_eq!(
            misfit(&call(3, &[], false), &two).as_deref(),
            Some("3 arguments, 1 to 2 taken")
        );
        assert_eq!(
            misfit(&call(0, &[], false), &two).as_deref(),
            Some("0 arguments, 1 to 2 taken")
        );
        assert_eq!(misfit(&call(0, &[], true), &two), None, "others may be spread");
        assert_eq!(misfit(&call(0, &["c"], false), &two).as_deref(), Some("no parameter `c`"));
        let any = callable(&["a"], (0, u16::MAX));
        assert_eq!(misfit(&call(9, &["z"], false), &any), None);
    }

    #[test]
    fn the_order_matters_for_arguments_by_position() {
        let (old, new) = (callable(&["a", "b"], (2, 2)), callable(&["b", "a"], (2, 2)));
        assert!(reordered(&call(1, &["b"], false), &old, &new));
        assert!(!reordered(&call(0, &["a", "b"], false), &old, &new));
        assert!(!reordered(&call(2, &[], false), &old, &old));
    }
}
