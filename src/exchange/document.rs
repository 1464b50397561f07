//! A file as a SCIP document: its definitions, and the references that lead to a symbol.

use scip::types::symbol_information::Kind;
use scip::types::{
    Document, Language, Occurrence, PositionEncoding, Relationship, Signature, SymbolInformation,
    SymbolRole,
};

use crate::names::{FileNames, SymbolNames, is_macro};
use crate::text::Lines;
use cograph_model::facts::flags;
use cograph_model::{RelationKind, SiteKind, Span, Step, SymbolKind, Verdict};
use cograph_store::{SiteRow, SiteTarget, Snapshot, StoreError, SymbolRow};
use protobuf::Enum;
use rustc_hash::FxHashSet;

/// How much was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Exported {
    /// Files.
    pub documents: u64,
    /// Symbols with their definitions.
    pub definitions: u64,
    /// References to symbols of the repository: one for each symbol that a site leads to.
    pub references: u64,
    /// References to names outside of the repository.
    pub outside: u64,
    /// Sites left out, by verdict: ambiguous, possible, unresolved.
    pub left_out: [u64; 3],
}

/// Writes documents.
pub(crate) struct Documents<'s> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) names: SymbolNames<'s>,
    /// Hashes of the names outside that were written.
    outside: FxHashSet<u64>,
    pub(crate) sums: Exported,
}

impl<'s> Documents<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot, names: SymbolNames<'s>) -> Self {
        Self { snapshot, names, outside: FxHashSet::default(), sums: Exported::default() }
    }

    /// Document of a file, and the symbols outside of the repository that no earlier one has.
    pub(crate) fn document(
        &mut self,
        place: usize,
        text: Option<&[u8]>,
    ) -> Result<(Document, Vec<SymbolInformation>), StoreError> {
        let lines = text.map(Lines::new);
        let own = self.names.of_file(place)?;
        let language = self.names.language(place).to_owned();
        let file = self.names.files[place].clone();
        let mut document = Document {
            language: known_language(&language).unwrap_or(language),
            relative_path: file.path.as_str().to_owned(),
            position_encoding: PositionEncoding::UTF8CodeUnitOffsetFromLineStart.into(),
            ..Document::default()
        };
        let marks = i32::from(file.generated) * SymbolRole::Generated as i32
            + i32::from(file.test) * SymbolRole::Test as i32;
        let end = |line: u32, column: u32, name: &str| match &lines {
            Some(lines) => lines.end_of_name(line as usize, column as usize, name) as i32,
            None => column as i32 + name.len() as i32,
        };
        document.occurrences.push(Occurrence {
            range: vec![0, 0, 0],
            symbol: own.file.clone(),
            symbol_roles: SymbolRole::Definition as i32 | marks,
            ..Occurrence::default()
        });
        document.symbols.push(SymbolInformation {
            symbol: own.file.clone(),
            kind: Kind::File.into(),
            display_name: file.path.file_name().to_owned(),
            ..SymbolInformation::default()
        });
        for (row, name) in own.rows.iter().zip(&own.names) {
            let line = row.name_at.line.saturating_sub(1);
            let column = row.name_at.column;
            let declares = self.declares(row)?;
            let role = if declares.is_some() {
                SymbolRole::ForwardDefinition
            } else {
                SymbolRole::Definition
            };
            document.occurrences.push(Occurrence {
                range: vec![line as i32, column as i32, end(line, column, &row.name_text)],
                symbol: name.clone(),
                symbol_roles: role as i32 | marks | test_role(row),
                enclosing_range: range(&row.extent),
                ..Occurrence::default()
            });
            document.symbols.push(self.information(
                row,
                name,
                &own,
                &document.language,
                declares,
            )?);
            self.sums.definitions += 1;
        }
        let mut outside = Vec::new();
        for site in self.snapshot.sites_of(&file)? {
            let symbols = self.symbols_of(place, &site, &mut outside)?;
            if symbols.is_empty() {
                continue;
            }
            let line = site.at.line.saturating_sub(1);
            let name = self.snapshot.name(site.name)?;
            let range = vec![line as i32, site.at.column as i32, end(line, site.at.column, &name)];
            let roles = role_of(site.kind) | marks;
            document.occurrences.extend(symbols.into_iter().map(|symbol| Occurrence {
                range: range.clone(),
                symbol,
                symbol_roles: roles,
                ..Occurrence::default()
            }));
        }
        self.sums.documents += 1;
        Ok((document, outside))
    }

    /// SCIP symbols that a site leads to.
    fn symbols_of(
        &mut self,
        place: usize,
        site: &SiteRow,
        outside: &mut Vec<SymbolInformation>,
    ) -> Result<Vec<String>, StoreError> {
        let left_out = match site.verdict {
            Verdict::Resolved | Verdict::Likely | Verdict::External => None,
            Verdict::Ambiguous => Some(0),
            Verdict::Possible => Some(1),
            Verdict::Unresolved => Some(2),
        };
        if let Some(reason) = left_out {
            self.sums.left_out[reason] += 1;
            return Ok(Vec::new());
        }
        if let SiteTarget::External(name) = site.target {
            let name = self.snapshot.name(name)?;
            let (symbol, own) = self.names.outside(place, &name, site.step == Step::Builtin);
            self.sums.outside += 1;
            if self.outside.insert(xxhash_rust::xxh3::xxh3_64(symbol.as_bytes())) {
                outside.push(SymbolInformation {
                    symbol: symbol.clone(),
                    display_name: own,
                    ..SymbolInformation::default()
                });
            }
            return Ok(vec![symbol]);
        }
        let mut symbols = Vec::new();
        for target in self.snapshot.targets(site)? {
            if let Some(row) = self.snapshot.symbol(target)? {
                symbols.extend(self.names.of_symbol(target, row.file)?);
            }
        }
        if let SiteTarget::None = site.target
            && let Some(file) = self.snapshot.site_file(site.key)?
        {
            symbols.extend(self.names.of_whole_file(file)?);
        }
        symbols.sort();
        self.sums.references += symbols.len() as u64;
        Ok(symbols)
    }

    /// Definition of what a declaration declares, if it is elsewhere.
    fn declares(&mut self, row: &SymbolRow) -> Result<Option<String>, StoreError> {
        if row.flags & flags::DECLARATION == 0 {
            return Ok(None);
        }
        let relations = self.snapshot.relations_to(row.key)?;
        let mut definitions = Vec::new();
        for one in relations.iter().filter(|one| one.kind == RelationKind::Defines) {
            if let Some(from) = self.snapshot.symbol(one.from)? {
                definitions.extend(self.names.of_symbol(one.from, from.file)?);
            }
        }
        Ok(definitions.into_iter().min())
    }

    fn information(
        &mut self,
        row: &SymbolRow,
        name: &str,
        own: &FileNames,
        language: &str,
        declares: Option<String>,
    ) -> Result<SymbolInformation, StoreError> {
        let mut information = SymbolInformation {
            symbol: name.to_owned(),
            kind: kind_of(row).into(),
            display_name: row.name_text.to_string(),
            ..SymbolInformation::default()
        };
        if !row.doc.is_empty() {
            information.documentation.push(row.doc.to_string());
        }
        if !row.signature.is_empty() {
            let (language, text) = (language.to_owned(), row.signature.to_string());
            let signature = Signature { language, text, ..Signature::default() };
            information.signature_documentation = Some(signature).into();
        }
        if name.starts_with("local ") {
            let around = row.container.and_then(|key| own.place(key));
            information.enclosing_symbol =
                around.map(|around| own.names[around].clone()).unwrap_or_default();
        }
        for relation in self.snapshot.relations_from(row.key)? {
            if matches!(relation.kind, RelationKind::Defines | RelationKind::Returns) {
                continue;
            }
            let Some(to) = self.snapshot.symbol(relation.to)? else { continue };
            let Some(symbol) = self.names.of_symbol(relation.to, to.file)? else { continue };
            information.relationships.push(Relationship {
                symbol,
                is_implementation: true,
                is_reference: relation.kind == RelationKind::Overrides,
                ..Relationship::default()
            });
        }
        information.relationships.extend(declares.map(|symbol| Relationship {
            symbol,
            is_definition: true,
            ..Relationship::default()
        }));
        let key = |one: &Relationship| (one.symbol.clone(), one.is_reference, one.is_definition);
        information.relationships.sort_by_key(key);
        information.relationships.dedup();
        Ok(information)
    }
}

