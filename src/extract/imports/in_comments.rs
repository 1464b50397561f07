//! Imports in comments: tags that import names for types in comments (`@import { A } from "x"`),
//! or that name an imported type (`@typedef {import("x").A} B`), and types that are imported where
//! they stand (`import("x").A`).

use crate::walk::input::Input;
use crate::walk::position::{offset, position};
use crate::walk::{QUOTES, Walk};
use cograph_model::Position;
use cograph_model::facts::{Import, ImportKind, NameId, ScopeId, Synthetic};
use memchr::memmem;
use std::borrow::Cow;
use tree_sitter::Node;

/// Maximum length of a comment around a tag, before and behind it, in bytes.
const MAX_BYTES: usize = 8 << 10;

/// Name that an import in a comment binds.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    module: String,
    /// Item of the module; nothing for its default export, or for all of it.
    item: Option<String>,
    is_whole: bool,
    alias: String,
}

/// Records the imports in the comments of a file, but for names that the file binds itself.
pub(crate) fn of_file(walk: &mut Walk<'_>) {
    let (source, language) = (walk.input.source, walk.input.language);
    let (mut line, mut line_start, mut read) = (1, 0, 0);
    let mut found = Vec::new();
    for tag in &language.manifest.documentation.import_tags {
        for at in memmem::find_iter(source, tag.as_bytes()) {
            if let Some(text) = rest_of_comment(source, at, at + tag.len()) {
                found.push((at, text));
            }
        }
    }
    found.sort_unstable_by_key(|(at, _)| *at);
    for (at, text) in found {
        for end in memchr::memchr_iter(b'\n', &source[read..at]) {
            (line, line_start) = (line + 1, read + end + 1);
        }
        read = at;
        let position = Position { line, column: offset(at - line_start) };
        for named in names_in(&without_stars(text)) {
            import(walk, named, position);
        }
    }
}

/// Type that a comment names.
pub(crate) struct NamedType<'t> {
    /// Tag.
    pub(crate) tag: &'static str,
    /// Type as written, without the stars of the comment.
    pub(crate) ty: String,
    /// Name.
    pub(crate) name: &'t str,
    /// First byte of the name, and its position.
    pub(crate) start: usize,
    pub(crate) at: Position,
    /// The comment up to the tag, and what is behind the type, up to its end.
    pub(crate) comment: &'t str,
    pub(crate) rest: &'t str,
}

/// Member that a comment states for a type which it names.
pub(crate) struct Stated<'t> {
    pub(crate) name: &'t str,
    pub(crate) ty: String,
    /// First byte of the name, and its position.
    pub(crate) start: usize,
    pub(crate) at: Position,
}

/// Returns the members that the tags behind the name of a type state, in order.
pub(crate) fn members_of<'t>(input: &Input<'t>, named: &NamedType<'t>) -> Vec<Stated<'t>> {
    let rest = named.rest;
    let rest_start = named.start - (rest.len() - rest.trim_start().len());
    let mut found: Vec<Stated<'t>> = Vec::new();
    for tag in &input.language.manifest.documentation.param_tags {
        for (at, _) in rest.match_indices(tag.as_str()) {
            let Some((ty, behind)) = braced(&rest[at + tag.len()..]) else { continue };
            let name = behind.trim_start().trim_start_matches('[').trim_start();
            let Some(word) = first_word(name) else { continue };
            // A member of a member is none of the type itself.
            if name[word.len()..].starts_with(['.', '[']) {
                continue;
            }
            let start = rest_start + (rest.len() - name.len());
            let line_start =
                memchr::memrchr(b'\n', &input.source[..start]).map_or(0, |end| end + 1);
            let lines = memchr::memchr_iter(b'\n', &input.source[named.start..start]).count();
            let at = Position {
                line: named.at.line + offset(lines),
                column: offset(start - line_start),
            };
            found.push(Stated { name: word, ty: without_stars(ty), start, at });
        }
    }
    found.sort_unstable_by_key(|stated| stated.start);
    found
}

