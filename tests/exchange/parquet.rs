//! Parquet tables: read back by the library, they have the rows of the views of `sql`, in the
//! order that the schema states.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::Project;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

type Row = BTreeMap<String, Value>;

/// The files of a table, by path.
fn files(directory: &Path, table: &str) -> Vec<PathBuf> {
    let inside = |path: PathBuf| {
        let entries = fs::read_dir(path).into_iter().flatten();
        entries.map(|entry| entry.expect("it can be listed").path())
    };
    let mut found: Vec<PathBuf> = inside(directory.join(table)).flat_map(inside).collect();
    found.sort();
    found
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(flag) => (*flag).into(),
        Field::Long(number) => (*number).into(),
        Field::Str(text) => text.as_str().into(),
        other => panic!("{other} is of no type of the schema"),
    }
}

/// Rows of a table of which there is one file.
fn rows(directory: &Path, table: &str) -> Vec<Row> {
    let found = files(directory, table);
    assert_eq!(found.len(), 1, "{found:?}");
    let file = File::open(&found[0]).expect("it can be read");
    let reader = SerializedFileReader::new(file).expect("it is a Parquet file");
    let metadata = reader.metadata().file_metadata().key_value_metadata().expect("metadata");
    let version = metadata.iter().find(|entry| entry.key == "cograph.schema").expect("a version");
    assert_eq!(version.value.as_deref(), Some("1"));
    let read = reader.get_row_iter(None).expect("rows").map(|row| {
        let row = row.expect("a row");
        let columns = row.get_column_iter().map(|(name, field)| (name.clone(), value(field)));
        columns.collect::<Row>()
    });
    read.collect()
}

/// Values of some columns, in order.
fn columns(rows: &[Row], names: &[&str]) -> Vec<Vec<Value>> {
    let of = |row: &Row| names.iter().map(|name| row[*name].clone()).collect();
    let mut found: Vec<Vec<Value>> = rows.iter().map(of).collect();
    found.sort_by_key(|row| format!("{row:?}"));
    found
}

impl Project {
    fn dataset(&self, more: &[&str]) -> PathBuf {
        let directory = self.root().join(".git/dataset");
        let target = directory.to_string_lossy().into_owned();
        let (code, _, remarks) =
            self.run(&[&["export", "parquet", &target, "--name", "shop"], more].concat());
        assert_eq!(code, Some(0), "{remarks}");
        directory
    }

    fn sql(&self, statement: &str) -> Vec<Vec<Value>> {
        let (code, answer, remarks) = self.run(&["sql", "--json", statement]);
        assert_eq!(code, Some(0), "{remarks}");
        let answer: Value = serde_json::from_slice(&answer).expect("it is JSON");
        let rows = answer["rows"].as_array().expect("rows").iter();
        let mut found: Vec<Vec<Value>> =
            rows.map(|row| row.as_array().expect("values").clone()).collect();
        found.sort_by_key(|row| format!("{row:?}"));
        found
    }
}

#[test]
fn tables_have_the_rows_of_the_views() {
    let project = Project::new();
    let directory = project.dataset(&[]);
    let symbols = rows(&directory, "symbols");
    assert_eq!(
        columns(&symbols, &["id", "name", "kind", "path", "line", "end_line", "visibility"]),
        project.sql("SELECT id, name, kind, path, line, end_line, visibility FROM symbols")
    );
    assert_eq!(
        columns(&rows(&directory, "imports"), &["path", "line", "module", "level", "target_path"]),
        project.sql("SELECT path, line, module, level, target FROM imports")
    );
    assert_eq!(
        columns(&rows(&directory, "relations"), &["kind", "source_id", "target_id"]),
        project.sql("SELECT kind, from_id, to_id FROM relations")
    );
    assert_eq!(
        columns(&rows(&directory, "files"), &["path", "lines", "generated", "test"]),
        project
            .sql(
                "SELECT path, lines, json(iif(generated, 'true', 'false')), \
             json(iif(test, 'true', 'false')) FROM files"
            )
            .into_iter()
            .map(|mut row| {
                for flag in &mut row[2..] {
                    *flag = Value::Bool(*flag == "true");
                }
                row
            })
            .collect::<Vec<_>>()
    );
    let references = rows(&directory, "references");
    let one_target = |row: &&Row| row["verdict"] != "ambiguous" && row["verdict"] != "possible";
    let known: Vec<Row> = references.iter().filter(one_target).cloned().collect();
    assert_eq!(
        columns(&known, &["path", "line", "col", "kind", "name", "verdict", "step", "source_id"]),
        project.sql(
            "SELECT path, line, col, kind, name, verdict, step, from_id FROM refs \
             WHERE verdict NOT IN ('ambiguous', 'possible')"
        )
    );
    let calls = rows(&directory, "calls");
    let inside: Vec<Row> = calls.into_iter().filter(|row| !row["callee_id"].is_null()).collect();
    assert_eq!(
        columns(&inside, &["caller_id", "callee_id", "path", "line", "verdict"]),
        project.sql("SELECT caller_id, callee_id, path, line, verdict FROM calls")
    );
    let total = &rows(&directory, "repositories")[0];
    assert_eq!(total["symbols"], symbols.len());
    assert_eq!(total["references"], references.len());
    assert_eq!((&total["repository"], &total["revision"]), (&"shop".into(), &Value::Null));
}

