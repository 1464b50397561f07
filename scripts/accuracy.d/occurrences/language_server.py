"""A language server as a child process: requests and notifications to it, and its responses."""
import json
import os
import queue
import subprocess
import sys
import threading
import urllib.parse


class Server:
    """A server of one project, which may be asked many things at once."""

    def __init__(self, command, root, settings=None, capabilities=None, options=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.root, self.last, self.settings = root, 0, settings or {}
        self.progress, self.told = {}, {}
        # A server that cannot write reads no more: its answers are taken while questions are still being put.
        self.arrived = queue.Queue()
        threading.Thread(target=self.take, daemon=True).start()
        folder = {"uri": self.uri(""), "name": "project"}
        asked = {"workspace": {"configuration": True, "workspaceFolders": True}, **(capabilities or {})}
        self.answer = self.ask("initialize", {"processId": os.getpid(), "rootUri": self.uri(""), "workspaceFolders": [folder], "capabilities": asked,
                                              "initializationOptions": options})
        self.tell("initialized", {})

    def uri(self, path):
        return "file://" + urllib.parse.quote(os.path.join(self.root, path))

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def start(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        return self.last

    def take(self):
        """Takes what the server writes, until its end."""
        while True:
            length = 0
            while (line := self.process.stdout.readline()) != b"\r\n":
                if not line:
                    self.arrived.put(None)
                    return
                if line.lower().startswith(b"content-length"):
                    length = int(line.split(b":")[1])
            self.arrived.put(json.loads(self.process.stdout.read(length)))

    def receive(self):
        message = self.arrived.get()
        if message is None:
            sys.exit("the language server has ended")
        return message

    def next_answer(self):
        """The next response; requests and notifications of the server meanwhile are handled."""
        while True:
            message = self.receive()
            if "method" not in message:
                return message
            self.heed(message)

    def heed(self, message):
        self.told[message["method"]] = message.get("params")
        if message["method"] == "$/progress":
            self.progress[message["params"]["token"]] = message["params"]["value"]["kind"]
        if "id" in message:
            items = message["params"].get("items", []) if message["method"] == "workspace/configuration" else None
            result = items and [self.settings.get(item.get("section"), {}) for item in items]
            self.send({"id": message["id"], "result": result})

    def until_done(self, token):
        """Waits for the end of some work of the server."""
        self.until(lambda: self.progress.get(token) == "end")

    def until(self, holds):
        """Waits until the notifications of the server satisfy a condition."""
        while not holds():
            message = self.receive()
            if "method" in message:
                self.heed(message)

    def answers(self, ids):
        """The results of questions, in any order of arrival."""
        waiting, found = set(ids), {}
        while waiting:
            message = self.next_answer()
            if message["id"] in waiting:
                waiting.discard(message["id"])
                found[message["id"]] = message.get("result")
        return found

    def ask(self, method, params):
        number = self.start(method, params)
        return self.answers([number])[number]


def tokens(data, legend):
    """(line, column, length, type, modifiers) of each semantic token; lines and columns count from 0."""
    line = column = 0
    for at in range(0, len(data), 5):
        down, right, length, kind, modifiers = data[at:at + 5]
        line, column = line + down, right + (0 if down else column)
        names = {name for number, name in enumerate(legend["tokenModifiers"]) if modifiers >> number & 1}
        yield line, column, length, legend["tokenTypes"][kind], names
