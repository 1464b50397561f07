//! What leads from one member of a workspace to another: uses of names outside of one, joined
//! with the symbols of the others that they name.

use super::member_answer::MemberAnswer;
use super::parallel;
use crate::tools::tool::common::{certainty, kinds, tests};
use crate::tools::tool::values::Arguments;
use cograph_exchange::{self as exchange, ManifestFiles, Requirements};
use cograph_model::cancel::CancelToken;
use cograph_model::package::{ModuleFiles, ModuleForm, OfferedPackage, Requirement};
use cograph_model::{RepoPath, SiteKind};
use cograph_query::crossing::{
    Export, Exports, OutsideName, OutsideNames, Renamed, Subject, UseFilter, UseSite, may_name,
};
use cograph_query::{Certainty, QueryError, ReadFile};
use std::collections::BTreeMap;

/// Maximum number of sites of one name that are listed; all are counted.
pub(crate) const MAX_SITES: usize = 500;

/// Number of possible uses that are listed without being asked for.
const FEW_POSSIBLE: usize = 5;

/// What a tool follows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Followed {
    /// Name of the uses, in the singular.
    pub(crate) what: &'static str,
    /// Word between that and a symbol.
    pub(crate) of: &'static str,
    /// Kinds of sites, where the arguments name none; empty for all.
    pub(crate) kinds: Vec<SiteKind>,
}

/// Uses of a symbol in one member by one name.
#[derive(Debug)]
pub(super) struct CrossedUse {
    /// Member with the uses.
    pub(super) user: usize,
    /// Name as it is used.
    pub(super) name: OutsideName,
    pub(super) certainty: Certainty,
    /// Why it is no more certain; empty for no reason of its own.
    pub(super) reason: &'static str,
    /// Version that the user's manifests name; may be empty.
    pub(super) version: String,
    /// Number of sites.
    pub(super) total: usize,
    /// The first of them.
    pub(super) sites: Vec<UseSite>,
}

/// Symbol with its uses in all members.
#[derive(Debug)]
pub(super) struct Crossed {
    /// Member with the symbol.
    pub(super) member: usize,
    pub(super) subject: Subject,
    /// Uses: by certainty, then by member and name.
    pub(super) uses: Vec<CrossedUse>,
    /// Version of its package; may be empty.
    pub(super) version: String,
}

/// Names of the same end that lead to no symbol of a member: member, name, sites.
pub(super) type Elsewhere = (usize, String, usize);

/// Uses of all symbols that a call is about.
#[derive(Debug, Default)]
pub(super) struct Crossing {
    pub(super) what: &'static str,
    pub(super) of: &'static str,
    pub(super) crossed: Vec<Crossed>,
    pub(super) elsewhere: Vec<Elsewhere>,
    /// By member, whether names outside of it are those of the symbols.
    pub(super) users: Vec<bool>,
    /// What the call does not follow, in words; empty for nothing.
    pub(super) stays: &'static str,
    /// True if all uses are calls.
    has_calls_only: bool,
    /// Lowest certainty to list, if the call names one.
    wanted: Option<Certainty>,
}

/// Where a name leads: symbols by member.
type Targets = Vec<(usize, Export)>;

/// Members while names are joined.
struct Join<'q> {
    asked: &'q [MemberAnswer],
    packages: &'q [Vec<OfferedPackage>],
    exports: Vec<Exports<'q>>,
    known: BTreeMap<OutsideName, Targets>,
}

impl Crossing {
    /// Finds the uses in all members of the symbols that the arguments name.
    pub(super) fn new(
        followed: &Followed,
        arguments: &Arguments,
        asked: &mut [MemberAnswer],
        cancel: &CancelToken,
    ) -> Result<Self, QueryError> {
        let found = asked.iter().enumerate();
        let found =
            found.flat_map(|(at, one)| one.subjects.iter().map(move |own| (at, own.clone())));
        let found: Vec<(usize, Subject)> = found.collect();
        let mut crossing = Self {
            what: followed.what,
            of: followed.of,
            wanted: certainty(arguments),
            ..Self::default()
        };
        if found.is_empty() {
            return Ok(crossing);
        }
        let packages = asked.iter().map(|one| {
            let read = |path: &RepoPath| one.opened.files.read(path).ok();
            let stamp = |path: &RepoPath| one.opened.files.root.stat(path);
            let kept = &one.opened.files.manifests;
            let files = ManifestFiles { read: &read, stamp: &stamp, kept };
            Ok(exchange::packages(&one.opened.snapshot, &files)?)
        });
        let packages = packages.collect::<Result<Vec<_>, QueryError>>()?;
        crossing.crossed = found
            .into_iter()
            .map(|(member, subject)| {
                let version = version_of(&packages[member], &subject.symbol.path);
                Crossed { member, subject, uses: Vec::new(), version }
            })
            .collect();
        let given = kinds(arguments, SiteKind::from_word);
        let filter = UseFilter {
            kinds: if given.is_empty() { followed.kinds.clone() } else { given },
            path: arguments.text("path").map(str::to_owned),
            tests: tests(arguments),
        };
        let is_call = |kind: &SiteKind| {
            matches!(kind, SiteKind::Call | SiteKind::Construct | SiteKind::Decorate)
        };
        crossing.has_calls_only = !filter.kinds.is_empty() && filter.kinds.iter().all(is_call);
        let ends = crossing.ends(&packages);
        let names = parallel::each(asked.iter_mut().collect(), |one| {
            OutsideNames::ending_with(&one.opened.snapshot, &ends, &filter, cancel)
        });
        let asked = &*asked;
        let renamed: Vec<Vec<Renamed>> = asked.iter().map(MemberAnswer::renamed).collect();
        let exports = asked.iter().zip(&packages).zip(&renamed);
        let exports = exports.map(|((one, own), renamed)| {
            Exports::new(&one.opened.snapshot, own, renamed, crossing.has_calls_only, cancel)
        });
        let mut join = Join {
            asked,
            packages: &packages,
            exports: exports.collect::<Result<_, _>>()?,
            known: BTreeMap::new(),
        };
        let symbols = arguments.texts("symbol");
        for (user, names) in names.into_iter().enumerate() {
            let names = names?;
            crossing.users.push(symbols.iter().any(|symbol| names.have(symbol)));
            crossing.add_uses(user, &names, &mut join, cancel)?;
        }
        for crossed in &mut crossing.crossed {
            for one in &crossed.uses {
                crossing.users[one.user] = true;
            }
            crossed.uses.sort_by(|a, b| {
                (a.certainty, a.user, &a.name).cmp(&(b.certainty, b.user, &b.name))
            });
        }
        Ok(crossing)
    }

