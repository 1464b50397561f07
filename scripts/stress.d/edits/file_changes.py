"""Changes of how a file is written, of files and directories, of project files, and of the rules that say which files count."""
import mmap
import os
import shutil
import stat
from collections import Counter
from pathlib import Path

from tree import FUNCTION, SOURCES, WORD, Tree, change, ending_of

# Project files, and what may stand in them.
PROJECT_FILES = {
    "package.json": ['{"name": "changed", "main": "index.js", "type": "module"}\n', '{"name": "@other/changed", "exports": {".": "./src/index.ts"}}\n', "{"],
    "tsconfig.json": ['{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*", "*"]}}}\n', '{"compilerOptions": {"baseUrl": "src"}}\n', "{}\n"],
    "go.mod": ["module example.com/changed\n\ngo 1.21\n", "module other.org/m\n", "module\n"],
    "Cargo.toml": ['[package]\nname = "changed"\nversion = "0.1.0"\nedition = "2021"\n', '[workspace]\nmembers = ["*"]\n', '[lib]\npath = "lib.rs"\n'],
    "pyproject.toml": ['[project]\nname = "changed"\n\n[tool.setuptools]\npackage-dir = {"" = "src"}\n', '[project]\nname = "other"\n'],
    "setup.py": ["from setuptools import setup\nsetup(name='changed', package_dir={'': 'src'})\n", "import setuptools\n"],
    "setup.cfg": ["[metadata]\nname = changed\n[options]\npackage_dir =\n    = src\n"],
    "compile_commands.json": ['[{"directory": ".", "file": "a.c", "command": "cc -Iinclude -c a.c"}]\n'],
    "pom.xml": ["<project><artifactId>changed</artifactId></project>\n"],
}
IGNORE_FILES = [".gitignore", ".ignore", ".cographignore", ".git/info/exclude"]


# --- How a file is written.

