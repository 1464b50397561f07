"""The kept index compared with one that is made anew in an empty cache: all rows, what is left out, and answers to questions."""
import multiprocessing
import random
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import questions
import store
from judge import BUSY
from world import World

# A larger store is not held in memory.
MOST_BYTES = 100 << 20


def left_out(path: Path) -> set[str]:
    """Files that a store leaves out because a process died or was too slow at them."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=20)
    try:
        return {name for (name,) in connection.execute("SELECT path FROM files WHERE skipped LIKE 'quarantined%'")}
    finally:
        connection.close()


def has(path: Path, name: str, file: str) -> bool:
    """Whether a store has a symbol in a file."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=20)
    try:
        return connection.execute("SELECT 1 FROM symbols WHERE name = ? AND path = ?", (name, file)).fetchone() is not None
    finally:
        connection.close()


def rows(kept: Path, fresh: Path) -> list[str]:
    """What two stores do not say alike."""
    found = [f"left out although nothing is wrong with it: {path}" for path in sorted(left_out(kept) - left_out(fresh))[:8]]
    if max(path.stat().st_size for path in (kept, fresh)) <= MOST_BYTES:
        return found + store.differences(store.read(kept), store.read(fresh))
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        left, right = pool.map(store.digests, (kept, fresh))
    return found + [f"{name}: {left.get(name, (0, 0))[0]} rows in the kept store and {right.get(name, (0, 0))[0]} in the fresh one, not the same"
                    for name in sorted(left.keys() | right.keys()) if left.get(name) != right.get(name)]


def answers(world: World, server, rng: random.Random, content: store.Content, before: store.Content, touched: set[str]) -> tuple[int, list[str]]:
    """Asks the server that knows the kept index and one that knows the fresh one. Gives how many questions, and what differs."""
    asked, found = questions.sample(rng, content, before, touched), []
    other = world.serve("fresh")
    try:
        for question in asked:
            left, right = world.ask(server, *question), world.ask(other, *question)
            if any(answer.error and BUSY.search(answer.text) for answer in (left, right)):
                continue  # it was not answered in time
            told = [questions.comparable(question[0], answer, ordered=False) for answer in (left, right)]
            if told[0] != told[1]:
                found += questions.difference(question, *told)
    finally:
        world.kill(other)
    return len(asked), found
