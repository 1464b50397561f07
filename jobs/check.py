"""Runs the jobs on a local cluster of two workers, on a dataset that the program exports, and compares what they give with a plain
computation of the same in Python.

    python jobs/check.py PROGRAM SCRATCH

The dataset: a library, two repositories that use it, and the scripts of this project. Needs pyspark, pyarrow and a JDK; `scripts/check spark`
installs the first two. Ends with 1 if a result differs.
"""
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pyarrow.dataset as ds
from pyspark.sql import SparkSession

from closure import closure
from components import components
from rank import DAMPING, package_edges, rank, ROUNDS, symbol_edges
from tables import read, TABLES
from unused import KINDS, unused

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = "[project]\nname = \"{}\"\nversion = \"1.0.0\"\ndependencies = [{}]\n"
REPOSITORIES = {
    "shelf": {
        "pyproject.toml": MANIFEST.format("shelf", ""),
        "shelf/__init__.py": "from .core import Shelf, put, take\n",
        "shelf/core.py": "class Shelf:\n    def add(self, item):\n        return check(item)\n\n\ndef put(item):\n    return Shelf().add(item)\n\n\n"
                         "def take(item):\n    return check(item)\n\n\ndef forgotten():\n    return 1\n\n\ndef check(item):\n    return item\n",
    },
    "shop": {
        "pyproject.toml": MANIFEST.format("shop", "\"shelf==1.0.0\""),
        "shop/sell.py": "from shelf import put\n\n\ndef sell(item):\n    return put(item)\n\n\ndef day():\n    return sell(1) or night()\n\n\n"
                        "def night():\n    return day()\n\n\ndef alone():\n    return helper()\n\n\ndef helper():\n    return 2\n",
    },
    "house": {
        "pyproject.toml": MANIFEST.format("house", "\"shelf==1.0.0\", \"shop==1.0.0\""),
        "house/main.py": "import shelf\nfrom shop.sell import sell\n\n\ndef main():\n    return shelf.take(sell(2))\n",
    },
}


def main():
    """Compares the jobs."""
    program, scratch = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    dataset = export(program, scratch)
    rows = {name: ds.dataset(dataset / name, format="parquet").to_table().to_pylist() for name in TABLES}
    spark = cluster(scratch)
    tables = read(spark, str(dataset))
    checks = [
        ("closure", closure(tables, "cograph pip shelf 1.0.0 ", 50).select("repository", "id", "distance"), plain_closure(rows, "cograph pip shelf 1.0.0 ")),
        ("components", components(tables).select("repository", "id", "component"), plain_components(rows)),
        ("unused public API", unused(tables).select("package", "path", "name"), plain_unused(rows)),
        ("rank of packages", rank(package_edges(tables)), plain_rank(weights_of_packages(rows))),
        ("rank of symbols", rank(symbol_edges(tables)), plain_rank(weights_of_symbols(rows))),
    ]
    failures = 0
    for name, found, expected in checks:
        found = sorted(tuple(round(value, 9) if isinstance(value, float) else value for value in row) for row in found.collect())
        expected = sorted(expected)
        same = len(found) == len(expected) and all(near(one, two) for one, two in zip(found, expected))
        failures += not same
        print(f"spark: {name}: {len(found)} rows, {'as computed' if same else f'expected {len(expected)}: {difference(found, expected)}'}", flush=True)
        if not expected:
            failures += 1
            print(f"spark: {name}: nothing was compared")
    spark.stop()
    return 1 if failures else 0


def export(program, scratch):
    """The dataset."""
    dataset = scratch / "dataset"
    for place in (dataset, scratch / "sources"):
        shutil.rmtree(place, ignore_errors=True)
    for name, files in REPOSITORIES.items():
        for path, text in files.items():
            place = scratch / "sources" / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "scripts", scratch / "sources" / "scripts", ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    for name in (*REPOSITORIES, "scripts"):
        environment = {**os.environ, "COGRAPH_CACHE_DIR": str(scratch / "cache")}
        subprocess.run([program, "export", "parquet", dataset, "--name", name, "--root", scratch / "sources" / name], check=True, env=environment)
    return dataset


