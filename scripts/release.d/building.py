"""Builds the program for a target: maturin and zig from PyPI, in the versions pinned below, into the target directory. Makes no archive."""
import os
import re
import subprocess
import sys
from pathlib import Path

from project import ROOT, Refused, Target, epoch, wheel_name

# The wheel tags of old systems and a C library of that age: zig links against the symbols of any version of glibc.
# The C library for musl of zig 0.17 allocates with an allocator of its own, also what its caller frees (`realpath`): jemalloc gets foreign memory.
TOOLS = ("maturin==1.16.0", "cargo-zigbuild==0.24.0", "ziglang==0.15.2")
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()


def tools() -> Path:
    """A folder with the tools."""
    folder = TARGET / "release-tools" / "+".join(name.replace("==", "-") for name in TOOLS)
    if not (folder / "installed").exists():
        run([sys.executable, "-m", "venv", "--clear", folder])
        run([folder / "bin" / "pip", "install", "--quiet", "--no-deps", *TOOLS])
        (folder / "installed").touch()
    return folder


def run(command: list, **options) -> None:
    command = [str(word) for word in command]
    if subprocess.run(command, **options).returncode:
        raise Refused(f"failed: {' '.join(command)}")


def environment(target: Target, tools_folder: Path) -> dict[str, str]:
    """What the build may depend on: no flags of the machine, no path of it, no time but the commit's."""
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    # The last rule that fits wins, and the target directory is below the root.
    renamed = {ROOT: "/cograph", TARGET: "/target", cargo / "registry" / "src": "/registry"}
    found = next(tools_folder.glob("lib/python*/site-packages/ziglang/zig"), None)
    if found is None:
        raise Refused(f"no zig in {tools_folder}: remove the folder, and run this again")
    of_target = target.triple.replace("-", "_")
    maps = [f"-ffile-prefix-map={path}={name}" for path, name in renamed.items()]
    # zig is called with `-g`, and then keeps frame pointers: parsers are slower with them.
    c_flags = " ".join(["-g0", "-fomit-frame-pointer", *maps])
    kept = {name: value for name, value in os.environ.items() if not re.match(r"(RUST|C|CXX|CPP|LD)FLAGS|CARGO_(BUILD|ENCODED|PROFILE|TARGET)_", name)}
    return {
        **kept,
        "CARGO_TARGET_DIR": str(TARGET),
        "CARGO_INCREMENTAL": "0",
        "SOURCE_DATE_EPOCH": str(epoch()),
        "PATH": f"{tools_folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        # The binary itself: through the Python program that starts it, the configuration of jemalloc does not end.
        "CARGO_ZIGBUILD_ZIG_PATH": str(found),
        "RUSTFLAGS": " ".join(f"--remap-path-prefix={path}={name}" for path, name in renamed.items()),
        f"CFLAGS_{of_target}": c_flags,
        f"CXXFLAGS_{of_target}": c_flags,
    }


def build(target: Target) -> Path:
    """The wheel of a target, with the program in it."""
    known = subprocess.run(["rustup", "target", "list", "--installed"], cwd=ROOT, capture_output=True, text=True)
    if known.returncode == 0 and target.triple not in known.stdout.split():
        run(["rustup", "target", "add", target.triple], cwd=ROOT)
    folder = tools()
    wheels = TARGET / "wheels" / target.triple
    for old in wheels.glob("*.whl"):
        old.unlink()
    command = [folder / "bin" / "maturin", "build", "--release", "--locked", "--zig", "--target", target.triple]
    run([*command, "--compatibility", target.compatibility, "--out", wheels], cwd=ROOT, env=environment(target, folder))
    found = list(wheels.glob(f"{wheel_name()}-*.whl"))
    if len(found) != 1:
        raise Refused(f"{wheels} has {len(found)} wheels, expected one")
    return found[0]
