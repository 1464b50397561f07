//! Encoding of a file's facts. Names are in the word table that the writer shares between files.

mod deltas;
mod expressions;

use self::deltas::{DeltaState, position, run};
use self::expressions::expr;
use super::{Pass, Reader, Writer};
use crate::facts::{
    Binding, BindingKind, Clauses, ClausesId, Complexity, Condition, Details, DocumentTerms, Expr,
    ExprId, FileFacts, Import, ImportId, ImportKind, LocalSymbol, NameId, Run, Scope, ScopeId,
    ScopeKind, Site, Symbol,
};
use crate::{Position, Problem, ProblemKind, SiteKind, SymbolKind, Visibility};

const SCOPE_KINDS: [ScopeKind; 6] = [
    ScopeKind::File,
    ScopeKind::Type,
    ScopeKind::Module,
    ScopeKind::Function,
    ScopeKind::Block,
    ScopeKind::Flow,
];
const BINDING_KINDS: [BindingKind; 9] = [
    BindingKind::Symbol,
    BindingKind::Import,
    BindingKind::Param,
    BindingKind::TypeParam,
    BindingKind::Value,
    BindingKind::Field,
    BindingKind::Narrow,
    BindingKind::Outer,
    BindingKind::Result,
];
const IMPORT_KINDS: [ImportKind; 5] = [
    ImportKind::Module,
    ImportKind::Item,
    ImportKind::Wildcard,
    ImportKind::Include,
    ImportKind::Default,
];

/// Encodes facts, and returns the word number of each name.
pub fn write(writer: &mut Writer, facts: &FileFacts) -> Vec<u32> {
    writer.put(facts.names.len() as u64);
    let words = facts.names.iter().map(|name| writer.put_word(name)).collect();
    all(writer, facts).expect("writing does not fail");
    words
}

/// Decodes facts, and returns the word number of each name.
pub fn read(reader: &mut Reader<'_>) -> Option<(FileFacts, Vec<u32>)> {
    let (names, words) = reader.words_by_number()?;
    let facts = all(reader, &FileFacts::default())?;
    // The bytes may come from a process that crashed in a grammar.
    facts.sites.packed().sites()?;
    Some((FileFacts { names, ..facts }, words))
}

/// Decodes facts with unpacked sites and without names, which tables have by number.
pub fn read_unnamed(reader: &mut Reader<'_>) -> Option<FileFacts> {
    reader.pass_over_words()?;
    unpacked(all(reader, &FileFacts::default())?)
}

/// Decodes the part of facts that a store needs, with unpacked sites; the rest is empty and not
/// read.
pub fn read_stored(reader: &mut Reader<'_>) -> Option<FileFacts> {
    let (names, _) = reader.words_by_number()?;
    let facts = unpacked(stored(reader, &FileFacts::default())?)?;
    Some(FileFacts { names, ..facts })
}

fn unpacked(facts: FileFacts) -> Option<FileFacts> {
    let sites = facts.sites.packed().sites()?.into();
    Some(FileFacts { sites, ..facts })
}

/// Encoded sites of a file.
#[derive(Clone, PartialEq, Debug)]
pub struct PackedSites {
    count: u32,
    bytes: Box<[u8]>,
}

impl PackedSites {
    /// Encodes sites.
    pub(crate) fn of(sites: &[Site]) -> Self {
        let (mut writer, mut before) = (Writer::default(), DeltaState::default());
        writer
            .list(sites, &BLANK_SITE, |pass, item| site(pass, item, &mut before))
            .expect("writing does not fail");
        let count =
            u32::try_from(sites.len()).expect("a file is limited to far fewer than 2^32 facts");
        Self { count, bytes: writer.into_parts().1.into() }
    }

    /// Number of sites.
    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }

    /// Decodes the sites.
    pub(crate) fn unpack(&self) -> Vec<Site> {
        self.sites().expect("packing has made the bytes, or reading has tried them")
    }

    fn sites(&self) -> Option<Vec<Site>> {
        let (mut reader, mut before) = (Reader::new(&self.bytes, &[]), DeltaState::default());
        let sites = reader.list(&[], &BLANK_SITE, |pass, item| site(pass, item, &mut before))?;
        (sites.len() == self.len() && reader.rest().is_empty()).then_some(sites)
    }
}

