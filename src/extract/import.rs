//! Imports, exports and packages, in the forms that module systems have. Also decorators and macro calls.

use super::walk::{READ, Usage, Walker, position};
use crate::grammar::{ImportForm, Rule, Selector};
use crate::model::SiteKind;
use crate::model::facts::{Binding, BindingKind, Expr, ExprId, Import, ImportId, ImportKind, LocalSymbol, NameId, flags};
use tree_sitter::Node;

/// One import before it is recorded.
struct Entry<'t> {
    kind: ImportKind,
    module: String,
    level: u16,
    item: NameId,
    alias: NameId,
    /// Where the item, or else the module, is written.
    node: Node<'t>,
    reexport: bool,
}

impl<'t> Walker<'t> {
    pub(super) fn import(&mut self, form: &'static ImportForm, node: Node<'t>) {
        match form {
            ImportForm::Modules { names, alias, aliased } => {
                for name in names.every(node) {
                    let inner = aliased.as_ref().and_then(|selector| selector.first(name));
                    let alias_node = alias.as_ref().and_then(|selector| selector.first(name));
                    self.import_module(inner.unwrap_or(name), alias_node);
                }
            }
            ImportForm::Items { module, relative, names, wildcard, alias, aliased } => {
                let Some(module_node) = module.first(node) else { return };
                let (module, level) = self.relative_module(module_node, relative.as_ref());
                if let Some(wildcard) = wildcard.as_ref().and_then(|selector| selector.first(node)) {
                    let (item, alias) = (NameId::NONE, NameId::NONE);
                    self.record(Entry { kind: ImportKind::Wildcard, module, level, item, alias, node: wildcard, reexport: true });
                    return;
                }
                for name in names.every(node) {
                    let inner = aliased.as_ref().and_then(|selector| selector.first(name)).unwrap_or(name);
                    let alias_node = alias.as_ref().and_then(|selector| selector.first(name)).unwrap_or(inner);
                    let (item, alias) = (self.name_of(inner), self.name_of(alias_node));
                    let module = module.clone();
                    self.record(Entry { kind: ImportKind::Item, module, level, item, alias, node: inner, reexport: true });
                }
            }
            ImportForm::Clauses { .. } => self.import_clauses(form, node),
            ImportForm::Tree { of, .. } => {
                let reexport = self.is_public(node);
                if let Some(tree) = of.first(node) {
                    self.import_tree(form, tree, &mut Vec::new(), reexport);
                }
            }
            ImportForm::Path { of, wildcard, member } => self.import_path(node, of, wildcard.as_ref(), member.as_deref()),
            ImportForm::Quoted { path, alias } => self.import_quoted(node, path, alias.as_ref()),
            ImportForm::Include { path, system } => {
                let Some(path) = path.first(node) else { return };
                let is_system = path.kind() == system;
                let module = self.text_of(path).trim_matches(['"', '<', '>', ' ']).to_owned();
                let (item, alias) = (NameId::NONE, NameId::NONE);
                let level = u16::from(is_system);
                self.record(Entry { kind: ImportKind::Include, module, level, item, alias, node: path, reexport: true });
            }
            ImportForm::Using { of, namespace } => self.import_using(node, of, namespace),
            ImportForm::Export { .. } => {
                self.export_from(form, node);
            }
            ImportForm::Child { name } => {
                if let Some(name) = name.first(node) {
                    self.child_module(node, name);
                }
            }
        }
    }

    fn record(&mut self, entry: Entry<'t>) -> ImportId {
        let Entry { kind, module, level, item, alias, node, reexport } = entry;
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
                scope: self.build.nearest(self.scope, |kind| kind != crate::model::facts::ScopeKind::Flow),
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
        if let Some(site) = self.build.facts.sites.last_mut() {
            site.import = id;
        }
        id
    }

    fn last_segment(&mut self, import: ImportId) -> NameId {
        let module = import.get().map_or("", |position| &self.build.facts.imports[position].module).to_owned();
        let separator = &self.language.manifest.modules.separator;
        let last = module.rsplit(separator.as_str()).next().unwrap_or(&module);
        self.build.name(last)
    }

