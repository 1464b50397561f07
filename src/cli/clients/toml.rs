//! Configurations in TOML, edited with `toml_edit`: comments, order and whitespace are preserved.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, value};

use crate::clients::entry::ServerEntry;

/// Parses a document; the flag is true for CRLF line ends, which the parser normalizes.
fn parse(text: &str) -> Result<(DocumentMut, bool), String> {
    let pairs = text.matches("\r\n").count();
    if pairs > 0 && pairs != text.matches('\n').count() {
        return Err("its lines end in different ways".to_owned());
    }
    let plain = text.replace("\r\n", "\n");
    if plain.contains('\r') {
        return Err("its lines end in different ways".to_owned());
    }
    let document: DocumentMut =
        plain.parse().map_err(|error| format!("it is not valid TOML: {error}"))?;
    let written = document.to_string();
    if written.strip_suffix('\n').unwrap_or(&written) != plain.strip_suffix('\n').unwrap_or(&plain)
    {
        return Err("it could not be written back as it is".to_owned());
    }
    Ok((document, pairs > 0))
}

fn finish(document: &DocumentMut, pairs: bool) -> String {
    let text = document.to_string();
    if pairs { text.replace('\n', "\r\n") } else { text }
}

fn servers<'d>(document: &'d DocumentMut, section: &str) -> Option<&'d dyn TableLike> {
    document.get(section)?.as_table_like()
}

/// Checks that the text is a configuration, or empty.
pub(super) fn check(text: &str, section: &str) -> Result<(), String> {
    let (document, _) = parse(text)?;
    match document.get(section) {
        Some(found) if found.as_table_like().is_none() => {
            Err(format!("its key {section:?} is not a table"))
        }
        _ => Ok(()),
    }
}

/// Stdio servers.
pub(super) fn entries(text: &str, section: &str) -> Vec<(String, ServerEntry)> {
    let Ok((document, _)) = parse(text) else { return Vec::new() };
    let servers = servers(&document, section)
        .map(|servers| servers.iter().collect::<Vec<_>>())
        .unwrap_or_default();
    servers
        .into_iter()
        .filter_map(|(name, server)| Some((name.to_owned(), entry(server.as_table_like()?)?)))
        .collect()
}

fn entry(server: &dyn TableLike) -> Option<ServerEntry> {
    let command = server.get("command")?.as_str()?.to_owned();
    let arguments = server.get("args").and_then(Item::as_array);
    let text = |argument: &toml_edit::Value| {
        argument.as_str().map_or_else(|| argument.to_string(), str::to_owned)
    };
    Some(ServerEntry {
        command,
        arguments: arguments.map(|all| all.iter().map(text).collect()).unwrap_or_default(),
    })
}

/// True if there is a server of this name, of any kind.
pub(super) fn has(text: &str, section: &str, name: &str) -> bool {
    parse(text).is_ok_and(|(document, _)| {
        servers(&document, section).is_some_and(|servers| servers.contains_key(name))
    })
}

/// True if two texts have equal values except for this server. An empty list equals a missing one.
pub(super) fn agree(one: &str, other: &str, section: &str, name: &str) -> bool {
    let rest = |text: &str| {
        let mut root: toml::Table = text.parse().ok()?;
        if let Some(servers) = root.get_mut(section).and_then(toml::Value::as_table_mut) {
            servers.remove(name);
            if servers.is_empty() {
                root.remove(section);
            }
        }
        Some(root)
    };
    rest(one).is_some() && rest(one) == rest(other)
}

/// The text with an entry of this server. In an existing entry only the command changes, and
/// arguments that would not start a server.
pub(super) fn with(
    text: &str,
    section: &str,
    name: &str,
    new: &ServerEntry,
) -> Result<String, String> {
    let (mut document, pairs) = parse(text)?;
    let is_first = document.as_table().is_empty() && text.trim().is_empty();
    let list = document.entry(section).or_insert_with(|| {
        let mut list = Table::new();
        list.set_implicit(true);
        Item::Table(list)
    });
    let is_inline = list.is_inline_table();
    let list =
        list.as_table_like_mut().ok_or_else(|| format!("its key {section:?} is not a table"))?;
    let arguments: Array = new.arguments.iter().map(String::as_str).collect();
    match list.get_mut(name).and_then(Item::as_table_like_mut) {
        Some(known) if known.contains_key("command") => {
            set(known, "command", new.command.as_str().into());
            let is_right =
                entry(known).is_some_and(|known| known.arguments.first() == new.arguments.first());
            if !is_right {
                set(known, "args", arguments.into());
            }
        }
        _ if is_inline => {
            let mut server = InlineTable::new();
            server.insert("command", new.command.as_str().into());
            server.insert("args", arguments.into());
            list.insert(name, value(server));
        }
        _ => {
            let mut server = Table::new();
            server.insert("command", value(new.command.as_str()));
            server.insert("args", value(arguments));
            if !is_first {
                server.decor_mut().set_prefix("\n");
            }
            list.insert(name, Item::Table(server));
        }
    }
    Ok(finish(&document, pairs))
}

