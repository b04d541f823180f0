"""Show a folder of pages: to this machine, or to its network as well."""

from __future__ import annotations

import functools
import http.server
import socket
from pathlib import Path


def serve(site: Path, lan: bool) -> None:
    """Serve the pages on a free port until Ctrl-C: to this machine, or to its network as well."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=site)
    host = address_here() if lan else "127.0.0.1"
    with http.server.ThreadingHTTPServer(("0.0.0.0" if lan else host, 0), handler) as server:
        print(f"http://{host}:{server.server_port}/ shows them; Ctrl-C ends it", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


def address_here() -> str:
    """The address of this machine in its network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nobody's: nothing is sent, a route is chosen
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()
