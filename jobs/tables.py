"""The Parquet tables of an organisation as DataFrames, and what the jobs share: the command line and the parts of SCIP symbols."""
import argparse

from pyspark.sql import SparkSession, functions as F

TABLES = ("repositories", "files", "symbols", "references", "calls", "imports", "relations", "packages")


def arguments(about, *options):
    """The command line of a job: the dataset, where its rows go, and its own options (flags, keywords)."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", metavar="DATASET", help="directory or address that Spark reads, such as s3a://bucket/prefix")
    parser.add_argument("output", metavar="OUTPUT", help="directory of the result, which is written as Parquet in place of what it has")
    for flags, keywords in options:
        parser.add_argument(flags, **keywords)
    return parser.parse_args()


def session(name):
    """The session of a job; `spark-submit` says where it runs."""
    return SparkSession.builder.appName(f"cograph {name}").getOrCreate()


def read(spark, dataset):
    """Name -> table."""
    return {name: spark.read.parquet(f"{dataset}/{name}") for name in TABLES}


def write(rows, output):
    """Writes the rows of a result."""
    rows.write.mode("overwrite").parquet(output)


def package_of(symbol):
    """Name of the package of a SCIP symbol, `.` for none."""
    return F.split_part(symbol, F.lit(" "), F.lit(3))


def edges(tables):
    """Calls between symbols of one repository: repository, caller, callee, by their keys."""
    calls = tables["calls"].where("caller_id IS NOT NULL AND callee_id IS NOT NULL")
    return calls.select("repository", F.col("caller_id").alias("caller"), F.col("callee_id").alias("callee")).distinct()
