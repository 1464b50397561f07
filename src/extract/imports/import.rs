//! Imports, in the forms of module systems.

mod clauses;
mod tree;

use crate::extract::walk::{QUOTES, Usage, Walker, position};
use crate::grammar::{ImportForm, Selector};
use crate::model::SiteKind;
use crate::model::facts::{
    Binding, BindingKind, ExprId, Import, ImportId, ImportKind, LocalSymbol, NameId,
};
use tree_sitter::Node;

/// Import before it is recorded.
pub(super) struct ImportEntry<'t> {
    pub(in crate::extract) kind: ImportKind,
    pub(in crate::extract) module: String,
    pub(super) level: u16,
    pub(in crate::extract) item: NameId,
    pub(in crate::extract) alias: NameId,
    /// Node of the item, or else of the module.
    pub(in crate::extract) node: Node<'t>,
    pub(super) reexport: bool,
}

impl<'t> Walker<'t> {
    pub(in crate::extract) fn import(&mut self, form: &'static ImportForm, node: Node<'t>) {
        match form {
            ImportForm::Modules { names, alias, aliased } => {
                for name in self.every(Some(names), node) {
                    let inner = aliased.as_ref().and_then(|selector| selector.first(name));
                    let alias_node = alias.as_ref().and_then(|selector| selector.first(name));
                    self.import_module(inner.unwrap_or(name), alias_node);
                }
            }
            ImportForm::Items { module, relative, names, wildcard, alias, aliased } => {
                let Some(module_node) = module.first(node) else { return };
                let (module, level) = self.relative_module(module_node, relative.as_ref());
                if let Some(wildcard) = wildcard.as_ref().and_then(|selector| selector.first(node))
                {
                    let (item, alias) = (NameId::NONE, NameId::NONE);
                    self.record(ImportEntry {
                        kind: ImportKind::Wildcard,
                        module,
                        level,
                        item,
                        alias,
                        node: wildcard,
                        reexport: true,
                    });
                    return;
                }
                for name in self.every(Some(names), node) {
                    let inner =
                        aliased.as_ref().and_then(|selector| selector.first(name)).unwrap_or(name);
                    let alias_node =
                        alias.as_ref().and_then(|selector| selector.first(name)).unwrap_or(inner);
                    let (item, alias) = (self.name_of(inner), self.name_of(alias_node));
                    let module = module.clone();
                    self.record(ImportEntry {
                        kind: ImportKind::Item,
                        module,
                        level,
                        item,
                        alias,
                        node: inner,
                        reexport: true,
                    });
                }
            }
            ImportForm::Clauses { .. } => self.import_clauses(form, node),
            ImportForm::Tree { of, .. } => {
                let reexport = self.is_public(node);
                if let Some(tree) = of.first(node) {
                    let reexport = reexport || self.around.exported;
                    self.import_tree(form, tree, &mut Vec::new(), reexport);
                }
            }
            ImportForm::Path { of, wildcard, member } => {
                self.import_path(node, of, wildcard.as_ref(), member.as_deref())
            }
            ImportForm::Quoted { path, alias } => self.import_quoted(node, path, alias.as_ref()),
            ImportForm::Include { path, system, computed } => {
                let Some(path) = path.first(node) else { return };
                let is_system = path.kind() == system;
                let known = self
                    .every(computed.as_ref(), node)
                    .last()
                    .map_or(path.start_byte(), |last| last.end_byte());
                let module = self
                    .text_at(known..path.end_byte())
                    .trim_matches(['"', '\'', '<', '>', ' '])
                    .to_owned();
                let module = if known > path.start_byte() {
                    module.trim_start_matches('/').to_owned()
                } else {
                    module
                };
                let (item, alias) = (NameId::NONE, NameId::NONE);
                let level = u16::from(is_system);
                self.record(ImportEntry {
                    kind: ImportKind::Include,
                    module,
                    level,
                    item,
                    alias,
                    node: path,
                    reexport: true,
                });
            }
            ImportForm::Using { of, namespace, alias, prefix } => {
                let before =
                    prefix.as_ref().and_then(|prefix| prefix.first(node.parent()?.parent()?));
                self.import_using(node, (before, of), namespace.as_deref(), alias.as_ref());
            }
            ImportForm::Joined { path, names, wildcard, alias, aliased } => {
                let segments: Vec<&str> =
                    self.every(Some(path), node).iter().map(|part| self.text_of(*part)).collect();
                self.import_joined(node, &segments, (names, wildcard), (alias, aliased));
            }
            ImportForm::Export { .. } => {
                self.export_from(form, node);
            }
            ImportForm::Whole { name, alias } => {
                let reexport = self.is_public(node);
                let Some(name) = name.first(node) else { return };
                let alias =
                    alias.as_ref().and_then(|selector| selector.first(node)).unwrap_or(name);
                let (module, alias, item) =
                    (self.text_of(name).to_owned(), self.name_of(alias), NameId::NONE);
                self.record(ImportEntry {
                    kind: ImportKind::Module,
                    module,
                    level: 0,
                    item,
                    alias,
                    node: name,
                    reexport,
                });
            }
            ImportForm::Child { name } => {
                if let Some(name) = name.first(node) {
                    self.child_module(node, name);
                }
            }
        }
    }

