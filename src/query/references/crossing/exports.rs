//! The symbols of a repository that a qualified name of another one leads to.
//!
//! A name is read from its longest module downwards: the module by the form of its package
//! manager, then a symbol of its top level or one that it hands on, then members. A name that can
//! be read only in part leads to every public symbol that it may mean, each possible.

mod bases;
mod headers;
mod members;
mod modules;
mod parts;
mod public;

use crate::graph::answer::Certainty;
use crate::graph::error::QueryError;
use crate::names::segments;
use cograph_grammar as grammar;
use cograph_model::RelationKind;
use cograph_model::facts::{external_callable, flags};
use cograph_model::package::{ModuleFiles, ModuleForm, OfferedPackage};
use cograph_store::{RelationRow, SymbolHead, SymbolKey};
use members::{Followed, members};
use modules::{Module, defaults, inner_module, module_at, top_level};
pub use public::Exports;
use public::Part;

/// Maximum number of symbols that a name may possibly mean.
pub const MAX_POSSIBLE: usize = 200;

/// Symbol that a name leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// Symbol.
    pub key: SymbolKey,
    /// Certain if package and descriptors name it, likely if the type of a call's result was taken
    /// from a header, possible otherwise.
    pub certainty: Certainty,
    /// Package, as a position in the list.
    pub package: usize,
    /// True if the name is that of the module that exports it by default.
    pub is_default: bool,
}

