"""`cograph-org` on a dataset: compaction, then `callers` by its server, from the directory and from an S3 server, and what one question reads."""
import json
import os
import random
import re
import shlex
import subprocess
import time
import urllib.request

from base import percentile

# Calls of the organisation from which the names of the questions are drawn: frequent callees are drawn often.
DRAWN = 20_000


def names(dataset, count):
    """Names of callees, drawn as often as they are called."""
    import duckdb  # pylint: disable=import-outside-toplevel
    with duckdb.connect() as connection:
        rows = connection.execute(f"""
            SELECT callee FROM read_parquet('{dataset}/calls/*/*.parquet') WHERE callee_id IS NULL
            USING SAMPLE reservoir({DRAWN} ROWS) REPEATABLE (7)""").fetchall()
    callees = sorted({row[0] for row in rows})
    return random.Random(7).choices(callees, k=count)


def measure(program, s3, dataset, questions):
    """Figures of the program on a dataset, as lines."""
    started = time.monotonic()
    done = subprocess.run([program, "compact", "--data", dataset], stdout=subprocess.PIPE, text=True, check=True)
    lines = [f"compact: {time.monotonic() - started:.1f} s, {done.stdout.strip()}"]
    wanted = names(dataset, questions)
    lines.append("from the directory: " + asked(program, str(dataset), wanted, {}))
    if s3:
        with subprocess.Popen([s3, str(dataset.parent)], stdout=subprocess.PIPE, text=True) as server:
            try:
                given = dict(word.split("=", 1) for word in shlex.split(server.stdout.readline()))
                environment = {**given, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1"}
                url = f"s3://{dataset.name}"
                lines.append("from S3: " + asked(program, url, wanted, environment))
                lines.append("one question from S3, in a process of its own: " + read(program, url, wanted[:40], environment))
            finally:
                server.kill()
    return lines


def asked(program, data, wanted, environment):
    """Latencies of questions to a server, of which the first is not counted."""
    command = [program, "mcp", "--listen", "127.0.0.1:0", "--data", data]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}) as server:
        try:
            url = server.stderr.readline().removeprefix("serving ").strip()
            times = []
            for symbol in wanted[:1] + wanted:
                started = time.perf_counter()
                text = call(url, symbol)
                times.append(1e3 * (time.perf_counter() - started))
                if " call" not in text.split("\n", 1)[0]:
                    raise SystemExit(f"{symbol}: {text[:300]}")
            first, *times = times
        finally:
            server.kill()
    return (f"{len(times)} questions, first {first:.0f} ms, then p50 {percentile(times, .5):.1f}, p99 {percentile(times, .99):.1f}, "
            f"most {max(times):.1f} ms")


def call(url, symbol):
    """The text of `callers`."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "callers", "arguments": {"name": symbol}}}
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:
        text = response.read().decode()
    return json.loads(text[text.index("{"):text.rindex("}") + 1])["result"]["content"][0]["text"]


def read(program, url, wanted, environment):
    """Bytes, requests and time of questions, each in a new process."""
    figures = []
    for symbol in wanted:
        done = subprocess.run([program, "callers", symbol, "--data", url, "--reads"], capture_output=True, text=True, check=True,
                              env={**os.environ, **environment})
        figures.append([float(number) for number in re.search(r"read (\d+) bytes in (\d+) requests, ([\d.]+) ms", done.stderr).groups()])
    columns = list(zip(*figures))
    return (f"{len(figures)} questions, bytes p50 {percentile(columns[0], .5):,.0f}, most {max(columns[0]):,.0f}; requests most "
            f"{max(columns[1]):.0f}; time p50 {percentile(columns[2], .5):.0f}, most {max(columns[2]):.0f} ms")
