//! Which definitions are reached by references, overrides and declarations from where.

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_model::RelationKind;
use cograph_store::{SiteTarget, SymbolKey};
use rustc_hash::{FxHashMap, FxHashSet};

/// Definition around a use, if it is one that is judged: none is code that runs or is read anyway.
type User = Option<SymbolKey>;

/// Uses of the repository, and what they have reached so far.
pub(super) struct UseGraph<'l, 'q> {
    lookup: &'l Lookup<'q>,
    judged: FxHashSet<SymbolKey>,
    /// By definition: what it uses.
    uses: FxHashMap<SymbolKey, Vec<SymbolKey>>,
    /// What code outside of all judged definitions uses.
    by_code: Vec<SymbolKey>,
    /// The same of test code.
    by_tests: Vec<SymbolKey>,
}

impl<'l, 'q> UseGraph<'l, 'q> {
    pub(super) fn of(lookup: &'l Lookup<'q>, judged: &[SymbolKey]) -> Result<Self, QueryError> {
        let mut reach = Self {
            lookup,
            judged: judged.iter().copied().collect(),
            uses: FxHashMap::default(),
            by_code: Vec::new(),
            by_tests: Vec::new(),
        };
        let mut candidates: FxHashMap<u32, Vec<SymbolKey>> = FxHashMap::default();
        for file in lookup.snapshot.files()? {
            lookup.check()?;
            let mut users: FxHashMap<SymbolKey, User> = FxHashMap::default();
            for site in lookup.snapshot.sites_of(&file)? {
                let targets = match site.target {
                    SiteTarget::Symbol(target) | SiteTarget::HeldBy(target) => vec![target],
                    // Each candidate may be meant.
                    SiteTarget::Candidates(set) => match candidates.get(&set) {
                        Some(known) => known.clone(),
                        None => {
                            let known = lookup.snapshot.candidates(set)?;
                            candidates.entry(set).or_insert(known).clone()
                        }
                    },
                    SiteTarget::None | SiteTarget::External(_) => continue,
                };
                let user = match site.enclosing {
                    Some(enclosing) => match users.get(&enclosing) {
                        Some(user) => *user,
                        None => {
                            let user = reach.user(enclosing)?;
                            users.insert(enclosing, user);
                            user
                        }
                    },
                    None => None,
                };
                for target in targets {
                    reach.add(user, file.test, target);
                }
            }
        }
        for &key in judged {
            reach.relations(key)?;
        }
        Ok(reach)
    }

    /// The innermost judged definition around a use.
    fn user(&self, enclosing: SymbolKey) -> Result<User, QueryError> {
        let around = self.lookup.containers(Some(enclosing))?;
        Ok(around.iter().rev().map(|around| around.key).find(|key| self.judged.contains(key)))
    }

    fn add(&mut self, user: User, is_test: bool, target: SymbolKey) {
        match user {
            // A recursive use reaches nothing new.
            Some(user) if user == target => {}
            Some(user) => self.uses.entry(user).or_default().push(target),
            None if is_test => self.by_tests.push(target),
            None => self.by_code.push(target),
        }
    }

    /// What is overridden or declared and what overrides or defines it are used together: a call
    /// of the one may run the other, and the one cannot be without the other.
    fn relations(&mut self, key: SymbolKey) -> Result<(), QueryError> {
        for other in self.used_with(key)? {
            // The other may be one that is not judged.
            self.add(Some(key), false, other);
            self.add(Some(other), false, key);
        }
        Ok(())
    }

    /// What a definition overrides or declares, and what overrides or defines it.
    fn used_with(&self, key: SymbolKey) -> Result<Vec<SymbolKey>, QueryError> {
        let (from, to) = (self.lookup.relations_from(key)?, self.lookup.relations_to(key)?);
        let from = from.iter().map(|relation| (relation.kind, relation.to));
        let to = to.iter().map(|relation| (relation.kind, relation.from));
        let is_one =
            |kind: RelationKind| matches!(kind, RelationKind::Overrides | RelationKind::Defines);
        Ok(from.chain(to).filter(|(kind, _)| is_one(*kind)).map(|(_, other)| other).collect())
    }

    /// True if what a definition is used with is not judged, such as a member of a type outside.
    pub(super) fn goes_with_others(&self, key: SymbolKey) -> Result<bool, QueryError> {
        Ok(self.used_with(key)?.iter().any(|other| !self.judged.contains(other)))
    }

    /// What code outside of judged definitions reaches, tests aside.
    pub(super) fn by_code(&self) -> Result<FxHashSet<SymbolKey>, QueryError> {
        self.walk(&self.by_code, FxHashSet::default())
    }

    /// What test code outside of judged definitions and these reach.
    pub(super) fn by_tests(&self, roots: &[SymbolKey]) -> Result<FxHashSet<SymbolKey>, QueryError> {
        self.walk(&self.by_tests, self.by(roots)?)
    }

    /// What these definitions reach, without themselves unless another of them does.
    pub(super) fn by(&self, roots: &[SymbolKey]) -> Result<FxHashSet<SymbolKey>, QueryError> {
        roots.iter().try_fold(FxHashSet::default(), |reached, root| {
            self.walk(self.uses.get(root).map_or(&[][..], Vec::as_slice), reached)
        })
    }

    /// Adds these definitions and what they reach to what is reached.
    pub(super) fn with(
        &self,
        keys: &[SymbolKey],
        reached: FxHashSet<SymbolKey>,
    ) -> Result<FxHashSet<SymbolKey>, QueryError> {
        self.walk(keys, reached)
    }

    /// Adds what `roots` reach to what is reached. A definition inside of another is not there
    /// without that.
    fn walk(
        &self,
        roots: &[SymbolKey],
        mut reached: FxHashSet<SymbolKey>,
    ) -> Result<FxHashSet<SymbolKey>, QueryError> {
        let mut left: Vec<SymbolKey> = roots.to_vec();
        while let Some(key) = left.pop() {
            if !reached.insert(key) {
                continue;
            }
            self.lookup.check()?;
            left.extend(self.uses.get(&key).into_iter().flatten());
            left.extend(self.lookup.symbol(key)?.container);
        }
        Ok(reached)
    }
}
