//! What one edit breaks for certain: uses that were proven and have no symbol any more, and calls
//! whose arguments fitted before. Reads an index of the file before or after the edit; what it does
//! not know for certain it leaves out.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::breaks::{Breaks, MAX_SITES, MAX_TYPES};
use crate::graph::answer::Certainty;
use crate::graph::calls::edge::certainty;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::impact::breaks::kind::{Break, BreakKind};
use crate::impact::seeds::question::ImpactParams;
use crate::names::keys_of;
use cograph_grammar as grammar;
use cograph_model::cancel::CancelToken;
use cograph_model::change::{CallShapes, ChangeKind, ChangedSymbol, Edit, SymbolSide};
use cograph_model::facts::flags;
use cograph_model::{Position, RelationKind, RepoPath, SiteKind, Step, Verdict};
use cograph_store::{FileRow, SiteRow, Snapshot, SymbolKey, SymbolRow};

/// Changed symbol with the uses that it breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unfit {
    /// The symbol.
    pub symbol: ChangedSymbol,
    /// Certain breaks by path and line.
    pub breaks: Vec<Break>,
}

/// Files of the repository at the moment, compared with their index.
pub trait OnDisk {
    /// True if the index has the present text of a file.
    fn is_unchanged(&self, path: &RepoPath) -> bool;
    /// Calls of an unchanged file; none of one that has changed.
    fn calls(&self, path: &RepoPath) -> CallShapes;
    /// True if a file of the folder of the edited one, changed or new since the index, has a name.
    fn has_new(&self, name: &str) -> bool;
}

/// Finds what an edit breaks. `is_indexed` says that the index has the text after the edit.
pub fn unfit(
    snapshot: &Snapshot,
    edit: &Edit,
    is_indexed: bool,
    disk: &dyn OnDisk,
    cancel: &CancelToken,
) -> Result<Vec<Unfit>, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let Some(file) = snapshot.file_at(edit.path.as_str())? else { return Ok(Vec::new()) };
    if lookup.has_data(file.language) {
        return Ok(Vec::new());
    }
    let edited =
        Edited { lookup: &lookup, rows: snapshot.symbols_of(&file)?, file, edit, is_indexed };
    let own = edited.calls()?;
    let read = |path: &RepoPath| match *path == edit.path {
        true => own.clone(),
        false => disk.calls(path),
    };
    let params = ImpactParams { calls: Some(&read), ..ImpactParams::default() };
    let mut breaks = Breaks::new(&lookup, &params);
    let mut found = Vec::new();
    for changed in &edit.symbols {
        edited.add(&mut breaks, changed, disk)?;
        let mut own: Vec<Break> = Vec::new();
        for mut one in std::mem::take(&mut breaks.found) {
            if one.certainty != Certainty::Certain {
                continue;
            }
            if one.path == edit.path {
                let Some(line) = edited.line(one.line) else { continue };
                one.line = line;
            } else if !disk.is_unchanged(&one.path) {
                continue;
            }
            own.push(one);
        }
        own.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        own.dedup_by(|a, b| (&a.path, a.line) == (&b.path, b.line));
        if !own.is_empty() {
            found.push(Unfit { symbol: changed.clone(), breaks: own });
        }
    }
    Ok(found)
}

/// Edited file as the index has it.
struct Edited<'e, 'q> {
    lookup: &'e Lookup<'q>,
    file: FileRow,
    rows: Vec<SymbolRow>,
    edit: &'e Edit,
    is_indexed: bool,
}

impl Edited<'_, '_> {
    /// Line after the edit of a line of the index.
    fn line(&self, line: u32) -> Option<u32> {
        if self.is_indexed { Some(line) } else { self.edit.same?.moved(line) }
    }

    /// Position after the edit of a site of the index, unless it is gone.
    fn place(&self, site: &SiteRow) -> Result<Option<Position>, QueryError> {
        let Some(line) = self.line(site.at.line) else { return Ok(None) };
        let at = Position { line, ..site.at };
        let name = self.lookup.name(site.name)?;
        Ok(self.edit.has_at(at, &name).then_some(at))
    }

