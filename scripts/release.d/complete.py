"""Whether a folder holds a whole release: every package of every target, of one version, none too large."""
import json
import tarfile
from pathlib import Path

from packages import unpacked_name
from project import Target, targets, version, wheel_name

MEGABYTE = 1_000_000
# A wheel that is larger is too large to be fetched for one question; the registry's own bound is four times that.
LARGEST = 25 * MEGABYTE


def npm_manifest(path: Path) -> dict:
    with tarfile.open(path) as archive:
        return json.load(archive.extractfile("package/package.json"))


def expected(target: Target, out: Path) -> dict[str, list[Path]]:
    """The archives of a target, each with the files that are it."""
    tag = f"{target.compatibility}_{target.triple.split('-')[0]}"
    npm = target.npm["package"].replace("@", "").replace("/", "-")
    return {
        f"wheel {tag}": [path for path in out.glob(f"pypi/{wheel_name()}-{version()}-py3-none-*.whl") if tag in path.stem.split("-")[-1].split(".")],
        f"npm package {target.npm['package']}": list(out.glob(f"npm/{npm}-{version()}.tgz")),
        f"tarball {target.triple}": list(out.glob(f"{unpacked_name(target)}.tar.gz")),
    }


def check(out: Path) -> int:
    found, wrong = set(), []
    wanted = {"npm package cograph": list(out.glob(f"npm/cograph-{version()}.tgz"))}
    for target in targets().values():
        wanted.update(expected(target, out))
    for name, paths in wanted.items():
        if len(paths) != 1:
            wrong.append(f"{name}: {len(paths)} files, expected one")
        found.update(paths)
    for path in sorted(found):
        size = path.stat().st_size
        print(f"{size / MEGABYTE:6.2f} MB  {path.relative_to(out)}")
        if size > LARGEST:
            wrong.append(f"{path.relative_to(out)}: {size / MEGABYTE:.1f} MB, at most {LARGEST / MEGABYTE:.0f} MB")
        if path.suffix == ".tgz":
            manifest = npm_manifest(path)
            versions = {manifest["version"], *manifest.get("optionalDependencies", {}).values()}
            if versions != {version()}:
                wrong.append(f"{path.relative_to(out)}: versions {', '.join(sorted(versions))}, expected {version()}")
    others = {path for path in out.rglob("*") if path.is_file() and path.name != "SHA256SUMS"} - found
    wrong += [f"{path.relative_to(out)}: not part of version {version()}" for path in sorted(others)]
    for line in wrong:
        print(line)
    return 1 if wrong else 0