#[test]
fn targets_are_in_order_and_name_packages_with_versions() {
    let project = Project::new();
    let directory = project.dataset(&[]);
    let references = rows(&directory, "references");
    let targets: Vec<Option<&str>> = references.iter().map(|row| row["target"].as_str()).collect();
    let first_null = targets.iter().position(Option::is_none).expect("`unknown` has no target");
    assert!(targets[..first_null].is_sorted());
    assert!(targets[first_null..].iter().all(Option::is_none));
    let flask = "cograph pip flask 3.0.1 Flask.";
    assert!(targets.contains(&Some(flask)), "{targets:?}");
    let symbols = rows(&directory, "symbols");
    let base = symbols.iter().find(|row| row["name"] == "Base").expect("it is defined");
    let to_base: Vec<&Row> =
        references.iter().filter(|row| row["target_id"] == base["id"]).collect();
    assert!(!to_base.is_empty() && to_base.iter().all(|row| row["target"] == base["symbol"]));
    let packages = columns(&rows(&directory, "packages"), &["manager", "name", "version", "role"]);
    for expected in [["pip", "shop", "1.2.0", "own"], ["pip", "flask", "3.0.1", "used"]] {
        assert!(packages.contains(&expected.map(Value::from).to_vec()), "{packages:?}");
    }
}

/// What readers skip by: the order of rows, the bounds of pages, and a filter for each group.
#[test]
fn the_metadata_leads_to_the_rows_of_one_target() {
    let project = Project::new();
    let directory = project.dataset(&[]);
    for (table, column) in [("references", "target"), ("calls", "callee")] {
        let file = File::open(&files(&directory, table)[0]).expect("it can be read");
        let reader = SerializedFileReader::new(file).expect("it is a Parquet file");
        let group = reader.metadata().row_group(0);
        let sorting = group.sorting_columns().expect("an order");
        let place = sorting[0].column_idx as usize;
        assert_eq!(group.column(place).column_path().string(), column, "{table}");
        assert!(!sorting[0].descending && !sorting[0].nulls_first, "{table}");
        assert!(group.column(place).column_index_offset().is_some(), "{table}: bounds of pages");
        assert!(group.column(place).bloom_filter_offset().is_some(), "{table}: a filter");
    }
}

#[test]
fn a_second_run_replaces_the_rows_of_the_repository_and_no_others() {
    let project = Project::new();
    let directory = project.dataset(&[]);
    let target = directory.to_string_lossy().into_owned();
    let (code, _, remarks) = project.run(&["export", "parquet", &target, "--name", "../x/y other"]);
    assert_eq!(code, Some(0), "{remarks}");
    project.write("shop/more.py", "def more():\n    pass\n");
    project.dataset(&[]);
    let all = files(&directory, "symbols");
    let names: Vec<_> = all.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(names.contains(&"shop.parquet") && names.contains(&"%2E.%2Fx%2Fy%20other.parquet"));
    let shop = all.iter().find(|path| path.ends_with("shop.parquet")).expect("it is there");
    let reader = SerializedFileReader::new(File::open(shop).expect("it opens")).expect("whole");
    let has_more = reader.get_row_iter(None).expect("rows").any(|row| {
        row.expect("a row").get_column_iter().any(|(_, field)| *field == Field::Str("more".into()))
    });
    assert!(has_more);
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let project = Project::new();
    project.write("taken", "a file\n");
    let target = project.root().join("taken").to_string_lossy().into_owned();
    let (code, _, remarks) = project.run(&["export", "parquet", &target]);
    assert_eq!(code, Some(3), "{remarks}");
    assert!(remarks.contains("cannot write below") && remarks.contains("taken"), "{remarks}");
}