fn all<P: Pass>(pass: &mut P, facts: &FileFacts) -> Option<FileFacts> {
    let stored = stored(pass, facts)?;
    rest(pass, facts, stored)
}

/// Part of the facts for the store. First, so that it can be read alone.
fn stored<P: Pass>(pass: &mut P, facts: &FileFacts) -> Option<FileFacts> {
    let (mut symbol_at, mut clauses_at, mut import_at) = Default::default();
    let (mut details, none) = (Vec::with_capacity(facts.details.len()), Details::default());
    Some(FileFacts {
        lines: pass.small(facts.lines)?,
        generated: pass.flag(facts.generated)?,
        test: pass.flag(facts.test)?,
        symbols: pass.list(&facts.symbols, &blank_symbol(), |pass, item| {
            let known = facts.details.get(details.len()).unwrap_or(&none);
            let (item, known) = symbol(pass, item, known, &mut symbol_at)?;
            details.push(known);
            Some(item)
        })?,
        details,
        clauses: pass.list(&facts.clauses, &Clauses::NONE, |pass, item| {
            clauses(pass, item, &mut clauses_at)
        })?,
        imports: pass.list(&facts.imports, &blank_import(), |pass, item| {
            import(pass, item, &mut import_at)
        })?,
        sites: {
            let packed = facts.sites.packed();
            let count = pass.small(packed.count)?;
            PackedSites { count, bytes: pass.bytes(&packed.bytes)? }.into()
        },
        problems: pass.list(&facts.problems, &BLANK_PROBLEM, problem)?,
        package: pass.word_if_any(facts.package.as_deref())?,
        words: DocumentTerms {
            words: pass.bytes(&facts.words.words)?,
            postings: pass.bytes(&facts.words.postings)?,
        },
        ..FileFacts::default()
    })
}

/// Rest of the facts, for resolution only.
fn rest<P: Pass>(pass: &mut P, facts: &FileFacts, stored: FileFacts) -> Option<FileFacts> {
    let (mut scope_at, mut binding_at, mut expr_at) = Default::default();
    let FileFacts {
        package,
        lines,
        generated,
        test,
        symbols,
        details,
        clauses,
        imports,
        sites,
        problems,
        words,
        ..
    } = stored;
    Some(FileFacts {
        names: Vec::new(),
        package,
        lines,
        generated,
        test,
        scopes: pass
            .list(&facts.scopes, &BLANK_SCOPE, |pass, item| scope(pass, item, &mut scope_at))?,
        symbols,
        details,
        clauses,
        bindings: pass.list(&facts.bindings, &BLANK_BINDING, |pass, item| {
            binding(pass, item, &mut binding_at)
        })?,
        imports,
        exprs: pass
            .list(&facts.exprs, &Expr::Unknown, |pass, item| expr(pass, item, &mut expr_at))?,
        positions: {
            let mut before = 0;
            pass.list(&facts.positions, &0, |pass, item| {
                before = pass.near(*item, before)?;
                Some(before)
            })?
        },
        lists: {
            let mut before = 0;
            pass.list(&facts.lists, &ExprId::NONE, |pass, item| {
                pass.id_near(item.0, &mut before).map(ExprId)
            })?
        },
        sites,
        conditions: pass.list(&facts.conditions, &BLANK_CONDITION, condition)?,
        problems,
        words,
    })
}

