"""Draws docs/session.svg: a session of the real program in a terminal, in a copy of a small repository.

    scripts/release picture BIN DIR              runs the session in a copy of DIR and writes docs/session.svg
    scripts/release picture BIN DIR --check      writes nothing; the exit code is 1 if the picture would be another one

DIR is the source archive of flask 3.1.0, unpacked: `pip download --no-deps --no-binary :all: flask==3.1.0`. The copy becomes a repository with one
commit. Each command runs in a pseudoterminal; what a later write covered (the progress of an index run) is not in the picture. Times are shown as `…`.
Needs rich (PyPI), which draws. The same program and directory make the same bytes.
"""
import fcntl
import io
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

from base import command_line, ROOT
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

OUTPUT = os.path.join(ROOT, "docs", "session.svg")
WIDTH = 112
EDIT = ("src/flask/helpers.py", "def get_debug_flag() -> bool:", "def get_debug_flag(name: str) -> bool:")
# Commands, and how many lines of each are shown; none for the edit, which is made by this script.
SESSION = [
    ("cograph trace get_debug_flag", 12),
    (f"sed -i 's/def get_debug_flag()/def get_debug_flag(name: str)/' {EDIT[0]}", None),
    ("cograph impact", 11),
]
THEME = TerminalTheme(
    (22, 27, 34), (201, 209, 217),
    [(72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34), (88, 166, 255), (188, 140, 255), (57, 197, 207), (177, 186, 196)],
    [(110, 118, 129), (255, 161, 152), (86, 211, 100), (227, 179, 65), (121, 192, 255), (210, 168, 255), (86, 212, 221), (240, 246, 252)],
)
TIMES = re.compile(r"\b\d+(?:\.\d+)? (?:ms|s|min|h)\b(?: ago)?")
WITHOUT_FONTS = re.compile(r"\s*@font-face \{\{.*?\}\}", re.S)


def terminal(command, directory, environment):
    """What a command writes to a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, WIDTH, 0, 0))
    process = subprocess.Popen(command, cwd=directory, env=environment, stdin=slave, stdout=slave, stderr=slave, close_fds=True)
    os.close(slave)
    written = b""
    while True:
        ready, _, _ = select.select([master], [], [], 120)
        if not ready:
            process.kill()
            sys.exit(f"{' '.join(command)}: nothing for two minutes after {written.decode(errors='replace')}")
        try:
            more = os.read(master, 1 << 16)
        except OSError:
            more = b""
        if not more:
            break
        written += more
    os.close(master)
    if process.wait() not in (0, 1):
        sys.exit(f"{' '.join(command)}: {written.decode(errors='replace')}")
    return written.decode()


def settled(text):
    """The lines of a terminal in the end: without what was written over, and without moves of the cursor."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        line = re.split(r"\x1b\[2?K|\r", line)[-1]
        lines.append(re.sub(r"\x1b\[[0-9;?]*[A-HJKSTfhlnsu]", "", line).replace("\t", "  "))
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def shown(lines, most):
    """The first lines, without times."""
    lines = [TIMES.sub("…", line) for line in lines]
    return lines if len(lines) <= most else [*lines[:most], f"\x1b[2m… {len(lines) - most} more lines\x1b[0m"]


def session(binary, source):
    """The lines of the session, with the escapes of colours."""
    with tempfile.TemporaryDirectory() as place:
        root, programs = os.path.join(place, "flask"), os.path.join(place, "bin")
        shutil.copytree(source, root)
        os.mkdir(programs)
        os.symlink(os.path.abspath(binary), os.path.join(programs, "cograph"))
        environment = {
            "PATH": f"{programs}:/usr/bin:/bin", "HOME": place, "TERM": "xterm-256color", "LANG": "C.UTF-8", "COGRAPH_CACHE_DIR": os.path.join(place, "cache"),
            "PAGER": "cat", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_DATE": "2024-11-13T12:00:00Z", "GIT_COMMITTER_DATE": "2024-11-13T12:00:00Z",
        }
        for command in (["git", "init", "-q"], ["git", "add", "."], ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "flask 3.1.0"]):
            subprocess.run(command, cwd=root, env=environment, check=True)
        lines = []
        for command, most in SESSION:
            lines.append(f"\x1b[1;32m$\x1b[0m \x1b[1m{command}\x1b[0m")
            if most is None:
                path = os.path.join(root, EDIT[0])
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                if text.count(EDIT[1]) != 1:
                    sys.exit(f"{EDIT[0]} is not that of flask 3.1.0")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text.replace(EDIT[1], EDIT[2]))
            else:
                lines += [line.replace(root, "~/flask") for line in shown(settled(terminal(command.split(), root, environment)), most)]
            lines.append("")
        return lines[:-1]


def picture(lines):
    """The drawing."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor", legacy_windows=False)
    for line in lines:
        console.print(Text.from_ansi(line), no_wrap=True, overflow="ellipsis")
    # No fonts from another host: a picture in a document may not load them.
    form = WITHOUT_FONTS.sub("", CONSOLE_SVG_FORMAT).replace("Fira Code", "ui-monospace, Menlo, Consolas, DejaVu Sans Mono")
    return console.export_svg(title="cograph in flask 3.1.0", theme=THEME, code_format=form, unique_id="session") + "\n"


def main():
    """Draws, or compares."""
    parser = command_line(__doc__)
    parser.add_argument("bin", metavar="BIN")
    parser.add_argument("root", metavar="DIR")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()
    drawn = picture(session(options.bin, options.root))
    if options.check:
        with open(OUTPUT, encoding="utf-8") as file:
            return int(file.read() != drawn)
    with open(OUTPUT, "w", encoding="utf-8") as file:
        file.write(drawn)
    return 0
