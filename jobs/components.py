"""Connected components: parts of a repository that no call and no relation connects with the rest of it.

    spark-submit jobs/components.py DATASET OUTPUT

An edge is a call or a relation (inherits, overrides, …) between two symbols, in either direction. Rows: repository, id of a symbol, and its
component, which is named by the smallest id in it. Symbols without an edge are left out.
"""
from tables import arguments, edges, read, session, write
from pyspark.sql import functions as F


def components(tables):
    """The component of each symbol that has an edge."""
    calls = edges(tables).select("repository", F.col("caller").alias("one"), F.col("callee").alias("two"))
    relations = tables["relations"].select("repository", F.col("source_id").alias("one"), F.col("target_id").alias("two"))
    both = calls.unionByName(relations)
    both = both.unionByName(both.select("repository", F.col("two").alias("one"), F.col("one").alias("two"))).distinct().cache()
    labels = both.groupBy("repository", F.col("one").alias("id")).agg(F.least(F.col("id"), F.min("two")).alias("component")).localCheckpoint()
    while True:
        # The smallest component of the neighbours, and that of the symbol which names the present one: ways are halved in each round.
        near = both.join(labels.withColumnRenamed("id", "two"), ["repository", "two"]).groupBy("repository", F.col("one").alias("id"))
        near = near.agg(F.min("component").alias("near"))
        jumps = labels.select("repository", F.col("id").alias("component"), F.col("component").alias("jump"))
        found = labels.join(near, ["repository", "id"]).join(jumps, ["repository", "component"])
        found = found.select("repository", "id", "component", F.least("component", "near", "jump").alias("next")).localCheckpoint()
        labels = found.select("repository", "id", F.col("next").alias("component"))
        if found.where("next <> component").isEmpty():
            return labels


if __name__ == "__main__":
    given = arguments(__doc__)
    write(components(read(session("components"), given.dataset)), given.output)
