//! Resolution of one file: its references, its imports, and the relations that start at its
//! symbols.

mod stated;

use crate::db::Db;
use crate::references::{outcome, relations, site};
use crate::units::footprint::Footprint;
use crate::units::unit::{Unit, UnitTable};
use crate::workspace::program::Program;
use crate::workspace::tables::Tables;
use cograph_model::facts::{FileFacts, ImportKind, LocalSymbol, Site, SiteId};
use cograph_model::graph::{FileId, FileResolution, Resolution, SymbolRef, Target};
use cograph_model::stated::{Stated, StatedFile};
use std::sync::Arc;

/// Result of a file with its dependencies.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// Result.
    pub resolution: FileResolution,
    /// Footprint.
    pub asked: Footprint,
}

impl Tables {
    /// Resolves the references, imports and relations of one file with all facts in memory. The
    /// result depends on the tables alone, not on the order of calls.
    pub fn resolve_file(&self, file: FileId) -> Resolved {
        let unit = self.files.unit(file);
        unit.map_or_else(Resolved::default, |unit| self.resolve_unit(file, unit, None))
    }

    /// Resolves a file of which the tables have only the exported part; `facts` are all of it.
    /// `stated` are edges for its content, which replace the results of inference.
    pub fn resolve_shared(
        &self,
        file: FileId,
        facts: &FileFacts,
        stated: Option<(&Stated, &StatedFile)>,
    ) -> Resolved {
        let Some(unit) = self.files.unit(file) else { return Resolved::default() };
        let table = UnitTable::of(facts, Arc::clone(&unit.table.names), Some(unit.table.interface));
        self.resolve_unit(file, Unit { facts, table: &table, ..unit }, stated)
    }

    fn resolve_unit(
        &self,
        file: FileId,
        unit: Unit<'_>,
        stated: Option<(&Stated, &StatedFile)>,
    ) -> Resolved {
        let program = Program::for_file(self, file, unit);
        let db = Db::of_file(&program, file, unit.facts);
        let sites = unit.facts.sites.list();
        let mut holders = Vec::new();
        let resolved = |(number, site)| {
            let found = site::resolve(&db, file, site);
            let holder = db.holder.take().and_then(|holder| outcome::through(&found, holder));
            holders.extend(holder.map(|holder| (SiteId::at(number), holder)));
            found
        };
        let results: Vec<Resolution> = sites.iter().enumerate().map(resolved).collect();
        let mut imports: Vec<Option<FileId>> =
            (0..unit.facts.imports.len()).map(|import| program.import_file(file, import)).collect();
        if !unit.language.manifest.modules.name_files() {
            imported_modules(&sites, &results, &mut imports);
        }
        if unit.language.manifest.modules.pastes_files() {
            let included =
                unit.facts.imports.iter().filter(|import| import.kind == ImportKind::Include);
            let omitted = &unit.language.manifest.modules.omitted_extensions;
            for import in included {
                program.record_included(&import.module);
                for extension in omitted {
                    program.record_included(&format!("{}.{extension}", import.module));
                }
            }
        }
        let relations = relations::of_file(&db, file);
        let containers = (0..unit.facts.symbols.len())
            .map(LocalSymbol::at)
            .filter_map(|symbol| Some((symbol, *program.container(SymbolRef { file, symbol })?)))
            .collect();
        drop(db);
        let mut resolution =
            FileResolution { sites: results, holders, imports, relations, containers };
        if let Some(stated) = stated {
            stated::apply(&program, file, stated, &sites, &mut resolution);
        }
        let asked = program.into_footprint().build(self.files.keys());
        Resolved { resolution, asked }
    }
}

/// Leads each import of a module out of another one to the file of the module itself.
fn imported_modules(sites: &[Site], results: &[Resolution], imports: &mut [Option<FileId>]) {
    for (site, resolution) in sites.iter().zip(results) {
        if let (&Target::File(file), Some(place)) = (&resolution.target, site.import.get())
            && let Some(target) = imports.get_mut(place)
        {
            *target = Some(file);
        }
    }
}
