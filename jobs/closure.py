"""Everything that reaches a function through calls: its callers, their callers, and so on, in every repository.

    spark-submit jobs/closure.py DATASET OUTPUT --callee 'cograph pip flask '
    spark-submit jobs/closure.py DATASET OUTPUT --callee 'cograph pip flask 3.0.1 Flask.' --levels 3

`--callee` is the beginning of the SCIP symbols of the functions: that of a package ends with a space. Rows: repository, id and symbol of a
caller, and the smallest number of calls from it to one of the functions.
"""
from tables import arguments, edges, read, session, write
from pyspark.sql import functions as F


def closure(tables, callee, levels):
    """Callers of the functions, at most `levels` calls away."""
    graph = edges(tables).cache()
    first = tables["calls"].where(F.col("callee").startswith(callee)).where("caller_id IS NOT NULL")
    frontier = first.select("repository", F.col("caller_id").alias("id")).distinct()
    found = frontier.withColumn("distance", F.lit(1)).localCheckpoint()
    for distance in range(2, levels + 1):
        callers = found.where(F.col("distance") == distance - 1).join(graph.withColumnRenamed("callee", "id"), ["repository", "id"])
        callers = callers.select("repository", F.col("caller").alias("id")).distinct()
        # Only what no shorter way has reached goes on: circles end.
        frontier = callers.join(found, ["repository", "id"], "left_anti").withColumn("distance", F.lit(distance)).localCheckpoint()
        if frontier.isEmpty():
            break
        found = found.unionByName(frontier).localCheckpoint()
    names = tables["symbols"].select("repository", "id", "symbol")
    return found.join(names, ["repository", "id"]).select("repository", "id", "symbol", "distance")


if __name__ == "__main__":
    given = arguments(__doc__, ("--callee", {"required": True, "metavar": "SYMBOL"}), ("--levels", {"type": int, "default": 50, "metavar": "N"}))
    write(closure(read(session("closure"), given.dataset), given.callee, given.levels), given.output)
