//! Schema of the Parquet tables. It is a contract with other programs: a column keeps its name,
//! type and meaning within a version, and new ones come at the end.

/// Version of the schema, in the metadata of each file under `cograph.schema`.
pub(crate) const VERSION: u32 = 1;

/// Type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    /// UTF-8.
    Text,
    Number,
    Flag,
}

/// Column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) ty: Type,
    /// It may be null.
    pub(crate) is_optional: bool,
    /// A dictionary of its values makes it smaller: they are few, or long and far apart.
    pub(crate) has_dictionary: bool,
}

/// TableSchema of a dataset.
#[derive(Debug)]
pub(crate) struct TableSchema {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [Column],
    /// Column that orders the rows; nulls come last.
    pub(crate) sorted_by: Option<usize>,
}

const fn text(name: &'static str) -> Column {
    Column { name, ty: Type::Text, is_optional: false, has_dictionary: true }
}

const fn number(name: &'static str) -> Column {
    Column { name, ty: Type::Number, is_optional: false, has_dictionary: false }
}

const fn flag(name: &'static str) -> Column {
    Column { name, ty: Type::Flag, is_optional: false, has_dictionary: false }
}

const fn or_null(column: Column) -> Column {
    Column { is_optional: true, ..column }
}

/// Hardly any value occurs twice, and neighbours are alike.
const fn distinct(column: Column) -> Column {
    Column { has_dictionary: false, ..column }
}

/// There are few values.
const fn few(column: Column) -> Column {
    Column { has_dictionary: true, ..column }
}

/// One row: the repository and the revision that was indexed.
pub(crate) const REPOSITORIES: TableSchema = TableSchema {
    name: "repositories",
    columns: &[
        text("repository"),
        or_null(text("revision")),
        number("files"),
        number("symbols"),
        number("references"),
        text("version"),
    ],
    sorted_by: None,
};

/// Every file that the walk met.
pub(crate) const FILES: TableSchema = TableSchema {
    name: "files",
    columns: &[
        text("repository"),
        text("path"),
        or_null(text("language")),
        number("size"),
        number("lines"),
        or_null(text("skipped")),
        flag("generated"),
        flag("test"),
        or_null(text("package")),
    ],
    sorted_by: None,
};

/// Every definition and declaration.
pub(crate) const SYMBOLS: TableSchema = TableSchema {
    name: "symbols",
    columns: &[
        text("repository"),
        number("id"),
        distinct(text("symbol")),
        distinct(text("name")),
        text("kind"),
        text("path"),
        number("line"),
        number("end_line"),
        or_null(number("container_id")),
        text("visibility"),
        flag("exported"),
        flag("test"),
        distinct(text("signature")),
    ],
    sorted_by: None,
};

/// Every site, once for each symbol that it leads to.
pub(crate) const REFERENCES: TableSchema = TableSchema {
    name: "references",
    columns: &[
        text("repository"),
        or_null(text("target")),
        or_null(number("target_id")),
        or_null(number("source_id")),
        text("path"),
        number("line"),
        few(number("col")),
        text("kind"),
        text("name"),
        text("verdict"),
        text("step"),
    ],
    sorted_by: Some(1),
};

/// Every call or construction with a known target, inside or outside of the repository.
pub(crate) const CALLS: TableSchema = TableSchema {
    name: "calls",
    columns: &[
        text("repository"),
        text("callee"),
        or_null(number("callee_id")),
        or_null(text("caller")),
        or_null(number("caller_id")),
        text("path"),
        number("line"),
        text("verdict"),
    ],
    sorted_by: Some(1),
};

/// Every import.
pub(crate) const IMPORTS: TableSchema = TableSchema {
    name: "imports",
    columns: &[
        text("repository"),
        text("path"),
        number("line"),
        text("module"),
        few(number("level")),
        or_null(text("item")),
        or_null(text("target_path")),
        text("sort"),
    ],
    sorted_by: None,
};

/// Relations between symbols of the repository.
pub(crate) const RELATIONS: TableSchema = TableSchema {
    name: "relations",
    columns: &[text("repository"), text("kind"), number("source_id"), number("target_id")],
    sorted_by: None,
};

/// Packages that the repository has, and those that it refers to.
pub(crate) const PACKAGES: TableSchema = TableSchema {
    name: "packages",
    columns: &[
        text("repository"),
        text("manager"),
        text("name"),
        or_null(text("version")),
        text("role"),
        number("references"),
    ],
    sorted_by: None,
};
