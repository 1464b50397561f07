"""Installs the packages of a release in roots as a user does, asks the installed program about Django, and runs the smoke test on it."""
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import building
from packages import unpacked_name
from project import ROOT, Refused, Target, targets, wheel_name
from registry import serving
from roots import NODE_BIN

PROJECT = "Django==5.1.4"
QUESTION = ["trace", "constant_time_compare", "--root", "/project"]
# Read off the source of the project, not off an answer.
FACTS = ["constant_time_compare (django/utils/crypto.py:65)", "Signer.unsign:211", "_does_token_match:157"]
COMPILERS = ["cc", "c99", "gcc", "clang", "tcc", "zig", "rustc", "cargo", "go", "make"]
# What a first answer may take, from the start of the installation.
LIMIT = 60.0

# Runs a program of a root with the working directory and environment of the caller: for the smoke test, which starts one file.
ENTER = """#!{python}
import os, sys
here = os.getcwd()
os.chroot({root!r})
os.chdir(here if os.path.isdir(here) else "/")
os.environ.pop("PWD", None)
os.environ["PATH"] = {path!r}
os.execvpe({command!r}[0], {command!r} + sys.argv[1:], os.environ)
"""
PATH = f"{NODE_BIN}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Root:
    """A root that changes only as long as the test runs, with what the test needs mounted in it."""

    def __init__(self, lower: Path, scratch: Path, mounts: dict[str, Path]):
        self.name = lower.name
        self.path = scratch / "root"
        self.variables = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", "COGRAPH_CACHE_DIR": "/tmp/cache"}
        for name in ("root", "upper", "work"):
            (scratch / name).mkdir()
        mount(["-t", "overlay", "overlay", "-o", f"lowerdir={lower},upperdir={scratch / 'upper'},workdir={scratch / 'work'}", self.path])
        mount(["-t", "proc", "proc", self.inner("/proc")])
        for inner, outer in {"/dev": Path("/dev"), **mounts}.items():
            mount(["--bind", outer, self.inner(inner)])

    def inner(self, path: str) -> Path:
        """A folder of the root, seen from outside."""
        found = self.path / path.lstrip("/")
        found.mkdir(parents=True, exist_ok=True)
        return found

    def run(self, command: list[str], **variables: str) -> str:
        environment = {**self.variables, **variables}
        done = subprocess.run(["chroot", self.path, *command], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise Refused(f"{self.name}: {' '.join(command)} ended with {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
        return done.stdout

    def has(self, program: str) -> bool:
        return any((self.path / folder.lstrip("/") / program).is_symlink() or (self.path / folder.lstrip("/") / program).exists()
                   for folder in PATH.split(":"))


def mount(arguments: list) -> None:
    done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise Refused(f"mount {' '.join(map(str, arguments))}: {done.stderr.strip()}")


def target_of(root: Root) -> Target:
    """The target that fits a root: by its C library."""
    library = "musl" if (root.path / "lib" / f"ld-musl-{platform.machine()}.so.1").exists() else "gnu"
    return targets()[f"{platform.machine()}-unknown-linux-{library}"]


def wheel(root: Root, out: Path, _address: str):
    if root.has("python3"):
        root.run(["python3", "-m", "venv", "/opt/try"])
        root.run(["/opt/try/bin/pip", "install", "--quiet", "--no-index", "--find-links", "/dist/pypi", wheel_name().replace("_", "-")])
        return ["/opt/try/bin/cograph"], ["/opt/try/bin/cograph"]
    # No Python in this root: pip outside selects the wheel by the tag of the platform, and unpacks it.
    tag = f"{target_of(root).compatibility}_{platform.machine()}"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--find-links", out / "pypi", "--only-binary", ":all:",
               "--platform", tag, "--target", root.inner("/opt/try"), wheel_name().replace("_", "-")]
    if subprocess.run(command).returncode:
        raise Refused(f"{root.name}: pip found no wheel for {tag}")
    return ["/opt/try/bin/cograph"], ["/opt/try/bin/cograph"]


def uvx(root: Root, _out: Path, _address: str):
    if not root.has("uvx"):
        return None
    command = ["uvx", "--offline", "--no-index", "--find-links", "/dist/pypi", "--from", wheel_name().replace("_", "-"), "cograph"]
    return command, command


def npx(root: Root, _out: Path, address: str):
    root.variables.update({"npm_config_registry": address, "npm_config_update_notifier": "false"})

    def resident() -> list[str]:
        """A client that starts the server does not wait for npm each time: it has the launcher, installed globally."""
        root.run(["npm", "install", "--global", "--silent", "cograph"])
        return ["cograph"]

    return ["npx", "--yes", "cograph"], resident


def tarball(root: Root, _out: Path, _address: str):
    name = unpacked_name(target_of(root))
    root.run(["tar", "-x", "-z", "-f", f"/dist/{name}.tar.gz", "-C", "/opt"])
    return [f"/opt/{name}/cograph"], [f"/opt/{name}/cograph"]


KINDS = {"wheel": wheel, "uvx": uvx, "npx": npx, "tarball": tarball}


def smoke(root: Root, command: list[str], scratch: Path) -> None:
    """The burst of a real client, on the installed program."""
    enter = scratch / "enter"
    enter.write_text(ENTER.format(python=sys.executable, root=str(root.path), path=PATH, command=command))
    enter.chmod(0o755)
    environment = {**os.environ, **root.variables, "PATH": os.environ["PATH"], "TMPDIR": str(scratch / "shared")}
    done = subprocess.run([ROOT / "scripts" / "clients", "startup", enter], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise Refused(f"{root.name}: the smoke test fails on {' '.join(command)}\n{(done.stdout + done.stderr)[-2000:]}")


def one(lower: Path, kind: str, out: Path, project: Path, address: str) -> str:
    """Installs, asks and tests; gives what it took."""
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        scratch = Path(folder)
        (scratch / "shared").mkdir()
        # The same path inside and outside: the smoke test makes folders and names them to the program.
        root = Root(lower, scratch, {"/dist": out, "/project": project, str(scratch / "shared"): scratch / "shared"})
        try:
            present = [name for name in COMPILERS if root.has(name)]
            if present:
                raise Refused(f"{root.name} has {', '.join(present)}: what is tested is a system without compilers")
            start = time.monotonic()
            installed = KINDS[kind](root, out, address)
            if installed is None:
                return "not in this root"
            command, resident = installed
            ready = time.monotonic()
            answer = root.run([*command, *QUESTION])
            end = time.monotonic()
            missing = [fact for fact in FACTS if fact not in answer]
            if missing:
                raise Refused(f"{root.name}, {kind}: the answer lacks {', '.join(missing)}:\n{answer[:2000]}")
            if end - start > LIMIT:
                raise Refused(f"{root.name}, {kind}: {end - start:.1f} s to the first answer")
            smoke(root, resident() if callable(resident) else resident, scratch)
            return f"installed {ready - start:.1f} s, first answer after {end - start:.1f} s, smoke test ok"
        finally:
            subprocess.run(["umount", "--recursive", root.path], capture_output=True)


def fetched() -> Path:
    """The project of the queries, from PyPI."""
    folder = building.TARGET / "release-project"
    if not folder.exists():
        with tempfile.TemporaryDirectory() as scratch:
            building.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", scratch, PROJECT])
            [archive] = Path(scratch).glob("*.tar.gz")
            with tarfile.open(archive) as inner:
                inner.extractall(scratch)
            [unpacked] = [path for path in Path(scratch).iterdir() if path.is_dir()]
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(unpacked, folder)
    return folder


def test(out: Path, roots: list[Path], kinds: list[str], project: Path | None) -> int:
    if os.geteuid():
        raise Refused("roots are entered by the superuser")
    if "RELEASE_MOUNTS" not in os.environ:
        # Mounts of the test are its own, and end with it.
        os.environ["RELEASE_MOUNTS"] = "own"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.orig_argv[1:]])
    out, project = out.absolute(), (project or fetched()).resolve()
    failed = 0
    with serving(out / "npm") as address:
        for lower in roots:
            for kind in kinds:
                try:
                    print(f"{lower.name:10} {kind:8} {one(lower.absolute(), kind, out, project, address)}", flush=True)
                except Refused as refused:
                    failed += 1
                    print(f"{lower.name:10} {kind:8} FAILED: {refused}", flush=True)
    return 1 if failed else 0
