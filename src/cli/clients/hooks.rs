//! Hooks in the settings of clients: added, found and removed by the program that they run, with
//! the rest of the file preserved. What is added is the template of the client in `plugin/`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::tokens::{Token, TokenAndRange};

use super::json::edit::{New, Splice, apply};
use super::json::{mark, object, parse};
use crate::clients::entry::{NAME, Scope};
use crate::clients::json::parsed::{Parsed, member};
use cograph_config::{User, program_path};

/// Hooks of a client.
pub(crate) struct HookFile {
    /// Hooks in the client's format; each runs `cograph hook`.
    template: &'static str,
    user_file: fn(&User) -> Option<PathBuf>,
    project_file: &'static str,
    /// Next step for the user.
    pub(crate) next: &'static str,
}

/// Settings of Claude Code, also read by VS Code.
pub(super) static CLAUDE_CODE: HookFile = HookFile {
    template: include_str!("../../../plugin/hooks/hooks.json"),
    user_file: |user| match (&user.claude, &user.home) {
        (Some(own), _) => Some(own.join("settings.json")),
        (None, home) => Some(home.as_ref()?.join(".claude/settings.json")),
    },
    project_file: ".claude/settings.json",
    next: "`/hooks` lists them; sessions that run see them after a restart",
};

pub(super) static CODEX: HookFile = HookFile {
    template: include_str!("../../../plugin/hooks/hooks.json"),
    user_file: |user| Some(user.codex.as_ref()?.join("hooks.json")),
    project_file: ".codex/hooks.json",
    next: "Codex runs them once they are trusted: `/hooks`",
};

pub(super) static GEMINI: HookFile = HookFile {
    template: include_str!("../../../plugin/gemini/hooks/hooks.json"),
    user_file: |user| Some(user.home.as_ref()?.join(".gemini/settings.json")),
    project_file: ".gemini/settings.json",
    next: "`/hooks` lists them",
};

pub(super) static CURSOR: HookFile = HookFile {
    template: include_str!("../../../plugin/clients/cursor.json"),
    user_file: |user| Some(user.home.as_ref()?.join(".cursor/hooks.json")),
    project_file: ".cursor/hooks.json",
    next: "Cursor lists them in its settings, under Hooks",
};

pub(super) static COPILOT: HookFile = HookFile {
    template: include_str!("../../../plugin/clients/copilot.json"),
    user_file: |user| Some(user.home.as_ref()?.join(".copilot/hooks/cograph.json")),
    project_file: ".github/hooks/cograph.json",
    next: "sessions that start from now on have them",
};

/// Settings are JSON with comments in some clients, and valid without in all.
const RELAXED: bool = true;

/// Section of the hooks.
const SECTION: &str = "hooks";

/// Hook that runs this program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OwnHook {
    /// Event, as the client names it.
    pub(crate) event: String,
    /// Words of its command.
    pub(crate) words: Vec<String>,
}

impl HookFile {
    /// Path of the settings; none if the home directory is unknown.
    pub(crate) fn file(&self, scope: Scope, user: &User, root: &Path) -> Option<PathBuf> {
        match scope {
            Scope::User => (self.user_file)(user),
            Scope::Project => Some(root.join(self.project_file)),
        }
    }

    /// The text with the hooks, which run this program.
    pub(crate) fn with(&self, text: &str, program: &str) -> Result<String, String> {
        let template = parse(self.template, RELAXED)?.ok_or("its template is empty")?;
        let hooks = object(&template.root, SECTION)?.ok_or("its template has no hooks")?;
        let version = member(&template.root, "version")?.map(|found| value(&found.value, program));
        if parse(text, RELAXED)?.is_none() {
            let version = version.map(|version| ("version".to_owned(), version));
            let hooks = (SECTION.to_owned(), members(hooks, program));
            let members = version.into_iter().chain([hooks]).collect();
            return Ok(format!("{}\n", New::Members(members).render("", "  ", Some("\n"))));
        }
        let mut text = text.to_owned();
        if let Some(version) = &version {
            text = edited(&text, |parsed| {
                Ok(match member(&parsed.root, "version")? {
                    Some(_) => Vec::new(),
                    None => parsed.insert(&parsed.root, "version", version),
                })
            })?;
        }
        for event in &hooks.properties {
            let Value::Array(groups) = &event.value else { continue };
            let name = event.name.as_str();
            let wanted: Vec<New> = groups.elements.iter().map(|one| value(one, program)).collect();
            if own_of(&text, name)? == rendered(&wanted) {
                continue;
            }
            // One place: hooks in another form are replaced.
            text = without_event(&text, name)?;
            for group in &wanted {
                text = edited(&text, |parsed| added(parsed, name, group))?;
            }
        }
        Ok(text)
    }

