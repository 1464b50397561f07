//! Sites that no longer fit a changed symbol: its name is gone, it takes other arguments, or what
//! overrides it differs.

pub(crate) mod kind;

use std::cell::Cell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::misfit::{Types, misfit, reordered};
use crate::graph::answer::Certainty;
use crate::graph::calls::edge::certainty;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::impact::breaks::kind::{Break, BreakKind};
use crate::impact::seeds::question::ImpactParams;
use crate::names::keys_of;
use cograph_grammar as grammar;
use cograph_model::change::{CallShapes, ChangeKind, ChangedSymbol, SymbolSide};
use cograph_model::{RelationKind, RepoPath, SiteKind, Step, SymbolKind};
use cograph_store::{FileKey, SiteRow, SiteTarget, SymbolKey, SymbolRow};

/// Maximum number of files whose calls are read.
pub const MAX_CALL_FILES: usize = 400;
/// Maximum number of sites of one symbol that are compared.
pub(super) const MAX_SITES: usize = 5_000;

/// Maximum number of types below one that are compared.
pub(super) const MAX_TYPES: usize = 2_000;
/// Reason of a call whose arguments may be for other parameters.
const ORDER: &str = "order of the parameters";

/// Collects what no longer fits.
pub(super) struct Breaks<'b, 'l, 'q> {
    pub(super) lookup: &'l Lookup<'q>,
    params: &'b ImpactParams<'b>,
    calls: FxHashMap<FileKey, Rc<CallShapes>>,
    pub(super) found: Vec<Break>,
    /// Files whose calls were not read.
    pub(super) unread: u64,
    /// True if a symbol has more uses, or types below it, than are compared.
    pub(super) is_cut: Cell<bool>,
}

impl<'b, 'l, 'q> Breaks<'b, 'l, 'q> {
    pub(super) fn new(lookup: &'l Lookup<'q>, params: &'b ImpactParams<'b>) -> Self {
        let (calls, found) = Default::default();
        Self { lookup, params, calls, found, unread: 0, is_cut: Cell::default() }
    }

    /// True if one more type is followed after this number.
    pub(super) fn is_within(&self, types: usize) -> bool {
        let is_cut = types >= MAX_TYPES;
        self.is_cut.set(self.is_cut.get() || is_cut);
        !is_cut
    }

    /// At most as many sites as are compared.
    pub(super) fn limited(&self, mut sites: Vec<SiteRow>) -> Vec<SiteRow> {
        self.is_cut.set(self.is_cut.get() || sites.len() > MAX_SITES);
        sites.truncate(MAX_SITES);
        sites
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
            (ChangeKind::Moved, Some(old), Some(new), own) => {
                let reason = format!("moved to {}", new.path);
                self.unseen(old, own, &reason)?;
                self.gone(old, &reason, users)
            }
            (ChangeKind::Signature, Some(old), Some(new), Some(own)) => {
                self.arguments(old, new, own)?;
                self.hidden(old, new, own)?;
                self.required(old, new, own)
            }
            (ChangeKind::Added, _, Some(new), Some(own)) => self.missing(new, own),
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
            let sites = self.limited(self.lookup.snapshot.unresolved_named(name)?);
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
                self.push(site, BreakKind::Gone, &old.qualified_name(), reason, degree)?;
            }
        }
        Ok(())
    }

    /// Calls whose arguments fitted before and do not fit now.
    pub(super) fn arguments(
        &mut self,
        old: &SymbolSide,
        new: &SymbolSide,
        own: &SymbolRow,
    ) -> Result<(), QueryError> {
        let is_same = old.arity == new.arity && old.parameters == new.parameters;
        if !own.kind.is_callable() || is_same && old.types == new.types {
            return Ok(());
        }
        let language = self.lookup.language(self.lookup.place(own.file)?.language);
        let types = grammar::by_name(language).map(Types::of);
        let mut sites = Vec::new();
        for key in self.lookup.same_entity(own.key)? {
            sites.extend(self.lookup.snapshot.sites_to(key)?);
        }
        if own.kind == SymbolKind::Constructor
            && let Some(container) = own.container
        {
            for key in self.inheriting(container)? {
                sites.extend(self.lookup.snapshot.sites_to(key)?);
            }
        }
        for key in self.dispatched(old, own)? {
            sites.extend(self.lookup.snapshot.sites_to(key)?);
        }
        for site in &self.limited(sites) {
            if !matches!(site.kind, SiteKind::Call | SiteKind::Construct) {
                continue;
            }
            let shapes = self.calls_of(site.file)?;
            let Some(shape) = shapes.get(&site.at) else { continue };
            let (before, after) = (misfit(shape, old), misfit(shape, new));
            let ty = types.as_ref().and_then(|types| types.misfit(shape, old, new));
            let (kind, reason, degree) = match (before, after, ty) {
                (None, Some(reason), _) => (BreakKind::Arguments, reason, Certainty::Certain),
                (None, None, Some((reason, degree))) => (BreakKind::Type, reason, degree),
                _ if reordered(shape, old, new) => {
                    (BreakKind::Order, ORDER.to_owned(), Certainty::Possible)
                }
                _ => continue,
            };
            self.push(site, kind, &new.qualified_name(), &reason, degree.max(certainty(site)))?;
        }
        Ok(())
    }

    /// A type and those that inherit its constructor.
    fn inheriting(&self, container: SymbolKey) -> Result<Vec<SymbolKey>, QueryError> {
        let (mut types, mut next) = (vec![container], 0);
        while let Some(&of) = types.get(next).filter(|_| self.is_within(types.len())) {
            next += 1;
            for relation in self.lookup.relations_to(of)?.iter() {
                if relation.kind == RelationKind::Inherits
                    && !types.contains(&relation.from)
                    && self.lookup.constructors_of(relation.from)?.is_empty()
                {
                    types.push(relation.from);
                }
            }
        }
        Ok(types)
    }

    /// Uses of a moved symbol that reach it by its name only: nothing that the file imports.
    fn unseen(
        &mut self,
        old: &SymbolSide,
        own: Option<&SymbolRow>,
        reason: &str,
    ) -> Result<(), QueryError> {
        let Some(own) = own else { return Ok(()) };
        for key in self.lookup.same_entity(own.key)? {
            for site in &self.limited(self.lookup.snapshot.sites_to(key)?) {
                if site.step == Step::UniqueName && site.file != own.file {
                    let name = old.qualified_name();
                    self.push(site, BreakKind::Gone, &name, reason, Certainty::Likely)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn push(
        &mut self,
        site: &SiteRow,
        kind: BreakKind,
        symbol: &str,
        reason: &str,
        certainty: Certainty,
    ) -> Result<(), QueryError> {
        self.found.push(Break {
            kind,
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
