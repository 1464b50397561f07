"""A stand-in for the API of a model on the loopback interface: each request of a session gets the next of the steps, and is kept."""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ModelApi:
    """Serves until it is closed. A step is (tool, input), or a text."""

    def __init__(self, steps):
        self.steps, self.requests, self.lock = list(steps), [], threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def send(self, code, body, kind="application/json"):
                self.send_response(code)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.send(404, b"{}")

            do_HEAD = do_GET

            def do_POST(self):
                text = self.rfile.read(int(self.headers.get("content-length") or 0))
                request = json.loads(text or b"{}")
                if "count_tokens" in self.path:
                    self.send(200, json.dumps({"input_tokens": len(text) // 4}).encode())
                else:
                    self.send(200, *outer.answer(request))

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        """Ends the server."""
        self.server.shutdown()

    def answer(self, request):
        """The body of an answer, and its type."""
        step = "ok"
        if request.get("tools"):
            with self.lock:
                self.requests.append(request)
                step = self.steps.pop(0) if self.steps else "done"
        number = len(self.requests)
        if isinstance(step, str):
            block, delta, stop = {"type": "text", "text": ""}, {"type": "text_delta", "text": step}, "end_turn"
            whole = {**block, "text": step}
        else:
            tool, given = step
            block, stop = {"type": "tool_use", "id": f"toolu_{number:04}", "name": tool, "input": {}}, "tool_use"
            delta, whole = {"type": "input_json_delta", "partial_json": json.dumps(given)}, {**block, "input": given}
        usage = {"input_tokens": 10, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        message = {"id": f"msg_{number:04}", "type": "message", "role": "assistant", "model": request.get("model", "m"), "stop_sequence": None}
        if not request.get("stream"):
            return json.dumps({**message, "content": [whole], "stop_reason": stop, "usage": usage}).encode(), "application/json"
        events = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 10}},
            {"type": "message_stop"},
        ]
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        return text.encode(), "text/event-stream"
