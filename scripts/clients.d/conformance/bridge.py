"""HTTP in front of a server on standard input and output, because the conformance suite speaks HTTP only. What belongs to HTTP
(status codes, sessions, headers) is done here and says nothing about the server. Standard library only; used by
scripts/clients conformance."""
import itertools
import json
import queue
import subprocess
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERSION = "io.modelcontextprotocol/protocolVersion"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
SESSION = "Mcp-Session-Id"
PATIENCE = 20.0
# Errors of the protocol that HTTP reports by its status in the stateless era.
STATUS = {-32601: 404, -32602: 400, -32020: 400, -32021: 400, -32022: 400, -32600: 400, -32700: 400}


class Process:
    """One server process. Requests get ids of their own, because several clients may use the same."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()
        self.open = {}  # our id -> (the client's id, queue of messages, progress token)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self.lock:
                if "method" in message:
                    entry = self._addressee(message)
                else:
                    entry = self.open.pop(message.get("id"), None)
                    if entry:
                        message["id"] = entry[0]
            if entry:
                entry[1].put(message)

    def _addressee(self, message):
        """The request that a notification belongs to; none for one without a request."""
        params = message.get("params") or {}
        number = (params.get("_meta") or {}).get(SUBSCRIPTION)
        if number in self.open:
            params["_meta"][SUBSCRIPTION] = self.open[number][0]
            return self.open[number]
        token = params.get("progressToken")
        return next((entry for entry in self.open.values() if token is not None and entry[2] == token), None)

    def send(self, message):
        """Passes a message on. Gives the queue of what comes back, for a request, and its id there."""
        messages, number = None, None
        with self.lock:
            if "method" in message and "id" in message:
                messages, number = queue.Queue(), f"bridge-{next(self.numbers)}"
                token = ((message.get("params") or {}).get("_meta") or {}).get("progressToken")
                self.open[number] = (message["id"], messages, token)
                message = {**message, "id": number}
            elif message.get("method") == "notifications/cancelled":
                asked = message["params"].get("requestId")
                number = next((ours for ours, entry in self.open.items() if entry[0] == asked), asked)
                message = {**message, "params": {**message["params"], "requestId": number}}
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
        return messages, number

    def cancel(self, number):
        """The client is gone."""
        with self.lock:
            if self.open.pop(number, None):
                cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
                self.process.stdin.write(json.dumps(cancelled).encode() + b"\n")

    def end(self):
        """Ends the input and waits for the process."""
        self.process.stdin.close()
        try:
            self.process.wait(10)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


class Bridge(ThreadingHTTPServer):
    """Listens on a free port of this machine. A process for each session, and one for requests without any."""

    daemon_threads = True

    def __init__(self, command):
        super().__init__(("127.0.0.1", 0), Handler)
        self.command, self.sessions, self.lock = command, {}, threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}/mcp"

    def process(self, session, is_new):
        """The process of a session."""
        with self.lock:
            if is_new or (session is None and None not in self.sessions):
                session = uuid.uuid4().hex if is_new else None
                self.sessions[session] = Process(self.command)
            return session, self.sessions.get(session)

    def close(self):
        """Ends everything."""
        self.shutdown()
        for process in self.sessions.values():
            process.end()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """One request of HTTP."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Nothing: the suite says what goes wrong."""

    def do_GET(self):
        """No notification is sent outside of requests."""
        self._plain(405)

    def do_DELETE(self):
        """A session ends with the bridge."""
        self._plain(200)

    def do_POST(self):
        """One message."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            message = json.loads(body)
        except ValueError:
            self._json(400, {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "parse error"}})
            return
        stated = ((message.get("params") or {}).get("_meta") or {}).get(VERSION)
        header = self.headers.get("MCP-Protocol-Version")
        if stated and header and stated != header and "id" in message:
            error = {"code": -32020, "message": "the header names another version"}
            self._json(400, {"jsonrpc": "2.0", "id": message["id"], "error": error})
            return
        is_new = message.get("method") == "initialize" and not stated
        session, process = self.server.process(None if stated else self.headers.get(SESSION), is_new)
        if process is None:
            self._plain(404)
            return
        messages, number = process.send(message)
        if messages is None:
            self._plain(202)
            return
        self._answer(process, number, messages, session, is_stateless=session is None)

    def _answer(self, process, number, messages, session, is_stateless):
        try:
            first = messages.get(timeout=PATIENCE)
        except queue.Empty:
            process.cancel(number)
            self._plain(504)
            return
        if "method" not in first:
            status = STATUS.get(first["error"]["code"], 200) if is_stateless and "error" in first else 200
            self._json(status, first, session)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            message = first
            while True:
                self.wfile.write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())
                self.wfile.flush()
                if "method" not in message:
                    break
                message = messages.get(timeout=PATIENCE)
        except (OSError, queue.Empty):
            process.cancel(number)
        self.close_connection = True

    def _plain(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _json(self, status, message, session=None):
        data = json.dumps(message).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if session:
            self.send_header(SESSION, session)
        self.end_headers()
        self.wfile.write(data)
