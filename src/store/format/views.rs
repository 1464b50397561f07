//! Documented views for `sql`: the stable interface for users, described by column. The underlying
//! tables may change.

/// View with its documentation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    /// Name.
    pub name: &'static str,
    /// Meaning of a row.
    pub about: &'static str,
    /// Columns: name and meaning.
    pub columns: &'static [(&'static str, &'static str)],
    /// SQL definition.
    pub(super) definition: &'static str,
}

/// Expression for a symbol's signature, which is stored without its name: see `columns`.
macro_rules! signature {
    () => {
        "CASE WHEN s.signature LIKE char(2) || '%' THEN substr(s.signature, 2) ELSE \
         replace(s.signature, char(1), n.text) END"
    };
}

/// The expression, for a test.
#[cfg(test)]
pub(super) const SIGNATURE: &str = signature!();

/// Every view.
pub const VIEWS: &[View] = &[
    View {
        name: "files",
        about: "every file that the walk met",
        columns: &[
            ("id", "key"),
            ("path", "relative path"),
            ("language", "language, or null"),
            ("size", "bytes"),
            ("lines", "lines"),
            ("skipped", "why it was not indexed, or null"),
            ("generated", "1 if it is marked as generated"),
            ("test", "1 if it is test code as a whole"),
            ("symbols", "symbols it defines"),
            ("resolved", "sites with a proven target"),
            ("likely", "sites with a target by heuristic"),
            ("ambiguous", "sites with several candidates"),
            ("external", "sites that lead out of the repository"),
            ("unresolved", "sites of which nothing is known"),
            ("possible", "sites with one candidate that is not proven"),
        ],
        definition: "
            SELECT f.id, f.path, l.name AS language, f.size, f.lines, w.text AS skipped, f.flags & 1 AS generated,
                   f.flags >> 1 & 1 AS test, f.symbols, f.resolved, f.likely, f.ambiguous, f.external, f.unresolved, f.possible
            FROM file f LEFT JOIN language l ON l.id = f.language LEFT JOIN word w ON w.id = 700 + f.skipped",
    },
    View {
        name: "symbols",
        about: "every definition and declaration",
        columns: &[
            ("id", "key"),
            ("name", "own name"),
            ("kind", "function, method, class, ..."),
            ("path", "file"),
            ("language", "language of the file"),
            ("line", "first line"),
            ("end_line", "last line"),
            ("container_id", "the symbol it is written inside of, or null"),
            ("container", "that symbol's own name, or null"),
            ("visibility", "public, internal, protected, private"),
            ("exported", "1 if visible outside its file"),
            ("test", "1 if test code"),
            ("signature", "header on one line"),
            ("doc", "first paragraph of its documentation"),
            ("refs", "sites that certainly or likely lead to it"),
            ("file_id", "key of the file"),
            ("lines", "lines from the first to the last"),
            ("cyclomatic", "decisions of its body and one, without those of functions inside of \
                            it; null where the language or the body is not measured"),
            ("cognitive", "decisions, each weighted by the structures around it, with those of \
                           functions inside of it; or null"),
            ("nesting", "depth of the innermost control structure, or null"),
        ],
        definition: concat!("
            SELECT s.id, n.text AS name, k.text AS kind, f.path, l.name AS language, s.start_line AS line,
                   s.start_line + s.more_lines AS end_line, s.container AS container_id, cn.text AS container, v.text AS visibility,
                   s.traits >> 7 & 1 AS exported, s.traits >> 8 & 1 AS test, ", signature!(), " AS signature,
                   s.doc, s.refs, s.file AS file_id, s.more_lines + 1 AS lines, nullif(s.complexity & 4095, 0) AS cyclomatic,
                   CASE WHEN s.complexity THEN s.complexity >> 17 END AS cognitive,
                   CASE WHEN s.complexity THEN s.complexity >> 12 & 31 END AS nesting
            FROM symbol s JOIN name n ON n.id = s.name JOIN word k ON k.id = 100 + (s.traits >> 2 & 31) JOIN file f ON f.id = s.file
            LEFT JOIN language l ON l.id = f.language LEFT JOIN word v ON v.id = 500 + (s.traits & 3)
            LEFT JOIN symbol c ON c.id = s.container LEFT JOIN name cn ON cn.id = c.name"),
    },
    View {
        name: "refs",
        about: "every site: one place where a name is used",
        columns: &[
            ("id", "key"),
            ("path", "file"),
            ("line", "line"),
            ("col", "column in bytes, from 0"),
            ("kind", "call, construct, read, write, type, import, inherit, implement, decorate"),
            ("name", "name as written"),
            ("verdict", "resolved, likely, possible, ambiguous, external, unresolved"),
            ("step", "what decided that, or why nothing could"),
            ("from_id", "the symbol around it, or null"),
            ("to_id", "the symbol it leads to, or null; of an unresolved call, the variable or \
                       field that holds the function; null if there are several: see candidates"),
            ("external", "qualified name outside the repository, or null"),
            ("file_id", "key of the file"),
        ],
        definition: "
            SELECT s.id, f.path, s.mark >> 12 AS line, s.col, k.text AS kind, n.text AS name, v.text AS verdict, t.text AS step,
                   s.enclosing AS from_id, CASE WHEN s.mark & 7 IN (0, 1, 4) AND s.target > 0 THEN s.target END AS to_id, e.text AS external,
                   s.file AS file_id
            FROM site s JOIN file f ON f.id = s.file JOIN word k ON k.id = 200 + (s.mark >> 3 & 15)
            JOIN name n ON n.id = s.name JOIN word v ON v.id = 300 + (s.mark & 7) JOIN word t ON t.id = 400 + (s.mark >> 7 & 31)
            LEFT JOIN name e ON s.mark & 7 = 3 AND e.id = s.target",
    },
    View {
        name: "calls",
        about: "every call or construction with a known target, certain or likely: one row for \
                each variant of the target",
        columns: &[
            ("caller_id", "the symbol around the call, or null at the top of a file"),
            ("caller", "its name"),
            ("callee_id", "the symbol called"),
            ("callee", "its name"),
            ("path", "file of the call"),
            ("line", "line of the call"),
            ("verdict", "resolved or likely"),
            ("callee_path", "file of the callee"),
        ],
        definition: "
            SELECT s.enclosing AS caller_id, rn.text AS caller, s.target AS callee_id, en.text AS callee, f.path,
                   s.mark >> 12 AS line, CASE s.mark & 7 WHEN 0 THEN 'resolved' ELSE 'likely' END AS verdict, ef.path AS callee_path
            FROM site s JOIN file f ON f.id = s.file JOIN symbol e ON e.id = s.target JOIN name en ON en.id = e.name
            JOIN file ef ON ef.id = e.file LEFT JOIN symbol r ON r.id = s.enclosing LEFT JOIN name rn ON rn.id = r.name
            WHERE s.mark & 7 <= 2 AND s.mark & 7 <= 1 AND (s.mark >> 3 & 15) <= 1
            UNION ALL
            SELECT s.enclosing, rn.text, c.symbol, en.text, f.path, s.mark >> 12, 'resolved', ef.path
            FROM candidate c JOIN symbol e ON e.id = c.symbol JOIN name en ON en.id = e.name JOIN file ef ON ef.id = e.file
            JOIN site s ON s.target = -c.list AND s.mark & 7 != 3 JOIN file f ON f.id = s.file
            LEFT JOIN symbol r ON r.id = s.enclosing LEFT JOIN name rn ON rn.id = r.name
            WHERE s.mark & 7 = 0 AND (s.mark >> 3 & 15) <= 1",
    },
    View {
        name: "candidates",
        about: "sites with several targets, one row for each: candidates of an ambiguous site, \
                variants of a resolved one (verdict in refs)",
        columns: &[("site_id", "key in refs"), ("symbol_id", "key in symbols")],
        definition: "
            SELECT s.id AS site_id, c.symbol AS symbol_id FROM site s JOIN candidate c ON c.list = -s.target
                AND s.target = -c.list AND s.mark & 7 != 3",
    },
    View {
        name: "imports",
        about: "every import",
        columns: &[
            ("path", "file"),
            ("line", "line"),
            ("module", "module as written"),
            ("level", "levels up a relative import starts"),
            ("item", "item taken from it, or null"),
            ("target", "file it leads to, or null"),
            ("type_only", "1 if it leaves nothing at run time: for types alone"),
            ("lazy", "1 if it is inside of a function"),
            ("test", "1 if it is in test code"),
        ],
        definition: "
            SELECT f.path, i.line, m.text AS module, i.level, n.text AS item, t.path AS target,
                   i.marks & 1 AS type_only, i.marks >> 1 & 1 AS lazy, i.marks >> 2 & 1 AS test
            FROM import i JOIN file f ON f.id = i.file JOIN name m ON m.id = i.module LEFT JOIN name n ON n.id = i.item
            LEFT JOIN file t ON t.id = i.target",
    },
    View {
        name: "relations",
        about: "overrides, inherits, implements, defines, returns: from one symbol to another",
        columns: &[
            ("kind", "the relation"),
            ("from_id", "who overrides, derives, implements, defines or returns"),
            ("to_id", "who is overridden, derived from, implemented or declared"),
        ],
        definition: "
            SELECT w.text AS kind, r.source AS from_id, r.target AS to_id
            FROM relation r JOIN word w ON w.id = 600 + r.kind",
    },
    View {
        name: "problems",
        about: "regions of files that are incomplete",
        columns: &[
            ("path", "file"), ("kind", "what is wrong"), ("first_line", "first line"),
            ("last_line", "last line")
        ],
        definition: "
            SELECT f.path, w.text AS kind, p.first_line, p.last_line
            FROM problem p JOIN file f ON f.id = p.file JOIN word w ON w.id = 800 + p.kind",
    },
    View {
        name: "file_edges",
        about: "how one file depends on another",
        columns: &[
            ("source", "the file that uses"),
            ("target", "the file that is used"),
            ("sites", "certain and likely sites, and imports"),
            ("runtime", "1 if an import leads along it that is none of the following"),
            ("type_only", "1 if an import does that leaves nothing at run time"),
            ("lazy", "1 if one does that is inside of a function"),
            ("test", "1 if one does that is in test code"),
        ],
        definition: "
            SELECT a.path AS source, b.path AS target, e.sites, e.imports & 1 AS runtime, e.imports >> 1 & 1 AS type_only,
                   e.imports >> 2 & 1 AS lazy, e.imports >> 3 & 1 AS test
            FROM file_edge e JOIN file a ON a.id = e.source JOIN file b ON b.id = e.target",
    },
];

/// Views of what is kept next to the store or read from elsewhere: made for the statement that
/// names them, over tables that are made with them.
pub const KEPT_VIEWS: &[View] = &[
    View {
        name: "tests",
        about: "each test case, and each test that imported coverage names",
        columns: &[
            ("id", "key, the same in covers"),
            ("name", "qualified name, or that of the coverage if it has no symbol"),
            ("path", "file, or null"),
            ("line", "line of its name, or null"),
            ("symbol_id", "key in symbols, or null"),
            ("functions", "functions that coverage says it executed with their present bodies; \
                           null if no coverage has this test"),
        ],
        definition: "SELECT id, name, path, line, symbol_id, functions FROM kept_test",
    },
    View {
        name: "covers",
        about: "which test executed which function with its present body, from `cograph coverage \
                add`",
        columns: &[
            ("symbol_id", "the function"),
            ("test_id", "key in tests"),
            ("test", "name of the test"),
            ("test_symbol_id", "the test as a symbol, or null"),
        ],
        definition: "
            SELECT c.symbol_id, t.id AS test_id, t.name AS test, t.symbol_id AS test_symbol_id
            FROM kept_cover c CROSS JOIN json_each(c.tests) e CROSS JOIN kept_test t ON t.id = e.value",
    },
    View {
        name: "file_history",
        about: "commits of each file under all its names, without those of many files",
        columns: &[
            ("path", "file"),
            ("commits", "commits"),
            ("commits_year", "those in the year before the newest commit"),
            ("last_change", "day of the last one: YYYY-MM-DD"),
            ("authors", "number of authors"),
            ("owner", "the author with most commits"),
        ],
        definition: "
            SELECT path, commits, commits_year, last_change, authors, owner FROM kept_file",
    },
    View {
        name: "changed_together",
        about: "files that changed in the same commits at least twice, each pair in both orders, \
                in the newest 3,000 commits",
        columns: &[
            ("path", "file"), ("other", "the other file"), ("commits", "commits in common")
        ],
        definition: "SELECT path, other, commits FROM kept_pair",
    },
];

/// Temporary tables of [`KEPT_VIEWS`]: name and definition.
pub(crate) const KEPT_TABLES: &[(&str, &str)] = &[
    (
        "kept_test",
        "(id INTEGER PRIMARY KEY, name TEXT, path TEXT, line INTEGER, symbol_id INTEGER, \
         functions INTEGER)",
    ),
    // Lists of keys in parts: a value of a statement has a limit.
    (
        "kept_cover",
        "(symbol_id INTEGER, part INTEGER, tests TEXT, PRIMARY KEY (symbol_id, part)) \
         WITHOUT ROWID",
    ),
    (
        "kept_file",
        "(path TEXT PRIMARY KEY, commits INTEGER, commits_year INTEGER, last_change TEXT, \
         authors INTEGER, owner TEXT) WITHOUT ROWID",
    ),
    (
        "kept_pair",
        "(path TEXT, other TEXT, commits INTEGER, PRIMARY KEY (path, other)) WITHOUT ROWID",
    ),
];

/// Every view, those of the store first.
pub fn all_views() -> impl Iterator<Item = &'static View> {
    VIEWS.iter().chain(KEPT_VIEWS)
}

impl View {
    /// The same as a temporary view.
    pub(crate) fn create_temporary(&self) -> String {
        format!("CREATE TEMP VIEW {} AS {}", self.name, self.definition)
    }

    /// CREATE statement.
    pub(crate) fn create(&self) -> String {
        format!("CREATE VIEW {} AS {}", self.name, self.definition)
    }
}