    /// Calls after the edit by their positions in the index.
    fn calls(&self) -> Result<CallShapes, QueryError> {
        let mut calls = CallShapes::new();
        for site in self.lookup.snapshot.sites_of(&self.file)? {
            if !matches!(site.kind, SiteKind::Call | SiteKind::Construct) {
                continue;
            }
            if let Some(shape) = self.place(&site)?.and_then(|at| self.edit.calls.get(&at)) {
                calls.insert(site.at, shape.clone());
            }
        }
        Ok(calls)
    }

    fn add(
        &self,
        breaks: &mut Breaks<'_, '_, '_>,
        changed: &ChangedSymbol,
        disk: &dyn OnDisk,
    ) -> Result<(), QueryError> {
        let Some(old) = &changed.old else { return Ok(()) };
        let is_used = old.kind.is_callable() || old.kind.is_type();
        let counts = self.edit.counts.get(&old.qualified_name()).copied().unwrap_or_default();
        if !is_used || self.is_in_another(old) {
            return Ok(());
        }
        // One of several of a name may be what a use means now.
        match (changed.kind, &changed.new, counts) {
            (ChangeKind::Signature, Some(new), (1, 1)) if old.kind == new.kind => {
                let Some(own) = self.row(old)? else { return Ok(()) };
                breaks.arguments(old, new, &own)?;
                breaks.hidden(old, new, &own)
            }
            (ChangeKind::Removed | ChangeKind::Renamed | ChangeKind::Moved, _, (1, 0)) => {
                for site in self.uses(old, disk)? {
                    let name = old.qualified_name();
                    breaks.push(&site, BreakKind::Gone, &name, "", Certainty::Certain)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// True if what contains a symbol has changed its name or is gone: that is what is reported.
    fn is_in_another(&self, side: &SymbolSide) -> bool {
        let gone = self.edit.symbols.iter().filter(|symbol| symbol.kind <= ChangeKind::Moved);
        gone.filter_map(|symbol| symbol.old.as_ref()).any(|outer| {
            let rest = side.container.strip_prefix(&outer.qualified_name());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// The only symbol of the index that a side is.
    fn row(&self, side: &SymbolSide) -> Result<Option<Rc<SymbolRow>>, QueryError> {
        let mut found = None;
        for row in &self.rows {
            let is_local = row.flags & flags::LOCAL != 0;
            if is_local
                || *row.name_text != *side.name
                || *self.lookup.qualifier(row.container)? != *side.container
            {
                continue;
            }
            if found.is_some() {
                return Ok(None);
            }
            found = Some(row);
        }
        Ok(found.map(|row| self.lookup.remember(row.clone())))
    }

    /// Proven uses of a symbol that is gone, which nothing else can be meant by.
    fn uses(&self, old: &SymbolSide, disk: &dyn OnDisk) -> Result<Vec<SiteRow>, QueryError> {
        let (edit, is_member) = (self.edit, !old.container.is_empty());
        let is_replaced = edit.mentions(&old.name)
            || !is_member && (edit.has_wildcard || edit.imported.contains(&old.name));
        if is_replaced {
            return Ok(Vec::new());
        }
        let own = self.row(old)?;
        let sites = match &own {
            Some(own) if self.is_single(own)? => self.lookup.snapshot.sites_to(own.key)?,
            None if self.is_indexed && !is_member => self.left(&old.name)?,
            _ => return Ok(Vec::new()),
        };
        let home = own.as_ref().and_then(|own| own.container);
        let is_mixed = home.map_or(Ok(false), |home| self.is_mixed_below(home))?;
        let mut found = Vec::new();
        for site in sites.into_iter().take(MAX_SITES) {
            self.lookup.check()?;
            let is_proven = site.verdict == Verdict::Resolved
                || own.is_none() && certainty(&site) == Certainty::Textual;
            // What is reached through a type below may be found in another base of that.
            let is_inherited = site.step == Step::SuperMember
                || is_mixed && !home.map_or(Ok(false), |home| self.is_within(&site, home))?;
            if !is_proven || is_inherited {
                continue;
            }
            if site.file == self.file.key {
                if self.place(&site)?.is_some() {
                    found.push(site);
                }
                continue;
            }
            // Where files share names without imports, another file may have it by now.
            let is_shared = is_member || matches!(site.step, Step::Package | Step::Wildcard);
            let path = &self.lookup.place(site.file)?.path;
            if disk.is_unchanged(path)
                && !((is_shared || self.is_of_folder()) && disk.has_new(&old.name))
            {
                found.push(site);
            }
        }
        Ok(found)
    }

    /// True if uses of a symbol cannot mean another declaration of it, one of a base, or a default
    /// export by any name.
    fn is_single(&self, own: &SymbolRow) -> Result<bool, QueryError> {
        let others = flags::DEFAULT_EXPORT | flags::CONDITIONAL | flags::PARTIAL;
        if own.flags & others != 0 || self.lookup.same_entity(own.key)?.len() > 1 {
            return Ok(false);
        }
        let relations = self.lookup.relations_from(own.key)?;
        if relations.iter().any(|relation| relation.kind == RelationKind::Overrides) {
            return Ok(false);
        }
        let mut next: Vec<_> = own.container.into_iter().collect();
        let mut known: FxHashSet<_> = next.iter().copied().collect();
        while let Some(key) = next.pop().filter(|_| known.len() < MAX_TYPES) {
            let around = self.lookup.symbol(key)?;
            if !around.kind.is_type() {
                continue;
            }
            let has = self.lookup.snapshot.symbols_in(key)?;
            let is_another = |row: &SymbolRow| row.name == own.name && row.key != own.key;
            if has.iter().any(is_another) || self.has_unknown_base(&around)? {
                return Ok(false);
            }
            for relation in self.lookup.relations_from(key)?.iter() {
                if is_base(relation.kind) && known.insert(relation.to) {
                    next.push(relation.to);
                }
            }
        }
        Ok(true)
    }

    /// True if a type below one has further bases, or unknown ones.
    fn is_mixed_below(&self, home: SymbolKey) -> Result<bool, QueryError> {
        let (mut next, mut known) = (vec![home], FxHashSet::from_iter([home]));
        while let Some(key) = next.pop().filter(|_| known.len() < MAX_TYPES) {
            for relation in self.lookup.relations_to(key)?.iter().filter(|one| is_base(one.kind)) {
                if !known.insert(relation.from) {
                    continue;
                }
                let bases = self.lookup.relations_from(relation.from)?;
                let below = self.lookup.symbol(relation.from)?;
                if bases.iter().filter(|one| is_base(one.kind)).count() > 1
                    || self.has_unknown_base(&below)?
                {
                    return Ok(true);
                }
                next.push(relation.from);
            }
        }
        Ok(false)
    }

    /// True if a use is in the code of a type.
    fn is_within(&self, site: &SiteRow, home: SymbolKey) -> Result<bool, QueryError> {
        let around = self.lookup.containers(site.enclosing)?;
        Ok(around.iter().any(|row| row.key == home))
    }

    /// True if a base of a type is not in the repository, and not one of the language.
    fn has_unknown_base(&self, own: &SymbolRow) -> Result<bool, QueryError> {
        let file = self.lookup.file(own.file)?;
        let sites = self.lookup.snapshot.sites_of(&file)?;
        Ok(sites.iter().any(|site| {
            matches!(site.kind, SiteKind::Inherit | SiteKind::Implement)
                && own.extent.start <= site.at
                && site.at < own.extent.end
                && site.verdict != Verdict::Resolved
                && site.step != Step::Builtin
        }))
    }

    /// Uses of a name that an index of the text after the edit has without a symbol, in the files
    /// that import this one.
    fn left(&self, name: &str) -> Result<Vec<SiteRow>, QueryError> {
        let importers = self.lookup.snapshot.imports_to(self.file.key)?;
        let mut users: FxHashSet<_> = importers.iter().map(|import| import.file).collect();
        users.insert(self.file.key);
        let mut found = Vec::new();
        for key in keys_of(self.lookup, name)? {
            let sites = self.lookup.snapshot.unresolved_named(key)?.into_iter().take(MAX_SITES);
            found.extend(sites.filter(|site| {
                let is_import = site.kind == SiteKind::Import;
                (site.step == Step::NoSuchName || is_import) && users.contains(&site.file)
            }));
        }
        Ok(found)
    }

    /// True if files of a folder name each other's symbols without an import.
    fn is_of_folder(&self) -> bool {
        grammar::by_name(self.lookup.language(self.file.language))
            .is_some_and(|language| language.manifest.modules.shared_folder)
    }
}

fn is_base(kind: RelationKind) -> bool {
    matches!(kind, RelationKind::Inherits | RelationKind::Implements)
}
