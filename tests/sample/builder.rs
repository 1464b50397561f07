//! `GraphBuilder`: a graph from calls, without extraction and resolution.

use std::sync::Arc;

use cograph::model::facts::{
    ClausesId, Details, ExprId, FileFacts, Import, ImportId, ImportKind, LocalSymbol, NameId, Run,
    ScopeId, Site, Symbol,
};
use cograph::model::graph::{
    FileId, FileRecord, FileResolution, FileStamp, Graph, Relation, Resolution, SymbolRef, Target,
};
use cograph::model::{
    LanguageId, Position, Problem, ProblemKind, RelationKind, RepoPath, SiteKind, SkipReason, Step,
    SymbolKind, Verdict, Visibility,
};

use super::Files;

/// What may be said of a symbol.
#[derive(Clone, Default)]
pub(crate) struct Options {
    pub(crate) container: Option<SymbolRef>,
    pub(crate) flags: u32,
    pub(crate) signature: &'static str,
    pub(crate) doc: &'static str,
}

impl Options {
    pub(crate) fn inside(container: SymbolRef) -> Self {
        Self { container: Some(container), ..Self::default() }
    }
}

/// Where a site leads.
pub(crate) enum Answer {
    To(SymbolRef),
    Likely(SymbolRef),
    OneOf(Vec<SymbolRef>),
    External(&'static str),
    ToFile(FileId),
    Unknown,
    Local,
}

/// See the module. Files are added in the order of their paths.
#[derive(Default)]
pub(crate) struct GraphBuilder {
    graph: Graph,
    texts: Files,
}

impl GraphBuilder {
    pub(crate) fn file(&mut self, path: &str, language: u16, text: &str) -> FileId {
        let lines = u32::try_from(text.lines().count()).expect("a short text");
        self.add(
            path,
            Some(LanguageId(language)),
            Ok(FileFacts {
                lines,
                words: cograph::model::words::of_file(path, text.as_bytes(), &[]),
                ..FileFacts::default()
            }),
            text,
        )
    }

    pub(crate) fn skipped(&mut self, path: &str, reason: SkipReason, text: &str) -> FileId {
        self.add(path, None, Err(reason), text)
    }

    /// A file of a language that was skipped.
    pub(crate) fn skipped_of(&mut self, path: &str, language: u16, reason: SkipReason) -> FileId {
        let text = format!("words of {path}\n");
        self.add(path, Some(LanguageId(language)), Err(reason), &text)
    }

    fn add(
        &mut self,
        path: &str,
        language: Option<LanguageId>,
        content: Result<FileFacts, SkipReason>,
        text: &str,
    ) -> FileId {
        let path = RepoPath::new(path).expect("a well-formed path");
        assert!(
            self.graph.files.last().is_none_or(|last| last.path < path),
            "files are added in the order of their paths"
        );
        self.texts.0.insert(path.to_string(), text.as_bytes().to_vec());
        let hash = if content.is_ok() { xxhash_rust::xxh3::xxh3_128(text.as_bytes()) } else { 0 };
        let stamp = FileStamp {
            size: text.len() as u64,
            modified_ns: -1,
            changed_ns: -2,
            inode: u64::MAX - 3,
            hash,
        };
        self.graph.files.push(FileRecord { path, stamp, language, content: content.map(Arc::new) });
        self.graph.resolutions.push(FileResolution::default());
        FileId(u32::try_from(self.graph.files.len() - 1).expect("few files"))
    }

    fn facts(&mut self, file: FileId) -> &mut FileFacts {
        Arc::make_mut(
            self.graph.files[file.0 as usize].content.as_mut().expect("a file with facts"),
        )
    }

    fn name(&mut self, file: FileId, name: &str) -> NameId {
        let names = &mut self.facts(file).names;
        let known = names.iter().position(|known| &**known == name);
        NameId::at(known.unwrap_or_else(|| {
            names.push(name.into());
            names.len() - 1
        }))
    }

    pub(crate) fn mark_test(&mut self, file: FileId) {
        self.facts(file).test = true;
    }

