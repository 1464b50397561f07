"""The program that is measured: what it exports and answers for one project, in a cache of its own."""

import contextlib
import glob
import json
import os
import sqlite3
import subprocess

from base import with_cache

class ProgramError(Exception):
    """The program did not answer; the message has what it said."""


class Program:
    """One build of the program. `cache` is where its indexes go."""

    def __init__(self, binary, cache):
        self.binary = binary
        self.environment = with_cache(cache)

    def version(self):
        """What it calls itself."""
        return self._run(["--version"]).strip()

    def export(self, root, path):
        """Indexes a project and writes the call edges of that index, from which `trace` answers too, one JSON object a line."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            self._run(["export", "calls", "--root", root], file)

    def query(self, root, statement):
        """The rows of a SELECT."""
        reply = json.loads(self._run(["sql", "--root", root, "--json", statement]))
        if reply["stopped_by"]:
            raise ProgramError(f"{root}: the answer is not whole: {reply['stopped_by']}: {statement[:200]}")
        return reply["rows"]

    def every_row(self, root, statement):
        """The rows of a SELECT over the views of the store itself, however many."""
        self._run(["index", root])
        for path in glob.glob(os.path.join(self.environment["COGRAPH_CACHE_DIR"], "*", "v*.db")):
            with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
                if store.execute("SELECT root FROM meta").fetchone()[0] == os.path.realpath(root).encode():
                    return store.execute(statement).fetchall()
        raise ProgramError(f"{root}: there is no store")

    def trace(self, root, symbol):
        """The text that answers who calls a symbol, as a client of the server gets it."""
        return self._run(["trace", "--root", root, symbol], allowed=(0, 1))

    def trace_as_json(self, root, symbols):
        """What says who calls each of several symbols."""
        said = self._run(["trace", "--root", root, "--json", *symbols], allowed=(0, 1))
        return json.loads(said) if said.strip() else {}

    def _run(self, arguments, stdout=subprocess.PIPE, allowed=(0,)):
        done = subprocess.run([self.binary, *arguments], env=self.environment, stdout=stdout, stderr=subprocess.PIPE, text=True)
        if done.returncode not in allowed:
            raise ProgramError(f"{' '.join(arguments[:4])} ended with {done.returncode}: {done.stderr.strip()[-600:]}")
        return done.stdout
