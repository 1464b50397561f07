//! Text and JSON of what leads from one member of a workspace to another.

use super::crossing::{Crossed, CrossedUse, Crossing};
use super::member_answer::MemberAnswer;
use crate::answers::budget::Page;
use crate::answers::render::groups::{Groups, Place, merged};
use crate::answers::render::{around, name, path, place, plural};
use crate::answers::reply::{brief, list, site, with};
use crate::base::escape::SafeLine;
use cograph_query::Certainty;
use cograph_query::crossing::MAX_READ;
use serde_json::{Value, json};

/// Names that lead elsewhere, of which the answer shows the first.
const NAMED_ELSEWHERE: usize = 5;

impl Crossing {
    /// Addition to the first line.
    pub(super) fn summary(&self) -> String {
        if self.crossed.is_empty() {
            return String::new();
        }
        let uses = self.crossed.iter().flat_map(|crossed| &crossed.uses);
        let sure: usize = uses.filter(|one| one.certainty.is_sure()).map(|one| one.total).sum();
        format!("; {} from another repository", plural(sure as u64, self.what))
    }

    /// Lines about the symbols of a member that others use, as many as fit.
    pub(super) fn lines(&self, member: usize, asked: &[MemberAnswer], most: usize) -> Vec<String> {
        let (mut lines, mut left) = (Vec::new(), most);
        for crossed in self.crossed.iter().filter(|crossed| crossed.member == member) {
            for line in self.lines_of(crossed, asked, left) {
                left = left.saturating_sub(line.len() + 1);
                lines.push(line);
            }
        }
        lines
    }

    fn lines_of(&self, crossed: &Crossed, asked: &[MemberAnswer], most: usize) -> Vec<String> {
        let symbol = &crossed.subject.symbol;
        let count = |is_sure: bool| -> usize {
            let uses = crossed.uses.iter();
            uses.filter(|one| one.certainty.is_sure() == is_sure).map(|one| one.total).sum()
        };
        let (sure, possible) = (count(true), count(false));
        let mut head = format!(
            "{} {} {} ({}) from other repositories",
            plural(sure as u64, self.what),
            self.of,
            name(symbol),
            place(symbol)
        );
        if possible > 0 {
            head += &format!(", {possible} possible");
        }
        if most <= head.len() {
            return Vec::new();
        }
        let listed: Vec<&CrossedUse> =
            crossed.uses.iter().filter(|one| self.is_listed(crossed, one.certainty)).collect();
        let sites = listed.iter().flat_map(|one| one.sites.iter().map(move |at| (*one, at)));
        let mut sites: Vec<_> = sites.collect();
        sites.sort_by_key(|(one, at)| (one.certainty, one.user, &at.site.path, at.site.at));
        let places = sites.iter().map(|(one, at)| Place {
            heading: format!("{}/{}", asked[one.user].name, path(&at.site.path)),
            mark: mark(one),
            who: around(at.enclosing.as_ref()),
            line: at.site.at.line,
        });
        let mut groups = Groups::inline(most - head.len());
        let (_, shown) = groups.fill(&merged(places));
        let mut page = Page::part(usize::MAX / 8);
        groups.write(&mut page);
        let mut lines = vec![head];
        lines.extend(page.finish("").lines().filter(|line| !line.is_empty()).map(str::to_owned));
        let total: usize = listed.iter().map(|one| one.total).sum();
        if total > shown {
            lines.push(format!("… {} more: raise `budget`", total - shown));
        }
        lines.extend(versions(crossed, asked));
        lines.extend(unread(crossed));
        lines
    }

    /// Lines about names of the same end that lead to no symbol of a member, and about what is not
    /// followed.
    pub(super) fn notes(&self, asked: &[MemberAnswer]) -> Vec<String> {
        let first = self.elsewhere.iter().take(NAMED_ELSEWHERE).map(|(user, text, total)| {
            format!("{} ({total} in {})", SafeLine::new(text, 120), asked[*user].name)
        });
        let named = first.collect::<Vec<_>>().join(", ");
        let more = self.elsewhere.len().saturating_sub(NAMED_ELSEWHERE);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let outside = format!("outside of all of them: {named}{more}");
        let stays = (!self.stays.is_empty()).then(|| self.stays.to_owned());
        (!named.is_empty()).then_some(outside).into_iter().chain(stays).collect()
    }

    /// Symbols with their uses in all members.
    pub(super) fn json(&self, asked: &[MemberAnswer]) -> Value {
        let uses = |one: &CrossedUse| {
            json!({
                "repository": asked[one.user].name,
                "name": one.name.text,
                "certainty": one.certainty.word(),
                "reason": one.reason,
                "version": one.version,
                "total": one.total,
                "sites": list(&one.sites, |at| {
                    with(site(&at.site), "enclosing", json!(at.enclosing.as_ref().map(brief)))
                }),
            })
        };
        let symbols = list(&self.crossed, |crossed| {
            json!({
                "repository": asked[crossed.member].name,
                "symbol": brief(&crossed.subject.symbol),
                "version": crossed.version,
                "unread": crossed.subject.unread,
                "uses": list(&crossed.uses, uses),
            })
        });
        let elsewhere = list(&self.elsewhere, |(user, text, total)| {
            let user = &asked[*user].name;
            json!({"repository": user, "name": text, "total": total})
        });
        json!({"symbols": symbols, "elsewhere": elsewhere, "stays": self.stays})
    }
}

/// What holds of uses, in words.
fn mark(one: &CrossedUse) -> String {
    match (one.certainty, one.reason) {
        (Certainty::Certain, _) => String::new(),
        (Certainty::Likely, _) => "likely:".to_owned(),
        (_, "") => "possible:".to_owned(),
        (_, reason) => format!("possible, {reason}:"),
    }
}

/// Line about files that were not read for an export by another name.
fn unread(crossed: &Crossed) -> Option<String> {
    let unread = crossed.subject.unread;
    (unread > 0).then(|| {
        let files = plural(unread as u64, "more file");
        format!("exports by another name: {MAX_READ} files with an import of it read; {files} not")
    })
}

/// Lines about users whose manifests name another version than the present one.
fn versions(crossed: &Crossed, asked: &[MemberAnswer]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let others = crossed.uses.iter().filter(|one| {
        let rest = crossed.version.strip_prefix(one.version.as_str());
        let is_same = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        !one.version.is_empty() && !crossed.version.is_empty() && !is_same
    });
    for one in others {
        let line = format!(
            "{} names version {}; here is {}",
            asked[one.user].name,
            SafeLine::new(&one.version, 40),
            SafeLine::new(&crossed.version, 40)
        );
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}
