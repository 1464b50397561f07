"""Writes the man pages of cograph: one for the program and one for each command, from what `--help` prints. Standard library only.

    scripts/release man BINARY DIR          cograph.1, cograph-trace.1, ... into DIR
    scripts/release man BINARY DIR --check  also has `man` or `groff` read each page, and fails on a warning
"""
import datetime
import os
import re
import shutil
import subprocess
import sys
import time

from base import command_line

ENVIRONMENT = {**os.environ, "COLUMNS": "78", "NO_COLOR": "1"}


def help_of(binary, words):
    return subprocess.run([binary, *words, "--help"], check=True, capture_output=True, text=True, env=ENVIRONMENT).stdout


def escaped(line):
    """A line of text as roff: no request at its start, no escape or hyphenation inside."""
    line = line.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + line if line.startswith((".", "'")) else line


def page(name, version, text, related):
    """The page for a help text: its first paragraph, then a section for each heading that ends in a colon."""
    about, _, rest = text.partition("\nUsage: ")
    usage, _, rest = rest.partition("\n\n")
    short = re.split(r"(?<!\.)[.;](?:\s|$)", " ".join(about.split()))[0]
    # Tools that make the same bytes twice have one variable for the time; without it there is the day.
    date = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), datetime.timezone.utc).date().isoformat()
    lines = [f'.TH {name.upper()} 1 "{date}" "cograph {version}" "User Commands"', ".SH NAME", escaped(f"{name} - {short}")]
    lines += [".SH SYNOPSIS", ".nf", escaped(re.sub(r"^\S+", "cograph", usage)), ".fi", ".SH DESCRIPTION", *map(escaped, about.strip().split("\n"))]
    for line in rest.rstrip().split("\n"):
        heading = re.match(r"^([A-Z][a-z ]+):$", line)
        if heading:
            lines += [".fi", f".SH {heading[1].upper()}", ".nf"]
        else:
            lines.append(escaped(line))
    return "\n".join([*lines, ".fi", ".SH SEE ALSO", escaped(", ".join(related)), ""])


def commands_of(text):
    listed = text.split("\nCommands:\n", 1)[-1].split("\n\n", 1)[0] if "\nCommands:\n" in text else ""
    return [found[1] for found in re.finditer(r"^  (\S+)", listed, re.MULTILINE) if found[1] != "help"]


def main():
    parser = command_line(__doc__)
    parser.add_argument("binary", metavar="BINARY")
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    binary, folder = os.path.abspath(options.binary), options.folder
    version = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    top = help_of(binary, [])
    names = {"cograph": []}
    for command in commands_of(top):
        names[f"cograph-{command}"] = [command]
        names.update({f"cograph-{command}-{inner}": [command, inner] for inner in commands_of(help_of(binary, [command]))})
    os.makedirs(folder, exist_ok=True)
    reader = next((found for found in map(shutil.which, ["groff", "man"]) if found), None) if options.check else None
    for name, words in names.items():
        related = ["cograph(1)"] if words else [f"{other}(1)" for other in names if other != "cograph"]
        path = os.path.join(folder, f"{name}.1")
        with open(path, "w") as file:
            file.write(page(name, version, help_of(binary, words), related))
        if reader:
            options = ["-man", "-Kutf8", "-Tutf8", "-ww", "-z"] if reader.endswith("groff") else ["--warnings", "-l"]
            said = subprocess.run([reader, *options, path], check=True, capture_output=True, text=True).stderr
            if said:
                sys.exit(f"{path}: {said}")
    print(f"{len(names)} pages in {folder}")
