//! Answers to requests about a position (definition, declaration, implementation, references,
//! hover), and to those about the symbols of a document or of all folders.

use std::collections::HashMap;
use std::fmt::Write;

use lsp_types::{
    DocumentSymbol, Hover, HoverContents, Location, MarkedString, Position, SymbolInformation,
};

use super::capabilities::kind;
use super::failure::Failure;
use super::view::View;
use cograph_model::facts::flags;
use cograph_model::{RepoPath, Verdict};
use cograph_query::navigate::{self, FileSymbol, NamedAt};
use cograph_query::{self as query, ReferencesParams, ReferencesResult, SearchParams, SymbolInfo};
use cograph_store::SymbolKey;

/// Maximum number of symbols of `workspace/symbol` in a folder.
const MOST_FOUND: usize = 200;

/// Which of the declarations and definitions of an entity are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EntityForm {
    /// Those with a body.
    Definition,
    /// Those without one.
    Declaration,
}

/// Places of the definitions or declarations of what a position names; all of them if none is of
/// the form.
pub(super) fn definitions(
    view: &mut View<'_>,
    path: &RepoPath,
    at: Position,
    form: EntityForm,
) -> Result<Vec<Location>, Failure> {
    let mut entity = Vec::new();
    for symbol in view.symbols_at(path, at)? {
        entity.extend(navigate::same_entity(view.snapshot, symbol.key, view.cancel)?);
    }
    let wants_body = form == EntityForm::Definition;
    let has_form = |symbol: &SymbolInfo| (symbol.flags & flags::DECLARATION == 0) == wants_body;
    if entity.iter().any(has_form) {
        entity.retain(has_form);
    }
    let mut places: Vec<_> = entity.iter().filter_map(|symbol| view.symbol(symbol)).collect();
    dedup(&mut places);
    Ok(places)
}

/// Places of what overrides, implements or derives from what a position names, at any distance.
pub(super) fn implementations(
    view: &mut View<'_>,
    path: &RepoPath,
    at: Position,
) -> Result<Vec<Location>, Failure> {
    let mut places = Vec::new();
    for symbol in view.symbols_at(path, at)? {
        let result = uses(view, symbol.key, 0)?;
        let below = result.related.iter().filter(|related| related.incoming);
        places.extend(below.filter_map(|related| view.symbol(&related.symbol)));
    }
    dedup(&mut places);
    Ok(places)
}

/// Places of the references to what a position names: those that `references` lists.
pub(super) fn references(
    view: &mut View<'_>,
    path: &RepoPath,
    at: Position,
    with_declarations: bool,
) -> Result<Vec<Location>, Failure> {
    let mut places = Vec::new();
    for symbol in view.symbols_at(path, at)? {
        let result = uses(view, symbol.key, usize::MAX)?;
        if with_declarations {
            let declared = std::iter::once(&result.symbol).chain(&result.declarations);
            places.extend(declared.filter_map(|symbol| view.symbol(symbol)));
        }
        let sites = result.files.iter().flat_map(|file| &file.references);
        places.extend(sites.filter_map(|reference| view.site(&reference.site)));
    }
    dedup(&mut places);
    Ok(places)
}

fn uses(view: &View<'_>, symbol: SymbolKey, limit: usize) -> Result<ReferencesResult, Failure> {
    let params = ReferencesParams { limit, ..ReferencesParams::default() };
    Ok(navigate::references_to(view.snapshot, symbol, &params, view.cancel)?)
}

/// Removes repetitions; keeps the order.
fn dedup(places: &mut Vec<Location>) {
    let mut kept: Vec<Location> = Vec::with_capacity(places.len());
    let mut seen = std::collections::HashSet::new();
    for place in places.drain(..) {
        let Location { uri, range } = &place;
        if seen.insert((uri.as_str().to_owned(), range.start.line, range.start.character)) {
            kept.push(place);
        }
    }
    *places = kept;
}

/// Signature, documentation, verdict and number of uses of what a position names.
pub(super) fn hover(
    view: &mut View<'_>,
    path: &RepoPath,
    at: Position,
    is_unsaved: bool,
) -> Result<Option<Hover>, Failure> {
    let Some(named) = view.named_at(path, at)? else { return Ok(None) };
    let mut text = String::new();
    for symbol in &named.symbols {
        let counts = uses(view, symbol.key, 0)?.counts;
        described(&mut text, symbol);
        let vague = counts.possible + counts.textual;
        let _ = writeln!(
            text,
            "uses: {} certain, {} likely, {vague} possible or of the name alone\n",
            counts.certain, counts.likely
        );
    }
    verdict(&mut text, &named);
    if is_unsaved {
        text.push_str("The buffer has unsaved changes: this is about the file.\n");
    }
    let value = text.trim_end().to_owned();
    // A plain string of the protocol is text with markup.
    let contents = HoverContents::Scalar(MarkedString::String(value));
    Ok(Some(Hover { contents, range: Some(view.positions.name(path, named.at, &named.name)) }))
}