@change(3)
def saved_by_rename(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    ending = ending_of(path)
    more = FUNCTION[ending].format(tree.new_name(), tree.name()) if ending in FUNCTION else "\n"
    temporary = tree.root / f"{path}.tmp~"
    temporary.write_bytes(tree.read(path) + more.encode())
    os.replace(temporary, tree.root / path)
    tree.touched.add(path)
    return path


@change(2)
def deleted_and_made_again(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    data = tree.read(path)
    tree.remove(path)
    tree.write(path, data if tree.rng.random() < 0.5 else data + b"\n")
    return path


def _of_the_same_size(tree: Tree, path: str) -> bytes | None:
    """Another content of the same size: one letter of a word is another one."""
    data = tree.read(path)
    words = list(WORD.finditer(data))
    if not words:
        return None
    at = tree.rng.choice(words).end() - 1
    return data[:at] + (b"q" if data[at:at + 1] != b"q" else b"z") + data[at + 1:]


@change(3)
def same_size_and_time(tree: Tree) -> str | None:
    if (path := tree.pick()) is None or (data := _of_the_same_size(tree, path)) is None:
        return None
    target = tree.root / path
    times = (target.stat().st_atime_ns, target.stat().st_mtime_ns)
    if tree.rng.random() < 0.5:
        tree.write(path, data)
        os.utime(target, ns=times)
        return f"in place, {path}"
    temporary = tree.root / f"{path}.tmp~"
    temporary.write_bytes(data)
    os.utime(temporary, ns=times)
    os.replace(temporary, target)
    tree.touched.add(path)
    return f"by rename, {path}"


@change(1)
def through_a_memory_map(tree: Tree) -> str | None:
    if (path := tree.pick()) is None or (data := _of_the_same_size(tree, path)) is None:
        return None
    with open(tree.root / path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[:] = data
        memory.flush()
    tree.touched.add(path)
    return path


@change(1)
def through_another_hard_link(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    outside = tree.world.top / "link"
    outside.unlink(missing_ok=True)
    os.link(tree.root / path, outside)
    with open(outside, "ab") as file:
        file.write(b"\n\n")
    tree.touched.add(path)
    return path


@change(1)
def time_only(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    os.utime(tree.root / path)
    return path


@change(1)
def mode_of_a_file(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    mode = stat.S_IMODE((tree.root / path).stat().st_mode)
    os.chmod(tree.root / path, mode ^ 0o111)
    return f"{path} {mode:o} to {mode ^ 0o111:o}"


# --- Files and directories.

@change(2)
def file_deleted(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    tree.remove(path)
    return path


@change(3)
def file_moves(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    target = f"{tree.rng.choice([*tree.directories(), 'moved'])}/{Path(path).name}"
    return f"{path} to {target}" if tree.rename(path, target) else None


@change(2)
def file_renamed(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    old = Path(path)
    name = tree.rng.choice([f"{old.stem}_{tree.new_name()}{old.suffix}", old.stem.swapcase() + old.suffix, f"test_{old.name}", f"{tree.name()}{old.suffix}",
                            f"{old.stem}.{tree.rng.choice(SOURCES).lstrip('.')}", f"{old.stem}.txt"])
    target = str(old.with_name(name))
    return f"{path} to {target}" if tree.rename(path, target) else None


@change(2)
def files_change_places(tree: Tree) -> str | None:
    one, other = tree.pick(), tree.pick()
    if one is None or other is None or one == other:
        return None
    between = tree.root / f"{one}.between~"
    os.rename(tree.root / one, between)
    os.rename(tree.root / other, tree.root / one)
    os.rename(between, tree.root / other)
    tree.touched |= {one, other}
    return f"{one} and {other}"


@change(2)
def file_copied(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    target = f"{tree.rng.choice([*tree.directories(), 'copied'])}/{tree.rng.choice(['', 'copy_'])}{Path(path).name}"
    if os.path.lexists(tree.root / target):
        return None
    (tree.root / target).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(tree.root / path, tree.root / target)
    tree.touched.add(target)
    return f"{path} to {target}"


@change(2)
def directory_moves(tree: Tree) -> str | None:
    found = tree.directories()
    if not found:
        return None
    old = tree.rng.choice(found)
    new = tree.rng.choice([f"{old}_{tree.new_name()}", f"{tree.rng.choice(found)}/{Path(old).name}", f"tests/{Path(old).name}", f"vendor/{Path(old).name}"])
    return f"{old} to {new}" if tree.rename(old, new) else None


@change(1)
def directory_deleted(tree: Tree) -> str | None:
    found = tree.directories()
    if len(found) < 3:
        return None
    path = tree.rng.choice(found)
    tree.touched |= {file for file in tree.files() if file.startswith(f"{path}/")}
    shutil.rmtree(tree.root / path)
    return path


@change(1)
def directory_copied(tree: Tree) -> str | None:
    files = Counter(str(parent) for file in tree.files(None) for parent in Path(file).parents)
    found = [path for path in tree.directories() if files[path] <= 12]
    if not found:
        return None
    path, new = tree.rng.choice(found), f"{tree.new_name()}/again"
    shutil.copytree(tree.root / path, tree.root / new, symlinks=True)
    tree.touched.add(new)
    return f"{path} to {new}"


@change(1)
def directory_in_place_of_a_file(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    data = tree.read(path)
    tree.remove(path)
    tree.write(f"{path}/{Path(path).name}", data)
    return path


@change(2)
def file_of_another_language(tree: Tree) -> str | None:
    ending = tree.rng.choice(list(FUNCTION))
    path = f"{tree.rng.choice([*tree.directories(), 'other'])}/{tree.new_name()}{ending}"
    tree.write(path, ("package other\n" if ending == ".go" else "").encode() + FUNCTION[ending].format(tree.name(), tree.name()).encode())
    return path


@change(1)
def file_of_no_language(tree: Tree) -> str | None:
    path = f"{tree.rng.choice([*tree.directories(), 'other'])}/{tree.new_name()}{tree.rng.choice(['.md', '', '.json', '.bin', '.sh'])}"
    tree.write(path, f"{tree.name()} is no code\n".encode() * 3)
    return path


@change(2)
def program_by_its_first_line(tree: Tree) -> str | None:
    path = f"{tree.rng.choice([*tree.directories(), 'bin'])}/{tree.new_name()}"
    tree.write(path, b"#!/usr/bin/env python3\n" + FUNCTION[".py"].format(tree.new_name(), tree.name()).encode())
    return path


@change(3)
def project_file(tree: Tree) -> str | None:
    there = [path for path in tree.files(None) if Path(path).name in PROJECT_FILES]
    if there and tree.rng.random() < 0.4:
        path = tree.rng.choice(there)
        if tree.rng.random() < 0.5:
            tree.remove(path)
            return f"{path} deleted"
    else:
        directory = tree.rng.choice([*tree.directories(), "."])
        path = os.path.normpath(f"{directory}/{tree.rng.choice(sorted(PROJECT_FILES))}")
    tree.write(path, tree.rng.choice(PROJECT_FILES[Path(path).name]).encode())
    return path


@change(2)
def symbolic_link(tree: Tree) -> str | None:
    links = sorted(str(path.relative_to(tree.root)) for path in tree.root.rglob("*") if path.is_symlink())
    if links and tree.rng.random() < 0.4:
        path = tree.rng.choice(links)
        tree.remove(path)
        return f"{path} removed"
    target, path = tree.rng.choice([tree.pick(), *tree.directories(), "nowhere"]), f"link_{tree.new_name()}"
    if target is None:
        return None
    path += Path(target).suffix
    (tree.root / path).symlink_to(target)
    tree.touched.add(path)
    return f"{path} to {target}"


@change(1)
def link_in_place_of_a_file(tree: Tree) -> str | None:
    one, other = tree.pick(), tree.pick()
    if one is None or other is None or one == other:
        return None
    tree.remove(one)
    (tree.root / one).symlink_to(tree.root / other)
    return f"{one} to {other}"


# --- Rules that say which files count.

@change(3)
def ignore_rules(tree: Tree) -> str | None:
    place = tree.rng.choice(IGNORE_FILES)
    directories = tree.directories()
    if not place.startswith(".git/") and directories and tree.rng.random() < 0.3:
        place = f"{tree.rng.choice(directories)}/{place}"
    target = tree.root / place
    lines = target.read_bytes().splitlines(keepends=True) if target.exists() else []
    if lines and tree.rng.random() < 0.5:
        del lines[tree.rng.randrange(len(lines))]
    else:
        path = tree.pick() or "none"
        name, parent = Path(path).name, Path(path).parent.name
        rule = tree.rng.choice([f"/{path}", name, f"{parent or 'build'}/", f"*{Path(path).suffix}", f"!{name}", f"!{path}"])
        lines.append(rule.encode() + b"\n")
    if lines or tree.rng.random() < 0.5:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"".join(lines))
    else:
        target.unlink(missing_ok=True)
    return f"{place}: {b' '.join(line.strip() for line in lines).decode('utf-8', 'replace')}"


@change(1)
def ignore_rules_of_the_user(tree: Tree) -> str | None:
    target = tree.world.home / ".config" / "git" / "ignore"
    if target.exists() and tree.rng.random() < 0.7:
        target.unlink()
        return "none"
    target.parent.mkdir(parents=True, exist_ok=True)
    name = Path(tree.pick() or "none").name
    target.write_text(f"{name}\n", encoding="utf-8")
    return name
