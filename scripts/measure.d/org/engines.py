"""The ten questions on four engines: a session for each, whose answers are rows of plain values."""
import os
import re
import sqlite3
import statistics
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

from simulate import TABLES

QUESTIONS = Path(__file__).resolve().parent / "questions.sql"
# Of SQLite, whose rows have no order of their own.
INDEXES = ("calls(callee, repository)", "calls(repository, callee_id)", "\"references\"(target)", "symbols(repository, name)", "packages(name, role)",
           "files(repository, path)")


def questions(dataset):
    """Name -> statement, with the most used library of a dataset and the function of it that most repositories call."""
    import duckdb  # pylint: disable=import-outside-toplevel
    with duckdb.connect() as connection:
        package = connection.execute(f"""
            SELECT name FROM read_parquet('{dataset}/packages/*/*.parquet') WHERE role = 'used' AND manager = 'pip' AND name LIKE 'lib-%'
            GROUP BY name ORDER BY count(DISTINCT repository) DESC, name LIMIT 1""").fetchone()[0]
        function = connection.execute(f"""
            SELECT split_part(callee, ' ', 5) FROM read_parquet('{dataset}/calls/*/*.parquet')
            WHERE callee >= 'cograph pip {package} ' AND callee < 'cograph pip {package}!' AND callee_id IS NULL
            GROUP BY 1 ORDER BY count(DISTINCT repository) DESC, 1 LIMIT 1""").fetchone()[0]
    text = QUESTIONS.read_text(encoding="utf-8")
    found = re.findall(r"^-- (\w+): [^\n]*\n(SELECT.*?);$", text, re.MULTILINE | re.DOTALL)
    return {name: statement.replace(":package", package).replace(":function", function.replace("'", "''")) for name, statement in found}


class DuckDb:
    """Views over the files."""

    def __init__(self, dataset, _):
        import duckdb  # pylint: disable=import-outside-toplevel
        self.connection = duckdb.connect()
        for name in TABLES:
            self.connection.execute(f'CREATE VIEW "{name}" AS SELECT * FROM read_parquet(\'{dataset}/{name}/*/*.parquet\', hive_partitioning = true)')

    def rows(self, statement):
        """The rows of an answer."""
        return self.connection.execute(statement).fetchall()


class DataFusion:
    """Tables over the directories."""

    def __init__(self, dataset, _):
        import datafusion  # pylint: disable=import-outside-toplevel
        self.session = datafusion.SessionContext()
        for name in TABLES:
            self.session.register_parquet(name, f"{dataset}/{name}", table_partition_cols=[("bucket", pa.string())])

    def rows(self, statement):
        """The rows of an answer."""
        return [tuple(row.values()) for batch in self.session.sql(statement).collect() for row in batch.to_pylist()]


class Sqlite:
    """Tables that were loaded into a file."""

    def __init__(self, dataset, scratch):
        path = scratch / f"{dataset.name}.sqlite"
        if not path.exists():
            load(dataset, path)
        self.connection = sqlite3.connect(path)
        self.connection.create_function("split_part", 3, split_part, deterministic=True)

    def rows(self, statement):
        """The rows of an answer."""
        return self.connection.execute(statement).fetchall()


def split_part(text, separator, number):
    """The n-th part of a text, as the other engines have it."""
    parts = (text or "").split(separator)
    return parts[number - 1] if number <= len(parts) else ""


def load(dataset, path):
    """Loads the tables into SQLite."""
    temporary = path.with_suffix(".partial")
    temporary.unlink(missing_ok=True)
    with sqlite3.connect(temporary, isolation_level=None) as connection:
        for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -200000", "BEGIN"):
            connection.execute(statement)
        for name in TABLES:
            rows = ds.dataset(dataset / name, format="parquet")
            columns = rows.schema.names
            connection.execute(f'CREATE TABLE "{name}" ({", ".join(f"{column!r}" for column in columns)})'.replace("'", '"'))
            for batch in rows.to_batches():
                connection.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(columns))})', zip(*(column.to_pylist() for column in batch)))
        for number, index in enumerate(INDEXES):
            connection.execute(f"CREATE INDEX index_{number} ON {index}")
        connection.execute("COMMIT")
        connection.execute("ANALYZE")
    temporary.rename(path)


class Spark:
    """Views over the directories, in a cluster of two workers on this machine."""

    def __init__(self, dataset, scratch):
        from pyspark.sql import SparkSession  # pylint: disable=import-outside-toplevel
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        builder = SparkSession.builder.master("local-cluster[2,1,600]").appName("questions")
        for key, value in (("ansi.enabled", True), ("ansi.doubleQuotedIdentifiers", True), ("shuffle.partitions", 8), ("warehouse.dir", scratch / "spark")):
            builder = builder.config(f"spark.sql.{key}", str(value).lower() if isinstance(value, bool) else str(value))
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").config("spark.executor.memory", "512m")
        builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").config("spark.local.dir", str(scratch / "spark-local"))
        self.session = builder.config("spark.log.level", "ERROR").getOrCreate()
        for name in TABLES:
            self.session.read.parquet(str(dataset / name)).createOrReplaceTempView(f"`{name}`")

    def rows(self, statement):
        """The rows of an answer."""
        return [tuple(row) for row in self.session.sql(statement).collect()]


SESSIONS = {"duckdb": DuckDb, "datafusion": DataFusion, "sqlite": Sqlite, "spark": Spark}


def ask(engine, dataset, scratch, runs):
    """Answers and median seconds of all questions."""
    session, answers, seconds = SESSIONS[engine](dataset, scratch), {}, {}
    for name, statement in questions(dataset).items():
        taken = []
        for _ in range(runs):
            begun = time.monotonic()
            rows = session.rows(statement)
            taken.append(time.monotonic() - begun)
        answers[name] = [tuple(plain(value) for value in row) for row in rows]
        seconds[name] = statistics.median(taken)
    if engine == "spark":
        session.session.stop()
    return answers, seconds


def plain(value):
    """A value without the type that an engine gives it."""
    return value if value is None or isinstance(value, str) else int(value)
