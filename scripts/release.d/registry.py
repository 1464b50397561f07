"""A registry of npm packages on the loopback interface, with what a folder has: `npx` then does what it does with the real one."""
import base64
import contextlib
import hashlib
import json
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote


def documents(folder: Path, address: str) -> dict[str, dict]:
    """What the registry says of each package."""
    found = {}
    for path in folder.glob("*.tgz"):
        with tarfile.open(path) as archive:
            manifest = json.load(archive.extractfile("package/package.json"))
        data = path.read_bytes()
        dist = {"tarball": f"{address}/-/{path.name}", "integrity": f"sha512-{base64.b64encode(hashlib.sha512(data).digest()).decode()}",
                "shasum": hashlib.sha1(data).hexdigest()}
        name, version = manifest["name"], manifest["version"]
        found[name] = {"name": name, "dist-tags": {"latest": version}, "versions": {version: {**manifest, "dist": dist}}}
    return found


@contextlib.contextmanager
def serving(folder: Path):
    """Serves the packages of a folder; gives the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):  # noqa: N802
            name = unquote(self.path.split("?")[0]).lstrip("/")
            if name.startswith("-/"):
                path = folder / Path(name).name
                data, kind = (path.read_bytes() if path.is_file() else None), "application/octet-stream"
            else:
                document = documents(folder, self.server.address).get(name)
                data, kind = (json.dumps(document).encode() if document else None), "application/json"
            self.send_response(404 if data is None else 200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.address
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