    fn import_module(&mut self, name: Node<'t>, alias: Option<Node<'t>>) {
        let module: String = self.text_of(name).split_whitespace().collect();
        let separator = &self.language.manifest.modules.separator;
        let bound = match alias {
            Some(alias) => self.name_of(alias),
            // Without an alias the first package is bound; its members lead on.
            None => {
                let first = module.split(separator.as_str()).next().unwrap_or(&module).to_owned();
                self.build.name(&first)
            }
        };
        let whole = alias.is_some() || !module.contains(separator.as_str());
        let item = NameId::NONE;
        if whole {
            self.record(Entry { kind: ImportKind::Module, module, level: 0, item, alias: bound, node: name, reexport: true });
            return;
        }
        let first = self.build.text(bound).to_owned();
        self.record(Entry { kind: ImportKind::Module, module, level: 0, item, alias: NameId::NONE, node: name, reexport: true });
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

    /// A dotted module with leading dots: its name and how many levels up it starts.
    fn relative_module(&mut self, node: Node<'t>, relative: Option<&'static Selector>) -> (String, u16) {
        let text: String = self.text_of(node).split_whitespace().collect();
        if relative.is_none() {
            return (text, 0);
        }
        let dots = text.len() - text.trim_start_matches('.').len();
        (text[dots..].to_owned(), u16::try_from(dots).unwrap_or(u16::MAX))
    }

    fn quoted(&self, node: Node<'t>) -> String {
        self.text_of(node).trim_matches(['"', '\'', '`']).to_owned()
    }

    fn import_clauses(&mut self, form: &'static ImportForm, node: Node<'t>) {
        let ImportForm::Clauses { source, default, namespace, named, item, alias, .. } = form else { return };
        let Some(source_node) = source.first(node) else { return };
        let module = self.quoted(source_node);
        let mut any = false;
        if let Some(name) = default.as_ref().and_then(|selector| selector.first(node)) {
            let alias = self.name_of(name);
            let item = NameId::NONE;
            let module = module.clone();
            self.record(Entry { kind: ImportKind::Default, module, level: 0, item, alias, node: name, reexport: false });
            any = true;
        }
        if let Some(name) = namespace.as_ref().and_then(|selector| selector.first(node)) {
            let name = self.named_children(name).first().copied().unwrap_or(name);
            let alias = self.name_of(name);
            let item = NameId::NONE;
            let module = module.clone();
            self.record(Entry { kind: ImportKind::Module, module, level: 0, item, alias, node: name, reexport: false });
            any = true;
        }
        for clause in named.as_ref().map(|selector| selector.every(node)).unwrap_or_default() {
            for specifier in self.named_children(clause) {
                let Some(name) = item.as_ref().and_then(|selector| selector.first(specifier)) else { continue };
                let alias_node = alias.as_ref().and_then(|selector| selector.first(specifier)).unwrap_or(name);
                let alias = self.name_of(alias_node);
                let (kind, item) = match self.text_of(name) {
                    "default" => (ImportKind::Default, NameId::NONE),
                    _ => (ImportKind::Item, self.name_of(name)),
                };
                let module = module.clone();
                self.record(Entry { kind, module, level: 0, item, alias, node: name, reexport: false });
                any = true;
            }
        }
        if !any {
            let (item, alias) = (NameId::NONE, NameId::NONE);
            self.record(Entry { kind: ImportKind::Include, module, level: 0, item, alias, node: source_node, reexport: false });
        }
    }

    fn is_public(&mut self, node: Node<'t>) -> bool {
        let kinds = self.modifier_kinds.clone();
        self.children(node).into_iter().any(|child| kinds.contains(&child.kind_id()))
    }

    fn import_tree(&mut self, form: &'static ImportForm, node: Node<'t>, prefix: &mut Vec<String>, reexport: bool) {
        let ImportForm::Tree { list, path, name, alias, wildcard, scoped_list, aliased, plain_list, .. } = form else { return };
        let kind = node.kind();
        let depth = prefix.len();
        if kind == scoped_list || kind == plain_list {
            if kind == scoped_list
                && let Some(path) = path.first(node)
            {
                self.push_path(path, prefix);
            }
            let items = if kind == plain_list { Some(node) } else { list.first(node) };
            for item in items.map(|items| self.named_children(items)).unwrap_or_default() {
                self.import_tree(form, item, prefix, reexport);
            }
        } else if kind == wildcard {
            for child in self.named_children(node) {
                self.push_path(child, prefix);
            }
            let (item, alias) = (NameId::NONE, NameId::NONE);
            let module = self.joined(prefix);
            self.record(Entry { kind: ImportKind::Wildcard, module, level: 0, item, alias, node, reexport });
        } else {
            let (target, alias_node) = match kind == aliased {
                true => (path.first(node), alias.first(node)),
                false => (Some(node), None),
            };
            let Some(target) = target else { return };
            self.push_path(target, prefix);
            let last_node = name.first(target).unwrap_or(target);
            self.import_leaf(prefix, last_node, alias_node, reexport);
        }
        prefix.truncate(depth);
    }

    /// The last segment of a path is what is imported; the word for the module itself means the path before it.
    fn import_leaf(&mut self, path: &[String], node: Node<'t>, alias: Option<Node<'t>>, reexport: bool) {
        let modules = &self.language.manifest.modules;
        let Some((last, before)) = path.split_last() else { return };
        let is_self = modules.self_word.as_ref() == Some(last) && !before.is_empty();
        let (item, before) = match before.split_last() {
            Some((item, before)) if is_self => (item, before),
            _ => (last, before),
        };
        let bound = match alias {
            Some(alias) => self.name_of(alias),
            None => self.build.name(item),
        };
        let module = before.join(&modules.separator);
        let item = self.build.name(item);
        self.record(Entry { kind: ImportKind::Item, module, level: 0, item, alias: bound, node, reexport });
    }

    fn joined(&self, path: &[String]) -> String {
        path.join(&self.language.manifest.modules.separator)
    }

    fn push_path(&mut self, node: Node<'t>, path: &mut Vec<String>) {
        let text: String = self.text_of(node).split_whitespace().collect();
        let separator = &self.language.manifest.modules.separator;
        path.extend(text.split(separator.as_str()).filter(|part| !part.is_empty()).map(str::to_owned));
    }

    fn import_path(&mut self, node: Node<'t>, of: &'static Selector, wildcard: Option<&'static Selector>, member: Option<&str>) {
        let Some(path_node) = of.first(node) else { return };
        let text: String = self.text_of(path_node).split_whitespace().collect();
        let separator = self.language.manifest.modules.separator.clone();
        let is_member = member.is_some_and(|word| self.children(node).into_iter().any(|child| child.kind() == word));
        let level = u16::from(is_member);
        if wildcard.is_some_and(|selector| selector.first(node).is_some()) {
            let (item, alias) = (NameId::NONE, NameId::NONE);
            self.record(Entry { kind: ImportKind::Wildcard, module: text, level, item, alias, node: path_node, reexport: false });
            return;
        }
        let (module, last) = text.rsplit_once(separator.as_str()).map_or(("", text.as_str()), |(module, last)| (module, last));
        let item = self.build.name(last);
        let module = module.to_owned();
        self.record(Entry { kind: ImportKind::Item, module, level, item, alias: item, node: path_node, reexport: false });
    }

    fn import_quoted(&mut self, node: Node<'t>, path: &'static Selector, alias: Option<&'static Selector>) {
        let Some(path_node) = path.first(node) else { return };
        let module = self.quoted(path_node);
        let separator = &self.language.manifest.modules.separator;
        let alias_text = alias.and_then(|selector| selector.first(node)).map(|alias| self.text_of(alias));
        let (kind, bound) = match alias_text {
            Some(".") => (ImportKind::Wildcard, ""),
            Some("_") => (ImportKind::Include, ""),
            Some(alias) => (ImportKind::Module, alias),
            None => (ImportKind::Module, package_name(&module, separator)),
        };
        let alias = if bound.is_empty() { NameId::NONE } else { self.build.name(bound) };
        let item = NameId::NONE;
        self.record(Entry { kind, module: module.clone(), level: 0, item, alias, node: path_node, reexport: false });
    }

    fn import_using(&mut self, node: Node<'t>, of: &'static Selector, namespace: &str) {
        let Some(path_node) = of.first(node) else { return };
        let whole = self.children(node).into_iter().any(|child| child.kind() == namespace);
        let text: String = self.text_of(path_node).split_whitespace().collect();
        let separator = self.language.manifest.modules.separator.clone();
        if whole {
            let (item, alias) = (NameId::NONE, NameId::NONE);
            self.record(Entry {
                kind: ImportKind::Wildcard,
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
        self.record(Entry { kind: ImportKind::Item, module, level: 0, item, alias: item, node: path_node, reexport: true });
    }

    /// A module of this name in a file of its own.
    pub(super) fn child_module(&mut self, node: Node<'t>, name_node: Node<'t>) {
        let reexport = self.is_public(node);
        let self_word = self.language.manifest.modules.self_word.clone().unwrap_or_default();
        let item = self.name_of(name_node);
        let kind = ImportKind::Module;
        self.record(Entry { kind, module: self_word, level: 0, item, alias: item, node: name_node, reexport });
    }

    pub(super) fn package(&mut self, node: Node<'t>, name: &'static Selector) -> ExprId {
        if let Some(name) = name.first(node) {
            let text: String = self.text_of(name).split_whitespace().collect();
            self.build.facts.package = Some(text.into());
        }
        ExprId::NONE
    }

    pub(super) fn export(&mut self, rule: &'static Rule, node: Node<'t>) -> ExprId {
        let Rule::Export { declaration, value, default_mark, import } = rule else { return ExprId::NONE };
        if self.export_from(import, node) {
            return ExprId::NONE;
        }
        let is_default = default_mark.as_ref().is_some_and(|selector| selector.first(node).is_some());
        let outer = self.around;
        self.around.exported = true;
        self.around.default_export = is_default;
        for child in self.named_children(node) {
            if matches!(self.language.rule(child.kind_id()), Some(Rule::Decorator { .. })) {
                self.visit(child, READ);
            }
        }
        if let Some(declaration) = declaration.as_ref().and_then(|selector| selector.first(node)) {
            self.visit(declaration, READ);
        } else if let Some(value_node) = value.as_ref().and_then(|selector| selector.first(node)) {
            self.export_value(value_node, node, is_default);
        }
        self.around = outer;
        ExprId::NONE
    }

    /// `export default value`: a name stands for what it names, anything else becomes a symbol named `default`.
    fn export_value(&mut self, value: Node<'t>, node: Node<'t>, is_default: bool) {
        let name = self.build.name("default");
        if let Some((lambda, lambda_node)) = self.lambda_in(value) {
            let kind = crate::model::SymbolKind::Function;
            let header_end = node.end_byte().min(node.start_byte() + 120);
            let symbol =
                self.define(&super::define::Definition { name, name_node: value, node, kind, header_end, has_body: true });
            self.lambda(lambda, lambda_node, symbol);
            return;
        }
        let given = self.visit(value, READ);
        if is_default {
            self.bind(self.scope, name, BindingKind::Value, 0, ExprId::NONE, given);
        }
    }

    /// Exports of names: from another module, or of this one. Gives whether the node was such an export.
    fn export_from(&mut self, form: &'static ImportForm, node: Node<'t>) -> bool {
        let ImportForm::Export { source, clause, item, alias, namespace } = form else { return false };
        let source_node = source.first(node);
        let module = source_node.map(|source| self.quoted(source));
        if let Some(clause) = clause.first(node) {
            for specifier in self.named_children(clause) {
                let Some(name) = item.first(specifier) else { continue };
                let alias_node = alias.first(specifier).unwrap_or(name);
                let (item, alias) = (self.name_of(name), self.name_of(alias_node));
                match &module {
                    Some(module) => {
                        let kind = if self.text_of(name) == "default" { ImportKind::Default } else { ImportKind::Item };
                        let module = module.clone();
                        // Not bound here: only those who import this file see it.
                        let id =
                            self.record(Entry { kind, module, level: 0, item, alias: NameId::NONE, node: name, reexport: true });
                        if let Some(position) = id.get() {
                            self.build.facts.imports[position].alias = alias;
                        }
                    }
                    None => {
                        let value = self.build.expr(Expr::Name(item, self.scope));
                        self.site(READ, name, item, value);
                        self.exported_names.push((alias, item));
                    }
                }
            }
            return true;
        }
        let Some(module) = module else { return false };
        let source_node = source_node.expect("a module was read from it");
        let alias = match namespace.first(node) {
            Some(name) => {
                let name = self.named_children(name).first().copied().unwrap_or(name);
                self.name_of(name)
            }
            None => NameId::NONE,
        };
        let kind = if alias.is_some() { ImportKind::Module } else { ImportKind::Wildcard };
        let item = NameId::NONE;
        let id = self.record(Entry { kind, module, level: 0, item, alias: NameId::NONE, node: source_node, reexport: true });
        if let Some(position) = id.get() {
            self.build.facts.imports[position].alias = alias;
        }
        true
    }

    pub(super) fn decorated(&mut self, node: Node<'t>, of: &'static Selector, decorators: &'static Selector) -> ExprId {
        for decorator in decorators.every(node) {
            self.visit(decorator, READ);
        }
        of.first(node).map_or(ExprId::NONE, |definition| self.visit(definition, READ))
    }

    pub(super) fn decorator(&mut self, node: Node<'t>, name: &'static Selector, args: Option<&'static Selector>) -> ExprId {
        let pending = std::mem::take(&mut self.pending);
        let name_node = name.first(node);
        if let Some(name_node) = name_node {
            let usage = Usage::Site(SiteKind::Decorate);
            match self.language.rule(name_node.kind_id()) {
                Some(Rule::Name {} | Rule::Member { .. }) => self.visit(name_node, usage),
                Some(_) => self.visit(name_node, READ),
                None => self.visit_type(name_node, usage),
            };
        }
        if let Some(args) = args.and_then(|selector| selector.first(node)) {
            self.visit(args, READ);
        }
        self.pending = pending;
        let text = name_node.map_or("", |name| self.text_of(name));
        let text = text.split(['(', '<']).next().unwrap_or(text).trim();
        self.pending.decorators.push((text.into(), node));
        ExprId::NONE
    }

    /// Calls inside the tokens of a macro, as far as a name before parentheses shows them.
    pub(super) fn macro_call(&mut self, node: Node<'t>, name: &'static Selector, tokens: &'static Selector) -> ExprId {
        if let Some(name_node) = name.first(node) {
            let name_id = match self.language.rule(name_node.kind_id()) {
                Some(Rule::Member { name, .. }) => name.first(name_node).unwrap_or(name_node),
                _ => name_node,
            };
            let name = self.name_of(name_id);
            let value = self.build.expr(Expr::Name(name, self.scope));
            self.in_macro_name(name_id, name, value);
        }
        if let Some(tokens) = tokens.first(node) {
            let outer = std::mem::replace(&mut self.in_macro, true);
            self.tokens(tokens);
            self.in_macro = outer;
        }
        ExprId::NONE
    }

    fn in_macro_name(&mut self, node: Node<'t>, name: NameId, value: ExprId) {
        let text = format!("{}!", self.build.text(name));
        let marked = self.build.name(&text);
        let target = self.build.of(value, |_| Expr::Name(marked, self.scope));
        self.site(Usage::Site(SiteKind::Call), node, name, target);
        self.take_call_site();
    }

    /// Reads a flat run of tokens as postfix expressions: names, members, calls and indexes; other tokens separate them.
    fn tokens(&mut self, node: Node<'t>) -> Vec<ExprId> {
        let pending = std::mem::take(&mut self.pending);
        let children = self.children(node);
        let mut values = Vec::new();
        let mut value = ExprId::NONE;
        let mut last_member: Option<(Node<'t>, NameId)> = None;
        let mut joiner = "";
        for (position, child) in children.iter().enumerate() {
            let next = children.get(position + 1);
            let calls = next.is_some_and(|next| next.kind() == child_list_kind(node) && self.text_of(*next).starts_with('('));
            match self.language.rule(child.kind_id()) {
                _ if !child.is_named() && matches!(child.kind(), "." | "::" | "->") => joiner = child.kind(),
                Some(Rule::Name {}) => {
                    let name = self.name_of(*child);
                    value = match value.is_some() && !joiner.is_empty() {
                        true => self.build.expr(Expr::Member(value, name)),
                        false => self.name_expression_silent(*child),
                    };
                    let usage = if calls { Usage::Site(SiteKind::Call) } else { READ };
                    if value.is_some() {
                        self.site(usage, *child, name, value);
                    }
                    self.take_call_site_if(!calls);
                    last_member = calls.then_some((*child, name));
                    joiner = "";
                }
                Some(Rule::SelfValue {} | Rule::Literal { .. } | Rule::Text { .. }) => {
                    value = self.visit(*child, READ);
                    joiner = "";
                }
                _ if child.kind() == child_list_kind(node) => {
                    let site = if last_member.is_some() { self.take_call_site().get() } else { None };
                    let inner = self.tokens(*child);
                    let is_call = last_member.take().is_some();
                    let list = self.build.list(&inner);
                    if let Some(site) = site {
                        self.build.facts.sites[site].args = list;
                        self.build.facts.sites[site].spread = true;
                    }
                    value = if is_call { self.build.of(value, |callee| Expr::Call(callee, list)) } else { ExprId::NONE };
                    joiner = "";
                }
                _ => {
                    if child.kind() == "," {
                        values.push(self.known(value));
                    }
                    if !matches!(child.kind(), "?") {
                        value = ExprId::NONE;
                    }
                    joiner = "";
                    last_member = None;
                    if child.is_named() {
                        self.tokens(*child);
                    }
                }
            }
        }
        if value.is_some() {
            values.push(value);
        }
        self.pending = pending;
        values
    }

    fn take_call_site_if(&mut self, take: bool) {
        if take {
            self.take_call_site();
        }
    }

    fn name_expression_silent(&mut self, node: Node<'t>) -> ExprId {
        let text = self.text_of(node);
        if self.language.manifest.names.self_type.iter().any(|word| word == text) {
            return self.build.expr(Expr::SelfType(self.scope));
        }
        let name = self.build.name(text);
        self.build.expr(Expr::Name(name, self.scope))
    }
}

/// Lists of tokens nest in nodes of their own kind.
fn child_list_kind(node: Node<'_>) -> &str {
    node.kind()
}

/// The name that a package has unless it says otherwise: its last segment without a version.
fn package_name<'m>(module: &'m str, separator: &str) -> &'m str {
    let mut segments = module.rsplit(separator);
    let last = segments.next().unwrap_or(module);
    let is_version =
        last.strip_prefix('v').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
    let name = if is_version { segments.next().unwrap_or(last) } else { last };
    name.split('.').next().unwrap_or(name)
}

/// Names that an export list makes visible under another name: exported name and local name.
pub(super) fn mark_exports(facts: &mut crate::model::facts::FileFacts, exported: &[(NameId, NameId)]) {
    for &(alias, local) in exported {
        let symbols = facts.symbols.iter_mut().filter(|symbol| symbol.name == local && symbol.scope.0 == 0);
        for symbol in symbols {
            symbol.flags |= flags::EXPORTED;
        }
        if alias != local || !facts.bindings.iter().any(|binding| binding.scope.0 == 0 && binding.name == local) {
            let value = ExprId::at(facts.exprs.len());
            facts.exprs.push(Expr::Name(local, crate::model::facts::ScopeId(0)));
            facts.bindings.push(Binding {
                scope: crate::model::facts::ScopeId(0),
                block: crate::model::facts::ScopeId(0),
                name: alias,
                kind: BindingKind::Value,
                from: 0,
                symbol: LocalSymbol::NONE,
                import: ImportId::NONE,
                ty: ExprId::NONE,
                value,
            });
        }
    }
}
