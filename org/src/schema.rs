//! The eight tables of a dataset, as docs/parquet.md has them, and the two that `compact` adds.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

/// Version of the schema, in the metadata of each file.
pub(crate) const VERSION: &str = "1";
/// Key of the version.
pub(crate) const VERSION_KEY: &str = "cograph.schema";

/// Type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    /// UTF-8.
    Text,
    /// UTF-8 or null.
    TextOrNull,
    Number,
    NumberOrNull,
    Flag,
}

/// Table: name, columns, and the columns that order its rows when it is compacted.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [(&'static str, Type)],
    pub(crate) order: &'static [&'static str],
}

use Type::{Flag, Number, NumberOrNull, Text, TextOrNull};

/// The tables that the program exports.
pub(crate) const TABLES: [Table; 8] = [
    Table {
        name: "repositories",
        columns: &[
            ("repository", Text),
            ("revision", TextOrNull),
            ("files", Number),
            ("symbols", Number),
            ("references", Number),
            ("version", Text),
        ],
        order: &["repository"],
    },
    Table {
        name: "files",
        columns: &[
            ("repository", Text),
            ("path", Text),
            ("language", TextOrNull),
            ("size", Number),
            ("lines", Number),
            ("skipped", TextOrNull),
            ("generated", Flag),
            ("test", Flag),
            ("package", TextOrNull),
        ],
        order: &["repository", "path"],
    },
    Table {
        name: "symbols",
        columns: &[
            ("repository", Text),
            ("id", Number),
            ("symbol", Text),
            ("name", Text),
            ("kind", Text),
            ("path", Text),
            ("line", Number),
            ("end_line", Number),
            ("container_id", NumberOrNull),
            ("visibility", Text),
            ("exported", Flag),
            ("test", Flag),
            ("signature", Text),
        ],
        order: &["symbol", "repository", "id"],
    },
    Table {
        name: "references",
        columns: &[
            ("repository", Text),
            ("target", TextOrNull),
            ("target_id", NumberOrNull),
            ("source_id", NumberOrNull),
            ("path", Text),
            ("line", Number),
            ("col", Number),
            ("kind", Text),
            ("name", Text),
            ("verdict", Text),
            ("step", Text),
        ],
        order: &["target", "repository", "path", "line", "col"],
    },
    Table {
        name: "calls",
        columns: &[
            ("repository", Text),
            ("callee", Text),
            ("callee_id", NumberOrNull),
            ("caller", TextOrNull),
            ("caller_id", NumberOrNull),
            ("path", Text),
            ("line", Number),
            ("verdict", Text),
        ],
        order: &["callee", "repository", "path", "line"],
    },
    Table {
        name: "imports",
        columns: &[
            ("repository", Text),
            ("path", Text),
            ("line", Number),
            ("module", Text),
            ("level", Number),
            ("item", TextOrNull),
            ("target_path", TextOrNull),
            ("sort", Text),
        ],
        order: &["module", "repository", "path", "line"],
    },
    Table {
        name: "relations",
        columns: &[
            ("repository", Text),
            ("kind", Text),
            ("source_id", Number),
            ("target_id", Number),
        ],
        order: &["repository", "source_id", "target_id"],
    },
    Table {
        name: "packages",
        columns: &[
            ("repository", Text),
            ("manager", Text),
            ("name", Text),
            ("version", TextOrNull),
            ("role", Text),
            ("references", Number),
        ],
        order: &["name", "manager", "version", "repository"],
    },
];

/// Calls with the parts of their callee, in order of its name.
pub(crate) const CALLERS: Table = Table {
    name: "callers",
    columns: &[
        ("name", Text),
        ("manager", Text),
        ("package", Text),
        ("descriptors", Text),
        ("repository", Text),
        ("path", Text),
        ("line", Number),
        ("version", Text),
        ("caller", TextOrNull),
        ("verdict", Text),
    ],
    order: &[
        "name",
        "manager",
        "package",
        "descriptors",
        "repository",
        "path",
        "line",
        "version",
        "caller",
        "verdict",
    ],
};

/// Numbers of calls and repositories of each callee and version, in order of its name.
pub(crate) const CALLEES: Table = Table {
    name: "callees",
    columns: &[
        ("name", Text),
        ("manager", Text),
        ("package", Text),
        ("descriptors", Text),
        ("version", Text),
        ("calls", Number),
        ("repositories", Number),
        ("all_calls", Number),
        ("all_repositories", Number),
    ],
    order: &["name", "manager", "package", "descriptors", "version"],
};

impl Table {
    /// Schema as the engine has it.
    pub(crate) fn arrow(&self) -> SchemaRef {
        let field = |&(name, ty): &(&str, Type)| {
            let (of, is_optional) = match ty {
                Text => (DataType::Utf8View, false),
                TextOrNull => (DataType::Utf8View, true),
                Number => (DataType::Int64, false),
                NumberOrNull => (DataType::Int64, true),
                Flag => (DataType::Boolean, false),
            };
            Field::new(name, of, is_optional)
        };
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }
}
