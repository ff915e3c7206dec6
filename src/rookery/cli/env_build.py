"""Following a build of an environment: its log on stderr as it grows, then what was built on stdout."""

from __future__ import annotations

import base64
import sys
from contextlib import closing
from typing import Any

from rookery.cli import session
from rookery.cli.terminal import clean, next_step, note, paint, print_json, say
from rookery.cli.words import between
from rookery.errors import EnvironmentBuildError, KeeperUnavailableError

__all__ = ["build_and_watch"]

INTERRUPTED = 130


def build_and_watch(client: Any, environment: Any, is_fresh: bool = False) -> int:
    """Has it built (with `is_fresh` resolved anew) and returns when it is there: 0, or 130 after Ctrl-C.

    Raises:
        EnvironmentBuildError: it cannot be built.
    """
    from rookery.sdk.environment_spec import environment_spec
    from rookery.spec.plain import to_plain

    body = {"spec": to_plain(environment_spec(environment)), **({"fresh": True} if is_fresh else {})}
    build = client.request("POST", "/environments/builds", body=body)
    if session.current().json:
        print_json({"event": "submitted", "build": build}, line=True)
    try:
        _follow(client, build["id"])
    except KeyboardInterrupt:
        note(f"\nThe build goes on without us. `rookery env build` with the same {environment.name} joins it again.")
        return INTERRUPTED
    build = client.request("GET", f"/environments/builds/{build['id']}")
    if session.current().json:
        print_json({"event": "end", "build": build}, line=True)
        return 0 if build["status"] == "Succeeded" else 1
    if build["status"] != "Succeeded":
        raise EnvironmentBuildError(build["error"])
    _print_built(build, environment.name)
    return 0


def _follow(client: Any, build_id: str) -> None:
    from rookery.sdk.build_output import BuildOutput

    as_json = session.current().json
    shown = None if as_json else BuildOutput(sys.stderr)
    try:
        with closing(client.stream(f"/environments/builds/{build_id}/events")) as events:
            for event in events:
                if event.kind == "end":
                    return
                if event.kind != "log":
                    continue
                data = event.data
                raw = data["text"].encode("utf-8") if "text" in data else base64.b64decode(data["base64"])
                if shown is not None:
                    shown.take(raw)
                else:
                    print_json({"event": "log", "text": raw.decode("utf-8", "replace")}, line=True)
    finally:
        if shown is not None:
            shown.close()
    raise KeeperUnavailableError(f"The events of build '{build_id}' broke off. Run the same command again.")


def _print_built(build: dict[str, Any], name: str) -> None:
    built = build["built"]
    for text in built["deviations"]:
        note(f"warning: {clean(text)}")
    took = between(build["created_utc"], build["ended_utc"])
    say(f"{paint(clean(name), 'bold')} is built: {built['python']}" + (f"  ({took})" if took else ""))
    key = built.get("key", "")
    next_step(f"rookery env show {key[:12]}" if key else f"rookery run --env {name} SCRIPT")
