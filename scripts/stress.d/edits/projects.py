"""Where repositories come from: slices of what is on every machine that builds this program, or directories that are named; each
is copied, with a history of commits."""
import os
import random
import shutil
import subprocess
import sysconfig
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from base import ROOT
from world import World

# A slice holds so much at most: a comparison indexes all of it.
SLICE_FILES, SLICE_BYTES = 40, 60_000
COMMITS = 6


@dataclass(frozen=True)
class Project:
    """A repository to work on: `fill` puts it into a world, with its commits."""

    name: str
    fill: Callable[[World, random.Random], None]


def slices() -> list[Project]:
    """The projects of the short form: every language, and nothing that has to be fetched."""
    found = [Project("cograph", lambda world, rng: own_history(world, "src/store", "src/source", "Cargo.toml"))]
    stdlib = Path(sysconfig.get_paths()["stdlib"])
    for name, root, parts, endings in [
        ("python", stdlib, ["json", "email", "concurrent"], (".py",)),
        ("rust", _crate("ignore"), ["src", "Cargo.toml"], (".rs", ".toml")),
        ("c", _crate("tree-sitter"), ["src"], (".c", ".h")),
        ("c++", _newest(Path("/usr/include/c++").glob("*/ext/pb_ds")), ["."], (".hpp",)),
        ("javascript", _newest(Path("/usr").glob("*/node_modules/npm/lib")), ["."], (".js",)),
    ]:
        if root is not None and root.is_dir():
            found.append(Project(name, _filler(root, parts, endings, fixtures=[name.replace("c++", "cpp")])))
    # Every language whose references are read.
    for name in ("typescript", "tsx", "javascript", "go", "java", "cpp", "c", "python", "rust", *_shared()):
        wanted = [name] if name != "tsx" else ["tsx", "typescript"]
        found.append(Project(f"{name} fixtures", _filler(None, [], (), fixtures=wanted)))
    everything = sorted(path.name for path in (ROOT / "grammars").iterdir() if (path / "fixtures").is_dir())
    found.append(Project("all fixtures", _filler(None, [], (), fixtures=everything)))
    return found


def directories(paths: list[Path]) -> list[Project]:
    """Whole projects. One that is a git repository is cloned."""
    return [Project(path.name, lambda world, rng, path=path: _all_files(world, path, rng)) for path in paths]


def _shared() -> list[str]:
    """The languages of the shared tier."""
    manifests = sorted((ROOT / "grammars").glob("*/grammar.toml"))
    return [path.parent.name for path in manifests if tomllib.loads(path.read_text()).get("tier") == "shared"]


def _crate(name: str) -> Path | None:
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    return _newest(path for path in home.glob(f"registry/src/*/{name}-[0-9]*"))


def _newest(paths) -> Path | None:
    return max(paths, default=None)


def _filler(root: Path | None, parts: list[str], endings: tuple[str, ...], fixtures: list[str]):
    def fill(world: World, rng: random.Random) -> None:
        files: dict[str, bytes] = {}
        for part in parts:
            start = root / part
            below = [start] if start.is_file() else sorted(path for path in start.rglob("*") if path.name.endswith(endings))
            for path in below:
                if len(files) < SLICE_FILES and path.is_file() and not path.is_symlink() and path.stat().st_size <= SLICE_BYTES:
                    files[str(path.relative_to(root))] = path.read_bytes()
        for language in fixtures:
            files |= fixture_sources(language)
        _synthetic_history(world, files, rng)

    return fill


def fixture_sources(language: str) -> dict[str, bytes]:
    """The sources of a language's fixtures, each fixture in a directory of its own."""
    files: dict[str, bytes] = {}
    for fixture in sorted((ROOT / "grammars" / language / "fixtures").glob("*.txt")):
        path = None
        for line in fixture.read_bytes().splitlines(keepends=True):
            if line.startswith(b"//- "):
                path = f"{language}/{fixture.stem}/{line[4:].strip().decode().lstrip('/')}"
                files[path] = b""
            elif line.startswith(b"//= "):
                path = None
            elif path is not None:
                files[path] += line
    return files


def _begin(world: World) -> None:
    world.git("init", "-q", "-b", "main")


def _commit(world: World, message: str) -> None:
    world.git("add", "-A", "-f")
    world.git("commit", "-q", "--allow-empty", "-m", message)


def _put(world: World, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        target = world.repo / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _synthetic_history(world: World, files: dict[str, bytes], rng: random.Random) -> None:
    """Commits that each bring some of the files, and change some that were there: of these the earlier commits have a part."""
    _begin(world)
    names = sorted(files)
    rng.shuffle(names)
    parts = {name: rng.sample(range(COMMITS), k=2) for name in names}
    for turn in range(COMMITS):
        present: dict[str, bytes] = {}
        for name in names:
            first, second = sorted(parts[name])
            if turn >= second or turn == COMMITS - 1:
                present[name] = files[name]
            elif turn >= first:
                lines = files[name].splitlines(keepends=True)
                present[name] = b"".join(lines[: max(1, len(lines) // 2)])
        _put(world, present)
        _commit(world, f"part {turn + 1}")


def own_history(world: World, *parts: str) -> None:
    """The last commits of this repository that changed some of its parts, as far as the check-out has them."""
    log = ["git", "-C", str(ROOT), "log", "--format=%H", f"-{COMMITS}", "--", *parts]
    commits = subprocess.run(log, capture_output=True, text=True, check=False).stdout.split()
    _begin(world)
    for commit in reversed(commits):
        for part in parts:
            shutil.rmtree(world.repo / part, ignore_errors=True)
        with subprocess.Popen(["git", "-C", str(ROOT), "archive", commit, *parts], stdout=subprocess.PIPE) as archive:
            subprocess.run(["tar", "-x", "-C", str(world.repo)], stdin=archive.stdout, check=True)
        _commit(world, commit[:12])
    if not commits:
        _put(world, {str(path.relative_to(ROOT)): path.read_bytes() for part in parts for path in _files_below(ROOT / part)})
        _commit(world, "all")


def _files_below(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(found for found in path.rglob("*") if found.is_file())


def _all_files(world: World, path: Path, rng: random.Random) -> None:
    inside = subprocess.run(["git", "-C", str(path), "rev-parse", "--show-prefix"], capture_output=True, text=True, check=False)
    if inside.returncode == 0 and not inside.stdout.strip():
        world.repo.rmdir()
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(path), str(world.repo)], check=True)
        world.git("checkout", "-q", "-B", "main")
        return
    files = {str(found.relative_to(path)): found.read_bytes() for found in _files_below(path)
             if not found.is_symlink() and ".git" not in found.relative_to(path).parts}
    _synthetic_history(world, files, rng)