const NOWHERE: Position = Position { line: 0, column: 0 };
const EMPTY: Run = Run::EMPTY;
const BLANK_BINDING: Binding = Binding::at(ScopeId::NONE, NameId::NONE, 0);
const BLANK_SCOPE: Scope = Scope {
    parent: ScopeId::NONE,
    kind: ScopeKind::File,
    symbol: LocalSymbol::NONE,
    owner: ExprId::NONE,
    start: 0,
    end: 0,
};
const BLANK_SITE: Site = Site {
    kind: SiteKind::ALL[0],
    name: NameId::NONE,
    at: NOWHERE,
    byte: 0,
    scope: ScopeId::NONE,
    enclosing: LocalSymbol::NONE,
    target: ExprId::NONE,
    import: ImportId::NONE,
    args: EMPTY,
    spread: false,
    in_macro: false,
};
const BLANK_CONDITION: Condition =
    Condition { start: 0, end: 0, tested: NameId::NONE, holds: false };
const BLANK_PROBLEM: Problem = Problem { kind: ProblemKind::ALL[0], first_line: 0, last_line: 0 };

fn blank_symbol() -> Symbol {
    Symbol {
        name: NameId::NONE,
        kind: SymbolKind::ALL[0],
        container: LocalSymbol::NONE,
        scope: ScopeId::NONE,
        inner: ScopeId::NONE,
        flags: 0,
        visibility: Visibility::ALL[0],
        start_byte: 0,
        end_byte: 0,
        params_start: 0,
        params_len: 0,
        arity: (0, 0),
        ty: ExprId::NONE,
        values: EMPTY,
        clauses: ClausesId::NONE,
    }
}

fn blank_import() -> Import {
    Import {
        kind: ImportKind::Module,
        module: Box::default(),
        level: 0,
        item: NameId::NONE,
        alias: NameId::NONE,
        reexport: false,
        type_only: false,
        lazy: false,
        test: false,
        scope: ScopeId::NONE,
        at: NOWHERE,
    }
}

fn scope<P: Pass>(pass: &mut P, scope: &Scope, before: &mut DeltaState) -> Option<Scope> {
    let parent = ScopeId(pass.id_near(scope.parent.0, &mut before.scope)?);
    let kind = pass.one_of(scope.kind, &SCOPE_KINDS)?;
    let symbol = LocalSymbol(pass.id_near(scope.symbol.0, &mut before.symbol)?);
    let owner = ExprId(pass.id(scope.owner.0)?);
    let start = pass.near(scope.start, before.byte)?;
    let end = pass.near(scope.end, start)?;
    before.byte = start;
    Some(Scope { parent, kind, symbol, owner, start, end })
}

/// Bits for optional parts that few symbols have.
mod has {
    pub(super) const DOC: u64 = 1;
    pub(super) const PARAMS: u64 = 1 << 1;
    pub(super) const VALUES: u64 = 1 << 2;
    pub(super) const CLAUSES: u64 = 1 << 3;
}

