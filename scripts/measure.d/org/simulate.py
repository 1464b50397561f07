"""An organisation of many repositories, made from the exported tables of a few: each is a run of files of one of them with its rows, whose
packages and versions are renamed. Symbols of files outside of the run become those of libraries, which are repositories as well."""
import json
import multiprocessing
import os
import random
import shutil
import zlib
from collections import Counter
from pathlib import Path

import numpy
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

TABLES = ("repositories", "files", "symbols", "references", "calls", "imports", "relations", "packages")
BUCKETS = 64
# As in the exporter: columns without a dictionary have one of these encodings.
ENCODINGS = {"string": "DELTA_BYTE_ARRAY", "int64": "DELTA_BINARY_PACKED"}
PAGE_ROWS, GROUP_ROWS, LEVEL, FALSE_POSITIVES = 1 << 13, 1 << 17, 6, 0.01
# Every tenth repository is a library; a repository uses some of those of its tree.
LIBRARY_SHARE, LIBRARIES_USED, VERSIONS = 10, 5, 12
SPREAD = 1.0


class Symbols:
    """A column of SCIP symbols: numbers of distinct texts, and these in two parts, package and descriptors."""

    def __init__(self, column):
        encoded = column.combine_chunks().dictionary_encode()
        self.numbers = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(numpy.int64)
        texts = encoded.dictionary.to_pylist()
        self.parts = [split(text) for text in texts]


def groups(file):
    """The row groups of a file."""
    return (file.metadata.row_group(at) for at in range(file.metadata.num_row_groups))


def split(text):
    """Manager, name, version and descriptors of a SCIP symbol; none and the text for a local one."""
    if text.startswith("local "):
        return None, text
    masked = text.replace("  ", "\0").split(" ", 4)
    return tuple(masked[1:4]), masked[4].replace("\0", "  ")


def joined(package, descriptors):
    """The text of a SCIP symbol."""
    return descriptors if package is None else f"cograph {' '.join(package)} {descriptors}".replace("\0", "  ")


class Template:
    """Rows of an exported repository, in the order of its files."""

    def __init__(self, directory):
        self.name = Path(directory).name
        self.schemas, self.metadata, self.sorting, self.encodings = {}, {}, {}, {}
        tables = {}
        for name in TABLES:
            file = pq.ParquetFile(next(Path(directory).glob(f"{name}/*/*.parquet")))
            tables[name] = file.read()
            self.schemas[name], self.metadata = file.schema_arrow, file.metadata.metadata
            self.encodings[name] = {field.name: ENCODINGS[str(field.type)] for at, field in enumerate(file.schema_arrow)
                                    if str(field.type) in ENCODINGS and not any(group.column(at).has_dictionary_page for group in groups(file))}
            self.sorting[name] = file.metadata.row_group(0).sorting_columns if file.metadata.num_row_groups else ()
        self.version = tables["repositories"]["version"][0].as_py()
        self.own = {(row["manager"], row["name"]) for row in tables["packages"].to_pylist() if row["role"] == "own"}
        places = {path: place for place, path in enumerate(tables["files"]["path"].to_pylist())}
        size = len(places)
        ids = tables["symbols"]["id"].to_numpy()
        self.file_of_id = numpy.full(int(ids.max()) + 1, -1, dtype=numpy.int64)
        file_of_row = {"symbols": places_of(tables["symbols"], places), "imports": places_of(tables["imports"], places)}
        self.file_of_id[ids] = file_of_row["symbols"]
        file_of_row["relations"] = self.file_of_id[tables["relations"]["source_id"].to_numpy()]
        for name in ("references", "calls"):
            file_of_row[name] = places_of(tables[name], places)
        self.rows, self.starts = {"files": tables["files"]}, {"files": numpy.arange(size + 1)}
        for name, found in file_of_row.items():
            order = numpy.argsort(found, kind="stable")
            self.rows[name] = tables[name].take(pa.array(order)).combine_chunks()
            self.starts[name] = numpy.searchsorted(found[order], numpy.arange(size + 1))
        self.texts = {(name, column): Symbols(self.rows[name][column])
                      for name, column in (("symbols", "symbol"), ("references", "target"), ("calls", "callee"), ("calls", "caller"))}
        self.targets = {name: self.files_of(self.rows[name][column]) for name, column in (("references", "target_id"), ("calls", "callee_id"))}
        self.lines = {name: self.rows[name]["line"].to_numpy() for name in ("references", "calls")}
        self.size = size

    def files_of(self, column):
        """File of each symbol by key; -1 for none."""
        keys = column.combine_chunks().fill_null(-1).to_numpy(zero_copy_only=False)
        return numpy.where(keys < 0, -1, self.file_of_id[keys])

    def run(self, chance, references):
        """First and last file of a run that has as many references."""
        starts = self.starts["references"]
        first = int(chance.random() * self.size)
        if starts[-1] - starts[first] < references:
            first = int(numpy.searchsorted(starts, max(0, starts[-1] - references)))
            first = min(first, self.size - 1)
        last = int(numpy.searchsorted(starts, starts[first] + references))
        return first, min(max(last, first + 1), self.size)