    /// Visits an import with one node for each segment of its path.
    fn import_joined(
        &mut self,
        node: Node<'t>,
        segments: &[&str],
        (names, wildcard): (&'static Option<Selector>, &'static Option<Selector>),
        (alias, aliased): (&'static Option<Selector>, &'static Option<Selector>),
    ) {
        let kind = ImportKind::Item;
        if let Some(wildcard) = wildcard.as_ref().and_then(|selector| selector.first(node)) {
            let (module, item, alias) = (self.joined_text(segments), NameId::NONE, NameId::NONE);
            self.record(ImportEntry {
                kind: ImportKind::Wildcard,
                module,
                level: 0,
                item,
                alias,
                node: wildcard,
                reexport: false,
            });
            return;
        }
        let names = self.every(names.as_ref(), node);
        if let (true, Some((last, before))) = (names.is_empty(), segments.split_last()) {
            let (module, item) = (self.joined_text(before), self.build.name(last));
            self.record(ImportEntry {
                kind,
                module,
                level: 0,
                item,
                alias: item,
                node,
                reexport: false,
            });
        }
        for name in names {
            let part = |selector: &'static Option<Selector>| {
                selector.as_ref().and_then(|selector| selector.first(name))
            };
            let inner = part(aliased).unwrap_or(name);
            let (item, alias) = (self.name_of(inner), self.name_of(part(alias).unwrap_or(inner)));
            let module = self.joined_text(segments);
            self.record(ImportEntry {
                kind,
                module,
                level: 0,
                item,
                alias,
                node: inner,
                reexport: false,
            });
        }
    }

    fn joined_text(&self, segments: &[&str]) -> String {
        segments.join(&self.language.manifest.modules.separator)
    }

    pub(super) fn record(&mut self, entry: ImportEntry<'t>) -> ImportId {
        let ImportEntry { kind, module, level, item, alias, node, reexport } = entry;
        let id = self.build.import(Import {
            kind,
            module: module.into(),
            level,
            item,
            alias,
            reexport,
            type_only: false,
            scope: self.scope,
            at: position(node),
        });
        if alias.is_some() {
            self.build.bind(Binding {
                scope: self
                    .build
                    .nearest(self.scope, |kind| kind != crate::model::facts::ScopeKind::Flow),
                block: self.scope,
                name: alias,
                kind: BindingKind::Import,
                from: 0,
                symbol: LocalSymbol::NONE,
                import: id,
                ty: ExprId::NONE,
                value: ExprId::NONE,
            });
        }
        let name = if item.is_some() { item } else { self.last_segment(id) };
        self.site(Usage::Site(SiteKind::Import), node, name, ExprId::NONE);
        if let Some(site) = self.build.sites.last_mut() {
            site.import = id;
        }
        id
    }

    /// Records an import in the form of a call.
    pub(in crate::extract) fn import_by_call(
        &mut self,
        node: Node<'t>,
        item: NameId,
        alias: NameId,
    ) {
        let kind = if item.is_some() { ImportKind::Item } else { ImportKind::Module };
        let module = self.quoted(node);
        self.record(ImportEntry { kind, module, level: 0, item, alias, node, reexport: false });
    }

    fn last_segment(&mut self, import: ImportId) -> NameId {
        let module = import
            .get()
            .map_or("", |position| &self.build.facts.imports[position].module)
            .to_owned();
        let separator = &self.language.manifest.modules.separator;
        let last = module.rsplit(separator.as_str()).next().unwrap_or(&module);
        self.build.name(last)
    }

    fn import_module(&mut self, name: Node<'t>, alias: Option<Node<'t>>) {
        let module: String = self.text_of(name).split_whitespace().collect();
        let separator = &self.language.manifest.modules.separator;
        let bound = match alias {
            Some(alias) => self.name_of(alias),
            // Without an alias the first package is bound; the others are its members.
            None => {
                let first = module.split(separator.as_str()).next().unwrap_or(&module).to_owned();
                self.build.name(&first)
            }
        };
        let whole = alias.is_some() || !module.contains(separator.as_str());
        let item = NameId::NONE;
        if whole {
            self.record(ImportEntry {
                kind: ImportKind::Module,
                module,
                level: 0,
                item,
                alias: bound,
                node: name,
                reexport: true,
            });
            return;
        }
        let first = self.build.text(bound).to_owned();
        self.record(ImportEntry {
            kind: ImportKind::Module,
            module,
            level: 0,
            item,
            alias: NameId::NONE,
            node: name,
            reexport: true,
        });
        if self.build.bound(self.scope, bound).is_none() {
            let id = self.build.import(Import {
                kind: ImportKind::Module,
                module: first.into(),
                level: 0,
                item,
                alias: bound,
                reexport: true,
                type_only: false,
                scope: self.scope,
                at: position(name),
            });
            self.build.bind(Binding {
                scope: self.scope,
                block: self.scope,
                name: bound,
                kind: BindingKind::Import,
                from: 0,
                symbol: LocalSymbol::NONE,
                import: id,
                ty: ExprId::NONE,
                value: ExprId::NONE,
            });
        }
    }

    /// Parses a relative module with leading dots: returns its name and the number of levels.
    fn relative_module(
        &mut self,
        node: Node<'t>,
        relative: Option<&'static Selector>,
    ) -> (String, u16) {
        let text: String = self.text_of(node).split_whitespace().collect();
        if relative.is_none() {
            return (text, 0);
        }
        let dots = text.len() - text.trim_start_matches('.').len();
        (text[dots..].to_owned(), u16::try_from(dots).unwrap_or(u16::MAX))
    }

    pub(super) fn quoted(&self, node: Node<'t>) -> String {
        self.text_of(node).trim_matches(QUOTES).to_owned()
    }

    fn is_public(&mut self, node: Node<'t>) -> bool {
        self.children(node).into_iter().any(|child| self.language.is_modifier_node(child.kind_id()))
    }

    fn import_quoted(
        &mut self,
        node: Node<'t>,
        path: &'static Selector,
        alias: Option<&'static Selector>,
    ) {
        let Some(path_node) = path.first(node) else { return };
        let module = self.quoted(path_node);
        let separator = &self.language.manifest.modules.separator;
        let alias_text =
            alias.and_then(|selector| selector.first(node)).map(|alias| self.text_of(alias));
        let (kind, bound) = match alias_text {
            Some(".") => (ImportKind::Wildcard, ""),
            Some("_") => (ImportKind::Include, ""),
            Some(alias) => (ImportKind::Module, alias),
            None => (ImportKind::Module, package_name(&module, separator)),
        };
        let alias = if bound.is_empty() { NameId::NONE } else { self.build.name(bound) };
        let item = NameId::NONE;
        self.record(ImportEntry {
            kind,
            module: module.clone(),
            level: 0,
            item,
            alias,
            node: path_node,
            reexport: false,
        });
    }

    /// Makes the members of a module visible in the enclosing scope.
    pub(in crate::extract) fn import_members(&mut self, node: Node<'t>) {
        let module: String = self.text_of(node).split_whitespace().collect();
        let (item, alias) = (NameId::NONE, NameId::NONE);
        self.record(ImportEntry {
            kind: ImportKind::Wildcard,
            module,
            level: 0,
            item,
            alias,
            node,
            reexport: true,
        });
    }

    fn import_using(
        &mut self,
        node: Node<'t>,
        (before, of): (Option<Node<'t>>, &'static Selector),
        namespace: Option<&str>,
        alias: Option<&'static Selector>,
    ) {
        let Some(path_node) = of.first(node) else { return };
        let mut text: String = self.text_of(path_node).split_whitespace().collect();
        let separator = self.language.manifest.modules.separator.clone();
        if let Some(before) = before {
            text = format!("{}{separator}{text}", self.text_of(before));
        }
        if namespace
            .is_some_and(|word| self.children(node).into_iter().any(|child| child.kind() == word))
        {
            self.import_members(path_node);
            return;
        }
        if let Some(alias) = alias.and_then(|selector| selector.first(node)) {
            let (item, alias) = (NameId::NONE, self.name_of(alias));
            let kind = ImportKind::Module;
            self.record(ImportEntry {
                kind,
                module: text,
                level: 0,
                item,
                alias,
                node: path_node,
                reexport: true,
            });
            return;
        }
        let (module, last) = text.rsplit_once(separator.as_str()).unwrap_or(("", &text));
        let (item, module) = (self.build.name(last), module.to_owned());
        self.record(ImportEntry {
            kind: ImportKind::Item,
            module,
            level: 0,
            item,
            alias: item,
            node: path_node,
            reexport: true,
        });
    }

    /// Declares a child module in a separate file.
    pub(in crate::extract) fn child_module(&mut self, node: Node<'t>, name_node: Node<'t>) {
        let reexport = self.is_public(node);
        let self_word = self.language.manifest.modules.self_word.clone().unwrap_or_default();
        let module = self.path_decorator().unwrap_or(self_word);
        let item = self.name_of(name_node);
        let kind = ImportKind::Module;
        self.record(ImportEntry {
            kind,
            module,
            level: 0,
            item,
            alias: item,
            node: name_node,
            reexport,
        });
    }
}

/// Returns the default name of a package: the last segment without a version.
fn package_name<'m>(module: &'m str, separator: &str) -> &'m str {
    let mut segments = module.rsplit(separator);
    let last = segments.next().unwrap_or(module);
    let is_version = last
        .strip_prefix('v')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
    let name = if is_version { segments.next().unwrap_or(last) } else { last };
    name.split('.').next().unwrap_or(name)
}