    /// The text without the hooks of this program.
    pub(crate) fn without(&self, text: &str) -> Result<String, String> {
        let mut text = text.to_owned();
        for event in events(&text)? {
            text = without_event(&text, &event)?;
        }
        Ok(text)
    }

    /// True if the text has nothing except hooks of this program.
    pub(crate) fn has_only_own(&self, text: &str) -> bool {
        let without = self.without(text);
        let rest = without.as_deref().ok().and_then(|rest| parse(rest, RELAXED).ok()).flatten();
        rest.is_some_and(|rest| {
            rest.tokens.iter().all(|token| !is_comment(token))
                && rest.root.properties.iter().all(|found| found.name.as_str() == "version")
        })
    }
}

fn is_comment(token: &TokenAndRange<'_>) -> bool {
    matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
}

/// Hooks that run this program.
pub(crate) fn own_hooks(text: &str) -> Result<Vec<OwnHook>, String> {
    let Some(parsed) = parse(text, RELAXED)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for event in object(&parsed.root, SECTION)?.map_or(&[][..], |hooks| &hooks.properties) {
        let Value::Array(groups) = &event.value else { continue };
        for handler in groups.elements.iter().flat_map(handlers) {
            if let Some(words) = words(handler) {
                found.push(OwnHook { event: event.name.as_str().to_owned(), words });
            }
        }
    }
    Ok(found)
}

