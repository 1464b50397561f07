"""Runs the plugin, the hooks and the eager entry in the real Claude Code, offline, against a stand-in for the model.

    scripts/clients plugin                           build, install Claude Code into target/clients, check everything
    scripts/clients plugin --bin PATH --claude PATH  ... of another program, with a Claude Code that is installed
    scripts/clients plugin --show                    ... and print what the model was shown

Checked: `plugin validate --strict`; the marked schemas and the instructions are in one of the first two requests; texts of hooks arrive in the next
request; the language server answers the client's tool; an eager entry loads all tools; `uninstall` leaves every file as it was.
Nothing leaves the machine but the installation from the npm registry, and no account is used. The exit code is 1 if something does not hold.
"""
import json
import os
import shutil
import subprocess
import tempfile

from base import built, command_line, ROOT, TARGET
from model_api import ModelApi

CLIENT = "@anthropic-ai/claude-code@2.1.330"
SOURCE = "def parseConfig(text):\n    return text\n"
CALLER = "from config import parseConfig\n\n\ndef load():\n    return parseConfig('')\n"
PREFIX = "mcp__plugin_cograph_cograph__"


class Checks:
    """What holds and what does not."""

    def __init__(self):
        self.failed = 0

    def hold(self, what, holds, evidence=""):
        """Notes a check, with evidence if it does not hold."""
        print(f"{'ok  ' if holds else 'FAIL'} {what}")
        if not holds:
            self.failed += 1
            print(f"     {str(evidence)[:600]}")


class Place:
    """A home directory, a project and a cache, for one client."""

    def __init__(self, directory, options):
        self.directory, self.options = directory, options
        self.home, self.project = (os.path.join(directory, name) for name in ("home", "project"))
        for name in ("home", "project/.git", "bin"):
            os.makedirs(os.path.join(directory, name))
        os.symlink(os.path.abspath(options.bin), os.path.join(directory, "bin", "cograph"))
        for name, text in ((".git/HEAD", "ref: refs/heads/main\n"), ("config.py", SOURCE), ("app.py", CALLER)):
            with open(os.path.join(self.project, name), "w", encoding="utf8") as file:
                file.write(text)

    def run(self, *words, **more):
        """Runs a program in the project: exit code, and what it prints."""
        path = [os.path.join(self.directory, "bin"), os.path.dirname(shutil.which("node") or ""), "/usr/bin", "/bin"]
        if self.options.node:
            path.insert(1, self.options.node)
        environment = {
            "PATH": ":".join(path), "HOME": self.home, "TERM": "dumb", "LANG": "C.UTF-8", "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ANTHROPIC_API_KEY": "none", "ENABLE_LSP_TOOL": "1",
            "COGRAPH_CACHE_DIR": os.path.join(self.directory, "cache"), **more,
        }
        ended = subprocess.run(words, env=environment, cwd=self.project, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=False)
        return ended.returncode, ended.stdout + ended.stderr

    def session(self, steps, allowed):
        """A session of the client, in which the model takes these steps: its requests, and what the client prints."""
        api = ModelApi(steps)
        words = [self.options.claude, "-p", "go", "--allowedTools", allowed, "--output-format", "json"]
        code, said = self.run(*words, ANTHROPIC_BASE_URL=api.address)
        api.close()
        return api.requests, f"{code}: {said}"

    def files(self):
        """Every file of the home directory and of the project, with its contents."""
        found = {}
        for start in (self.home, self.project):
            for directory, _, names in os.walk(start):
                for name in names:
                    path = os.path.join(directory, name)
                    with open(path, "rb") as file:
                        found[path] = file.read()
        return found


def schemas(request, prefix):
    """Names of the tools whose schemas are in a request."""
    return sorted(tool["name"][len(prefix):] for tool in request["tools"] if tool["name"].startswith(prefix))


def answers(requests):
    """What the model was shown after each of its calls, as text, in order: the result, and what the client adds."""
    found = []
    for message in requests[-1]["messages"] if requests else []:
        if message["role"] == "assistant":
            found.append("")
        elif found:
            found[-1] += json.dumps(message["content"], ensure_ascii=False)
    return found


