//! JSON edits: insertions and deletions, formatted like their neighbours.

use super::{Parsed, arguments_of, member};
use crate::clients::ServerEntry;
use crate::output::json::quoted;
use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};

/// Value to insert.
pub(super) enum New {
    Text(String),
    Texts(Vec<String>),
    Members(Vec<(String, New)>),
}

/// Edit: byte range to delete, and its replacement.
type Splice = (std::ops::Range<usize>, String);

impl Parsed<'_> {
    /// Tokens between two offsets.
    pub(super) fn tokens(
        &self,
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = &TokenAndRange<'_>> {
        self.tokens.iter().filter(move |token| token.range.start >= from && token.range.end <= to)
    }

    fn comma(&self, from: usize, to: usize) -> Option<Range> {
        self.tokens(from, to)
            .find(|token| matches!(token.token, Token::Comma))
            .map(|token| token.range)
    }

    /// Inserts a member at the end of an object, formatted like its siblings.
    pub(super) fn insert(&self, object: &Object<'_>, name: &str, value: &New) -> Vec<Splice> {
        let (from, to) = (object.range.start + 1, object.range.end - 1);
        let after = self.tokens(from, to).map(|token| token.range.end).max().unwrap_or(from);
        let comma = object.properties.last().and_then(|last| self.comma(last.range.end, to));
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let has_lines = self.text[from..to].contains(['\n', '\r']);
        let mut splices = Vec::new();
        if let (Some(last), None) = (object.properties.last(), comma) {
            splices.push((last.range.end..last.range.end, ",".to_owned()));
        }
        let mut text = String::new();
        if has_lines || object.properties.is_empty() {
            let outer = self.indentation(object.range.start);
            let unit = self.unit();
            let first =
                object.properties.first().filter(|first| self.starts_line(first.range.start));
            let inner = first.map_or_else(
                || format!("{outer}{unit}"),
                |first| self.indentation(first.range.start).to_owned(),
            );
            text += &format!(
                "{newline}{inner}{}: {}",
                quoted(name),
                value.render(&inner, &unit, Some(newline))
            );
            if comma.is_some() {
                text.push(',');
            }
            if !has_lines {
                text += &format!("{newline}{outer}");
            }
        } else {
            text += &format!(" {}: {}", quoted(name), value.render("", "", None));
        }
        splices.push((after..after, text));
        splices
    }

    /// Replaces command and arguments of an entry.
    pub(super) fn correct(
        &self,
        known: &Object<'_>,
        new: &ServerEntry,
    ) -> Result<Vec<Splice>, String> {
        let mut splices = Vec::new();
        let command = New::Text(new.command.clone());
        match member(known, "command")? {
            Some(found) => splices.push((span(found.value.range()), command.render("", "", None))),
            None => return Ok(vec![(span(known.range), full(new).render("", "", None))]),
        }
        match member(known, "args")? {
            Some(ObjectProp { value: Value::Array(list), .. })
                if arguments_of(list).first() == new.arguments.first() => {}
            Some(found) => splices.push((
                span(found.value.range()),
                New::Texts(new.arguments.clone()).render("", "", None),
            )),
            None => splices.extend(self.insert(known, "args", &New::Texts(new.arguments.clone()))),
        }
        Ok(splices)
    }

    /// Deletes a member and one comma.
    pub(super) fn remove(&self, object: &Object<'_>, gone: &ObjectProp<'_>) -> Vec<Splice> {
        let (from, to) = (object.range.start + 1, object.range.end - 1);
        let token = self.tokens(from, gone.range.start).max_by_key(|token| token.range.end);
        let before = token.as_ref().map_or(from, |token| token.range.end);
        let previous = object.properties.iter().rfind(|other| other.range.end <= gone.range.start);
        let following = object.properties.iter().find(|other| other.range.start >= gone.range.end);
        let after = self.comma(gone.range.end, following.map_or(to, |next| next.range.start));
        let end = after.as_ref().map_or(gone.range.end, |comma| comma.end);
        // The line break after a line comment stays: it ends the comment.
        let is_comment = token.is_some_and(|token| self.text[span(token.range)].starts_with("//"));
        let rest = self.text[end..].lines().next().unwrap_or_default().trim();
        let has_code = !rest.is_empty() && !rest.starts_with("//");
        let start = if is_comment && has_code { gone.range.start } else { before };
        let mut splices = vec![(start..end, String::new())];
        if let (Some(previous), None) = (previous, after) {
            // Last member: the preceding comma must be deleted.
            let comma = self.comma(previous.range.end, gone.range.start);
            splices.extend(
                comma.filter(|comma| comma.end <= before).map(|comma| (span(comma), String::new())),
            );
        }
        if object.properties.len() == 1
            && self.text[gone.range.end..to].trim().is_empty()
            && before == from
        {
            splices = vec![(from..to, String::new())];
        }
        splices
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |end| end + 1)
    }

    fn starts_line(&self, at: usize) -> bool {
        self.text[self.line_start(at)..at].trim().is_empty()
    }

    /// Indentation of the line at an offset.
    fn indentation(&self, at: usize) -> &str {
        let line = &self.text[self.line_start(at)..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Indentation unit.
    fn unit(&self) -> String {
        let first =
            self.root.properties.first().filter(|first| self.starts_line(first.range.start));
        first
            .map(|first| self.indentation(first.range.start))
            .filter(|unit| !unit.is_empty())
            .unwrap_or("  ")
            .to_owned()
    }
}

fn full(entry: &ServerEntry) -> New {
    let command = ("command".to_owned(), New::Text(entry.command.clone()));
    New::Members(vec![command, ("args".to_owned(), New::Texts(entry.arguments.clone()))])
}

impl New {
    /// Renders a value on several lines with this indentation, or on one line.
    pub(super) fn render(&self, outer: &str, unit: &str, newline: Option<&str>) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Texts(texts) => format!(
                "[{}]",
                texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")
            ),
            Self::Members(members) => {
                let inner = format!("{outer}{unit}");
                let members = members.iter().map(|(name, value)| {
                    format!("{}: {}", quoted(name), value.render(&inner, unit, newline))
                });
                let members: Vec<String> = members.collect();
                match newline {
                    Some(newline) => {
                        format!(
                            "{{{newline}{inner}{}{newline}{outer}}}",
                            members.join(&format!(",{newline}{inner}"))
                        )
                    }
                    None => format!("{{{}}}", members.join(", ")),
                }
            }
        }
    }
}

pub(super) fn span(range: Range) -> std::ops::Range<usize> {
    range.start..range.end
}

pub(super) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    // Applied from the end, so that offsets stay valid and edits at one offset keep their order.
    splices.reverse();
    splices.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut changed = text.to_owned();
    for (range, new) in splices {
        changed.replace_range(range, &new);
    }
    changed
}