fn range(span: &Span) -> Vec<i32> {
    let (start, end) = (span.start, span.end);
    let numbers =
        [start.line.saturating_sub(1), start.column, end.line.saturating_sub(1), end.column];
    let short = [numbers[0], numbers[1], numbers[3]];
    let numbers = if start.line == end.line { &short[..] } else { &numbers[..] };
    numbers.iter().map(|number| *number as i32).collect()
}

fn test_role(row: &SymbolRow) -> i32 {
    if row.flags & flags::TEST != 0 { SymbolRole::Test as i32 } else { 0 }
}

fn role_of(kind: SiteKind) -> i32 {
    match kind {
        SiteKind::Import => SymbolRole::Import as i32,
        SiteKind::Write => SymbolRole::WriteAccess as i32,
        SiteKind::Call | SiteKind::Construct | SiteKind::Read | SiteKind::Decorate => {
            SymbolRole::ReadAccess as i32
        }
        SiteKind::Type | SiteKind::Inherit | SiteKind::Implement => 0,
    }
}

fn kind_of(row: &SymbolRow) -> Kind {
    let has = |flag| row.flags & flag != 0;
    match row.kind {
        _ if is_macro(row) => Kind::Macro,
        SymbolKind::Module => Kind::Module,
        SymbolKind::Namespace => Kind::Namespace,
        SymbolKind::Class => Kind::Class,
        SymbolKind::Struct => Kind::Struct,
        SymbolKind::Union => Kind::Union,
        SymbolKind::Interface => Kind::Interface,
        SymbolKind::Trait => Kind::Trait,
        SymbolKind::Enum => Kind::Enum,
        SymbolKind::Variant => Kind::EnumMember,
        SymbolKind::Function | SymbolKind::Test => Kind::Function,
        SymbolKind::Method if has(flags::ABSTRACT) => Kind::AbstractMethod,
        SymbolKind::Method if has(flags::STATIC | flags::CLASS_METHOD) => Kind::StaticMethod,
        SymbolKind::Method => Kind::Method,
        SymbolKind::Constructor => Kind::Constructor,
        SymbolKind::Field if has(flags::STATIC) => Kind::StaticField,
        SymbolKind::Field => Kind::Field,
        SymbolKind::Constant => Kind::Constant,
        SymbolKind::Variable => Kind::Variable,
        SymbolKind::TypeAlias => Kind::TypeAlias,
        SymbolKind::Macro => Kind::Macro,
    }
}

/// Name that SCIP has for a language, if it has one.
fn known_language(name: &str) -> Option<String> {
    let named = |one: &&Language| format!("{one:?}").eq_ignore_ascii_case(name);
    Language::VALUES.iter().find(named).map(|one| format!("{one:?}"))
}
