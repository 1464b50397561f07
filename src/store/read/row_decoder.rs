//! Row decoder: one function per kind of row.

use crate::format::columns::{Mark, Traits, inode_of, unpack_signature};
use crate::format::rows::{
    FileKey, FileRow, ImportRow, ImportSort, LanguageKey, NameKey, ProblemRow, RelationRow,
    SiteKey, SiteRow, SiteTarget, SymbolDocument, SymbolHead, SymbolKey, SymbolRow,
};
use crate::format::schema::file_flags;
use cograph_model::facts::Complexity;
use cograph_model::{
    Position, Problem, ProblemKind, RelationKind, RepoPath, SkipReason, Span, Verdict,
};
use rusqlite::Row;
use rusqlite::types::FromSql;

/// Number of a vocabulary; an unknown number means damage.
fn word<T>(row: &Row<'_>, at: usize, from_number: fn(u8) -> Option<T>) -> rusqlite::Result<T> {
    let number: u8 = row.get(at)?;
    from_number(number).ok_or(rusqlite::Error::IntegralValueOutOfRange(at, number.into()))
}

pub(super) fn optional<T: FromSql>(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<T>> {
    row.get(at)
}

fn position(row: &Row<'_>, at: usize) -> rusqlite::Result<Position> {
    Ok(Position { line: row.get(at)?, column: row.get(at + 1)? })
}

pub(super) fn file_row(row: &Row<'_>) -> rusqlite::Result<FileRow> {
    let path: String = row.get(1)?;
    let hash: Option<[u8; 16]> = row.get(5)?;
    let flags: i64 = row.get(8)?;
    let skipped = match optional::<u8>(row, 7)? {
        None => None,
        Some(_) => Some(word(row, 7, SkipReason::from_number)?),
    };
    Ok(FileRow {
        key: FileKey(row.get(0)?),
        path: RepoPath::new(&path).ok_or(rusqlite::Error::IntegralValueOutOfRange(1, 0))?,
        language: optional(row, 2)?.map(LanguageKey),
        size: row.get(3)?,
        modified_ns: row.get(4)?,
        changed_ns: row.get(19)?,
        inode: inode_of(row.get(20)?),
        hash: hash.map_or(0, u128::from_be_bytes),
        lines: row.get(6)?,
        skipped,
        generated: flags & file_flags::GENERATED != 0,
        test: flags & file_flags::TEST != 0,
        first_symbol: row.get(9)?,
        symbols: row.get(10)?,
        first_site: row.get(11)?,
        sites: row.get(12)?,
        verdicts: [
            row.get(13)?,
            row.get(14)?,
            row.get(15)?,
            row.get(16)?,
            row.get(17)?,
            row.get(18)?,
        ],
        package: row.get(21)?,
    })
}

fn traits(row: &Row<'_>, at: usize) -> rusqlite::Result<Traits> {
    let number = row.get(at)?;
    Traits::unpack(number).ok_or(rusqlite::Error::IntegralValueOutOfRange(at, number.into()))
}

pub(super) fn symbol_row(row: &Row<'_>) -> rusqlite::Result<SymbolRow> {
    let Traits { visibility, kind, flags } = traits(row, 4)?;
    let start = position(row, 8)?;
    let below = |at: usize| {
        row.get::<_, i64>(at)
            .map(|lines| u32::try_from(i64::from(start.line) + lines).unwrap_or(u32::MAX))
    };
    let start_byte: u32 = row.get(12)?;
    let length: u32 = row.get(13)?;
    let name_text: Box<str> = row.get(3)?;
    Ok(SymbolRow {
        key: SymbolKey(row.get(0)?),
        file: FileKey(row.get(1)?),
        name: NameKey(row.get(2)?),
        signature: unpack_signature(row.get_ref(16)?.as_str()?, &name_text),
        name_text,
        kind,
        container: optional(row, 5)?.map(SymbolKey),
        flags,
        visibility,
        arity: (row.get(6)?, row.get(7)?),
        extent: Span {
            start_byte,
            end_byte: start_byte.saturating_add(length),
            start,
            end: Position { line: below(10)?, column: row.get(11)? },
        },
        name_at: Position { line: below(14)?, column: row.get(15)? },
        doc: row.get(17)?,
        references: row.get(18)?,
        first_site: row.get(19)?,
        site_span: row.get(20)?,
        complexity: Complexity::unpack(row.get(21)?),
    })
}

pub(super) fn symbol_document(row: &Row<'_>) -> rusqlite::Result<SymbolDocument> {
    let name: Box<str> = row.get(5)?;
    let (start, length): (u32, u32) = (row.get(6)?, row.get(7)?);
    Ok(SymbolDocument {
        head: symbol_head(row)?,
        signature: unpack_signature(row.get_ref(9)?.as_str()?, &name),
        name,
        bytes: start..start.saturating_add(length),
        lines: row.get::<_, u32>(8)?.saturating_add(1),
        doc: row.get(10)?,
    })
}

pub(super) fn symbol_head(row: &Row<'_>) -> rusqlite::Result<SymbolHead> {
    let Traits { kind, flags, .. } = traits(row, 2)?;
    Ok(SymbolHead {
        key: SymbolKey(row.get(0)?),
        file: FileKey(row.get(1)?),
        kind,
        container: optional(row, 3)?.map(SymbolKey),
        flags,
        references: row.get(4)?,
    })
}

pub(super) fn site_row(row: &Row<'_>) -> rusqlite::Result<SiteRow> {
    let number = row.get(4)?;
    let mark = Mark::unpack(number).ok_or(rusqlite::Error::IntegralValueOutOfRange(4, number))?;
    let target = match (optional::<i64>(row, 6)?, mark.verdict) {
        (None, _) => SiteTarget::None,
        (Some(target), verdict) => {
            let key = u32::try_from(target.unsigned_abs())
                .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(6, target))?;
            match verdict {
                Verdict::Ambiguous | Verdict::Possible => SiteTarget::Candidates(key),
                Verdict::External => SiteTarget::External(NameKey(key)),
                Verdict::Unresolved => SiteTarget::HeldBy(SymbolKey(key)),
                Verdict::Resolved if target < 0 => SiteTarget::Candidates(key),
                Verdict::Resolved | Verdict::Likely => SiteTarget::Symbol(SymbolKey(key)),
            }
        }
    };
    Ok(SiteRow {
        key: SiteKey(row.get(0)?),
        file: FileKey(row.get(1)?),
        enclosing: optional(row, 2)?.map(SymbolKey),
        name: NameKey(row.get(3)?),
        kind: mark.kind,
        at: Position { line: mark.line, column: row.get(5)? },
        verdict: mark.verdict,
        step: mark.step,
        target,
    })
}

