//! Names that no symbol has, but that lead to symbols where they are written: aliases of imports
//! and exports, default exports.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::graph::error::QueryError;
use crate::graph::having::having;
use crate::graph::lookup::Lookup;
use crate::names::files::files;
use crate::names::qualified::keys_of;
use cograph_model::words;
use cograph_store::SymbolRow;

/// Maximum number of files that are searched for an alias.
const MAX_FILES: usize = 100;

/// Returns the symbols that references by the name `wanted`, or `path::name`, lead to.
pub(super) fn aliased(lookup: &Lookup<'_>, wanted: &str) -> Result<Vec<Rc<SymbolRow>>, QueryError> {
    let (path, name) = wanted.split_once("::").unwrap_or(("", wanted));
    let within = files(lookup, path)?;
    let name = if within.is_empty() { wanted } else { name };
    let keys = keys_of(lookup, name)?;
    let terms = words::terms_of(name.as_bytes());
    if keys.is_empty() || terms.is_empty() {
        return Ok(Vec::new());
    }
    let mut having = having(lookup, &terms)?.files;
    having.retain(|file| within.is_empty() || within.contains(file));
    if having.len() > MAX_FILES {
        return Ok(Vec::new());
    }
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    for file in having {
        let row = lookup.file(file)?;
        for site in lookup.snapshot.sites_of(&row)? {
            if !keys.contains(&site.name) {
                continue;
            }
            for target in lookup.targets(&site)? {
                if seen.insert(target) {
                    found.push(lookup.symbol(target)?);
                }
            }
        }
    }
    Ok(found)
}