/// Text of the repository stands in a block of code, where no markup is read.
fn described(text: &mut String, symbol: &SymbolInfo) {
    let longest = symbol.signature.split(|letter| letter != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let signature = if symbol.signature.is_empty() { &symbol.name } else { &symbol.signature };
    let _ = writeln!(text, "{fence}{}\n{signature}", symbol.language);
    if !symbol.doc.is_empty() {
        let doc = symbol.doc.replace(&fence, "");
        let _ = writeln!(text, "{fence}\n{fence}text\n{doc}");
    }
    let kind = symbol.kind.word();
    let _ = writeln!(text, "{fence}\n{kind}, `{}:{}`  ", symbol.path, symbol.name_at.line);
}

fn verdict(text: &mut String, named: &NamedAt) {
    let Some(site) = &named.site else { return };
    let _ = match (site.verdict, &named.outside) {
        (Verdict::External, Some(outside)) => {
            writeln!(text, "outside of the repository: `{}`", outside.replace('`', "'"))
        }
        (verdict, _) => {
            writeln!(text, "this reference: {} ({})", verdict.word(), site.step.word())
        }
    };
}

/// Symbols of a document, nested.
pub(super) fn document_symbols(
    view: &mut View<'_>,
    path: &RepoPath,
) -> Result<Option<Vec<DocumentSymbol>>, Failure> {
    let Some(symbols) = navigate::symbols_of(view.snapshot, path, view.cancel)? else {
        return Ok(None);
    };
    let mut inside: HashMap<Option<SymbolKey>, Vec<&FileSymbol>> = HashMap::new();
    let known: Vec<SymbolKey> = symbols.iter().map(|one| one.symbol.key).collect();
    for one in &symbols {
        // A member may be defined outside of the file of its type.
        let container = one.container.filter(|container| known.contains(container));
        inside.entry(container).or_default().push(one);
    }
    Ok(Some(nested(view, path, None, &inside)))
}

fn nested(
    view: &mut View<'_>,
    path: &RepoPath,
    container: Option<SymbolKey>,
    inside: &HashMap<Option<SymbolKey>, Vec<&FileSymbol>>,
) -> Vec<DocumentSymbol> {
    let mut symbols = Vec::new();
    for one in inside.get(&container).into_iter().flatten() {
        let FileSymbol { symbol, extent, .. } = one;
        let selection_range = view.positions.name(path, symbol.name_at, &symbol.name);
        let mut range = view.extent(path, extent);
        // The protocol wants the name inside; a name may be given by a macro around.
        range.start = range.start.min(selection_range.start);
        range.end = range.end.max(selection_range.end);
        let children = nested(view, path, Some(symbol.key), inside);
        #[allow(deprecated, reason = "a field that has to be given")]
        symbols.push(DocumentSymbol {
            name: symbol.name.clone(),
            detail: Some(symbol.signature.clone()).filter(|detail| !detail.is_empty()),
            kind: kind(symbol.kind),
            tags: None,
            deprecated: None,
            range,
            selection_range,
            children: Some(children).filter(|children| !children.is_empty()),
        });
    }
    symbols
}

/// Symbols of a document without nesting, for clients that know no other form.
pub(super) fn flat_symbols(
    view: &mut View<'_>,
    path: &RepoPath,
) -> Result<Option<Vec<SymbolInformation>>, Failure> {
    let symbols = navigate::symbols_of(view.snapshot, path, view.cancel)?;
    let information = |one: FileSymbol| information(view, &one.symbol);
    Ok(symbols.map(|symbols| symbols.into_iter().filter_map(information).collect()))
}

/// Symbols of a repository whose name matches.
pub(super) fn workspace_symbols(
    view: &mut View<'_>,
    text: &str,
) -> Result<Vec<SymbolInformation>, Failure> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let params =
        SearchParams { text: text.to_owned(), limit: MOST_FOUND, ..SearchParams::default() };
    let found = query::search(view.snapshot, &params, view.cancel)?.hits;
    Ok(found.iter().filter_map(|hit| information(view, &hit.symbol)).collect())
}

fn information(view: &mut View<'_>, symbol: &SymbolInfo) -> Option<SymbolInformation> {
    let location = view.symbol(symbol)?;
    #[allow(deprecated, reason = "a field that has to be given")]
    Some(SymbolInformation {
        name: symbol.name.clone(),
        kind: kind(symbol.kind),
        tags: None,
        deprecated: None,
        location,
        container_name: Some(symbol.container.clone()).filter(|container| !container.is_empty()),
    })
}
