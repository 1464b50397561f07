"""Runs the official conformance suite of the protocol against the server, for every version that the suite knows.

    scripts/clients conformance SUITE                 SUITE: the directory with the suite's node_modules, or CONFORMANCE_SUITE
    scripts/clients conformance SUITE --node PATH     a Node.js of version 22 or later that is not on the PATH
    scripts/clients conformance SUITE --only WORD     scenarios with WORD in their name

The suite is the npm package @modelcontextprotocol/conformance; `npm install` puts it there. Scenarios that need no fixtures are
run against the server itself (--bin), the others against tests/conformance (--fixtures-bin): the same loop with the suite's own
tools, resources and prompts. Prints scenario and result for each version; the exit code is 1 if one fails.

Left out, each for its reason:
"""
import os
import re
import subprocess
import tempfile

from base import command_line, DEBUG, ROOT, with_cache, write_files
from bridge import Bridge

VERSIONS = ["2025-06-18", "2025-11-25", "2026-07-28"]
# Asked of the server as it is.
OWN = {"server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "caching", "sep-2164-resource-not-found"}
LEFT_OUT = {
    "rules of HTTP, not of standard input and output": [
        "server-session-lifecycle", "server-sse-polling", "server-sse-multiple-streams", "dns-rebinding-protection",
        "http-header-validation", "http-custom-header-server-validation",
    ],
    "the server neither samples, elicits nor sends log messages, and declares none of it": [
        "tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums",
        "tools-call-with-logging", "logging-set-level",
        "input-required-result-basic-elicitation", "input-required-result-basic-sampling", "input-required-result-basic-list-roots",
        "input-required-result-request-state", "input-required-result-multiple-input-requests",
        "input-required-result-multi-round", "input-required-result-missing-input-response",
        "input-required-result-non-tool-request", "input-required-result-result-type", "input-required-result-tampered-state",
        "input-required-result-capability-check", "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
    ],
    "extensions that are not declared": ["tasks-", "sep-2640-"],
}


def scenarios(suite, environment):
    """The scenarios for servers with the versions that they are for, as the suite lists them."""
    listed = subprocess.run([*suite, "list"], env=environment, capture_output=True, text=True, check=True).stdout
    servers = listed.split("Client scenarios")[0]
    return [(name, versions.split(",")) for name, versions in re.findall(r"- (\S+) \[([^\]]*)\]", servers)]


def reason_to_leave_out(name):
    """Why a scenario is not run, if it is not."""
    for reason, names in LEFT_OUT.items():
        if any(name == left or (left.endswith("-") and name.startswith(left)) for left in names):
            return reason
    return None


def run(suite, environment, url, name, version):
    """One scenario: whether it passed, its counts, and what it complained about."""
    command = [*suite, "server", "--url", url, "--scenario", name, "--spec-version", version, "--timeout", "15000"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    counts = re.findall(r"Passed: [^\n]*", text)
    complaints = [line.strip() for line in text.splitlines() if re.search(r"✗|FAILURE|Error:|WARNING|⚠", line)]
    return done.returncode == 0, counts[-1] if counts else "", complaints


def main():
    """Runs the suite and prints the table."""
    left_out = "\n".join(f"  {reason}: {', '.join(names)}" for reason, names in LEFT_OUT.items())
    parser = command_line(__doc__ + left_out)
    parser.add_argument("suite", nargs="?", metavar="SUITE", default=os.environ.get("CONFORMANCE_SUITE"))
    parser.add_argument("--node", metavar="PATH", default="node", help="Node.js")
    parser.add_argument("--bin", metavar="PATH", default=DEBUG)
    parser.add_argument("--fixtures-bin", metavar="PATH", default=os.path.join(ROOT, "target", "debug", "examples", "conformance"))
    parser.add_argument("--only", metavar="WORD", default="", help="scenarios with this word in their name")
    options = parser.parse_args()
    if not options.suite:
        parser.error("where is the suite? Give SUITE or set CONFORMANCE_SUITE")
    for path, how in ((options.bin, "cargo build"), (options.fixtures_bin, "cargo build --features faults --example conformance")):
        if not os.path.exists(path):
            parser.error(f"{path} is missing: {how}")
    suite = [options.node, os.path.join(options.suite, "node_modules", ".bin", "conformance")]
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        repository = os.path.join(scratch, "repository")
        write_files(repository, {"a.py": "def helper(x):\n    return x\n"})
        environment = with_cache(os.path.join(scratch, "cache"))
        os.environ["COGRAPH_CACHE_DIR"] = environment["COGRAPH_CACHE_DIR"]
        own, fixtures = Bridge([options.bin, "mcp", "--root", repository]), Bridge([options.fixtures_bin])
        try:
            for name, versions in scenarios(suite, environment):
                if options.only not in name or reason_to_leave_out(name):
                    continue
                for version in sorted(set(versions) & set(VERSIONS)):
                    target = "own" if name in OWN else "fixtures"
                    url = own.url if name in OWN else fixtures.url
                    passed, counts, complaints = run(suite, environment, url, name, version)
                    failures += not passed
                    print(f"{'ok    ' if passed else 'FAILED'}  {version}  {target:8}  {name:45} {counts}", flush=True)
                    for complaint in [] if passed else complaints[:8]:
                        print(f"          {complaint[:200]}")
        finally:
            own.close()
            fixtures.close()
    return 1 if failures else 0
