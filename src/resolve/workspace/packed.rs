//! Encoding of the data about a file that is known without its facts: head, import targets,
//! footprint.

use crate::units::footprint::{Footprint, Question};
use crate::units::import_target::SharedImport;
use crate::units::prepared::FileSummary;
use crate::units::{space::Space, spaces::Nesting};
use cograph_grammar as grammar;
use cograph_model::LanguageId;
use cograph_model::facts::{ImportId, LocalSymbol, ScopeId};
use cograph_model::graph::FileKey;
use cograph_model::packed::{Pass, Reader, Writer};
use std::sync::Arc;

/// Data about a file without its facts. Files are identified by keys.
#[derive(Clone, Debug)]
pub struct PackedEntry {
    /// Summary.
    pub head: FileSummary,
    /// Files that its imports lead to or through.
    pub imported: Vec<FileKey>,
    /// Footprint of its resolution.
    pub asked: Footprint,
}

impl PackedEntry {
    /// Encodes the entry.
    pub fn write(&self, writer: &mut Writer) {
        let mut write = || -> Option<()> {
            let FileSummary {
                language,
                interface,
                package,
                further,
                extends_types,
                nesting,
                everywhere,
            } = &self.head;
            writer.small(u32::from(language.id.0))?;
            writer.bits(*interface)?;
            writer.flag(package.is_some())?;
            writer.text(package.as_deref().unwrap_or_default())?;
            texts(writer, further)?;
            writer.flag(*extends_types)?;
            writer.flag(nesting.is_some())?;
            if let Some(nesting) = nesting {
                pass_over(writer, nesting)?;
            }
            shared_imports(writer, everywhere)?;
            keys(writer, &self.imported)?;
            writer.bytes(&self.asked.bytes())?;
            Some(())
        };
        write().expect("writing does not fail");
    }

    /// Decodes an entry; `None` if the bytes are invalid.
    pub fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let language = LanguageId(u16::try_from(reader.small(0)?).ok()?);
        if usize::from(language.0) >= grammar::count() {
            return None;
        }
        let interface = reader.bits(0)?;
        let (has_package, package) = (reader.flag(false)?, reader.text("")?);
        let further = texts(reader, &[])?.into();
        let extends_types = reader.flag(false)?;
        let nesting = if reader.flag(false)? {
            Some(Arc::new(pass_over(reader, &Nesting::default())?))
        } else {
            None
        };
        let everywhere = shared_imports(reader, &[])?.into();
        let imported = keys(reader, &[])?;
        let asked = Footprint::from_bytes(&reader.bytes(&[])?)?;
        let package = has_package.then_some(package);
        let head = FileSummary {
            language: grammar::language(language),
            interface,
            package,
            further,
            extends_types,
            nesting,
            everywhere,
        };
        Some(Self { head, imported, asked })
    }
}

fn shared_imports<P: Pass>(pass: &mut P, all: &[SharedImport]) -> Option<Vec<SharedImport>> {
    let none = SharedImport { module: Box::default(), alias: Box::default() };
    pass.list(all, &none, |pass, import| {
        Some(SharedImport { module: pass.text(&import.module)?, alias: pass.text(&import.alias)? })
    })
}

fn texts<P: Pass>(pass: &mut P, all: &[Box<str>]) -> Option<Vec<Box<str>>> {
    pass.list(all, &Box::default(), |pass, text| pass.text(text))
}

fn keys<P: Pass>(pass: &mut P, keys: &[FileKey]) -> Option<Vec<FileKey>> {
    let mut before = 0;
    pass.list(keys, &FileKey(0), |pass, key| {
        before = pass.near(key.0, before)?;
        Some(FileKey(before))
    })
}

fn pass_over<P: Pass>(pass: &mut P, nesting: &Nesting) -> Option<Nesting> {
    const NO_SPACE: Space = Space(0);
    Some(Nesting {
        spaces: pass.list(
            &nesting.spaces,
            &(NO_SPACE, NO_SPACE, LocalSymbol(0)),
            |pass, (space, parent, symbol)| {
                Some((
                    Space(pass.bits(space.0)?),
                    Space(pass.bits(parent.0)?),
                    LocalSymbol(pass.id(symbol.0)?),
                ))
            },
        )?,
        by_macro: pass
            .list(&nesting.by_macro, &NO_SPACE, |pass, space| Some(Space(pass.bits(space.0)?)))?,
        aliases: pass.list(
            &nesting.aliases,
            &(Question(0), ImportId(0)),
            |pass, (name, import)| {
                Some((Question(pass.bits(name.0)?), ImportId(pass.id(import.0)?)))
            },
        )?,
        opened: pass.list(&nesting.opened, &(NO_SPACE, ImportId(0)), |pass, (space, import)| {
            Some((Space(pass.bits(space.0)?), ImportId(pass.id(import.0)?)))
        })?,
        opened_locally: pass.list(
            &nesting.opened_locally,
            &(ScopeId(0), ImportId(0)),
            |pass, (scope, import)| {
                Some((ScopeId(pass.id(scope.0)?), ImportId(pass.id(import.0)?)))
            },
        )?,
    })
}
