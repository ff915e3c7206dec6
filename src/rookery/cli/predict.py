"""`rookery predict NAME FILE`: ask an endpoint; a picture gives its label and probability."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_endpoint
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import clean, note, print_json, say
from rookery.errors import UserError

__all__ = ["predict"]


def predict(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The endpoint.", autocompletion=complete_endpoint)],
    files: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="[FILE...]", help="Pictures, JSON, or any body; - reads standard input."),
    ] = None,
    data: Annotated[
        Optional[str], typer.Option("--data", metavar="TEXT", help="The body itself, instead of a file.")
    ] = None,
    content_type: Annotated[
        str, typer.Option("--content-type", metavar="TYPE", help="Media type of the body. Default: what it looks like.")
    ] = "",
    is_timed: Annotated[bool, typer.Option("--timings", help="Say on stderr how long each stage took.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Asks an endpoint and prints its answer: for a picture its label and probability."""
    from rookery.sdk.scoring import ask_service, decode_answer
    from rookery.sdk.webservice import fetch_service, service_from

    if (data is None) == (not files):
        raise typer.BadParameter("Give one or more files, or --data TEXT.", param_hint="FILE")
    bodies = [("--data", (data or "").encode("utf-8"))] if not files else [(path, _read(path)) for path in files]
    home = session.sdk_workspace()
    service = service_from(home, fetch_service(home, name))
    answers = []
    for path, body in bodies:
        answer = ask_service(home, service._data, body, content_type, service._key)
        _check(service.name, path, answer)
        decoded = decode_answer(service.name, answer)
        answers.append(
            {"file": path, "answer": decoded if not isinstance(decoded, bytes) else decoded.decode("latin-1")}
        )
        if is_timed and answer[1].get("server-timing"):
            note(f"{path}: {answer[1]['server-timing']}")
        if not session.current().json:
            _print(path if len(bodies) > 1 else "", decoded)
    if session.current().json:
        print_json(answers[0]["answer"] if len(answers) == 1 else answers)


def _check(name: str, path: str, answer: Any) -> None:
    status, _, data = answer
    if status >= 300:
        text = " ".join(data[:2000].decode("utf-8", "replace").split()) or "nothing more"
        raise UserError(
            f"'{name}' refused {path} with status {status}: {text}. What its processes wrote: `rookery endpoints logs {name}`."
        )


def _print(path: str, answer: Any) -> None:
    start = f"{clean(path)}  " if path else ""
    if isinstance(answer, bytes):
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    elif isinstance(answer, dict) and {"label", "probability"} <= set(answer):
        say(f"{start}{clean(answer['label'])}  {float(answer['probability']):.4f}")
    elif isinstance(answer, str):
        say(start + answer)
    else:
        if start:
            say(start.rstrip())
        print_json(answer)


def _read(path: str) -> bytes:
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from error
