//! Inheritance of manifests: `extends` names the directory, `without` the keys to remove. Works on
//! TOML tables.

use toml::{Table, Value};

/// Merges a chain of manifests, base first. A key of a section replaces the inherited one.
pub(super) fn merge(texts: &[&str]) -> Result<Table, String> {
    let mut merged = Table::new();
    for text in texts {
        let mut own: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        own.remove("extends");
        remove(&mut merged, own.remove("without"))?;
        for (key, value) in own {
            match (merged.get_mut(&key), value) {
                (Some(Value::Table(section)), Value::Table(own)) => section.extend(own),
                (_, value) => drop(merged.insert(key, value)),
            }
        }
    }
    Ok(merged)
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
    fn removing_what_is_not_there_is_an_error() {
        let error = merge(&["[nodes]\nx = 1", "[without]\nnodes = [\"y\"]"]);
        assert_eq!(error, Err("without.nodes: `y` is not inherited".to_owned()));
    }
}