/// Returns the types that the comments of a file name, apart from those that are one import.
pub(crate) fn named_types<'t>(input: &Input<'t>) -> Vec<NamedType<'t>> {
    let source = input.source;
    let mut found: Vec<NamedType<'t>> = Vec::new();
    let tags = input.language.manifest.documentation.import_tags.iter();
    let mut tagged: Vec<(usize, &'static String)> = tags
        .flat_map(|tag| memmem::find_iter(source, tag.as_bytes()).map(move |at| (at, tag)))
        .collect();
    tagged.sort_unstable();
    for (at, tag) in tagged {
        let Some(text) = rest_of_comment(source, at, at + tag.len()) else { continue };
        let (ty, rest) = braced(text).unwrap_or(("", text));
        let plain = without_stars(ty);
        // What is imported has its name by the import.
        let is_import = !names_in(&without_stars(text)).is_empty();
        let Some(name) = first_word(rest).filter(|_| !is_import) else { continue };
        let behind = rest.len() - rest.trim_start().len();
        let start = at + tag.len() + (text.len() - rest.len()) + behind;
        let before = &source[..start];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
        let (known, read) = found.last().map_or((1, 0), |last| (last.at.line, last.start));
        let line = known + offset(memchr::memchr_iter(b'\n', &source[read..start]).count());
        let open = memmem::rfind(before, b"/*").unwrap_or(at);
        found.push(NamedType {
            tag,
            ty: plain.trim().to_owned(),
            name,
            start,
            at: Position { line, column: offset(start - line_start) },
            comment: std::str::from_utf8(&source[open..at]).unwrap_or_default(),
            rest,
        });
    }
    found
}

/// Splits a text that starts with a part in braces into this part and the rest.
pub(crate) fn braced(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim_start().strip_prefix('{')?;
    let close = closing(inner, '{', '}')?;
    Some((&inner[..close], &inner[close + 1..]))
}

/// Returns the position of the closing bracket of an opened one.
pub(crate) fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0usize;
    text.char_indices().find_map(|(at, c)| match c {
        _ if c == open => {
            depth += 1;
            None
        }
        _ if c == close && depth == 0 => Some(at),
        _ if c == close => {
            depth -= 1;
            None
        }
        _ => None,
    })
}

/// Writes a name in place of each imported type in a type (`import("x").A`), and records the
/// imports.
pub(crate) fn with_names<'n>(walk: &mut Walk<'_>, node: Node<'_>, text: &'n str) -> Cow<'n, str> {
    if walk.input.language.manifest.documentation.import_tags.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut written = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(IMPORT) {
        let Some((module, behind)) = after.split_once(')') else { break };
        written.push_str(before);
        let module = module.trim().trim_matches(QUOTES);
        let item = behind.strip_prefix('.').and_then(first_word);
        let name = |c: char| if is_part(c) && c != '$' { c } else { '_' };
        let alias: String = IMPORT.chars().chain(module.chars()).map(name).collect();
        let alias = format!("{alias}_{}", item.unwrap_or_default());
        written.push_str(&alias);
        rest = item.map_or(behind, |item| &behind[1 + item.len()..]);
        let item = item.filter(|item| !Synthetic::DefaultExport.is(item)).map(str::to_owned);
        let is_whole = item.is_none() && !behind.starts_with('.');
        import(walk, Named { module: module.to_owned(), item, is_whole, alias }, position(node));
    }
    if written.is_empty() {
        return Cow::Borrowed(text);
    }
    written.push_str(rest);
    Cow::Owned(written)
}

/// Start of an imported type.
const IMPORT: &str = "import(";

fn import(walk: &mut Walk<'_>, named: Named, at: Position) {
    let alias = walk.facts.name(&named.alias);
    let scope = ScopeId(0);
    // What the file binds to the name is its value, and usually the type as well.
    if walk.facts.bound(scope, alias).is_some() {
        return;
    }
    let (kind, item) = match &named.item {
        Some(item) => (ImportKind::Item, walk.facts.name(item)),
        None if named.is_whole => (ImportKind::Module, NameId::NONE),
        None => (ImportKind::Default, NameId::NONE),
    };
    let import = walk.facts.import(Import {
        kind,
        module: named.module.into(),
        level: 0,
        item,
        alias,
        reexport: false,
        type_only: true,
        lazy: false,
        test: false,
        scope,
        at,
    });
    walk.facts.bind_import(scope, scope, alias, import);
}

/// Returns the text behind a tag up to the end of the comment that it is in.
fn rest_of_comment(source: &[u8], at: usize, end: usize) -> Option<&str> {
    let before = &source[at.saturating_sub(MAX_BYTES)..at];
    let open = memmem::rfind(before, b"/*")?;
    if memmem::find(&before[open..], b"*/").is_some() {
        return None;
    }
    let rest = source.get(end..source.len().min(end + MAX_BYTES))?;
    let rest = &rest[..memmem::find(rest, b"*/")?];
    let is_word = rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric());
    std::str::from_utf8(rest).ok().filter(|_| !is_word)
}

/// Removes the stars at the starts of the lines of a comment.
fn without_stars(text: &str) -> String {
    let mut lines = text.lines();
    let mut plain = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        plain.push(' ');
        plain.push_str(line.trim_start().trim_start_matches('*'));
    }
    plain
}

