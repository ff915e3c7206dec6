"""`python -m rookery.server --workspace ROOT`: the keeper as a program."""

from __future__ import annotations

import argparse
import gc
import json
import logging
import os
import sys
from typing import Optional

from rookery.errors import RookeryError, ServiceError

__all__ = ["main"]


def main(argv: Optional[list[str]] = None) -> int:
    """Keeps a workspace; 0 when it left as asked, 1 with one line of JSON on stderr when it could not start."""
    given = _parse(argv)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    give_up = _say_why if given.foreground else _give_up
    os.environ["ROOKERY_UMASK"] = f"{os.umask(0o077):03o}"  # ours is strict; agents give the user's back to the ranks
    try:
        # What is imported stays for good: looking through it for garbage again and again would only cost time, now and with
        # every large request later.
        gc.disable()
        from rookery.server.keeper import KeeperOptions, keep
        from rookery.settings import get_setting

        gc.freeze()
        gc.set_threshold(2_000, 20, 20)
        gc.enable()

        idle_s = None if given.no_idle else get_setting("keeper_idle_s", given.workspace)
        keep(
            KeeperOptions(
                given.workspace,
                given.ready_fd,
                given.host,
                given.port,
                idle_s,
                given.tls_cert,
                given.tls_key,
                given.testing,
                prefix=given.prefix,
                proxies=given.trust_proxy,
                log_format=given.log,
            )
        )
    except RookeryError as error:
        return give_up(error)
    except Exception as error:
        logging.getLogger("rookery.server").exception("The keeper could not go on")
        return give_up(ServiceError(f"The keeper failed ({type(error).__name__}: {error})."))
    return 0


def _parse(argv: Optional[list[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m rookery.server", description="Keeps a Rookery workspace.")
    parser.add_argument("--workspace", required=True, metavar="ROOT", help="the workspace's folder")
    parser.add_argument("--ready-fd", type=int, metavar="N", help="gets a byte when the keeper listens")
    parser.add_argument("--foreground", action="store_true", help="stays in the foreground: leaves only when told to")
    parser.add_argument("--host", default="127.0.0.1", help="address of the TCP port (127.0.0.1)")
    parser.add_argument("--port", type=int, default=0, help="TCP port; 0 is the one used before, or a free one")
    parser.add_argument("--tls-cert", default="", metavar="FILE", help="certificate (PEM): the TCP port speaks TLS")
    parser.add_argument("--tls-key", default="", metavar="FILE", help="its key (PEM), where it is not in the same file")
    parser.add_argument("--no-idle", action="store_true", help="does not leave when there is nothing to do")
    parser.add_argument("--testing", action="store_true", help="POST /__reset empties the workspace; loopback only")
    parser.add_argument("--prefix", default="", metavar="PATH", help="what the paths of all addresses begin with")
    parser.add_argument("--trust-proxy", default="", metavar="LIST", help="proxies whose X-Forwarded-* headers count")
    parser.add_argument("--log", default="none", metavar="FORM", help="text or json: a line for every request; none")
    given = parser.parse_args(argv)
    given.no_idle = given.no_idle or given.foreground
    return given


def _say_why(error: RookeryError) -> int:
    """For whoever looks at the terminal."""
    print(f"error: {error.message}", file=sys.stderr, flush=True)
    return 1


def _give_up(error: RookeryError) -> int:
    """The last line that whoever started us finds in the log."""
    print(
        json.dumps({"error": {"code": error.code, "message": error.message, "details": error.details}}),
        file=sys.stderr,
        flush=True,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
