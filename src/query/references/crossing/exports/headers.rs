//! Types in the headers of functions and fields, and what the types around them hand on: an element
//! of a list, the value of an optional.

use super::public::Exports;
use crate::graph::error::QueryError;
use crate::names::keys_of;
use cograph_grammar::{self as grammar, FlowKind, Language, TypeFlow};
use cograph_model::facts::ELEMENT;
use cograph_model::{SiteKind, SymbolKind};
use cograph_store::{SiteRow, SymbolKey, SymbolRow};

/// Maximum number of tables from a type of the language to its last base.
const MAX_TABLES: usize = 8;

/// Name of lists in the tables of a language, where it is written with brackets.
const LIST: &str = "[]";

/// Name of tuples in the tables of a language.
const TUPLE: &str = "tuple";

/// Name of the table for what every value has, where a language has no type above all others.
const EVERY_VALUE: &str = "*";

/// Value of a type of the repository, or of types of the language that hold such values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct HeldValue {
    /// Type.
    pub(super) ty: SymbolKey,
    /// What holds it, outermost first.
    pub(super) holders: Vec<Holder>,
    /// Type parameters of the types on the way to it that may be its own.
    pub(super) params: Vec<TypeParam>,
}

/// Type parameter with a default, which is meant where nothing else is known to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TypeParam {
    name: String,
    ty: SymbolKey,
}

impl HeldValue {
    /// A value that nothing holds.
    pub(super) fn of(ty: SymbolKey) -> Self {
        Self { ty, holders: Vec::new(), params: Vec::new() }
    }
}

/// Type around another one: `Vec<..>`, `Map<.., ..>`, `[..]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Holder {
    /// Name without what qualifies it.
    pub(super) name: String,
    /// Which of its arguments the inner type is.
    pub(super) position: usize,
}

/// Values of types that nothing holds.
pub(super) fn plain(types: Vec<SymbolKey>) -> Vec<HeldValue> {
    types.into_iter().map(HeldValue::of).collect()
}

/// Language of a symbol.
pub(super) fn language_of(
    exports: &Exports<'_>,
    symbol: SymbolKey,
) -> Result<Option<&'static Language>, QueryError> {
    let file = exports.lookup.file(exports.lookup.symbol(symbol)?.file)?;
    Ok(grammar::by_name(exports.lookup.language(file.language)))
}

/// The table of a type of the language that has a member, its own or that of a base, and the type
/// of the member.
pub(super) fn holder_member<'l>(
    language: Option<&'l Language>,
    holder: &str,
    member: &str,
) -> Option<(&'l TypeFlow, &'l str)> {
    let language = language?;
    let mut next = holder;
    for _ in 0..MAX_TABLES {
        let (_, flow) = language.flow(next)?;
        // A value of it is one of what it holds.
        if flow.kind == Some(FlowKind::Transparent) {
            return None;
        }
        if let Some(template) = flow.members.get(member) {
            return Some((flow, template));
        }
        next = flow.base.as_deref()?;
    }
    None
}

/// The value that a member of the outermost holder gives, by the type of the member in its table;
/// none if that has nothing of what is held.
pub(super) fn handed_on(template: &str, flow: &TypeFlow, value: &HeldValue) -> Option<HeldValue> {
    let template = template.trim();
    let (holder, inner) = value.holders.split_first()?;
    if template == "Self" {
        return Some(value.clone());
    }
    if let Some(position) = flow.params.iter().position(|param| param == template) {
        let is_it = position == holder.position || flow.params.len() == 1;
        return is_it.then(|| HeldValue { holders: inner.to_vec(), ..value.clone() });
    }
    let (head, arguments) = template.split_once('<')?;
    let arguments = arguments.strip_suffix('>')?;
    arguments_of(arguments).into_iter().enumerate().find_map(|(position, argument)| {
        let mut passed = handed_on(argument, flow, value)?;
        passed.holders.insert(0, Holder { name: head.to_owned(), position });
        Some(passed)
    })
}

