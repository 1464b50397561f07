//! Inheritance of manifests: `extends` names the directory, `without` the keys to remove. Works on
//! TOML tables.

use toml::{Table, Value};

/// Sections whose entries are rules: an entry replaces the inherited one as a whole.
const RULES: [&str; 3] = ["nodes", "patterns", "types"];

/// Merges a chain of manifests, base first. A key of a section, or of a table in it, replaces the
/// inherited one.
pub fn merge(texts: &[&str]) -> Result<Table, String> {
    let mut merged = Table::new();
    for text in texts {
        let mut own: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        own.remove("extends");
        remove(&mut merged, own.remove("without"))?;
        for (key, value) in own {
            match (merged.get_mut(&key), value) {
                (Some(Value::Table(section)), Value::Table(own)) => {
                    extend(section, own, !RULES.contains(&&*key));
                }
                (_, value) => drop(merged.insert(key, value)),
            }
        }
    }
    Ok(merged)
}

/// Adds the keys of a section, with `within` also those of tables that both have.
fn extend(section: &mut Table, own: Table, within: bool) {
    for (key, value) in own {
        match (section.get_mut(&key), value) {
            (Some(Value::Table(table)), Value::Table(own)) if within => table.extend(own),
            (_, value) => drop(section.insert(key, value)),
        }
    }
}

/// Removes inherited keys: section -> list of keys.
fn remove(merged: &mut Table, without: Option<Value>) -> Result<(), String> {
    let Some(without) = without else { return Ok(()) };
    let Value::Table(without) = without else {
        return Err("`without` must be a table of lists".to_owned());
    };
    for (section, keys) in without {
        let keys =
            keys.as_array().ok_or_else(|| format!("without.{section} must be a list of keys"))?;
        for key in keys {
            let key =
                key.as_str().ok_or_else(|| format!("without.{section} must be a list of keys"))?;
            let removed = merged
                .get_mut(&section)
                .and_then(Value::as_table_mut)
                .and_then(|table| table.remove(key));
            if removed.is_none() {
                return Err(format!("without.{section}: `{key}` is not inherited"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_keys_replace_inherited_ones() {
        let base = "title = \"A\"\n[nodes]\nx = 1\ny = 2\nz = 3";
        let own = "extends = \"a\"\ntitle = \"B\"\n[without]\nnodes = [\"z\"]\n[nodes]\ny = 4";
        let expected: Table = "title = \"B\"\n[nodes]\nx = 1\ny = 4".parse().expect("a table");
        assert_eq!(merge(&[base, own]), Ok(expected));
    }

    #[test]
    fn tables_of_settings_are_merged_and_rules_are_replaced() {
        let base = "[a.words]\nx = 1\ny = 2\n[nodes]\nn = { role = \"skip\", of = \"b\" }";
        let own = "[a.words]\ny = 3\n[nodes]\nn = { role = \"pass\" }";
        let expected: Table =
            "[a.words]\nx = 1\ny = 3\n[nodes]\nn = { role = \"pass\" }".parse().expect("a table");
        assert_eq!(merge(&[base, own]), Ok(expected));
    }

    #[test]
    fn removing_what_is_not_there_is_an_error() {
        let error = merge(&["[nodes]\nx = 1", "[without]\nnodes = [\"y\"]"]);
        assert_eq!(error, Err("without.nodes: `y` is not inherited".to_owned()));
    }
}
