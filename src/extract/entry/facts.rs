//! Facts of one file, by the steps that make them.

use super::complexity;
use crate::budget::{Budget, Exhausted, Limits};
use crate::facts::bodies::Body;
use crate::{bindings, definitions, facts, imports, macros, repair, walk};
use cograph_grammar as grammar;
use cograph_model::LanguageId;
use cograph_model::facts::{FileFacts, LocalSymbol};

/// Extracts the facts of one file. Errors in it become problems; it fails only for a file that
/// takes more than `limits` allow. `source` must be mostly valid UTF-8; needs a thread with at
/// least 16 MiB of stack.
pub fn extract(
    language: LanguageId,
    path: &str,
    source: &[u8],
    limits: Limits,
) -> Result<FileFacts, Exhausted> {
    extract_with_headers(language, path, source, limits).map(|(facts, _)| facts)
}

/// The same, with the bodies of what can be executed.
pub fn extract_with_bodies(
    language: LanguageId,
    path: &str,
    source: &[u8],
    limits: Limits,
) -> Result<(FileFacts, Vec<Body>), Exhausted> {
    let (facts, headers) = extract_with_headers(language, path, source, limits)?;
    let bodies = facts::bodies::of_file(&facts, &headers, source);
    Ok((facts, bodies))
}

/// Ends of the headers of symbols with a body.
pub(crate) type Headers = Vec<(LocalSymbol, u32)>;

pub(crate) fn extract_with_headers(
    language: LanguageId,
    path: &str,
    source: &[u8],
    limits: Limits,
) -> Result<(FileFacts, Headers), Exhausted> {
    let language = grammar::language(language);
    let budget = Budget::start(&limits, source.len());
    let (cleared, tree) = repair::tree(language, path, source, &budget)?;
    let span = tracing::trace_span!("walk").entered();
    let nested = typed_arena::Arena::new();
    let embedded = walk::Embedded { trees: &nested, budget: &budget };
    let mut walk = walk::Walk::new(language, source, limits, embedded, &cleared.made);
    walk.walk(tree.root_node());
    imports::in_comments::of_file(&mut walk);
    definitions::doc_types::aliases::of_file(&mut walk, tree.root_node());
    macros::items::moved(&mut walk, &cleared.moved);
    macros::bodies::cleared(&walk.input, &mut walk.facts, &cleared);
    bindings::bound_names::of_markup(&walk.input, &mut walk.facts, &cleared.bound);
    if let Some(exhausted) = budget.exhausted() {
        return Err(exhausted);
    }
    definitions::component::of_file(&walk.input, &mut walk.facts, path);
    drop(span);
    let _span = tracing::trace_span!("complete facts").entered();
    let headers = std::mem::take(&mut walk.facts.headers);
    let mut facts = walk.into_facts();
    bindings::conditions::of_file(&mut facts, &language.manifest.conditions, path, source);
    let mut facts = facts::finish::finish(facts, language, path, source);
    facts::import_marks::mark(&mut facts, language, tree.root_node());
    complexity::measure(&mut facts, &headers, language, tree.root_node(), &budget);
    match budget.exhausted() {
        Some(exhausted) => Err(exhausted),
        None => Ok((facts, headers)),
    }
}
