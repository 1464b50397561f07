//! Datasets: of small repositories that the main program exports, and of rows that no export has.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use tempfile::TempDir;

/// A directory with tables.
pub(crate) struct Data {
    place: TempDir,
}

/// What a run of the program gave.
pub(crate) struct Ran {
    pub(crate) is_success: bool,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        let (out, err) = (text(output.stdout), text(output.stderr));
        Self { is_success: output.status.success(), out, err }
    }
}

impl Data {
    /// Without tables.
    pub(crate) fn empty() -> Self {
        let place = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir_all(place.path().join("buckets/graph/tables")).expect("created");
        Self { place }
    }

    /// Two users of a library at two versions, and a third repository that one of them uses.
    pub(crate) fn exported() -> Self {
        let data = Self::empty();
        for (repository, flask) in [("shop", "3.0.1"), ("billing", "3.0.3")] {
            let app = format!(
                "import flask\nfrom flask import Flask, jsonify\nfrom {repository}.sums import \
                 total\n\napp = Flask(__name__)\n\n\n@app.route(\"/\")\ndef index():\n    return \
                 jsonify(total(1))\n\n\nclass Till:\n    def pay(self):\n        return total(2)\n"
            );
            let manifest = format!(
                "[project]\nname = \"{repository}\"\nversion = \"1.2.0\"\ndependencies = \
                 [\"flask=={flask}\"]\n"
            );
            data.write(repository, "pyproject.toml", &manifest);
            data.write(repository, &format!("{repository}/__init__.py"), "");
            data.write(repository, &format!("{repository}/app.py"), &app);
            let sums = "def total(number):\n    return number + 1\n";
            data.write(repository, &format!("{repository}/sums.py"), sums);
            data.export(repository);
        }
        data
    }

    fn write(&self, repository: &str, path: &str, text: &str) {
        let path = self.place.path().join("sources").join(repository).join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("created");
        fs::write(path, text).expect("written");
    }

    /// Writes a source of a repository and exports it again.
    pub(crate) fn change(&self, repository: &str, path: &str, text: &str) {
        self.write(repository, path, text);
        self.export(repository);
    }

    fn export(&self, repository: &str) {
        let program = std::env::var("COGRAPH_BIN").expect("COGRAPH_BIN names the main program");
        let output = Command::new(program)
            .args(["export", "parquet", "--name", &format!("team/{repository}")])
            .arg(self.tables())
            .current_dir(self.place.path().join("sources").join(repository))
            .env("COGRAPH_CACHE_DIR", self.place.path().join("cache"))
            .env_remove("CLAUDE_PROJECT_DIR")
            .output()
            .expect("the main program runs");
        assert!(output.status.success(), "{output:?}");
    }

    /// Directory of the tables. Its parents are the bucket of an S3 server and its buckets.
    pub(crate) fn tables(&self) -> PathBuf {
        self.buckets().join("graph/tables")
    }

    pub(crate) fn buckets(&self) -> PathBuf {
        self.place.path().join("buckets")
    }

    /// Writes a file of calls that no export has.
    pub(crate) fn write_calls(&self, name: &str, version: &str, rows: &[[&str; 4]]) -> PathBuf {
        let folder = self.tables().join("calls/bucket=07");
        fs::create_dir_all(&folder).expect("created");
        let path = folder.join(name);
        write_calls(&path, version, rows);
        path
    }

    /// A run of the program on the directory.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = program(arguments);
        command.arg("--data").arg(self.tables());
        command.output().expect("the program runs").into()
    }

    /// Output of a run that succeeds.
    #[track_caller]
    pub(crate) fn answer(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert!(ran.is_success, "{arguments:?}: {}", ran.err);
        ran.out
    }

    /// Message of a run that fails without a panic.
    #[track_caller]
    pub(crate) fn error(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert!(!ran.is_success, "{arguments:?}: {}", ran.out);
        assert!(ran.err.starts_with("error: ") && ran.err.contains("\n  hint: "), "{}", ran.err);
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        ran.err
    }
}

/// The program with arguments.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cograph-org"));
    command.args(arguments).env_remove("COGRAPH_ORG_DATA").env_remove("COGRAPH_ORG_TOKEN");
    command
}

/// Text without the line that names the state of the tables.
pub(crate) fn without_state(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("(tables of "));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Calls by repository, callee, caller and path.
fn write_calls(path: &Path, version: &str, rows: &[[&str; 4]]) {
    let (text, number) = (DataType::Utf8, DataType::Int64);
    let schema = Arc::new(Schema::new(vec![
        Field::new("repository", text.clone(), false),
        Field::new("callee", text.clone(), false),
        Field::new("callee_id", number.clone(), true),
        Field::new("caller", text.clone(), true),
        Field::new("caller_id", number.clone(), true),
        Field::new("path", text.clone(), false),
        Field::new("line", number, false),
        Field::new("verdict", text, false),
    ]));
    let column = |at: usize| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row[at])))
    };
    let ids = || -> ArrayRef { Arc::new(Int64Array::from(vec![None; rows.len()])) };
    let lines: ArrayRef = Arc::new(Int64Array::from_iter_values(1..=rows.len() as i64));
    let verdicts: ArrayRef =
        Arc::new(StringArray::from_iter_values(rows.iter().map(|_| "resolved")));
    let columns = vec![column(0), column(1), ids(), column(2), ids(), column(3), lines, verdicts];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).expect("columns of one length");
    let version = KeyValue::new("cograph.schema".to_owned(), version.to_owned());
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![version]));
    let options = ArrowWriterOptions::new().with_properties(properties.build());
    let file = fs::File::create(path).expect("created");
    let mut writer = ArrowWriter::try_new_with_options(file, schema, options).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("written");
}
