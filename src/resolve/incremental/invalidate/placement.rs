//! Effects of added, removed and moved files on module systems.

use crate::files::project_file::ProjectFile;
use crate::imports::ModuleChange;
use crate::incremental::change::{Listing, Replaced, VisibleChange};
use crate::units::footprint::{ChangedAnswers, Footprint, Question};
use crate::units::import_target::family;
use crate::workspace::postings::Own;
use crate::workspace::tables::Tables;
use cograph_grammar::{self as grammar, Language};
use cograph_model::RepoPath;
use cograph_model::graph::{FileId, FileKey};
use rustc_hash::FxHashSet;

/// Effects of a change on import targets and on lookups of modules by name.
pub(super) struct Placement {
    /// True if the set of files, or their packages, differ for module systems.
    pub(super) is_other: bool,
    /// True if files of every family may be affected.
    pub(super) is_everywhere: bool,
    /// Families with added, removed or moved files; true if a crate tree differs.
    families: FxHashSet<&'static str>,
    has_other_crates: bool,
    /// True if a build may be about other files.
    has_other_builds: bool,
    /// Files with a visible change, and of those that include an added or removed name.
    pub(super) files: FxHashSet<FileKey>,
    pub(super) questions: Vec<Question>,
}

impl Placement {
    pub(super) fn of(
        tables: &Tables,
        replaced: &[Replaced],
        gone: &[(FileId, Vec<Own>)],
        listing: Option<&Listing>,
        project_files: Option<&[ProjectFile]>,
        asked: &[&Footprint],
    ) -> Self {
        let others = || replaced.iter().filter(|file| file.seen == VisibleChange::Anything);
        let is_crate = |language: &Language| language.manifest.modules.declares_children();
        let mut placement = Self {
            is_other: listing.is_some()
                || project_files.is_some()
                || replaced.iter().any(Replaced::is_moved),
            is_everywhere: project_files.is_some(),
            families: FxHashSet::default(),
            has_other_crates: others().flat_map(Replaced::languages).any(is_crate),
            has_other_builds: project_files.is_some_and(|now| {
                now.iter()
                    .chain(tables.project_files())
                    .any(|file| grammar::build_files().any(|name| file.path.file_name() == name))
            }),
            files: others().map(|file| file.key).collect(),
            questions: Vec::new(),
        };
        let mut included = ChangedAnswers::default();
        let gone = gone.iter().map(|(file, _)| {
            let path = tables.files.path(*file);
            (path, tables.files.language(*file).or_else(|| language_by_name(path)))
        });
        let placed = replaced
            .iter()
            .filter(|file| file.is_moved() || tables.files.position(file.key).is_none());
        let placed = placed.flat_map(|file| {
            let languages = file.languages().map(Some);
            languages
                .chain(std::iter::once(language_by_name(&file.path)))
                .map(|language| (&file.path, language))
        });
        for (path, language) in gone.chain(placed) {
            let name = path.file_name();
            let stems = [
                name.split('.').next().unwrap_or(name),
                name.rsplit_once('.').map_or(name, |(stem, _)| stem),
            ];
            let folder = path.directory().rsplit('/').next().unwrap_or_default();
            placement.questions.extend(stems.into_iter().chain([folder]).map(Question::child));
            included.question(Question::included(name));
            if let Some(made) = grammar::filled(path) {
                included.question(Question::included(made.file_name()));
            }
            placement.families.extend(language.map(family));
            placement.has_other_crates |= language.is_some_and(is_crate);
            placement.has_other_builds |= tables.modules.builds().names(name);
        }
        placement.is_other |= placement.has_other_crates;
        let key = |place: usize| {
            listing.map_or_else(|| tables.files.keys()[place], |Listing(files)| files[place].1)
        };
        let paste = asked.iter().enumerate().filter(|(_, asked)| included.invalidates(asked));
        placement.files.extend(paste.map(|(place, _)| key(place)));
        placement
    }

    /// True if the import targets of a file may differ.
    pub(super) fn invalidates(&self, tables: &Tables, file: FileId) -> bool {
        let Some(language) = tables.files.language(file) else { return false };
        let change = ModuleChange {
            project_files: self.is_everywhere,
            trees: self.has_other_crates,
            builds: self.has_other_builds,
            family: self.families.contains(family(language)),
        };
        tables.modules.is_affected(language, change) || self.files.contains(&tables.files.key(file))
    }
}

/// Returns the language of a file without facts, by its name: imports may still lead to it.
fn language_by_name(path: &RepoPath) -> Option<&'static Language> {
    grammar::detect(path, &[], &vec![0; grammar::count()]).map(grammar::language)
}
