//! Exact and prefix lookup of symbol names. For substrings see `cursor`.

use std::cmp::Ordering;

use rusqlite::{Connection, OptionalExtension};
use rustc_hash::FxHashSet;

use crate::format::error::StoreError;
use crate::format::front_coding;
use crate::format::rows::NameKey;
use crate::format::statements;
use crate::read::connection::Snapshot;

/// Key of a name. `symbol_names` is the number of sorted names.
pub(crate) fn key_of(
    connection: &Connection,
    symbol_names: u32,
    text: &str,
) -> rusqlite::Result<Option<u32>> {
    let key = first_from(connection, symbol_names, |name| front_coding::order(name, text))?;
    if key <= symbol_names && text_of(connection, key, |name| name == text)? {
        return Ok(Some(key));
    }
    let mut other = connection.prepare_cached(statements::OTHER_NAME_BY_TEXT.text())?;
    other.query_row([text], |row| row.get(0)).optional()
}

/// Binary search: first sorted key whose name `compare` does not put before the wanted position;
/// one past the last if there is none.
fn first_from(
    connection: &Connection,
    symbol_names: u32,
    compare: impl Fn(&str) -> Ordering,
) -> rusqlite::Result<u32> {
    let (mut first, mut end) = (1, symbol_names + 1);
    while first < end {
        let middle = first + (end - first) / 2;
        if text_of(connection, middle, |name| compare(name) == Ordering::Less)? {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    Ok(first)
}

fn text_of<T>(
    connection: &Connection,
    key: u32,
    look: impl FnOnce(&str) -> T,
) -> rusqlite::Result<T> {
    let mut name = connection.prepare_cached(statements::NAME_BY_KEY.text())?;
    name.query_row([key], |row| Ok(look(row.get_ref(0)?.as_str()?)))
}

/// Symbol name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NameEntry<'n> {
    /// Key.
    pub key: NameKey,
    /// Text.
    pub text: &'n str,
    /// Length of the prefix shared with the previous name passed, in bytes; names are sorted, so it
    /// is often long.
    pub shared: usize,
    /// Number of symbols with the name, and their greatest reference count; none if it must be
    /// queried.
    pub figures: Option<(u32, u32)>,
}

/// Rank in the order of names. For a name added after the build: key of its predecessor among the
/// names of the build, and its index among those ranked with it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NameRank(u32, u32);

impl NameRank {
    /// Rank of a name of the build.
    pub fn in_order(key: NameKey) -> Self {
        Self(key.0, 0)
    }
}

impl Snapshot {
    /// Names equal to `text`, ASCII case-insensitive.
    pub fn names_ignoring_case(&self, text: &str) -> Result<Vec<(NameKey, String)>, StoreError> {
        let mut names = Vec::new();
        self.visit(statements::SYMBOL_NAMES_FROM, [self.first_name_from(text)?], |row| {
            let name = row.get_ref(1)?.as_str()?;
            let is_equal = name.eq_ignore_ascii_case(text);
            if is_equal {
                names.push((NameKey(row.get(0)?), name.to_owned()));
            }
            Ok(is_equal)
        })?;
        names.extend(self.all(statements::OTHER_NAMES_IGNORING_CASE, [text], |row| {
            Ok((NameKey(row.get(0)?), row.get(1)?))
        })?);
        Ok(names)
    }

    /// Passes symbol names with the prefix `typed`, ASCII case-insensitive, to `visit` in order
    /// until it returns false.
    pub fn visit_symbol_names_from(
        &self,
        typed: &str,
        mut visit: impl FnMut(NameKey, &str) -> bool,
    ) -> Result<(), StoreError> {
        let begins = |name: &str| {
            name.as_bytes()
                .get(..typed.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(typed.as_bytes()))
        };
        let mut later: Vec<(NameKey, String)> = Vec::new();
        self.visit(statements::LATER_SYMBOL_NAMES, [], |row| {
            let name = row.get_ref(1)?.as_str()?;
            if begins(name) {
                later.push((NameKey(row.get(0)?), name.to_owned()));
            }
            Ok(true)
        })?;
        later.sort_unstable_by(|(_, one), (_, other)| front_coding::order(one, other));
        let mut later = later.into_iter().peekable();
        let unused: FxHashSet<u32> = self
            .all(statements::CHANGED_NAMES, [], |row| Ok((row.get(0)?, row.get(1)?)))?
            .into_iter()
            .filter_map(|(key, is_used): (u32, bool)| (!is_used).then_some(key))
            .collect();
        let mut goes_on = true;
        self.visit(statements::SYMBOL_NAMES_FROM, [self.first_name_from(typed)?], |row| {
            let (key, name) = (row.get(0)?, row.get_ref(1)?.as_str()?);
            if !begins(name) {
                return Ok(false);
            }
            while let Some((key, later)) =
                later.next_if(|(_, later)| goes_on && front_coding::order(later, name).is_lt())
            {
                goes_on = visit(key, &later);
            }
            goes_on = goes_on && (unused.contains(&key) || visit(NameKey(key), name));
            Ok(goes_on)
        })?;
        if goes_on {
            later.all(|(key, name)| visit(key, &name));
        }
        Ok(())
    }

    /// Sorts names added after the build, and ranks each.
    pub fn rank_later<T>(&self, names: &mut [(String, T)]) -> Result<Vec<NameRank>, StoreError> {
        names.sort_unstable_by(|(one, _), (other, _)| front_coding::order(one, other));
        let anchor = |text: &str| {
            self.first_name(|name| front_coding::order(name, text)).map(|next| next - 1)
        };
        names.iter().zip(1..).map(|((text, _), place)| Ok(NameRank(anchor(text)?, place))).collect()
    }

    /// First sorted name that is not before `text`, ASCII case-insensitive.
    pub(super) fn first_name_from(&self, text: &str) -> Result<u32, StoreError> {
        self.first_name(|name| front_coding::folded_order(name, text))
    }

    /// First sorted name after all with the prefix `text`, ASCII case-insensitive.
    pub(super) fn first_name_after(&self, text: &str) -> Result<u32, StoreError> {
        self.first_name(|name| {
            front_coding::folded_beginning_order(name, text).then(Ordering::Less)
        })
    }

    fn first_name(&self, compare: impl Fn(&str) -> Ordering) -> Result<u32, StoreError> {
        let found = self.timed(|| first_from(self.connection(), self.meta().symbol_names, compare));
        found.map_err(|error| StoreError::from_sqlite("reading store", self.store().path(), &error))
    }
}
