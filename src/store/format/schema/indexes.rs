//! Indexes, described once: `schema` creates them, and `bulk_loader` fills them without SQLite.

use super::tables::{Table, TableSchema};
use super::value::Value;
use cograph_model::Verdict;

/// Index over one column; its entries end in the key of the row.
pub(crate) struct Index {
    /// Name.
    pub(crate) name: &'static str,
    pub(crate) table: Table,
    column: &'static str,
    order: Order,
    /// Rows that have an entry: those for which all hold.
    conditions: &'static [Condition],
}

/// Order of an index.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Ascending,
    Descending,
    /// Ascending, of values that no two rows share.
    Unique,
}

/// Condition of a partial index.
#[derive(Clone, Copy)]
pub(crate) enum Condition {
    /// The column is not null.
    NotNull(&'static str),
    /// The column is not below a number.
    AtLeast(&'static str, i64),
    /// A site has this verdict.
    Has(Verdict),
    /// A site has another verdict.
    HasNot(Verdict),
}

/// Column of a site that has the verdict in its lowest bits.
const MARK: &str = "mark";
/// These bits.
const VERDICT: i64 = 7;

/// Minimum reference count of symbols in the partial index of frequently used ones.
const MIN_INDEXED_REFS: i64 = 16;

/// Every index. Each serves a statement of `statements`, as the snapshots of the query plans show.
pub(crate) const INDEXES: &[Index] = &[
    Index { order: Order::Unique, ..Index::of("file_path", Table::File, "path") },
    Index {
        conditions: &[Condition::NotNull("skipped")],
        ..Index::of("file_skipped", Table::File, "skipped")
    },
    Index::of("symbol_name", Table::Symbol, "name"),
    Index {
        order: Order::Descending,
        conditions: &[Condition::AtLeast("refs", MIN_INDEXED_REFS)],
        ..Index::of("symbol_refs", Table::Symbol, "refs")
    },
    Index {
        conditions: &[Condition::NotNull("container")],
        ..Index::of("symbol_container", Table::Symbol, "container")
    },
    Index {
        conditions: &[Condition::HasNot(Verdict::External), Condition::NotNull("target")],
        ..Index::of("site_target", Table::Site, "target")
    },
    Index {
        conditions: &[Condition::Has(Verdict::Unresolved)],
        ..Index::of("site_open", Table::Site, "name")
    },
    Index::of("candidate_symbol", Table::Candidate, "symbol"),
    Index {
        conditions: &[Condition::NotNull("target")],
        ..Index::of("import_target", Table::Import, "target")
    },
    Index::of("relation_target", Table::Relation, "target"),
];

impl Index {
    const fn of(name: &'static str, table: Table, column: &'static str) -> Self {
        Self { name, table, column, order: Order::Ascending, conditions: &[] }
    }

    fn schema(&self) -> &'static TableSchema {
        self.table.schema()
    }

    /// Numbers of the columns of an entry: the indexed one, and the rest of the key.
    pub(crate) fn columns(&self) -> Vec<usize> {
        let schema = self.schema();
        let rowid = schema.has_rowid().then_some(0);
        let key = schema.key.iter().filter(|column| **column != self.column);
        let key = key.map(|column| schema.column(column));
        std::iter::once(schema.column(self.column)).chain(rowid).chain(key).collect()
    }

    /// True for an index over texts.
    pub(crate) fn is_of_texts(&self) -> bool {
        let schema = self.schema();
        schema.columns[schema.column(self.column)].1.starts_with("TEXT")
    }

    pub(crate) fn is_descending(&self) -> bool {
        self.order == Order::Descending
    }

    /// The conditions, each with the number of its column.
    pub(crate) fn conditions(&self) -> Vec<(usize, Condition)> {
        let schema = self.schema();
        let numbered = |condition: &Condition| (schema.column(condition.column()), *condition);
        self.conditions.iter().map(numbered).collect()
    }

    /// CREATE statement.
    pub(crate) fn create(&self) -> String {
        let Self { name, column, .. } = self;
        let table = self.schema().name;
        let unique = if self.order == Order::Unique { "UNIQUE " } else { "" };
        let order = if self.is_descending() { " DESC" } else { "" };
        let conditions: Vec<String> = self.conditions.iter().map(Condition::sql).collect();
        let clause = match conditions.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", conditions.join(" AND ")),
        };
        format!("CREATE {unique}INDEX {name} ON {table} ({column}{order}){clause}")
    }
}

impl Condition {
    fn column(&self) -> &'static str {
        match *self {
            Self::NotNull(column) | Self::AtLeast(column, _) => column,
            Self::Has(_) | Self::HasNot(_) => MARK,
        }
    }

    /// True if it holds for the value of its column.
    pub(crate) fn holds(self, value: Value<'_>) -> bool {
        let Some(number) = value.integer() else { return false };
        match self {
            Self::NotNull(_) => true,
            Self::AtLeast(_, least) => number >= least,
            Self::Has(verdict) => number & VERDICT == verdict as i64,
            Self::HasNot(verdict) => number & VERDICT != verdict as i64,
        }
    }

    fn sql(&self) -> String {
        match self {
            Self::NotNull(column) => format!("{column} IS NOT NULL"),
            Self::AtLeast(column, least) => format!("{column} >= {least}"),
            Self::Has(verdict) => format!("{MARK} & {VERDICT} = {}", *verdict as i64),
            Self::HasNot(verdict) => format!("{MARK} & {VERDICT} != {}", *verdict as i64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_end_in_the_key_of_their_row() {
        let of = |name: &str| INDEXES.iter().find(|index| index.name == name).expect("it exists");
        assert_eq!(of("file_path").columns(), [1, 0]);
        assert_eq!(of("candidate_symbol").columns(), [1, 0]);
        assert_eq!(of("import_target").columns(), [7, 0, 1]);
        assert_eq!(of("relation_target").columns(), [2, 0, 1]);
    }

    #[test]
    fn a_condition_means_the_same_in_sql_and_in_the_loader() {
        let connection = rusqlite::Connection::open_in_memory().expect("memory is available");
        let values =
            [Value::Null, 0_u8.into(), 3_u8.into(), 4_u8.into(), 15_u8.into(), 16_u8.into()];
        for condition in INDEXES.iter().flat_map(|index| index.conditions) {
            for value in values {
                let text = format!(
                    "SELECT {} FROM (SELECT ?1 AS {})",
                    condition.sql(),
                    condition.column()
                );
                let found: Option<bool> =
                    connection.query_row(&text, [value], |row| row.get(0)).expect("it is valid");
                assert_eq!(found.unwrap_or(false), condition.holds(value), "{text}: {value:?}");
            }
        }
    }
}