/// What the outermost holder of a value holds: the part of a tuple, if it has that position, or an
/// element.
pub(super) fn held_part(
    language: Option<&Language>,
    value: &HeldValue,
    part: &str,
) -> Option<HeldValue> {
    let mut holders = &value.holders[..];
    while let Some((holder, inner)) = holders.split_first() {
        let held = HeldValue { holders: inner.to_vec(), ..value.clone() };
        if holder.name == TUPLE {
            return (part.parse() == Ok(holder.position)).then_some(held);
        }
        if part == ELEMENT && holder.name == LIST {
            return Some(held);
        }
        let (_, flow) = language?.flow(&holder.name)?;
        match (&flow.element, flow.kind) {
            (Some(element), _) if part == ELEMENT => {
                let value = HeldValue { holders: holders.to_vec(), ..value.clone() };
                return handed_on(element, flow, &value);
            }
            // A value of it is one of what it holds.
            (_, Some(FlowKind::Transparent)) => holders = inner,
            _ => return None,
        }
    }
    None
}

/// Arguments at the top level of a list of types.
fn arguments_of(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let parts = text.split(|letter| {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    parts.collect()
}

/// The value itself, where a member that every value has gives that.
pub(super) fn every_value_gives(
    exports: &Exports<'_>,
    value: &HeldValue,
    member: &str,
) -> Result<Option<HeldValue>, QueryError> {
    let Some(language) = language_of(exports, value.ty)? else { return Ok(None) };
    let top = language.manifest.conversions.top.as_deref().unwrap_or(EVERY_VALUE);
    let gives = |(_, flow): (&str, &TypeFlow)| {
        flow.members.get(member).is_some_and(|template| template == "Self")
    };
    Ok(language.flow(top).is_some_and(gives).then(|| value.clone()))
}

/// Values of types of the repository by the header of a field, or by the result in that of a
/// function; a type parameter, also one of `known`, by its default.
pub(super) fn values_of(
    exports: &Exports<'_>,
    of: &SymbolRow,
    known: &[TypeParam],
) -> Result<Vec<HeldValue>, QueryError> {
    let places = match of.kind.is_callable() {
        // Its parts are behind its name, which may be that of a type as well.
        _ if of.kind == SymbolKind::Variant => {
            let parts = of.signature.strip_prefix(&*of.name_text).unwrap_or_default();
            [String::new(), parts.to_owned()]
        }
        true => {
            let (front, behind) = around_parameters(&of.signature, &of.name_text);
            [without_brackets(front), behind.to_owned()]
        }
        false => [String::new(), of.signature.to_string()],
    };
    let mut params = known.to_vec();
    if let Some(container) = of.container {
        params.extend(params_of(exports, container)?);
    }
    let own_words = match language_of(exports, of.key)? {
        Some(language) => &language.manifest.names.self_type[..],
        None => &[],
    };
    let mut found: [Vec<HeldValue>; 2] = Default::default();
    let mut add = |place: usize, at: usize, name: &str, ty: SymbolKey| {
        let found = &mut found[place];
        if !found.iter().any(|known| known.ty == ty) {
            let text = &places[place];
            let is_handed_on = |param: &&TypeParam| {
                has_word(text, &param.name) || own_words.iter().any(|word| has_word(text, word))
            };
            let params = params.iter().filter(is_handed_on).cloned().collect();
            found.push(HeldValue { ty, holders: holders_of(text, at, name.len()), params });
        }
    };
    for site in types_in(exports, of)? {
        let name = exports.lookup.name(site.name)?;
        for (place, text) in places.iter().enumerate() {
            let Some(at) = word_at(text, &name) else { continue };
            for target in exports.lookup.targets(&site)? {
                if exports.lookup.symbol(target)?.kind.is_type() {
                    add(place, at, &name, target);
                }
            }
        }
    }
    for param in &params {
        for (place, text) in places.iter().enumerate() {
            if let Some(at) = word_at(text, &param.name) {
                add(place, at, &param.name, param.ty);
            }
        }
    }
    if let Some(container) = of.container {
        let kind = exports.lookup.symbol(container)?.kind;
        let mut own = own_words.iter().filter_map(|word| Some((word, word_at(&places[1], word)?)));
        if (kind.is_type() || kind == SymbolKind::Module)
            && let Some((word, at)) = own.next()
        {
            add(1, at, word, container);
        }
    }
    let [front, behind] = found;
    Ok(if front.is_empty() { behind } else { front })
}

/// Type parameters of a type with a default, by its header.
fn params_of(exports: &Exports<'_>, ty: SymbolKey) -> Result<Vec<TypeParam>, QueryError> {
    let row = exports.lookup.symbol(ty)?;
    let Some(list) = row.signature.split_once('<').map(|(_, list)| list) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for param in arguments_of(list) {
        let Some((declared, default)) = param.split_once('=') else { continue };
        let declared = declared.split(':').next().unwrap_or_default().trim();
        let name = declared.rsplit(' ').next().unwrap_or_default();
        for site in types_in(exports, &row)? {
            if !has_word(default, &exports.lookup.name(site.name)?) {
                continue;
            }
            for target in exports.lookup.targets(&site)? {
                if exports.lookup.symbol(target)?.kind.is_type() {
                    found.push(TypeParam { name: name.to_owned(), ty: target });
                }
            }
        }
    }
    Ok(found)
}

/// Types around a name in a header, outermost first.
fn holders_of(text: &str, at: usize, length: usize) -> Vec<Holder> {
    let named = |text: &str| {
        let start = text.trim_end_matches(is_of_word).len();
        text[start..].to_owned()
    };
    let mut found = Vec::new();
    let is_list = text[at + length..].trim_start().starts_with(LIST);
    let front = text[..at].trim_end_matches(['*', '&', ' ']);
    let before = front.strip_suffix(']').and_then(|front| Some(&front[..front.rfind('[')?]));
    match before.map(named) {
        Some(name) if !name.is_empty() => found.push(Holder { name, position: 1 }),
        None if !is_list => {}
        _ => found.push(Holder { name: LIST.to_owned(), position: 0 }),
    }
    let (mut depth, mut position) = (0_usize, 0);
    for (index, letter) in text[..at].char_indices().rev() {
        match letter {
            '>' if text[..index].ends_with(['-', '=']) => {}
            '>' | ']' | ')' => depth += 1,
            '<' | '[' | '(' if depth > 0 => depth -= 1,
            '<' | '[' | '(' => {
                let name = match (named(text[..index].trim_end()), letter) {
                    (name, _) if !name.is_empty() => name,
                    (_, '[') => LIST.to_owned(),
                    _ => TUPLE.to_owned(),
                };
                found.push(Holder { name, position });
                position = 0;
            }
            ',' if depth == 0 => position += 1,
            _ => {}
        }
    }
    found.reverse();
    found
}

/// Types that are named in a symbol: in a function, or in the header of a field.
fn types_in(exports: &Exports<'_>, of: &SymbolRow) -> Result<Vec<SiteRow>, QueryError> {
    let snapshot = exports.lookup.snapshot;
    let mut sites = Vec::new();
    if of.kind.is_callable() {
        sites = snapshot.sites_in(of)?;
        sites.retain(|site| site.kind == SiteKind::Type);
    }
    if sites.is_empty() {
        // Of a field, or of a declaration without a body: what encloses them is around it.
        let file = exports.lookup.file(of.file)?;
        let words = of.signature.split(|letter| !is_of_word(letter));
        let is_own = |word: &str| *word == *of.name_text && of.kind != SymbolKind::Variant;
        for word in words.filter(|word| !word.is_empty() && !is_own(word)) {
            for key in keys_of(&exports.lookup, word)? {
                sites.extend(snapshot.sites_named(&file, key)?);
            }
        }
        let lines = of.extent.start.line..=of.extent.end.line;
        sites.retain(|site| lines.contains(&site.at.line));
    }
    sites.retain(|site| site.kind == SiteKind::Type);
    Ok(sites)
}

/// True for a function that has no type of its result in its header, in a language that infers it.
pub(super) fn infers_result(exports: &Exports<'_>, of: &SymbolRow) -> Result<bool, QueryError> {
    let file = exports.lookup.file(of.file)?;
    let language = grammar::by_name(exports.lookup.language(file.language));
    let infers = language.is_some_and(|language| language.manifest.resolution.infer_returns);
    let (_, behind) = around_parameters(&of.signature, &of.name_text);
    Ok(infers && of.kind.is_callable() && !behind.contains(char::is_alphanumeric))
}

/// The header of a function in front of its name, and behind its parameters.
fn around_parameters<'h>(header: &'h str, name: &str) -> (&'h str, &'h str) {
    let Some(at) = word_at(header, name) else { return ("", header) };
    let (front, rest) = (&header[..at], &header[at + name.len()..]);
    let mut depth = 0_usize;
    for (at, letter) in rest.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 1 => return (front, &rest[at + 1..]),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    (front, "")
}

/// A text without what is in parentheses, and without the names that qualify another.
fn without_brackets(text: &str) -> String {
    let (mut kept, mut depth) = (String::new(), 0_usize);
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '.' | ':' if depth == 0 => {
                kept.truncate(kept.trim_end_matches(is_of_word).len());
            }
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    kept
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// True for a header that has a word.
pub(super) fn has_word(header: &str, word: &str) -> bool {
    word_at(header, word).is_some()
}

/// Where a text has a word first, not as a part of a longer one.
fn word_at(text: &str, word: &str) -> Option<usize> {
    let mut places = text.match_indices(word).map(|(at, _)| at).filter(|_| !word.is_empty());
    places.find(|&at| {
        !text[..at].chars().next_back().is_some_and(is_of_word)
            && !text[at + word.len()..].chars().next().is_some_and(is_of_word)
    })
}

#[cfg(test)]
mod tests {
    use super::{around_parameters, holders_of, without_brackets, word_at};

    #[test]
    fn the_type_of_a_result_is_in_front_of_the_name_or_behind_the_parameters() {
        let check = |header: &str, name: &str, front: &str, behind: &str| {
            let (found, rest) = around_parameters(header, name);
            assert_eq!((without_brackets(found).trim(), rest.trim()), (front, behind), "{header}");
        };
        check("func (c *Tree) Kind(a Place) *lib.Kind", "Kind", "func", "*lib.Kind");
        check("static Kind of(Place a) throws Wrong", "of", "static Kind", "throws Wrong");
        check("resolve(at: (a: Tree) => Kind): Place", "resolve", "", ": Place");
        check("get parent()", "parent", "get", "");
        check("fun Tree.kind(): Kind", "kind", "fun", ": Kind");
    }

    #[test]
    fn a_word_is_no_part_of_another() {
        assert_eq!(word_at("fn new() -> Self", "Self"), Some(12));
        assert_eq!(word_at("fn new(self: Selfish)", "Self"), None);
        assert_eq!(word_at("fn f()", ""), None);
    }

    #[test]
    fn a_type_is_held_by_those_around_it() {
        let check = |header: &str, held: &str| {
            let at = word_at(header, "Kind").expect("the header has it");
            let holders = holders_of(header, at, "Kind".len());
            let holders = holders.iter().map(|one| format!("{}.{}", one.name, one.position));
            assert_eq!(holders.collect::<Vec<_>>().join(" "), held, "{header}");
        };
        check("-> Kind", "");
        check("-> &'a mut Kind", "");
        check("-> Option<&Kind>", "Option.0");
        check("-> Result<Vec<Kind>, Error>", "Result.0 Vec.0");
        check("-> io::Result<(Place<A, B>, Kind)>", "Result.0 tuple.1");
        check("-> &[Kind]", "[].0");
        check("-> Box<dyn Fn() -> Kind>", "Box.0");
        check(": readonly Kind[]", "[].0");
        check(": Map<string, Kind[]>", "Map.1 [].0");
        check(": Kind | null", "");
        check("-> dict[str, Kind]", "dict.1");
        check(" []*Kind", "[].0");
        check(" map[string]Kind", "map.1");
        check("List<Kind>", "List.0");
    }
}