impl Exports<'_> {
    /// Symbols that a qualified name leads to, as code in a language writes it.
    pub fn named(&self, text: &str, language: &str) -> Result<Vec<Export>, QueryError> {
        let parts: Vec<Part<'_>> = segments(text).into_iter().map(part).collect();
        let of_language = self
            .packages
            .iter()
            .enumerate()
            .filter(|(_, package)| package.form.languages.iter().any(|own| own == language));
        let mut fitting: Vec<(usize, &OfferedPackage, &[Part<'_>])> = of_language
            .filter_map(|(at, package)| Some((at, package, rest(package, &parts)?)))
            .collect();
        // Declared names are those of all packages: the outermost has the files of the others.
        let is_declared = |package: &OfferedPackage| package.form.files == ModuleFiles::Declared;
        let mut has_declared = false;
        fitting.retain(|(_, package, _)| {
            !is_declared(package) || !std::mem::replace(&mut has_declared, true)
        });
        // Of packages inside of each other the innermost is meant.
        let least = fitting.iter().filter(|(_, one, _)| one.form.is_prefixed);
        if let Some(least) = least.map(|(.., rest)| rest.len()).min() {
            fitting.retain(|(.., rest)| rest.len() == least);
        }
        let mut found: Vec<Export> = Vec::new();
        for (at, package, rest) in fitting {
            self.lookup.check()?;
            let (keys, certainty, is_default) = self.in_package(package, rest)?;
            for key in keys {
                match found.iter_mut().find(|known| known.key == key) {
                    Some(known) => known.certainty = known.certainty.min(certainty),
                    None => {
                        let package = match is_declared(package) {
                            true => self.package_around(key, at)?,
                            false => at,
                        };
                        found.push(Export { key, certainty, package, is_default });
                    }
                }
            }
        }
        if found.iter().any(|one| one.certainty.is_sure()) {
            found.retain(|one| one.certainty.is_sure());
        }
        Ok(found)
    }

    /// Symbols that a qualified name leads to in a header, and in what that includes.
    pub fn named_in_header(
        &self,
        header: &str,
        text: &str,
        language: &str,
    ) -> Result<Vec<Export>, QueryError> {
        let of_language = |package: &&OfferedPackage| {
            package.form.files == ModuleFiles::Included
                && package.form.languages.iter().any(|own| own == language)
        };
        let package = self.packages.iter().position(|package| of_language(&package));
        let Some(package) = package else { return Ok(Vec::new()) };
        let files = self.header(header)?;
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let parts: Vec<Part<'_>> = segments(text).into_iter().map(part).collect();
        let Followed { found, certainty, .. } = self.chain(&Module::Included(files), &parts)?;
        let export = |key| Export { key, certainty, package, is_default: false };
        Ok(found.into_iter().map(export).collect())
    }

    /// The innermost package of the same manager around a symbol.
    fn package_around(&self, key: SymbolKey, of: usize) -> Result<usize, QueryError> {
        let place = self.lookup.place(self.lookup.symbol(key)?.file)?;
        let is_around = |package: &OfferedPackage| {
            let below = place.path.as_str().strip_prefix(package.directory.as_str());
            package.manager == self.packages[of].manager
                && (package.directory.is_empty() || below.is_some_and(|it| it.starts_with('/')))
        };
        let all = self.packages.iter().enumerate();
        let around = all.filter(|(_, package)| !package.name.is_empty() && is_around(package));
        Ok(around.max_by_key(|(_, package)| package.directory.len()).map_or(of, |(at, _)| at))
    }

    /// Symbols that the rest of a name leads to in its package, how certain that is, and whether
    /// they are what a module exports by default.
    fn in_package(
        &self,
        package: &OfferedPackage,
        rest: &[Part<'_>],
    ) -> Result<(Vec<SymbolKey>, Certainty, bool), QueryError> {
        let least = usize::from(!package.form.is_prefixed && !is_without_modules(&package.form));
        let (mut is_reached, mut is_module, mut is_inferred) = (false, false, false);
        for split in (least..=rest.len()).rev() {
            let (module, chain) = rest.split_at(split);
            if module.iter().any(|part| part.is_called) {
                continue;
            }
            let Some(module) = module_at(self, package, module)? else { continue };
            let Some(first) = chain.first() else {
                // The module itself, or what it exports by default.
                let found = defaults(self, &module)?;
                if !found.is_empty() {
                    return Ok((found, Certainty::Certain, true));
                }
                is_module = matches!(module, Module::Files(_));
                continue;
            };
            // Whether files declare a module is known by what they have.
            is_reached |= !matches!(module, Module::Declared(_))
                || !top_level(self, &module, first.name)?.is_empty();
            let followed = self.chain(&module, chain)?;
            if !followed.found.is_empty() || followed.is_outside {
                return Ok((followed.found, followed.certainty, false));
            }
            is_inferred |= followed.is_inferred;
        }
        let nothing = (Vec::new(), Certainty::Possible, false);
        let Some(last) = rest.last() else { return Ok(nothing) };
        // Without an entry point nothing is known of what a package hands on.
        let is_unknown = package.form.is_prefixed
            && package.form.files == ModuleFiles::Path
            && module_at(self, package, &[])?.is_none();
        if is_module || (!is_reached && !is_unknown) {
            return Ok(nothing);
        }
        let receiver = rest.len().checked_sub(2).map(|at| rest[at]);
        if let Some(receiver) = receiver.filter(|receiver| is_reached && !receiver.is_called) {
            let extensions = self.extensions(package, receiver.name, last.name)?;
            if self.are_one_member(&extensions, last.name)? {
                return Ok((extensions, Certainty::Likely, false));
            }
        }
        let (mut possible, mut exact) = (Vec::new(), Vec::new());
        for head in self.heads(last.name)?.iter().take(MAX_POSSIBLE) {
            let is_member = head.container.is_some();
            if !self.is_public(head.key)? || !self.is_of(package, head)? {
                continue;
            }
            let containers = self.lookup.containers(head.container)?;
            let around = rest[..rest.len() - 1].iter().map(|part| part.name);
            if containers.iter().map(|one| &*one.name_text).eq(around) {
                exact.push(head.key);
            } else if is_member == (rest.len() > 1) {
                possible.push(head.key);
            }
        }
        if is_unknown && exact.len() == 1 {
            return Ok((exact, Certainty::Certain, false));
        }
        exact.extend(possible);
        if self.has_calls_only {
            let mut callable = Vec::new();
            for &key in &exact {
                if self.lookup.symbol(key)?.kind.is_callable() {
                    callable.push(key);
                }
            }
            if !callable.is_empty() {
                exact = callable;
            }
        }
        if is_inferred && self.are_one_member(&exact, last.name)? {
            return Ok((exact, Certainty::Likely, false));
        }
        Ok((exact, Certainty::Possible, false))
    }

    /// Extensions by a name whose headers have that of a type: members that it does not have.
    fn extensions(
        &self,
        package: &OfferedPackage,
        ty: &str,
        name: &str,
    ) -> Result<Vec<SymbolKey>, QueryError> {
        let mut found = Vec::new();
        for head in self.heads(name)?.iter().filter(|head| head.flags & flags::EXTENSION != 0) {
            let is_offered = self.is_public(head.key)? && self.is_of(package, head)?;
            if is_offered && headers::has_word(&self.lookup.symbol(head.key)?.signature, ty) {
                found.push(head.key);
            }
        }
        Ok(found)
    }

    /// True for members of one type, and what overrides them, by a name that values of the language
    /// itself do not have.
    fn are_one_member(&self, keys: &[SymbolKey], name: &str) -> Result<bool, QueryError> {
        let mut container = None;
        for &key in keys {
            let relations = self.lookup.relations_from(key)?;
            let overrides =
                |one: &RelationRow| one.kind == RelationKind::Overrides && keys.contains(&one.to);
            if relations.iter().any(overrides) {
                continue;
            }
            let row = self.lookup.symbol(key)?;
            let file = self.lookup.file(row.file)?;
            let language = grammar::by_name(self.lookup.language(file.language));
            let is_common = language.is_none_or(|language| language.is_common_member(name));
            if is_common || container.is_some_and(|known| row.container != Some(known)) {
                return Ok(false);
            }
            container = row.container;
        }
        Ok(container.is_some())
    }

    /// True for a symbol of a package, and of no test.
    fn is_of(&self, package: &OfferedPackage, head: &SymbolHead) -> Result<bool, QueryError> {
        let place = self.lookup.place(head.file)?;
        let directory = package.directory.as_str();
        let below = place.path.as_str().strip_prefix(directory);
        let is_below = directory.is_empty() || below.is_some_and(|below| below.starts_with('/'));
        let language = self.lookup.language(place.language);
        let is_of_language = package.form.languages.iter().any(|own| own == language);
        Ok(is_below && is_of_language && !place.test)
    }

    fn chain(&self, module: &Module, chain: &[Part<'_>]) -> Result<Followed, QueryError> {
        let nothing = Followed {
            found: Vec::new(),
            certainty: Certainty::Certain,
            is_inferred: false,
            is_outside: false,
        };
        let Some((first, rest)) = chain.split_first() else { return Ok(nothing) };
        let top = top_level(self, module, first.name)?;
        if top.is_empty() {
            // A module that the module hands on.
            return match inner_module(self, module, first)? {
                Some(inner) => self.chain(&inner, rest),
                None => Ok(nothing),
            };
        }
        members(self, top, *first, rest)
    }
}

/// True where files declare no module that they are in: a name begins with a type.
fn is_without_modules(form: &ModuleForm) -> bool {
    let mut languages = form.languages.iter().filter_map(|name| grammar::by_name(name));
    form.files == ModuleFiles::Declared
        && languages.all(|language| !language.manifest.modules.declares_packages())
}

fn part(text: &str) -> Part<'_> {
    let (name, is_called) = match external_callable(text) {
        Some(name) => (name, true),
        None => (text, false),
    };
    Part { name: name.trim_end_matches('!'), is_called }
}

/// What follows the name of a package in a qualified name; none if that is of another package.
fn rest<'p, 'n>(package: &OfferedPackage, parts: &'p [Part<'n>]) -> Option<&'p [Part<'n>]> {
    if !package.form.is_prefixed {
        return Some(parts);
    }
    let own = segments(&package.written);
    let begins = parts.len() >= own.len() && !own.is_empty();
    let is_same =
        begins && own.iter().zip(parts).all(|(own, part)| *own == part.name && !part.is_called);
    is_same.then(|| &parts[own.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_belongs_to_the_package_that_it_begins_with_as_a_whole() {
        let form = ModuleForm { is_prefixed: true, ..ModuleForm::default() };
        let check = |written: &str, name: &str| {
            let package = OfferedPackage {
                written: written.to_owned(),
                form: form.clone(),
                ..OfferedPackage::default()
            };
            let parts: Vec<Part<'_>> = segments(name).into_iter().map(part).collect();
            rest(&package, &parts).map(|rest| {
                rest.iter().map(|part| part.name.to_owned()).collect::<Vec<_>>().join(" ")
            })
        };
        let found = |text: &str| Some(text.to_owned());
        assert_eq!(check("@acme/greet", "@acme/greet/core/greet"), found("core greet"));
        assert_eq!(check("@acme/greet", "@acme/greeter/greet"), None);
        assert_eq!(check("a.b/c", "a.b/c/d.New().Do"), found("d New Do"));
        assert_eq!(check("greet_lib", "greet_lib.shout!"), found("shout"));
        assert_eq!(check("greet_lib", "greet"), None);
        assert_eq!(check("", "greet"), None);
    }
}
