"""Makes a difference small: fewer states, fewer files, fewer lines, as long as it stays, within a time."""
import difflib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import snapshots
import store
from questions import Question, comparable, difference
from snapshots import Snapshot
from world import Gone, StaysStale, World


@dataclass
class Reduced:
    """The smallest states that were found, how they were applied, and what differs then."""

    states: list[Snapshot]
    by_server: bool
    differences: list[str]


class Judge:
    """Says whether states, applied one after the other, end in an index that is not that of the last one."""

    def __init__(self, world: World, questions: list[Question], deadline: float, ordered: bool = True):
        self.world, self.questions, self.deadline, self.ordered = world, questions, deadline, ordered
        self.trials = 0

    def time_is_up(self) -> bool:
        return time.monotonic() > self.deadline

    def differences(self, states: list[Snapshot], by_server: bool) -> list[str]:
        self.trials += 1
        world = self.world
        snapshots.clear(world)
        server = None
        try:
            snapshots.put(world, {}, states[0])
            world.index("kept")
            if by_server:
                server = world.serve()
                world.ask(server, "search", {"query": "main"})
            for before, after in zip(states, states[1:]):
                snapshots.put(world, before, after)
                if server is not None:
                    world.ask(server, "search", {"query": "main"})
                else:
                    world.index("kept")
            fresh = store.read(store.newest(world.index_anew()))
            found = store.differences(store.read(store.newest(world.top / "kept")), fresh)
            return found or self._answers(server)
        except (Gone, StaysStale) as failure:
            return [f"{type(failure).__name__}: {failure}"]
        finally:
            if server is not None:
                world.kill(server)

    def _answers(self, server) -> list[str]:
        if not self.questions:
            return []
        found, world = [], self.world
        kept, fresh = server or world.serve(), world.serve("fresh")
        for question in self.questions:
            left, right = (comparable(question[0], world.ask(one, *question), self.ordered) for one in (kept, fresh))
            if left != right:
                found += difference(question, left, right)
        world.kill(fresh)
        if server is None:
            world.kill(kept)
        return found


def reduce(judge: Judge, history: list[Snapshot]) -> Reduced | None:
    """The history ends with the state in which the difference was seen. None if it cannot be had from contents alone."""
    for length in sorted({2, 3, 5, 9, len(history)}):
        for by_server in (False, True):
            states = history[-length:]
            if len(states) < 2 or judge.time_is_up():
                continue
            if judge.differences(states, by_server):
                return _smaller(judge, states, by_server)
    return None


def _smaller(judge: Judge, states: list[Snapshot], by_server: bool) -> Reduced:
    def stays(candidate: list[Snapshot]) -> bool:
        return len(candidate) >= 2 and bool(judge.differences(candidate, by_server))

    middle = _fewer(list(range(1, len(states) - 1)), lambda kept: stays([states[0], *(states[at] for at in kept), states[-1]]), judge)
    states = [states[0], *(states[at] for at in middle), states[-1]]
    paths = sorted({path for state in states for path in state})
    paths = _fewer(paths, lambda kept: stays(_only(states, set(kept))), judge)
    states = _only(states, set(paths))
    for path in paths:
        states = _fewer_lines(judge, states, path, stays)
    return Reduced(states, by_server, judge.differences(states, by_server))


def _only(states: list[Snapshot], paths: set[str]) -> list[Snapshot]:
    return [{path: entry for path, entry in state.items() if path in paths} for state in states]


def _fewer(items: list, stays: Callable[[list], bool], judge: Judge) -> list:
    """Items without parts that are not needed, halves first and single ones last."""
    size = max(1, len(items) // 2)
    while items and not judge.time_is_up():
        at, removed = 0, False
        while at < len(items) and not judge.time_is_up():
            candidate = items[:at] + items[at + size:]
            if stays(candidate):
                items, removed = candidate, True
            else:
                at += size
        if size == 1 and not removed:
            break
        size = max(1, size // 2)
    return items


def _fewer_lines(judge: Judge, states: list[Snapshot], path: str, stays) -> list[Snapshot]:
    """A file with fewer lines, in every state: a line that several states have goes from all of them."""
    entries = [state.get(path) for state in states]
    if any(entry is not None and entry[0] != "file" for entry in entries):
        return states
    # Each line, and in which states it stands.
    rows: list[tuple[bytes, set[int]]] = []
    for number, entry in enumerate(entries):
        if entry is not None:
            rows = _woven(rows, entry[1].splitlines(keepends=True), number)

    def made(kept: list[tuple[bytes, set[int]]]) -> list[Snapshot]:
        result = []
        for number, state in enumerate(states):
            if (entry := state.get(path)) is not None:
                data = b"".join(line for line, where in kept if number in where)
                state = state | {path: (entry[0], data, *entry[2:])}
            result.append(state)
        return result

    return made(_fewer(rows, lambda kept: stays(made(kept)), judge))


def _woven(rows: list[tuple[bytes, set[int]]], lines: list[bytes], number: int) -> list[tuple[bytes, set[int]]]:
    matcher = difflib.SequenceMatcher(None, [line for line, _ in rows], lines, autojunk=False)
    woven = []
    for kind, start, end, other, last in matcher.get_opcodes():
        if kind == "equal":
            woven += [(line, where | {number}) for line, where in rows[start:end]]
        else:
            woven += rows[start:end] + [(line, {number}) for line in lines[other:last]]
    return woven


def place_for_trials(world: World, top: Path) -> World:
    """A world of its own with the same programs."""
    return World(world.binary, top, min(world.patience, 15.0), world.kept_environment, world.fresh)