    /// Last parts of the names that may lead to the symbols.
    fn ends(&self, packages: &[Vec<OfferedPackage>]) -> Vec<String> {
        let mut ends: Vec<String> = Vec::new();
        for crossed in &self.crossed {
            ends.extend(crossed.subject.names.iter().cloned());
            if crossed.subject.is_default {
                let packages = packages[crossed.member].iter();
                let own = packages.filter_map(|one| one.written.rsplit(['/', '.', ':']).next());
                ends.extend(own.filter(|end| !end.is_empty()).map(str::to_owned));
            }
        }
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// Adds the uses in one member.
    fn add_uses(
        &mut self,
        user: usize,
        names: &OutsideNames,
        join: &mut Join<'_>,
        cancel: &CancelToken,
    ) -> Result<(), QueryError> {
        let lookup = names.lookup(&join.asked[user].opened.snapshot, cancel)?;
        let files = &join.asked[user].opened.files;
        let read = |path: &RepoPath| files.read(path).ok();
        let stamp = |path: &RepoPath| files.root.stat(path);
        let kept = &files.manifests;
        let manifests = ManifestFiles { read: &read, stamp: &stamp, kept };
        let with_endings = Requirements::paths(&join.asked[user].opened.snapshot)?;
        let mut requirements = Requirements::new(&manifests, with_endings);
        for (name, total) in names.names() {
            let targets = join.targets(name)?.clone();
            if targets.is_empty() {
                let may_be = |crossed: &Crossed| {
                    let (subject, container) =
                        (&crossed.subject, &crossed.subject.symbol.container);
                    subject.names.iter().any(|own| may_name(&name.text, container, own))
                };
                if self.crossed.iter().any(may_be) {
                    match self.elsewhere.last_mut() {
                        Some((of, text, all)) if *of == user && *text == name.text => *all += total,
                        _ => self.elsewhere.push((user, name.text.clone(), total)),
                    }
                }
                continue;
            }
            for crossed in self.crossed.iter_mut().filter(|crossed| crossed.member != user) {
                let Some((mut certainty, mut reason)) = leads(&targets, crossed) else { continue };
                let sites = names.sites(&lookup, name, MAX_SITES)?;
                let export = targets.iter().find(|(member, export)| {
                    *member == crossed.member && crossed.subject.keys.contains(&export.key)
                });
                let package = export.map(|(member, one)| &join.packages[*member][one.package]);
                let requirement = match (package, sites.first()) {
                    (Some(package), Some(first)) => {
                        requirements.of(&first.site.path, &name.language, package)
                    }
                    _ => Requirement::Unknown,
                };
                // Where a path is no name of a package, another one may have the same path.
                let is_path =
                    |form: &ModuleForm| !form.is_prefixed && form.files == ModuleFiles::Path;
                let may_be_other = package.is_some_and(|package| is_path(&package.form));
                if requirement == Requirement::Undeclared && may_be_other {
                    (certainty, reason) = (Certainty::Possible, "package not declared");
                }
                // Only what is called is no module.
                if export.is_some_and(|(_, export)| export.is_default) && !self.has_calls_only {
                    (certainty, reason) = (Certainty::Possible, "the module or its default");
                }
                let version = match requirement {
                    Requirement::Declared(version) => version,
                    Requirement::Unknown | Requirement::Undeclared => String::new(),
                };
                let name = name.clone();
                crossed.uses.push(CrossedUse {
                    user,
                    name,
                    certainty,
                    reason,
                    version,
                    total,
                    sites,
                });
            }
        }
        Ok(())
    }

    /// True if there is a use.
    pub(super) fn has_uses(&self) -> bool {
        self.crossed.iter().any(|crossed| !crossed.uses.is_empty())
    }

    /// True if a member has a symbol that the call is about.
    pub(super) fn is_about(&self, member: usize) -> bool {
        self.crossed.iter().any(|crossed| crossed.member == member)
    }

    /// True if what a member can answer on its own is part of the answers of others: it has no
    /// symbol of that name, and others have.
    pub(super) fn covers(&self, member: usize) -> bool {
        !self.crossed.is_empty() && !self.is_about(member)
    }

    /// True if uses of a certainty are listed.
    pub(super) fn is_listed(&self, crossed: &Crossed, certainty: Certainty) -> bool {
        let vague = crossed.uses.iter().filter(|one| !one.certainty.is_sure());
        let vague: usize = vague.map(|one| one.total).sum();
        let has_sure = crossed.uses.iter().any(|one| one.certainty.is_sure());
        match self.wanted {
            _ if !has_sure => true,
            Some(wanted) => certainty <= wanted,
            None => certainty.is_sure() || vague <= FEW_POSSIBLE,
        }
    }
}

impl Join<'_> {
    fn named(&self, text: &str, language: &str) -> Result<Targets, QueryError> {
        let mut targets: Targets = Vec::new();
        for (member, exports) in self.exports.iter().enumerate() {
            let found = exports.named(text, language)?;
            targets.extend(found.into_iter().map(|export| (member, export)));
        }
        Ok(targets)
    }