fn symbol<P: Pass>(
    pass: &mut P,
    symbol: &Symbol,
    details: &Details,
    before: &mut DeltaState,
) -> Option<(Symbol, Details)> {
    let parts = [
        (!details.doc.is_empty(), has::DOC),
        (symbol.params() != EMPTY, has::PARAMS),
        (symbol.values != EMPTY, has::VALUES),
        (symbol.clauses.is_some(), has::CLAUSES),
    ];
    let parts = pass.number(parts.into_iter().map(|(has, bit)| u64::from(has) * bit).sum())?;
    let has = |bit: u64| parts & bit != 0;
    let name = NameId(pass.id(symbol.name.0)?);
    let kind = pass.one_of(symbol.kind, SymbolKind::ALL)?;
    let visibility = pass.one_of(symbol.visibility, Visibility::ALL)?;
    let flags = pass.small(symbol.flags)?;
    let container = LocalSymbol(pass.id_near(symbol.container.0, &mut before.symbol)?);
    let scope = ScopeId(pass.id_near(symbol.scope.0, &mut before.scope)?);
    let inner = ScopeId(pass.id_near(symbol.inner.0, &mut before.other_scope)?);
    let extent = symbol.extent(details);
    let start = position(pass, extent.start, before.line)?;
    let end = position(pass, extent.end, start.line)?;
    let start_byte = pass.near(extent.start_byte, before.byte)?;
    let end_byte = pass.near(extent.end_byte, start_byte)?;
    let name_at = position(pass, details.name_at, start.line)?;
    (before.line, before.byte) = (start.line, start_byte);
    let arity = (u16::try_from(pass.small(symbol.arity.0.into())?).ok()?, {
        let most = u16::try_from(pass.small(symbol.arity.1.wrapping_add(1).into())?).ok()?;
        most.wrapping_sub(1)
    });
    let ty = ExprId(pass.id_near(symbol.ty.0, &mut before.expr)?);
    let list = |pass: &mut P, of: Run, bit: u64, end: &mut u32| {
        if has(bit) { run(pass, of, end) } else { Some(EMPTY) }
    };
    let details = Details {
        start,
        end,
        name_at,
        signature: pass.text(&details.signature)?,
        doc: if has(has::DOC) { pass.text(&details.doc)? } else { Box::default() },
        complexity: complexity(pass, details.complexity)?,
    };
    let params = list(pass, symbol.params(), has::PARAMS, &mut before.binding)?;
    let symbol = Symbol {
        name,
        kind,
        container,
        scope,
        inner,
        flags,
        visibility,
        start_byte,
        end_byte,
        params_start: params.start(),
        params_len: u16::try_from(params.len()).ok()?,
        arity,
        ty,
        values: list(pass, symbol.values, has::VALUES, &mut before.list)?,
        clauses: match has(has::CLAUSES) {
            true => ClausesId(pass.id_near(symbol.clauses.0, &mut before.other_expr)?),
            false => ClausesId::NONE,
        },
    };
    Some((symbol, details))
}

fn clauses<P: Pass>(pass: &mut P, of: &Clauses, before: &mut DeltaState) -> Option<Clauses> {
    Some(Clauses {
        decorators: run(pass, of.decorators, &mut before.list)?,
        bases: run(pass, of.bases, &mut before.list)?,
        type_params: run(pass, of.type_params, &mut before.binding)?,
        owner: ExprId(pass.id_near(of.owner.0, &mut before.expr)?),
        implements: ExprId(pass.id_near(of.implements.0, &mut before.other_expr)?),
    })
}

fn complexity<P: Pass>(pass: &mut P, of: Option<Complexity>) -> Option<Option<Complexity>> {
    let number = pass.small(Complexity::pack(of))?;
    let read = Complexity::unpack(number);
    (Complexity::pack(read) == number).then_some(read)
}

fn binding<P: Pass>(pass: &mut P, binding: &Binding, before: &mut DeltaState) -> Option<Binding> {
    let kind = pass.one_of(binding.kind, &BINDING_KINDS)?;
    let scope = ScopeId(pass.id_near(binding.scope.0, &mut before.scope)?);
    let block = ScopeId(pass.near(binding.block().0, scope.0)?);
    let name = NameId(pass.id_near(binding.name.0, &mut before.number)?);
    let from = pass.near(binding.from, before.byte)?;
    before.byte = from;
    let symbol = LocalSymbol(pass.id_near(binding.symbol().0, &mut before.symbol)?);
    let import = ImportId(pass.id(binding.import().0)?);
    let ty = ExprId(pass.id_near(binding.ty().0, &mut before.expr)?);
    let value = ExprId(pass.id_near(binding.value.0, &mut before.other_expr)?);
    let place = Binding::at(scope, name, from).within(block)?;
    Some(match kind {
        BindingKind::Symbol => place.of_symbol(symbol),
        BindingKind::Import => place.of_import(import),
        kind => place.of_value(kind, ty, value),
    })
}