def places_of(table, places):
    """The position of each row's file."""
    return numpy.fromiter((places[path] for path in table["path"].to_pylist()), dtype=numpy.int64, count=table.num_rows)


def zipf(chance, size):
    """A number below `size`: the n-th is drawn in proportion to 1/n."""
    return min(int(size ** chance.random()), size) - 1 if size > 1 else 0


def version_of(number):
    """The n-th newest version of a package."""
    return f"{1 + (VERSIONS - number) // 4}.{(VERSIONS - number) % 4}.0"


class Organisation:
    """What all repositories are, before their rows are made."""

    def __init__(self, templates, size, references):
        self.templates, self.repositories = templates, []
        libraries = max(len(templates), size // LIBRARY_SHARE)
        self.libraries = [[] for _ in templates]
        for number in range(size):
            chance = random.Random(number)
            kind = number % len(templates) if number < libraries else zipf(chance, len(templates))
            wanted = chance.lognormvariate(numpy.log(references) - SPREAD ** 2 / 2, SPREAD)
            files = templates[kind].run(chance, int(max(50, min(wanted, 50 * references))))
            own = f"lib-{number:05}" if number < libraries else f"service-{number:05}"
            if number < libraries:
                self.libraries[kind].append((own, files))
            self.repositories.append((f"team-{number % 97:02}/{own}", own, kind, files))

    def write(self, directory, number):
        """Writes the tables of a repository. Gives its number of references."""
        repository, own, kind, files = self.repositories[number]
        return Repository(self.templates[kind], self.libraries[kind], repository, own, files, random.Random(-number - 1)).write(directory)


class Repository:
    """One repository: a run of files of a template, under other names."""

    def __init__(self, template, libraries, repository, own, files, chance):
        self.template, self.repository, self.own, self.chance = template, repository, own, chance
        self.first, self.last = files
        self.own_version = version_of(0)
        self.used = [libraries[zipf(chance, len(libraries))] for _ in range(LIBRARIES_USED)]
        self.versions, self.uses = {}, Counter()

    def rows(self, name):
        """Rows of the files, and their range in the template's."""
        starts = self.template.starts[name]
        first, last = int(starts[self.first]), int(starts[self.last])
        return self.template.rows[name].slice(first, last - first), slice(first, last)

    def package(self, package, file):
        """The package that a symbol of the template belongs to here; `file` is its file in the template, -1 outside."""
        if package is None:
            return None
        manager, name, version = package
        if (manager, name) in self.template.own:
            if file < 0 or self.first <= file < self.last:
                return manager, self.own, self.own_version
            covering = (name for name, (first, last) in self.used if first <= file < last)
            name = next(covering, self.used[0][0])
        elif name in (".", "") or version in (".", ""):
            return package
        if name == self.own:
            return manager, name, self.own_version
        if name not in self.versions:
            self.versions[name] = version_of(zipf(self.chance, VERSIONS))
        return manager, name, self.versions[name]

    def symbols(self, name, column, range_, counted=False):
        """Texts of a column of SCIP symbols, by number of row, -1 for none; and the distinct ones in order."""
        all_ = self.template.texts[name, column]
        numbers = all_.numbers[range_]
        targets = self.template.targets[name][range_] if column in ("target", "callee") else None
        distinct, first, back = numpy.unique(numbers, return_index=True, return_inverse=True)
        texts = []
        for number, at in zip(distinct.tolist(), first.tolist()):
            if number < 0:
                texts.append(None)
                continue
            package, descriptors = all_.parts[number]
            texts.append(joined(self.package(package, -1 if targets is None else int(targets[at])), descriptors))
        if counted:
            for text, count in zip(texts, numpy.bincount(back).tolist()):
                package = text and split(text)[0]
                if package and package[1:2] not in ((".",), (self.own,)):
                    self.uses[package] += count
        return texts, back

    def sorted_rows(self, name, column, key):
        """Rows in the order of their targets, with these; keys of symbols outside of the repository are null."""
        rows, range_ = self.rows(name)
        texts, back = self.symbols(name, column, range_, counted=name == "references")
        ranks = {text: rank for rank, text in enumerate(sorted(text for text in set(texts) if text is not None))}
        by_number = numpy.array([ranks.get(text, len(ranks)) for text in texts] or [0])
        order = numpy.argsort(by_number[back], kind="stable")
        found = self.template.targets[name][range_]
        is_inside = (found >= self.first) & (found < self.last)
        keys = rows[key].combine_chunks().fill_null(-1).to_numpy(zero_copy_only=False)
        columns = {column: pa.array(texts, pa.string()).take(pa.array(back[order])),
                   key: pa.array(keys[order], mask=~is_inside[order])}
        if name == "calls":
            callers, of_row = self.symbols(name, "caller", range_)
            columns["caller"] = pa.array(callers, pa.string()).take(pa.array(of_row[order]))
        return rows.take(pa.array(order)), columns

    def write(self, directory):
        """Writes all tables."""
        counts = {}
        for name in ("files", "imports", "relations"):
            counts[name] = self.table(directory, name, *self.unchanged(name))
        rows, range_ = self.rows("symbols")
        texts, back = self.symbols("symbols", "symbol", range_)
        counts["symbols"] = self.table(directory, "symbols", rows, {"symbol": pa.array(texts, pa.string()).take(pa.array(back))})
        counts["references"] = self.table(directory, "references", *self.sorted_rows("references", "target", "target_id"))
        self.table(directory, "calls", *self.sorted_rows("calls", "callee", "callee_id"))
        own = {(manager, self.own, self.own_version): 0 for manager, _ in self.template.own}
        packages = [(package, "own", count) for package, count in own.items()] + [(package, "used", count) for package, count in self.uses.items()]
        packages.sort(key=lambda one: (one[0], one[1]))
        self.rows_of(directory, "packages", [
            (self.repository, manager, name, None if version in (".", "") else version, role, count)
            for (manager, name, version), role, count in packages])
        revision = f"{xxhash.xxh3_128_hexdigest(self.repository.encode())}{zlib.crc32(self.repository.encode()):08x}"
        self.rows_of(directory, "repositories", [
            (self.repository, revision, counts["files"], counts["symbols"], counts["references"], self.template.version)])
        return counts["references"]

    def unchanged(self, name):
        """Rows whose columns stay, but for relations that lead out of the repository."""
        rows, _ = self.rows(name)
        if name == "relations":
            files = self.template.file_of_id[rows["target_id"].to_numpy()]
            rows = rows.filter(pa.array((files >= self.first) & (files < self.last)))
        return rows, {}

    def rows_of(self, directory, name, rows):
        """Writes rows given as tuples."""
        schema = self.template.schemas[name]
        columns = list(zip(*rows)) if rows else [[] for _ in schema]
        table = pa.table([pa.array(column, field.type) for column, field in zip(columns, schema)], schema=schema)
        self.put(directory, name, table)

    def table(self, directory, name, rows, columns):
        """Writes rows with some columns replaced."""
        schema, count = self.template.schemas[name], rows.num_rows
        columns = {"repository": pa.repeat(pa.scalar(self.repository, pa.string()), count), **columns}
        self.put(directory, name, pa.table([columns.get(field.name, rows[field.name]) for field in schema], schema=schema))
        return count

    def put(self, directory, name, table):
        """Writes a file as the exporter does."""
        bucket = xxhash.xxh3_64_intdigest(self.repository.encode()) % BUCKETS
        folder = directory / name / f"bucket={bucket:02}"
        folder.mkdir(parents=True, exist_ok=True)
        encodings, sorting = self.template.encodings[name], self.template.sorting[name]
        blooms = {table.schema.names[one.column_index]: {"ndv": max(1, min(table.num_rows, GROUP_ROWS)), "fpp": FALSE_POSITIVES} for one in sorting}
        path = folder / (self.repository.replace("/", "%2F") + ".parquet")
        options = {"compression": "zstd", "compression_level": LEVEL, "version": "2.6", "store_schema": False,
                   "use_dictionary": [one for one in table.schema.names if one not in encodings], "column_encoding": encodings or None,
                   "write_page_index": True, "max_rows_per_page": PAGE_ROWS, "sorting_columns": list(sorting) or None,
                   "bloom_filter_options": blooms or None}
        with pq.ParquetWriter(path, table.schema, **options) as writer:
            writer.write_table(table, row_group_size=GROUP_ROWS)
            writer.add_key_value_metadata(self.template.metadata)


def organisation(directories, dataset, size, references):
    """Makes an organisation of `size` repositories, unless it was made before. Gives its sums and the parameters of the questions."""
    about = dataset.with_suffix(".json")
    if not about.exists():
        temporary = dataset.with_suffix(".partial")
        shutil.rmtree(temporary, ignore_errors=True)
        whole = Organisation([Template(directory) for directory in directories], size, references)
        workers = os.cpu_count() or 1
        with multiprocessing.get_context("fork").Pool(workers, initializer=start, initargs=(whole, temporary)) as pool:
            found = pool.map(write_one, range(size), chunksize=50)
        shutil.rmtree(dataset, ignore_errors=True)
        temporary.rename(dataset)
        files = [path.stat().st_size for path in dataset.glob("*/*/*.parquet")]
        about.write_text(json.dumps({"references": sum(found), "files": len(files), "MB": round(sum(files) / 1e6, 1)}), encoding="utf-8")
    return json.loads(about.read_text(encoding="utf-8"))


STATE = []


def start(*state):
    """What a worker writes, and where."""
    pa.set_cpu_count(1)
    STATE[:] = state


def write_one(number):
    """Writes a repository in a worker."""
    whole, directory = STATE
    return whole.write(directory, number)