/// Replaces a value and keeps its whitespace and comments.
fn set(table: &mut dyn TableLike, key: &str, mut new: toml_edit::Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => drop(table.insert(key, Item::Value(new))),
    }
}

/// The text without this server.
pub(super) fn without(text: &str, section: &str, name: &str) -> Result<String, String> {
    let (mut document, pairs) = parse(text)?;
    if let Some(list) = document.get_mut(section).and_then(Item::as_table_like_mut) {
        list.remove(name);
    }
    let text_without = finish(&document, pairs);
    let ends_open = !text.is_empty() && !text.ends_with('\n');
    Ok(if ends_open {
        text_without.trim_end_matches(['\r', '\n']).to_owned()
    } else {
        text_without
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new() -> ServerEntry {
        ServerEntry { command: "/bin/x".to_owned(), arguments: vec!["mcp".to_owned()] }
    }

    fn check_both(text: &str, with_it: &str) {
        let changed = with(text, "s", "n", &new()).expect("it is valid");
        assert_eq!(changed, with_it);
        assert_eq!(entries(&changed, "s").last(), Some(&("n".to_owned(), new())));
        assert!(agree(text, &changed, "s", "n"), "{changed}");
        assert_eq!(without(&changed, "s", "n").as_deref(), Ok(text), "what was there is as it was");
    }

    #[test]
    fn an_entry_comes_and_goes_and_nothing_else_changes() {
        check_both("", "[s.n]\ncommand = \"/bin/x\"\nargs = [\"mcp\"]\n");
        check_both(
            "# mine\nmodel=\"m\"   # c\n\n[s.a]\ncommand=\"a\" # d\n",
            "# mine\nmodel=\"m\"   # c\n\n[s.a]\ncommand=\"a\" # d\n\n[s.n]\ncommand = \"/bin/x\"\n\
             args = [\"mcp\"]\n",
        );
        check_both(
            "a = 1\r\n",
            "a = 1\r\n\r\n[s.n]\r\ncommand = \"/bin/x\"\r\nargs = [\"mcp\"]\r\n",
        );
        assert_eq!(without("a = 1", "s", "n").as_deref(), Ok("a = 1"));
        check_both(
            "s = { a = {} }\n",
            "s = { a = {} , n = { command = \"/bin/x\", args = [\"mcp\"] } }\n",
        );
    }

    #[test]
    fn of_a_known_entry_only_what_is_wrong_changes() {
        let known = "[s.n]\ncommand = \"old\" # c\nargs = [ \"mcp\", \"--log\", \"x\" ]\n\
                     env = { A = \"b\" }\n";
        assert_eq!(
            with(known, "s", "n", &new()).as_deref(),
            Ok(known.replace("old", "/bin/x").as_str())
        );
        let other = known.replace("[ \"mcp\", \"--log\", \"x\" ]", "[\"serve\"]");
        assert_eq!(
            with(&other, "s", "n", &new()).as_deref(),
            Ok(other.replace("old", "/bin/x").replace("serve", "mcp").as_str())
        );
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["[", "s = 1", "a = 1\na = 2", "a = 1\r\nb = 2\n"] {
            assert!(check(text, "s").is_err(), "{text:?}");
        }
        assert_eq!(check("[s.a]\nx = 1", "s"), Ok(()));
        assert!(
            has("[s.n]\nurl = \"x\"", "s", "n") && entries("[s.n]\nurl = \"x\"", "s").is_empty()
        );
        assert!(!agree("a = 1", "a = 2", "s", "n") && agree("[s]\n", "", "s", "n"));
    }
}
