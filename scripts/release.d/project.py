"""What is released: version, targets, names and the time of the commit, read from the files of the project. Builds nothing."""
import os
import platform
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "scripts" / "release.d"
LICENCES = ("LICENSE-APACHE", "LICENSE-MIT")


class Refused(Exception):
    """A reason to stop that a person can act on."""


@dataclass(frozen=True)
class Target:
    """A target of rustc, with its names elsewhere."""

    triple: str
    compatibility: str  # lowest tag of wheels
    npm: dict[str, str]  # the package and what npm selects it by

    @property
    def runs_here(self) -> bool:
        return platform.system() == "Linux" and self.triple.startswith(f"{platform.machine()}-")


def targets() -> dict[str, Target]:
    with open(HERE / "targets.toml", "rb") as file:
        return {triple: Target(triple, **entry) for triple, entry in tomllib.load(file).items()}


def manifest() -> dict:
    with open(ROOT / "Cargo.toml", "rb") as file:
        return tomllib.load(file)


def version() -> str:
    return manifest()["workspace"]["package"]["version"]


def wheel_name() -> str:
    """The name of the project on PyPI, as files have it."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["project"]["name"].replace("-", "_")


def epoch() -> int:
    """The time of everything that is released: that of the commit, or of the setting that all tools for this know."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise Refused("not a git repository: set SOURCE_DATE_EPOCH to the time of the release, in seconds since 1970")
    return int(done.stdout)


def repository() -> str | None:
    """The address of the sources, where a hosted build knows it: npm compares it with the build that the attestation names."""
    server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    return f"{server}/{name}" if server and name else None
