//! Verdicts in languages that are not measured against a compiler (shared tier): external only for
//! names of imports, overload choices by types are no proof, and matches by name alone are
//! candidates.

use super::outcome::unresolved;
use super::site::argument_count;
use crate::grammar::Tier;
use crate::model::facts::{Expr, Site};
use crate::model::graph::{FileId, Resolution, SymbolRef, Target};
use crate::model::{SiteKind, Step, SymbolKind, Verdict};
use crate::resolve::types::ty::Entity;
use crate::resolve::{Name, Resolver, Symbols};

/// Maximum number of candidates for a name; with more the reference stays unresolved.
const MAX_CANDIDATES: usize = 12;

impl Resolver<'_, '_> {
    /// Returns the tier of a file's language.
    pub(in crate::resolve) fn tier(&self, file: FileId) -> Tier {
        self.program.known(file).language.tier()
    }

    /// Lowers a verdict to the claims of the shared tier.
    pub(super) fn limited_by_tier(
        &mut self,
        file: FileId,
        site: &Site,
        found: Resolution,
    ) -> Resolution {
        if self.tier(file) == Tier::Full {
            return found;
        }
        let name =
            match site.target.get().map(|target| self.program.known(file).facts.exprs[target]) {
                Some(Expr::Name(name, _)) => Some((self.name(file, name), false)),
                Some(Expr::Member(_, name)) => Some((self.name(file, name), true)),
                _ => None,
            };
        match (found.verdict, found.step, name) {
            // The library may have the name, or the repository may extend it.
            (Verdict::External, step, _) if step != Step::ExternalImport => match name {
                Some((name, true)) => self.by_unique_name(file, site, name),
                Some((name, false)) => self.by_name_alone(file, site, name),
                None => unresolved(Step::Dynamic),
            },
            // A member may have the name of its type: in type position, the type is the target.
            (
                Verdict::Resolved | Verdict::Unresolved,
                Step::Dynamic | Step::Lexical | Step::SelfMember,
                Some((name, false)),
            ) if wants_type(site.kind) && !self.leads_to_type(&found) => {
                self.by_name_alone(file, site, name)
            }
            (Verdict::Unresolved, Step::NoSuchName, Some((name, false))) => {
                self.by_name_alone(file, site, name)
            }
            // An external program may define the name as well: no file is linked with all others.
            (Verdict::Likely, Step::UniqueName, Some((name, false)))
                if !self.program.known(file).language.manifest.resolution.global_names =>
            {
                self.by_name_alone(file, site, name)
            }
            (
                Verdict::Unresolved,
                Step::NoSuchMember | Step::ReceiverUnknown,
                Some((name, true)),
            ) => match site.kind {
                SiteKind::Call => self.by_unique_name(file, site, name),
                _ => self.by_name_alone(file, site, name),
            },
            _ => found,
        }
    }

    /// True if a verdict's target is a type or a constructor.
    fn leads_to_type(&self, found: &Resolution) -> bool {
        let is_type = |symbol: &SymbolRef| {
            let kind = self.program.symbol(*symbol).kind;
            kind.is_type()
                || matches!(
                    kind,
                    SymbolKind::Constructor | SymbolKind::Module | SymbolKind::Namespace
                )
        };
        match &found.target {
            Target::Symbol(symbol) => is_type(symbol),
            Target::Candidates(candidates) => candidates.iter().all(is_type),
            _ => false,
        }
    }

    /// Returns the top-level definitions of a name in any file, in languages where all files share
    /// names.
    pub(in crate::resolve) fn defined_anywhere(&self, file: FileId, name: Name) -> Option<Entity> {
        let family =
            crate::resolve::units::import_target::family(self.program.known(file).language);
        let is_seen = |symbol: &SymbolRef| {
            !self.program.symbol(*symbol).container.is_some()
                && crate::resolve::units::import_target::family(
                    self.program.known(symbol.file).language,
                ) == family
        };
        let found = self.program.named_alone(name)?.iter().copied().filter(is_seen);
        let found: Symbols = found.take(MAX_CANDIDATES + 1).collect();
        (!found.is_empty() && found.len() <= MAX_CANDIDATES).then_some(Entity::Symbols(found))
    }

    /// Resolves a name without a binding or import: all symbols of that name are candidates. A
    /// single one in an imported file is likely.
    fn by_name_alone(&mut self, file: FileId, site: &Site, name: Name) -> Resolution {
        if matches!(site.kind, SiteKind::Read | SiteKind::Write | SiteKind::Import) {
            return unresolved(Step::NoSuchName);
        }
        let wants_type = wants_type(site.kind);
        let Some(all) = self.program.named_alone(name) else { return unresolved(Step::NoSuchName) };
        let family =
            crate::resolve::units::import_target::family(self.program.known(file).language);
        let count = argument_count(site.args);
        let fits = |symbol: &SymbolRef| {
            let kind = self.program.symbol(*symbol).kind;
            let is_kind = if wants_type {
                kind.is_type()
            } else {
                kind == SymbolKind::Function || kind.is_type()
            };
            is_kind
                && (kind.is_type() || self.accepts(*symbol, count, site.spread))
                && crate::resolve::units::import_target::family(
                    self.program.known(symbol.file).language,
                ) == family
        };
        let all: Symbols = all.iter().copied().filter(fits).take(MAX_CANDIDATES + 1).collect();
        if all.is_empty() || all.len() > MAX_CANDIDATES {
            return unresolved(Step::NoSuchName);
        }
        let reach = self.reachable(file);
        if let [only] = all[..]
            && reach.contains(only.file)
        {
            return Resolution {
                verdict: Verdict::Likely,
                step: Step::UniqueName,
                target: Target::Symbol(only),
            };
        }
        let mut candidates = all.to_vec();
        candidates.sort_unstable();
        candidates.dedup();
        Resolution {
            verdict: Verdict::Ambiguous,
            step: Step::NoSuchName,
            target: Target::Candidates(candidates.into()),
        }
    }
}

/// True if a reference of this kind is in type position.
fn wants_type(kind: SiteKind) -> bool {
    matches!(
        kind,
        SiteKind::Construct
            | SiteKind::Type
            | SiteKind::Inherit
            | SiteKind::Implement
            | SiteKind::Decorate
    )
}
