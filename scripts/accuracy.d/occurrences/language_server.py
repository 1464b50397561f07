"""A language server as a child process: what it is asked and told, and what it answers."""
import json
import os
import subprocess
import sys
import urllib.parse


class Server:
    """A server of one project, which may be asked many things at once."""

    def __init__(self, command, root, settings=None, capabilities=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.root, self.last, self.settings = root, 0, settings or {}
        self.progress = {}
        folder = {"uri": self.uri(""), "name": "project"}
        asked = {"workspace": {"configuration": True, "workspaceFolders": True}, **(capabilities or {})}
        self.answer = self.ask("initialize", {"processId": os.getpid(), "rootUri": self.uri(""), "workspaceFolders": [folder], "capabilities": asked})
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

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            if not line:
                sys.exit("the language server has ended")
            if line.lower().startswith(b"content-length"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def next_answer(self):
        """The next answer; what the server asks or tells meanwhile is dealt with."""
        while True:
            message = self.receive()
            if "method" not in message:
                return message
            self.heed(message)

    def heed(self, message):
        if message["method"] == "$/progress":
            self.progress[message["params"]["token"]] = message["params"]["value"]["kind"]
        if "id" in message:
            items = message["params"].get("items", []) if message["method"] == "workspace/configuration" else None
            result = items and [self.settings.get(item.get("section"), {}) for item in items]
            self.send({"id": message["id"], "result": result})

    def until_done(self, token):
        """Waits for the end of some work of the server."""
        while self.progress.get(token) != "end":
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
