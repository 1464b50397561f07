"""Public API that no other repository uses.

    spark-submit jobs/unused.py DATASET OUTPUT
    spark-submit jobs/unused.py DATASET OUTPUT --package flask

Public are exported functions, methods and types of files that are no tests. A symbol counts as used if a reference of another repository
leads to the package and has the symbol's name: whether it is that symbol or another one of the same name is not known without the package's
sources. So what is listed is unused, and some of what is not listed is as well. Only packages that another repository uses are considered.
Rows: package, repository, path, line, kind, name.
"""
from tables import arguments, package_of, read, session, write
from pyspark.sql import functions as F

KINDS = ("function", "method", "class", "interface", "struct", "enum", "trait", "macro")


def unused(tables, package=None):
    """Public symbols without a reference from another repository."""
    own = tables["packages"].where("role = 'own'").select("repository", F.col("name").alias("package")).distinct()
    references = tables["references"].where("target IS NOT NULL AND target_id IS NULL")
    uses = references.select(F.col("repository").alias("user"), package_of(F.col("target")).alias("package"), "name").distinct()
    # The own names of a repository are no use by another.
    uses = uses.join(own.withColumnRenamed("repository", "user"), ["user", "package"], "left_anti").select("package", "name").distinct().cache()
    used = uses.select("package").distinct()
    symbols = tables["symbols"].where("exported AND NOT test").where(F.col("kind").isin(*KINDS))
    public = symbols.join(own, "repository").join(used, "package")
    if package is not None:
        public = public.where(F.col("package") == package)
    return public.join(uses, ["package", "name"], "left_anti").select("package", "repository", "path", "line", "kind", "name")


if __name__ == "__main__":
    given = arguments(__doc__, ("--package", {"metavar": "NAME"}))
    write(unused(read(session("unused"), given.dataset), given.package), given.output)