    pub(crate) fn problem(
        &mut self,
        file: FileId,
        kind: ProblemKind,
        (first_line, last_line): (u32, u32),
    ) {
        self.facts(file).problems.push(Problem { kind, first_line, last_line });
    }

    pub(crate) fn symbol(
        &mut self,
        file: FileId,
        kind: SymbolKind,
        name: &str,
        (first, last): (u32, u32),
        options: Options,
    ) -> SymbolRef {
        let signature = if options.signature.is_empty() {
            format!("{} {name}", kind.word())
        } else {
            options.signature.into()
        };
        let name = self.name(file, name);
        let facts = self.facts(file);
        facts.details.push(Details {
            start: Position { line: first, column: 0 },
            end: Position { line: last, column: 1 },
            name_at: Position { line: first, column: 4 },
            signature: signature.into(),
            doc: options.doc.into(),
            complexity: None,
        });
        facts.symbols.push(Symbol {
            name,
            kind,
            container: options.container.map_or(LocalSymbol::NONE, |container| container.symbol),
            scope: ScopeId(0),
            inner: ScopeId::NONE,
            flags: options.flags,
            visibility: Visibility::Public,
            // A hundred bytes a line, so that inner symbols are smaller than outer ones.
            start_byte: first * 100,
            end_byte: (last + 1) * 100,
            params_start: 0,
            params_len: 0,
            arity: (0, u16::MAX),
            ty: ExprId::NONE,
            values: Run::default(),
            clauses: ClausesId::NONE,
        });
        SymbolRef { file, symbol: LocalSymbol::at(facts.symbols.len() - 1) }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a site has that many sides, and the sample reads as a table"
    )]
    pub(crate) fn site(
        &mut self,
        file: FileId,
        enclosing: Option<SymbolRef>,
        kind: SiteKind,
        name: &str,
        (line, column): (u32, u32),
        answer: Answer,
        step: Step,
    ) {
        let name = self.name(file, name);
        self.facts(file).sites.list_mut().push(Site {
            kind,
            name,
            at: Position { line, column },
            byte: line * 100 + column,
            scope: ScopeId(0),
            enclosing: enclosing.map_or(LocalSymbol::NONE, |symbol| symbol.symbol),
            target: ExprId::NONE,
            import: ImportId::NONE,
            args: Run::default(),
            spread: false,
            in_macro: false,
        });
        let (verdict, target) = match answer {
            Answer::To(symbol) => (Verdict::Resolved, Target::Symbol(symbol)),
            Answer::Likely(symbol) => (Verdict::Likely, Target::Symbol(symbol)),
            Answer::OneOf(symbols) => (Verdict::Ambiguous, Target::Candidates(symbols.into())),
            Answer::External(name) => (Verdict::External, Target::External(name.into())),
            Answer::ToFile(file) => (Verdict::Resolved, Target::File(file)),
            Answer::Unknown | Answer::Local => (Verdict::Unresolved, Target::None),
        };
        self.graph.resolutions[file.0 as usize].sites.push(Resolution { verdict, step, target });
    }

    pub(crate) fn import(
        &mut self,
        file: FileId,
        module: &str,
        (line, column): (u32, u32),
        target: Option<FileId>,
    ) {
        self.facts(file).imports.push(Import {
            kind: ImportKind::Module,
            module: module.into(),
            level: 0,
            item: NameId::NONE,
            alias: NameId::NONE,
            reexport: false,
            type_only: false,
            lazy: false,
            test: false,
            scope: ScopeId(0),
            at: Position { line, column },
        });
        self.graph.resolutions[file.0 as usize].imports.push(target);
    }

    pub(crate) fn relation(&mut self, kind: RelationKind, from: SymbolRef, to: SymbolRef) {
        self.graph.resolutions[from.file.0 as usize].relations.push(Relation { kind, from, to });
    }

    pub(crate) fn finish(self) -> (Graph, Files) {
        (self.graph, self.texts)
    }
}
