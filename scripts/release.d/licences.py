"""The licences of the crates that are linked into the program, as one text. Reads what cargo has fetched."""
import json
import subprocess
from pathlib import Path

from project import ROOT, Refused

NAMES = ("license", "licence", "copying", "notice", "unlicense")
SUFFIXES = ("", ".md", ".txt", ".mit", ".apache", ".apache2", ".apache-2.0")
HEAD = """The program cograph contains the crates below, each under its licence. The licence of cograph itself is in LICENSE-APACHE and LICENSE-MIT.
"""


def linked(metadata: dict) -> list[dict]:
    """The packages that the program is made of: what only builds or tests it is left out."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    pending, seen = [metadata["resolve"]["root"]], set()
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if any("proc-macro" in target["kind"] for target in packages[node]["targets"]):
            continue
        for dependency in nodes[node]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                pending.append(dependency["pkg"])
    found = [package for package in packages.values() if package["id"] in seen and package["source"]]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def texts_of(package: dict) -> list[str]:
    """The texts of the licences in a package, without differences of line ends."""
    folder = Path(package["manifest_path"]).parent
    # Crates that bring sources of others have these texts further below.
    named = (path for path in folder.rglob("*") if path.name.lower().startswith(NAMES) and path.suffix.lower() in SUFFIXES)
    files = sorted(path for path in named if path.is_file())
    return ["\n".join(line.rstrip() for line in path.read_text(encoding="utf8", errors="replace").strip().splitlines()) for path in files]


def third_party(triple: str) -> bytes:
    """All of them for a target; a text that several crates share is written once."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", triple]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise Refused(f"cargo metadata: {done.stderr.strip()}")
    parts, shared = [HEAD, "the standard library of Rust: MIT OR Apache-2.0, https://github.com/rust-lang/rust"], {}
    if triple.endswith("musl"):
        parts.append("musl: MIT, https://musl.libc.org")
    for package in linked(json.loads(done.stdout)):
        parts.append(f"{package['name']} {package['version']}: {package['license'] or 'see its licence'}, {package['repository'] or 'no address'}")
        for text in texts_of(package):
            shared.setdefault(text, []).append(package["name"])
    # What the document of the page contains stands in a comment at its head.
    page = (ROOT / "src/page/bundle/page.html").read_text(encoding="utf8")
    bundled = page.split("It contains:", 1)[1].split("-->", 1)[0].strip().split("\n\n", 1)
    parts.append(f"{bundled[0]}: MIT, in the document of the page")
    shared.setdefault(bundled[1].strip(), []).append(bundled[0])
    for text, names in sorted(shared.items(), key=lambda item: item[1]):
        parts.append(f"\n{'-' * 80}\n{', '.join(dict.fromkeys(names))}\n{'-' * 80}\n\n{text}")
    return ("\n".join(parts) + "\n").encode()