fn import<P: Pass>(pass: &mut P, import: &Import, before: &mut DeltaState) -> Option<Import> {
    let kind = pass.one_of(import.kind, &IMPORT_KINDS)?;
    let module = pass.word(&import.module)?;
    let level = u16::try_from(pass.small(import.level.into())?).ok()?;
    let item = NameId(pass.id_near(import.item.0, &mut before.number)?);
    let alias = NameId(pass.id_near(import.alias.0, &mut before.number)?);
    let marks = [import.reexport, import.type_only, import.lazy, import.test];
    let [reexport, type_only, lazy, test] = pass.flags(marks)?;
    let scope = ScopeId(pass.id(import.scope.0)?);
    let at = position(pass, import.at, before.line)?;
    before.line = at.line;
    Some(Import { kind, module, level, item, alias, reexport, type_only, lazy, test, scope, at })
}

fn site<P: Pass>(pass: &mut P, site: &Site, before: &mut DeltaState) -> Option<Site> {
    let kinds = SiteKind::ALL.len() as u64;
    let head = (u64::from(site.in_macro) * 2 + u64::from(site.spread)) * kinds + site.kind as u64;
    let head = pass.number(head)?;
    let kind = *SiteKind::ALL.get((head % kinds) as usize)?;
    let (spread, in_macro) = (head / kinds % 2 == 1, head / kinds / 2 == 1);
    let name = NameId(pass.id(site.name.0)?);
    let at = position(pass, site.at, before.line)?;
    before.line = at.line;
    let byte = pass.near(site.byte, before.byte)?;
    before.byte = byte;
    let scope = ScopeId(pass.id_near(site.scope.0, &mut before.scope)?);
    let enclosing = LocalSymbol(pass.id_near(site.enclosing.0, &mut before.symbol)?);
    let target = ExprId(pass.id_near(site.target.0, &mut before.expr)?);
    let import = ImportId(pass.id(site.import.0)?);
    let args = run(pass, site.args, &mut before.list)?;
    Some(Site { kind, name, at, byte, scope, enclosing, target, import, args, spread, in_macro })
}

fn condition<P: Pass>(pass: &mut P, condition: &Condition) -> Option<Condition> {
    let start = pass.small(condition.start)?;
    let end = pass.near(condition.end, start)?;
    Some(Condition {
        start,
        end,
        tested: NameId(pass.id(condition.tested.0)?),
        holds: pass.flag(condition.holds)?,
    })
}

fn problem<P: Pass>(pass: &mut P, problem: &Problem) -> Option<Problem> {
    let kind = pass.one_of(problem.kind, ProblemKind::ALL)?;
    let first_line = pass.small(problem.first_line)?;
    Some(Problem { kind, first_line, last_line: pass.near(problem.last_line, first_line)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details() -> Vec<Details> {
        vec![Details { doc: "doc".into(), ..Details::default() }]
    }

    #[test]
    fn the_stored_part_is_decoded_alone() {
        let facts = FileFacts {
            names: vec!["one".into(), "two".into()],
            package: Some("package".into()),
            lines: 7,
            test: true,
            scopes: vec![BLANK_SCOPE],
            symbols: vec![Symbol { name: NameId(1), ..blank_symbol() }],
            details: details(),
            bindings: vec![BLANK_BINDING],
            imports: vec![Import { module: "module".into(), item: NameId(0), ..blank_import() }],
            exprs: vec![Expr::Unknown, Expr::Await(ExprId(0))],
            positions: vec![3],
            sites: vec![Site { name: NameId(0), byte: 5, ..BLANK_SITE }].into(),
            problems: vec![BLANK_PROBLEM],
            ..FileFacts::default()
        };
        let mut writer = Writer::default();
        write(&mut writer, &facts);
        let (words, bytes) = writer.into_parts();
        let (words, _) = Reader::words(&words).expect("words were written");
        let mut reader = Reader::new(&bytes, &words);
        let unnamed = FileFacts { names: Vec::new(), ..facts.clone() };
        assert_eq!((read_unnamed(&mut reader), reader.rest().len()), (Some(unnamed), 0));
        let mut reader = Reader::new(&bytes, &words);
        let (scopes, bindings, exprs, positions) = Default::default();
        let stored = FileFacts { scopes, bindings, exprs, positions, ..facts };
        assert_eq!(read_stored(&mut reader), Some(stored));
        assert!(!reader.rest().is_empty());
    }
}
