"""The archives of a release, made from a built program: wheel, packages of npm, tarball. Builds no program."""
import base64
import hashlib
import json
import os
import subprocess
import tempfile
from pathlib import Path

from archives import Entry, tarball, zip_entries, zipped
from project import HERE, LICENCES, ROOT, Refused, Target, epoch, repository, targets, version

SHELLS = {"bash": "cograph.bash", "zsh": "_cograph", "fish": "cograph.fish", "elvish": "cograph.elv", "powershell": "cograph.ps1"}
THIRD_PARTY = "LICENSES-THIRD-PARTY.txt"
TEMPLATES = HERE / "npm"


def licences() -> dict[str, Entry]:
    return {name: Entry.of(ROOT / name) for name in LICENCES}


def json_entry(value: dict) -> Entry:
    return Entry((json.dumps(value, indent=2) + "\n").encode())


def npm_archive(out: Path, manifest: dict, entries: dict[str, Entry]) -> Path:
    """A package as `npm publish` takes it: everything below `package/`."""
    path = out / "npm" / f"{manifest['name'].replace('@', '').replace('/', '-')}-{manifest['version']}.tgz"
    entries = {"package.json": json_entry(manifest), **entries}
    tarball(path, {f"package/{name}": entry for name, entry in entries.items()}, epoch())
    return path


def template() -> dict:
    manifest = json.loads((TEMPLATES / "package.json").read_text(encoding="utf8"))
    address = {"repository": {"type": "git", "url": f"git+{repository()}.git"}} if repository() else {}
    return {**manifest, "version": version(), **address}


def npm_launcher(out: Path) -> Path:
    """The package that people name: the launcher, and one optional dependency for each target."""
    manifest = {**template(), "optionalDependencies": {target.npm["package"]: version() for target in targets().values()}}
    files = {"launcher.js": Entry((TEMPLATES / "launcher.js").read_bytes(), executable=True), "README.md": Entry.of(TEMPLATES / "README.md")}
    return npm_archive(out, manifest, {**files, **licences()})


def npm_platform(out: Path, target: Target, program: Entry, third_party: bytes) -> Path:
    """The package with the program for a target; npm installs it on that platform only."""
    common = {key: value for key, value in template().items() if key in ("version", "license", "repository")}
    manifest = {
        "name": target.npm["package"], **common, "description": f"The cograph program for {target.triple}",
        "os": [target.npm["os"]], "cpu": [target.npm["cpu"]], "libc": [target.npm["libc"]], "preferUnplugged": True,
    }
    readme = (TEMPLATES / "platform.md").read_text(encoding="utf8").format(package=target.npm["package"], target=target.triple)
    files = {"bin/cograph": program, "README.md": Entry(readme.encode()), THIRD_PARTY: Entry(third_party)}
    return npm_archive(out, manifest, {**files, **licences()})


def manual(program: Path) -> dict[str, Entry]:
    """Man pages and completions, which the program itself describes."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch())}
        done = subprocess.run([ROOT / "scripts" / "release", "man", program, folder], env=environment, capture_output=True, text=True)
        if done.returncode:
            raise Refused(f"scripts/release man {program}: {done.stderr.strip()}")
        pages = {f"man/{path.name}": Entry.of(path) for path in Path(folder).iterdir()}
    completions = {}
    for shell, name in SHELLS.items():
        done = subprocess.run([program, "completions", shell], capture_output=True)
        if done.returncode:
            raise Refused(f"{program} completions {shell}: {done.stderr.decode(errors='replace').strip()}")
        completions[f"completions/{name}"] = Entry(done.stdout)
    return {**pages, **completions}


def unpacked_name(target: Target) -> str:
    return f"cograph-{version()}-{target.triple}"


def program_archive(out: Path, target: Target, program: Entry, third_party: bytes, pages: dict[str, Entry]) -> Path:
    """The program with what belongs to it, to be unpacked anywhere."""
    documents = {name: Entry.of(ROOT / name) for name in ("README.md", "CHANGELOG.md")}
    files = {"cograph": program, THIRD_PARTY: Entry(third_party), **documents, **licences(), **pages}
    name = unpacked_name(target)
    path = out / f"{name}.tar.gz"
    tarball(path, {f"{name}/{inner}": entry for inner, entry in files.items()}, epoch())
    return path


def program_in(wheel: Path) -> Entry:
    """The program of a wheel."""
    found = [entry for name, entry in zip_entries(wheel).items() if name.endswith(".data/scripts/cograph")]
    if len(found) != 1:
        raise Refused(f"{wheel}: {len(found)} programs, expected one")
    return Entry(found[0].data, executable=True)


def record_line(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def wheel_archive(out: Path, built: Path, third_party: bytes) -> Path:
    """The wheel that maturin built, with the licences of the crates, and bytes that follow from its contents."""
    entries = zip_entries(built)
    folders = {name.split("/")[0] for name in entries if name.split("/")[0].endswith(".dist-info")}
    if len(folders) != 1:
        raise Refused(f"{built}: {len(folders)} folders of metadata, expected one")
    folder = folders.pop()
    entries[f"{folder}/licenses/{THIRD_PARTY}"] = Entry(third_party)
    # The bill of materials names the folder of the build.
    for name in (name for name in entries if name.startswith(f"{folder}/sboms/")):
        entries[name] = Entry(entries[name].data.replace(f"file://{ROOT}".encode(), b"file:///cograph"))
    # The metadata is last in a wheel, and its record at the end.
    names = sorted(entries, key=lambda name: (name.startswith(folder), name))
    ordered = {name: entries[name] for name in names if name != f"{folder}/RECORD"}
    lines = [record_line(name, entry.data) for name, entry in ordered.items()] + [f"{folder}/RECORD,,"]
    path = out / "pypi" / built.name
    zipped(path, {**ordered, f"{folder}/RECORD": Entry(("\n".join(lines) + "\n").encode())}, epoch())
    return path


def checksums(out: Path) -> Path:
    """SHA256SUMS of everything in the folder, as `sha256sum --check` reads it."""
    files = sorted(path for path in out.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    if not files:
        raise Refused(f"{out} is empty")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(out)}\n" for path in files]
    (out / "SHA256SUMS").write_text("".join(lines))
    return out / "SHA256SUMS"
