"""PageRank: what an organisation depends on most, directly or through others.

    spark-submit jobs/rank.py DATASET OUTPUT                     packages, by what their repositories refer to
    spark-submit jobs/rank.py DATASET OUTPUT --of symbols        symbols, by the calls inside of their repositories

Packages: an edge for each pair of a repository's own package and one that it uses, with the number of references as its weight. Symbols: an
edge for each pair of caller and callee. Rows: the node (manager and name, or repository and id) and its rank; all ranks together are 1.
"""
from tables import arguments, edges, read, session, write
from pyspark.sql import functions as F

DAMPING, ROUNDS = 0.85, 20


def package_edges(tables):
    """From the packages of a repository to those that it uses."""
    packages = tables["packages"].withColumn("node", F.struct("manager", "name"))
    own = packages.where("role = 'own'").select("repository", F.col("node").alias("source"))
    used = packages.where("role = 'used'").select("repository", F.col("node").alias("target"), F.col("references").alias("weight"))
    found = own.join(used, "repository").where(F.col("source") != F.col("target"))
    return found.groupBy("source", "target").agg(F.sum("weight").cast("double").alias("weight"))


def symbol_edges(tables):
    """From callers to callees."""
    return edges(tables).select(F.struct("repository", F.col("caller").alias("id")).alias("source"),
                                F.struct("repository", F.col("callee").alias("id")).alias("target"), F.lit(1.0).alias("weight"))


def rank(graph, rounds=ROUNDS):
    """The rank of each node of a graph with weights."""
    sums = graph.groupBy("source").agg(F.sum("weight").alias("total"))
    shares = graph.join(sums, "source").select("source", "target", (F.col("weight") / F.col("total")).alias("share")).cache()
    nodes = graph.select(F.col("source").alias("node")).union(graph.select("target")).distinct().cache()
    size = nodes.count()
    ranks = nodes.withColumn("rank", F.lit(1.0 / max(size, 1)))
    for _ in range(rounds):
        passed = ranks.join(shares, ranks["node"] == shares["source"]).groupBy(F.col("target").alias("node"))
        passed = passed.agg(F.sum(F.col("rank") * F.col("share")).alias("passed"))
        # What nodes without edges have is divided among all.
        lost = 1.0 - (passed.agg(F.sum("passed")).first()[0] or 0.0)
        rest = (1 - DAMPING) / max(size, 1) + DAMPING * lost / max(size, 1)
        ranks = nodes.join(passed, "node", "left").select("node", (F.coalesce("passed", F.lit(0.0)) * DAMPING + rest).alias("rank")).localCheckpoint()
    return ranks.select("node.*", "rank")


if __name__ == "__main__":
    given = arguments(__doc__, ("--of", {"choices": ("packages", "symbols"), "default": "packages"}))
    known = read(session("rank"), given.dataset)
    write(rank(package_edges(known) if given.of == "packages" else symbol_edges(known)), given.output)