def cluster(scratch):
    """A session on two workers of this machine."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local-cluster[2,1,600]").appName("cograph check")
    settings = {"executor.memory": "512m", "driver.host": "127.0.0.1", "driver.bindAddress": "127.0.0.1", "ui.enabled": "false",
                "ui.showConsoleProgress": "false", "sql.shuffle.partitions": "2", "sql.adaptive.enabled": "false", "default.parallelism": "2",
                "local.dir": str(scratch / "local"), "sql.warehouse.dir": str(scratch / "warehouse"), "log.level": "ERROR"}
    for key, value in settings.items():
        builder = builder.config(f"spark.{key}", value)
    return builder.getOrCreate()


def calls_inside(rows):
    """(repository, caller, callee) of the calls inside of repositories."""
    calls = ((row["repository"], row["caller_id"], row["callee_id"]) for row in rows["calls"])
    return {call for call in calls if None not in call}


def plain_closure(rows, callee):
    """Callers of callers, breadth first."""
    callers = defaultdict(set)
    for repository, caller, called in calls_inside(rows):
        callers[repository, called].add((repository, caller))
    level = {(row["repository"], row["caller_id"]) for row in rows["calls"] if row["callee"].startswith(callee) and row["caller_id"] is not None}
    found, distance = {}, 1
    while level:
        found |= {node: distance for node in level}
        level, distance = {caller for node in level for caller in callers[node]} - found.keys(), distance + 1
    return [(*node, distance) for node, distance in found.items()]


def plain_components(rows):
    """Components by union and find."""
    parents = {}

    def find(node):
        while parents.setdefault(node, node) != node:
            node = parents[node]
        return node

    pairs = [((repository, one), (repository, two)) for repository, one, two in calls_inside(rows)]
    pairs += [((row["repository"], row["source_id"]), (row["repository"], row["target_id"])) for row in rows["relations"]]
    for one, two in pairs:
        one, two = sorted((find(one), find(two)))
        parents[two] = one
    return [(*node, find(node)[1]) for node in list(parents)]


def plain_unused(rows):
    """Public names without a use."""
    own = {(row["repository"], row["name"]) for row in rows["packages"] if row["role"] == "own"}
    uses = defaultdict(set)
    for row in rows["references"]:
        if row["target"] is not None and row["target_id"] is None:
            package = row["target"].split(" ")[2]
            if (row["repository"], package) not in own:
                uses[package].add(row["name"])
    return [(package, row["path"], row["name"]) for row in rows["symbols"] for repository, package in own
            if repository == row["repository"] and package in uses and row["exported"] and not row["test"] and row["kind"] in KINDS
            and row["name"] not in uses[package]]


def weights_of_packages(rows):
    """References from package to package."""
    weights, of_repository = defaultdict(float), defaultdict(list)
    for row in rows["packages"]:
        of_repository[row["repository"]].append((row["role"], (row["manager"], row["name"]), row["references"]))
    for packages in of_repository.values():
        for source in (node for role, node, _ in packages if role == "own"):
            for role, target, references in packages:
                if role == "used" and target != source:
                    weights[source, target] += references
    return weights


def weights_of_symbols(rows):
    """Calls from symbol to symbol."""
    return {((repository, caller), (repository, callee)): 1.0 for repository, caller, callee in calls_inside(rows)}


def plain_rank(weights):
    """PageRank by its definition."""
    nodes, totals = {node for edge in weights for node in edge}, defaultdict(float)
    for (source, _), weight in weights.items():
        totals[source] += weight
    ranks = dict.fromkeys(nodes, 1 / len(nodes))
    for _ in range(ROUNDS):
        lost = sum(rank for node, rank in ranks.items() if node not in totals)
        following = dict.fromkeys(nodes, (1 - DAMPING) / len(nodes) + DAMPING * lost / len(nodes))
        for (source, target), weight in weights.items():
            following[target] += DAMPING * ranks[source] * weight / totals[source]
        ranks = following
    return [(*node, rank) for node, rank in ranks.items()]


def near(one, two):
    """True for equal rows, numbers with fractions up to rounding."""
    return all(abs(a - b) < 1e-8 if isinstance(a, float) else a == b for a, b in zip(one, two))


def difference(found, expected):
    """Some rows that only one of them has."""
    return f"surplus {sorted(set(found) - set(expected))[:3]}, missing {sorted(set(expected) - set(found))[:3]}"


if __name__ == "__main__":
    sys.exit(main())