/// Returns the names that the text behind a tag imports.
fn names_in(text: &str) -> Vec<Named> {
    let text = text.trim_start();
    match imported_type(text) {
        Some(named) => vec![named],
        None => clause(text).unwrap_or_default(),
    }
}

/// Reads `{import("module").Item} Name`.
fn imported_type(text: &str) -> Option<Named> {
    let rest = text.strip_prefix('{')?.trim_start();
    let rest = rest.strip_prefix("typeof").unwrap_or(rest).trim_start();
    let (module, rest) = rest.strip_prefix(IMPORT)?.split_once(')')?;
    let (item, name) = rest.split_once('}')?;
    let item = item.trim();
    let path = item.split_once('<').map_or(item, |(path, _)| path);
    let item = match path.strip_prefix('.') {
        Some(item) if is_name(item) => Some(item.to_owned()),
        None if path.is_empty() => None,
        _ => return None,
    };
    let alias = first_word(name)?.to_owned();
    let module = module.trim().trim_matches(QUOTES).to_owned();
    let item = item.filter(|item| !Synthetic::DefaultExport.is(item));
    let is_whole = path.is_empty();
    Some(Named { module, item, is_whole, alias })
}

/// Reads `Default, { Item, Item as Name } from "module"` and `* as Name from "module"`.
fn clause(text: &str) -> Option<Vec<Named>> {
    let (names, rest) = match text.split_once('}') {
        Some((names, rest)) if names.contains('{') => (names, rest),
        _ => text.split_once(" from ").map(|(names, _)| (names, &text[names.len()..]))?,
    };
    let module = rest.trim_start().strip_prefix("from")?.trim_start();
    let quote = module.chars().next().filter(|quote| QUOTES.contains(quote))?;
    let (module, _) = module[1..].split_once(quote)?;
    let (plain, listed) = names.split_once('{').unwrap_or((names, ""));
    let mut found = Vec::new();
    let mut add = |item: Option<&str>, is_whole: bool, alias: &str| {
        if is_name(alias) && item.is_none_or(is_name) {
            let item = item.filter(|item| !Synthetic::DefaultExport.is(item)).map(str::to_owned);
            found.push(Named {
                module: module.to_owned(),
                item,
                is_whole,
                alias: alias.to_owned(),
            });
        }
    };
    for plain in plain.split(',').map(str::trim).filter(|plain| !plain.is_empty()) {
        match plain.strip_prefix('*') {
            Some(rest) => add(None, true, rest.trim_start().strip_prefix("as ")?.trim()),
            None => add(None, false, plain),
        }
    }
    for listed in listed.split(',').map(str::trim).filter(|listed| !listed.is_empty()) {
        let (item, alias) = listed.split_once(" as ").unwrap_or((listed, listed));
        add(Some(item.trim()), false, alias.trim());
    }
    Some(found)
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_part)
}

fn first_word(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    Some(&text[..end]).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let shown = |named: Named| {
            let item = match (named.item, named.is_whole) {
                (Some(item), _) => item,
                (None, whole) => if whole { "*" } else { "default" }.to_owned(),
            };
            format!("{}:{item}={}", named.module, named.alias)
        };
        names_in(&without_stars(text)).into_iter().map(shown).collect()
    }

    #[test]
    fn tags_import_names() {
        assert_eq!(names(" { A, B as C } from \"./x\" "), ["./x:A=A", "./x:B=C"]);
        assert_eq!(names(" {\n *   A,\n *   B,\n * } from './x'\n "), ["./x:A=A", "./x:B=B"]);
        assert_eq!(names(" D from \"d\""), ["d:default=D"]);
        assert_eq!(names(" D, { A } from \"d\""), ["d:default=D", "d:A=A"]);
        assert_eq!(names(" * as N from \"n\""), ["n:*=N"]);
        assert_eq!(names(" {import(\"./x\").A} B the type"), ["./x:A=B"]);
        assert_eq!(names(" {import(\"./x\").A<string>} B"), ["./x:A=B"]);
        assert_eq!(names(" {import('./x')} X"), ["./x:*=X"]);
        for other in
            [" {string} S", " {import(\"x\").A | B} C", " { A }", " \"x\"", "", " { A } from"]
        {
            assert!(names(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn tags_count_in_comments_only() {
        let rest = |source: &'static str| {
            let at = source.find("@import").expect("a tag");
            rest_of_comment(source.as_bytes(), at, at + "@import".len())
        };
        assert_eq!(rest("/** @import X from 'x' */"), Some(" X from 'x' "));
        assert_eq!(rest("/* a */ '@import X'; /* b */"), None);
        assert_eq!(rest("/** @imports X from 'x' */"), None);
        assert_eq!(rest("/** @import X from 'x'"), None);
    }
}
