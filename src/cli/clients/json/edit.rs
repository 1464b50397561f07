//! JSON edits: insertions and deletions, formatted like their neighbours.

use crate::clients::entry::{Literal, Member, ServerEntry};
use crate::clients::json::parsed::{Parsed, arguments_of, member};
use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};

/// Value to insert.
#[derive(Clone)]
pub(crate) enum New {
    Text(String),
    Texts(Vec<String>),
    True,
    Number(String),
    Items(Vec<New>),
    Members(Vec<(String, New)>),
}

/// Edit: byte range to delete, and its replacement.
pub(crate) type Splice = (std::ops::Range<usize>, String);

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
    pub(crate) fn insert(&self, object: &Object<'_>, name: &str, value: &New) -> Vec<Splice> {
        let items: Vec<Range> = object.properties.iter().map(|member| member.range).collect();
        self.insert_item(object.range, &items, Some(name), value)
    }

    /// Inserts an element at the end of an array, formatted like its siblings.
    pub(crate) fn append(&self, array: &Array<'_>, value: &New) -> Vec<Splice> {
        let items: Vec<Range> = array.elements.iter().map(Ranged::range).collect();
        self.insert_item(array.range, &items, None, value)
    }

    fn insert_item(
        &self,
        outer: Range,
        items: &[Range],
        name: Option<&str>,
        value: &New,
    ) -> Vec<Splice> {
        let (from, to) = (outer.start + 1, outer.end - 1);
        let after = self.tokens(from, to).map(|token| token.range.end).max().unwrap_or(from);
        let comma = items.last().and_then(|last| self.comma(last.end, to));
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let has_lines = self.text[from..to].contains(['\n', '\r']);
        let name = name.map_or(String::new(), |name| format!("{}: ", quoted(name)));
        let mut splices = Vec::new();
        if let (Some(last), None) = (items.last(), comma) {
            splices.push((last.end..last.end, ",".to_owned()));
        }
        let mut text = String::new();
        if has_lines || items.is_empty() {
            let outer = self.indentation(outer.start);
            let unit = self.unit();
            let first = items.first().filter(|first| self.starts_line(first.start));
            let inner = first.map_or_else(
                || format!("{outer}{unit}"),
                |first| self.indentation(first.start).to_owned(),
            );
            text +=
                &format!("{newline}{inner}{name}{}", value.render(&inner, &unit, Some(newline)));
            if comma.is_some() {
                text.push(',');
            }
            if !has_lines {
                text += &format!("{newline}{outer}");
            }
        } else {
            text += &format!(" {name}{}", value.render("", "", None));
        }
        splices.push((after..after, text));
        splices
    }

    /// Replaces command and arguments of an entry, and a further member; all of it by `whole` if it
    /// has no command.
    pub(super) fn correct(
        &self,
        known: &Object<'_>,
        new: &ServerEntry,
        whole: &New,
        last: Option<Member>,
    ) -> Result<Vec<Splice>, String> {
        let mut splices = Vec::new();
        let command = New::Text(new.command.clone());
        match member(known, "command")? {
            Some(found) => splices.push((span(found.value.range()), command.render("", "", None))),
            None => return Ok(vec![(span(known.range), whole.render("", "", None))]),
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
        if let Some((name, value)) = last {
            match member(known, name)? {
                Some(found) if is_equal(&found.value, value) => {}
                Some(found) => {
                    splices.push((span(found.value.range()), New::from(value).render("", "", None)))
                }
                None => splices.extend(self.insert(known, name, &New::from(value))),
            }
        }
        Ok(splices)
    }

    /// Deletes a member and one comma.
    pub(crate) fn remove(&self, object: &Object<'_>, gone: &ObjectProp<'_>) -> Vec<Splice> {
        let items: Vec<Range> = object.properties.iter().map(|member| member.range).collect();
        self.remove_item(object.range, &items, gone.range)
    }

    /// Deletes an element and one comma.
    pub(crate) fn remove_element(&self, array: &Array<'_>, at: usize) -> Vec<Splice> {
        let items: Vec<Range> = array.elements.iter().map(Ranged::range).collect();
        self.remove_item(array.range, &items, items[at])
    }

    fn remove_item(&self, outer: Range, items: &[Range], gone: Range) -> Vec<Splice> {
        let (from, to) = (outer.start + 1, outer.end - 1);
        let token = self.tokens(from, gone.start).max_by_key(|token| token.range.end);
        let before = token.as_ref().map_or(from, |token| token.range.end);
        let previous = items.iter().rfind(|other| other.end <= gone.start);
        let following = items.iter().find(|other| other.start >= gone.end);
        let after = self.comma(gone.end, following.map_or(to, |next| next.start));
        let end = after.as_ref().map_or(gone.end, |comma| comma.end);
        // The line break after a line comment stays: it ends the comment.
        let is_comment = token.is_some_and(|token| self.text[span(token.range)].starts_with("//"));
        let rest = self.text[end..].lines().next().unwrap_or_default().trim();
        let has_code = !rest.is_empty() && !rest.starts_with("//");
        let start = if is_comment && has_code { gone.start } else { before };
        let mut splices = vec![(start..end, String::new())];
        if let (Some(previous), None) = (previous, after) {
            // Last item: the preceding comma must be deleted.
            let comma = self.comma(previous.end, gone.start);
            splices.extend(
                comma.filter(|comma| comma.end <= before).map(|comma| (span(comma), String::new())),
            );
        }
        if items.len() == 1 && self.text[gone.end..to].trim().is_empty() && before == from {
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

fn is_equal(found: &Value<'_>, value: Literal) -> bool {
    match (found, value) {
        (Value::BooleanLit(found), Literal::True) => found.value,
        (Value::StringLit(found), Literal::Text(text)) => found.value == text,
        _ => false,
    }
}

impl From<Literal> for New {
    fn from(value: Literal) -> Self {
        match value {
            Literal::True => Self::True,
            Literal::Text(text) => Self::Text(text.to_owned()),
            Literal::Texts(texts) => {
                Self::Texts(texts.iter().map(|&text| text.to_owned()).collect())
            }
        }
    }
}

impl New {
    /// Renders a value on several lines with this indentation, or on one line.
    pub(crate) fn render(&self, outer: &str, unit: &str, newline: Option<&str>) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::True => "true".to_owned(),
            Self::Number(number) => number.clone(),
            Self::Items(items) => {
                let inner = format!("{outer}{unit}");
                let items = items.iter().map(|item| item.render(&inner, unit, newline));
                let items: Vec<String> = items.collect();
                match newline {
                    Some(newline) => format!(
                        "[{newline}{inner}{}{newline}{outer}]",
                        items.join(&format!(",{newline}{inner}"))
                    ),
                    None => format!("[{}]", items.join(", ")),
                }
            }
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

pub(crate) fn span(range: Range) -> std::ops::Range<usize> {
    range.start..range.end
}

pub(crate) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    // Applied from the end, so that offsets stay valid and edits at one offset keep their order.
    splices.reverse();
    splices.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut changed = text.to_owned();
    for (range, new) in splices {
        changed.replace_range(range, &new);
    }
    changed
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