    /// The same for a name in a module, which has its first part.
    fn named_inside(
        &self,
        module: &str,
        text: &str,
        language: &str,
    ) -> Result<Targets, QueryError> {
        let first = text.split(['.', '(']).next().unwrap_or(text);
        let found = self.named(&format!("{module}.{first}"), language)?;
        match found.iter().any(|(_, export)| export.certainty.is_sure()) {
            true => self.named(&format!("{module}.{text}"), language),
            false => Ok(Targets::new()),
        }
    }

    /// The same in the modules and headers of which a file takes every name.
    fn opened(&self, text: &str, of: &OutsideName) -> Result<Targets, QueryError> {
        let mut targets = Targets::new();
        for module in &of.opened {
            let mut found = self.named_inside(module, text, &of.language)?;
            for (member, exports) in self.exports.iter().enumerate() {
                let own = exports.named_in_header(module, text, &of.language)?;
                found.extend(own.into_iter().map(|export| (member, export)));
            }
            found.retain(|target| !targets.contains(target));
            targets.extend(found);
        }
        Ok(targets)
    }

    /// Symbols of all members that a name leads to: where one is known, without guesses.
    fn targets(&mut self, name: &OutsideName) -> Result<&Targets, QueryError> {
        if !self.known.contains_key(name) {
            let mut targets = self.named(&name.text, &name.language)?;
            if targets.is_empty() {
                targets = self.opened(&name.text, name)?;
            }
            for around in &name.around {
                if !targets.is_empty() {
                    break;
                }
                targets = self.named_inside(around, &name.text, &name.language)?;
                if targets.is_empty() {
                    targets = self.opened(&format!("{around}.{}", name.text), name)?;
                }
            }
            if targets.iter().any(|(_, export)| export.certainty.is_sure()) {
                targets.retain(|(_, export)| export.certainty.is_sure());
            }
            self.known.insert(name.clone(), targets);
        }
        Ok(&self.known[name])
    }
}

/// How certain it is that a name with these targets leads to a symbol, and why it is no more
/// certain; none if it does not lead there.
fn leads(targets: &Targets, crossed: &Crossed) -> Option<(Certainty, &'static str)> {
    let is_it = |(member, export): &&(usize, Export)| {
        *member == crossed.member && crossed.subject.keys.contains(&export.key)
    };
    let own = targets.iter().filter(is_it);
    match own.map(|(_, export)| export.certainty).max() {
        Some(certainty) if targets.iter().all(|target| is_it(&target)) => Some((certainty, "")),
        Some(Certainty::Possible) => Some((Certainty::Possible, "")),
        Some(_) => Some((Certainty::Possible, "several have the name")),
        None => {
            let is_above = |(member, export): &(usize, Export)| {
                *member == crossed.member && crossed.subject.overridden.contains(&export.key)
            };
            targets.iter().any(is_above).then_some((Certainty::Possible, "by dispatch"))
        }
    }
}

/// Version of the innermost package around a file.
fn version_of(packages: &[OfferedPackage], path: &RepoPath) -> String {
    let around = packages.iter().filter(|package| {
        let below = path.as_str().strip_prefix(package.directory.as_str());
        package.directory.is_empty() || below.is_some_and(|below| below.starts_with('/'))
    });
    let innermost =
        around.filter(|one| !one.version.is_empty()).max_by_key(|one| one.directory.len());
    innermost.map(|package| package.version.clone()).unwrap_or_default()
}