/// Name and position of a site.
pub(super) fn name_place(row: &Row<'_>) -> rusqlite::Result<(NameKey, Position)> {
    let number = row.get(1)?;
    let mark = Mark::unpack(number).ok_or(rusqlite::Error::IntegralValueOutOfRange(1, number))?;
    Ok((NameKey(row.get(0)?), Position { line: mark.line, column: row.get(2)? }))
}

pub(super) fn import_row(row: &Row<'_>) -> rusqlite::Result<ImportRow> {
    Ok(ImportRow {
        file: FileKey(row.get(0)?),
        module: row.get(1)?,
        level: row.get(2)?,
        item: row.get(3)?,
        at: position(row, 4)?,
        target: optional(row, 6)?.map(FileKey),
        sort: ImportSort::of(row.get(7)?),
    })
}

pub(super) fn relation_row(row: &Row<'_>) -> rusqlite::Result<RelationRow> {
    Ok(RelationRow {
        kind: word(row, 0, RelationKind::from_number)?,
        from: SymbolKey(row.get(1)?),
        to: SymbolKey(row.get(2)?),
    })
}

pub(super) fn problem_row(row: &Row<'_>) -> rusqlite::Result<ProblemRow> {
    let problem = Problem {
        kind: word(row, 1, ProblemKind::from_number)?,
        first_line: row.get(2)?,
        last_line: row.get(3)?,
    };
    Ok(ProblemRow { file: FileKey(row.get(0)?), problem })
}