def check_plugin(place, checks, show):
    """The plugin as a user installs it."""
    claude = place.options.claude
    for what in ("plugin", "."):
        code, said = place.run(claude, "plugin", "validate", "--strict", os.path.join(ROOT, what))
        checks.hold(f"plugin validate --strict {what}", code == 0, said)
    code, said = place.run(claude, "plugin", "marketplace", "add", ROOT)
    checks.hold("plugin marketplace add", code == 0, said)
    code, said = place.run(claude, "plugin", "install", "cograph@cograph")
    checks.hold("plugin install", code == 0, said)
    code, said = place.run("cograph", "index")
    checks.hold("index", code == 0, said)
    app, config = (os.path.join(place.project, name) for name in ("app.py", "config.py"))
    steps = [
        ("Bash", {"command": "grep -rn parseConfig .", "description": "search"}),
        ("Bash", {"command": "grep -rn parse_config .", "description": "search"}),
        ("LSP", {"operation": "goToDefinition", "filePath": app, "line": 5, "character": 14}),
        (PREFIX + "trace", {"symbol": ["parseConfig"]}),
        ("Read", {"file_path": config}),
        ("Edit", {"file_path": config, "old_string": "def parseConfig(text):", "new_string": "def parseConfig(text, kind):"}),
        ("Write", {"file_path": config, "content": SOURCE.replace("parseConfig(text)", "readConfig(text, kind)")}),
    ]
    requests, said = place.session(steps, f"Bash,LSP,Read,Edit,Write,{PREFIX.rstrip('_')}")
    if not requests:
        checks.hold("a session", False, said)
        return
    shown = [schemas(request, PREFIX) for request in requests]
    checks.hold("explore and trace are in request 1 or 2", any({"explore", "trace"} <= set(names) for names in shown[:2]), shown)
    first = [json.dumps(request, ensure_ascii=False) for request in requests[:2]]
    checks.hold("instructions are in request 1 or 2", any("Ask it before reading or grepping" in text for text in first), shown)
    checks.hold("the line of the session's start is in request 1", "cograph has a code graph of this repository" in first[0], first[0][-600:])
    found = answers(requests)
    if show:
        print("\n".join(found))
    expected = [
        ("the hook after a search arrives", "`parseConfig`: function at config.py:1; 1 certain caller in 1 file"),
        ("the hook after a search for another spelling arrives", "`parseConfig` (for `parse_config`)"),
        ("the language server answers", "config.py:1"),
        ("a tool answers", "parseConfig"),
        ("a file is read", "parseConfig"),
        ("the hook after an edit arrives", "1 call site no longer fits `def parseConfig(text, kind)`: app.py:5 (1 argument, 2 taken)"),
        ("the hook after a file was written arrives", "left of `parseConfig`, which is `readConfig` now: app.py:1, app.py:5"),
    ]
    for at, (what, text) in enumerate(expected):
        checks.hold(what, at < len(found) and text in found[at], found[at] if at < len(found) else said)


def check_entry(place, checks):
    """Hooks and an eager entry in the settings of the user."""
    settings = {".claude.json": '{"numStartups":1,\n "mcpServers":  {}}', ".claude/settings.json": '{\n  "model": "sonnet" }'}
    os.makedirs(os.path.join(place.home, ".claude"))
    for name, text in settings.items():
        with open(os.path.join(place.home, name), "w", encoding="utf8") as file:
            file.write(text)
    before = place.files()
    code, said = place.run("cograph", "install", "claude-code", "--eager", "--hooks")
    checks.hold("install --eager --hooks", code == 0 and place.files() != before, said)
    code, said = place.run("cograph", "doctor")
    checks.hold("doctor finds the hooks", "hooks of SessionStart" in said and code == 0, said)
    code, said = place.run("cograph", "uninstall", "claude-code")
    checks.hold("uninstall leaves every file as it was", code == 0 and place.files() == before, said)
    place.run("cograph", "install", "claude-code", "--eager", "--hooks")
    place.run("cograph", "index")
    requests, said = place.session([("Bash", {"command": "rg parseConfig || grep -rn parseConfig .", "description": "search"})], "Bash")
    shown = schemas(requests[0], "mcp__cograph__") if requests else said
    checks.hold("all tools are in request 1", len(shown) == 11, shown)
    found = answers(requests)
    checks.hold("the hook of the settings arrives", bool(found) and "certain caller" in found[0], found or said)


def main():
    """Runs the checks."""
    parser = command_line(__doc__)
    parser.add_argument("--bin", metavar="PATH", help="the program; default: what `cargo build --release` makes")
    parser.add_argument("--claude", metavar="PATH", help=f"Claude Code; default: {CLIENT}, installed from the npm registry")
    parser.add_argument("--node", metavar="DIR", help="directory of Node.js 22 or later")
    parser.add_argument("--show", action="store_true", help="print the results of tools that the model was shown")
    options = parser.parse_args()
    if not options.bin:
        options.bin = built()
    if not options.claude:
        directory = os.path.join(TARGET, "clients", "claude-code")
        options.claude = os.path.join(directory, "node_modules", ".bin", "claude")
        if not os.path.exists(options.claude):
            os.makedirs(directory, exist_ok=True)
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", directory, CLIENT], check=True)
    checks = Checks()
    for check in (lambda place: check_plugin(place, checks, options.show), lambda place: check_entry(place, checks)):
        with tempfile.TemporaryDirectory() as directory:
            check(Place(os.path.realpath(directory), options))
    print("everything holds" if not checks.failed else f"{checks.failed} checks do not hold")
    return 1 if checks.failed else 0
