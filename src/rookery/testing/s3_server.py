"""A real S3 on loopback for tests: moto's server, which keeps its objects in memory."""

from __future__ import annotations

import contextlib
import os
import urllib.request
from collections.abc import Iterator

__all__ = ["s3_server"]

VARIABLES = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}


@contextlib.contextmanager
def s3_server() -> Iterator[str]:
    """Its address. Variables that let clients of this process find it are set meanwhile."""
    from moto.server import ThreadedMotoServer
    from s3fs import S3FileSystem

    S3FileSystem.clear_instance_cache()  # a client of the server before this one would go on asking there
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    before = {name: os.environ.get(name) for name in (*VARIABLES, "AWS_ENDPOINT_URL")}
    os.environ.update(VARIABLES, AWS_ENDPOINT_URL=address)
    try:
        urllib.request.urlopen(urllib.request.Request(address + "/rookery-test", method="PUT"), timeout=30).close()
        yield address
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        server.stop()
        S3FileSystem.clear_instance_cache()