/// Applies an edit to a text that is not empty.
fn edited(
    text: &str,
    edit: impl FnOnce(&Parsed<'_>) -> Result<Vec<Splice>, String>,
) -> Result<String, String> {
    let Some(parsed) = parse(text, RELAXED)? else { return Ok(text.to_owned()) };
    let splices = edit(&parsed)?;
    Ok(format!("{}{}", mark(text, &parsed), apply(parsed.text, splices)))
}

/// Adds a group to an event.
fn added(parsed: &Parsed<'_>, event: &str, group: &New) -> Result<Vec<Splice>, String> {
    let Some(hooks) = object(&parsed.root, SECTION)? else {
        let groups = New::Items(vec![group.clone()]);
        let hooks = New::Members(vec![(event.to_owned(), groups)]);
        return Ok(parsed.insert(&parsed.root, SECTION, &hooks));
    };
    Ok(match member(hooks, event)?.map(|found| &found.value) {
        Some(Value::Array(groups)) => parsed.append(groups, group),
        Some(_) => return Err(format!("its hooks of {event} are not a list")),
        None => parsed.insert(hooks, event, &New::Items(vec![group.clone()])),
    })
}

/// Names of the events.
fn events(text: &str) -> Result<Vec<String>, String> {
    let Some(parsed) = parse(text, RELAXED)? else { return Ok(Vec::new()) };
    let hooks = object(&parsed.root, SECTION)?;
    let events = hooks.map_or(&[][..], |hooks| &hooks.properties);
    Ok(events.iter().map(|event| event.name.as_str().to_owned()).collect())
}

/// The groups of an event whose hooks all run this program, on one line each.
fn own_of(text: &str, event: &str) -> Result<Vec<String>, String> {
    let Some(parsed) = parse(text, RELAXED)? else { return Ok(Vec::new()) };
    let Some(hooks) = object(&parsed.root, SECTION)? else { return Ok(Vec::new()) };
    let Some(Value::Array(groups)) = member(hooks, event)?.map(|found| &found.value) else {
        return Ok(Vec::new());
    };
    let own = groups.elements.iter().filter(|group| is_own(group));
    Ok(rendered(&own.map(|group| value(group, NAME)).collect::<Vec<_>>()))
}

fn rendered(values: &[New]) -> Vec<String> {
    values.iter().map(|value| value.render("", "", None)).collect()
}

/// The text without the hooks of this program for an event, and without what that leaves empty.
fn without_event(text: &str, event: &str) -> Result<String, String> {
    let mut text = text.to_owned();
    loop {
        let mut is_done = true;
        let next = edited(&text, |parsed| {
            let splices = removal(parsed, event)?;
            is_done = splices.is_empty();
            Ok(splices)
        })?;
        if is_done {
            return Ok(text);
        }
        text = next;
    }
}

/// Removal of one hook of this program, of an event that has no others, or of the section.
fn removal(parsed: &Parsed<'_>, event: &str) -> Result<Vec<Splice>, String> {
    let none = Ok(Vec::new());
    let Some(section) = member(&parsed.root, SECTION)? else { return none };
    let Some(hooks) = object(&parsed.root, SECTION)? else { return none };
    let Some(found) = member(hooks, event)? else { return none };
    let Value::Array(groups) = &found.value else { return none };
    let has_own = groups.elements.iter().flat_map(handlers).any(|one| words(one).is_some());
    if !has_own {
        return none;
    }
    if groups.elements.iter().all(is_own) {
        return Ok(match hooks.properties.len() {
            1 => parsed.remove(&parsed.root, section),
            _ => parsed.remove(hooks, found),
        });
    }
    if let Some(at) = groups.elements.iter().position(is_own) {
        return Ok(parsed.remove_element(groups, at));
    }
    for group in &groups.elements {
        if let Some(list) = list_of(group)
            && let Some(at) = list.elements.iter().position(|one| words(one).is_some())
        {
            return Ok(parsed.remove_element(list, at));
        }
    }
    none
}

/// True if a group has hooks, and all of them run this program.
fn is_own(group: &Value<'_>) -> bool {
    let mut all = handlers(group).into_iter().peekable();
    all.peek().is_some() && all.all(|handler| words(handler).is_some())
}

/// Hooks of a group, or the group itself in clients without groups.
fn handlers<'p, 'a>(group: &'p Value<'a>) -> Vec<&'p Value<'a>> {
    match list_of(group) {
        Some(list) => list.elements.iter().collect(),
        None => vec![group],
    }
}

fn list_of<'p, 'a>(group: &'p Value<'a>) -> Option<&'p Array<'a>> {
    let Value::Object(group) = group else { return None };
    match member(group, SECTION).ok()??.value {
        Value::Array(ref list) => Some(list),
        _ => None,
    }
}

/// Words of the command of a hook that runs this program.
fn words(handler: &Value<'_>) -> Option<Vec<String>> {
    let Value::Object(handler) = handler else { return None };
    // Clients have the command in members of several names.
    handler.properties.iter().find_map(|found| {
        let Value::StringLit(command) = &found.value else { return None };
        let words = shlex::split(&command.value)?;
        let program = Path::new(words.first()?).file_stem()?;
        let is_hook = words.get(1).is_some_and(|word| word == "hook");
        (is_hook && (program == NAME || is_running(program))).then_some(words)
    })
}

/// True for the name of the running program, which may not be that of a release.
fn is_running(name: &OsStr) -> bool {
    program_path().is_ok_and(|program| program.file_stem() == Some(name))
}

/// Value of a template, with the program of its commands.
fn value(template: &Value<'_>, program: &str) -> New {
    match template {
        Value::StringLit(text) => New::Text(match text.value.strip_prefix("cograph hook ") {
            Some(rest) => format!("{program} hook {rest}"),
            None => text.value.clone().into_owned(),
        }),
        Value::NumberLit(number) => New::Number(number.value.to_owned()),
        Value::BooleanLit(known) => New::Number(known.value.to_string()),
        Value::NullKeyword(_) => New::Number("null".to_owned()),
        Value::Array(list) => {
            New::Items(list.elements.iter().map(|item| value(item, program)).collect())
        }
        Value::Object(object) => members(object, program),
    }
}

fn members(object: &Object<'_>, program: &str) -> New {
    let members = object.properties.iter();
    New::Members(
        members
            .map(|member| (member.name.as_str().to_owned(), value(&member.value, program)))
            .collect(),
    )
}
