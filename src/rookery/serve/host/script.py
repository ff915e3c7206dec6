"""An entry script: `init()` once, `run(…)` for every request, called the way it asks for (text, schema, rawhttp)."""

import importlib.util
import inspect
import json
import os
import sys
import time
import traceback
from urllib.parse import parse_qsl

from . import schemas
from .answers import TEXT, Answer, BadInput, to_answer
from .raw import is_raw, make_request

__all__ = ["Script"]


class Script(object):
    """Promises: what user code raises becomes an answer, with its traceback in the log; nothing of it ends the process but
    what ends any (os._exit, a crash)."""

    batches = False

    def __init__(self, path):
        self._path = os.path.abspath(path)
        self.module = self._load()
        if not callable(getattr(self.module, "run", None)):
            raise ValueError("{} has no function run(data). A scoring script has init() and run(data).".format(path))
        self._run = self.module.run
        self.wants_request = is_raw(self._run)
        self._schema = None if self.wants_request else schemas.of(self._run)
        self._takes_nothing = not self._schema and not _parameters(self._run)

    def _load(self):
        """As the module of its own name, so that what it pickled or unpickles by that name is found."""
        folder, file = os.path.split(self._path)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        name = os.path.splitext(file)[0]
        spec = importlib.util.spec_from_file_location(name, self._path)
        if spec is None or spec.loader is None:
            raise ValueError("{} is no Python file.".format(self._path))
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(name, module)
        spec.loader.exec_module(module)
        return module

    def init(self):
        if callable(getattr(self.module, "init", None)):
            self.module.init()

    def swagger(self, name, version):
        return schemas.swagger(self._run, name, version, self._schema)

    def score(self, request):
        """(request: {"m": method, "q": query, "c": content type, "h": headers, "p": path}, body) -> Answer"""
        head, body = request
        began = time.perf_counter()
        try:
            arguments = self._arguments(head, body)
        except BadInput as error:
            return Answer(str(error).encode("utf-8"), 400, TEXT)
        decoded = time.perf_counter()
        try:
            value = self._run(*arguments[0], **arguments[1])
            ran = time.perf_counter()
            answer = to_answer(value)
        except BadInput as error:
            return Answer(str(error).encode("utf-8"), 400, TEXT)
        except Exception as error:
            answer = self._explain(error, head, body)
            ran = time.perf_counter()
        answer.timings = {
            "decode": (decoded - began) * 1000,
            "run": (ran - decoded) * 1000,
            "encode": (time.perf_counter() - ran) * 1000,
        }
        return answer

    def _arguments(self, head, body):
        if self.wants_request:
            return (make_request(head, body),), {}
        if head.get("m") == "GET":
            given = dict(parse_qsl(head.get("q", ""), keep_blank_values=True))
            return ((), given) if self._schema else ((json.dumps(given),), {})
        if self._takes_nothing:
            return (), {}
        if self._schema:
            return (), schemas.arguments(self._schema, body)
        try:
            return (body.decode("utf-8"),), {}
        except UnicodeDecodeError as error:
            raise BadInput(
                "The body is not UTF-8 ({}). This service takes text, as a rule JSON; for bytes its run() must be "
                "decorated with @rawhttp.".format(error)
            )

    def _explain(self, error, head, body):
        """500 with the error's text; 400 where it is the request's fault: its JSON is none, or it does not fit the schema."""
        traceback.print_exc()
        sys.stderr.flush()
        if self._schema and not _reached(error, self._path):
            return Answer("The body does not fit the schema: {}".format(error).encode("utf-8", "replace"), 400, TEXT)
        if not self.wants_request and not self._schema and "json" in (head.get("c") or "") and not _is_json(body):
            return Answer("The body is no JSON: {}".format(error).encode("utf-8", "replace"), 400, TEXT)
        words = str(error) or type(error).__name__
        return Answer(words.encode("utf-8", "replace"), 500, TEXT, failed=True)


def _parameters(function):
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {"data": None}


def _reached(error, path):
    """Whether the error came from inside of the script, not from the decorators that turn the body into arguments."""
    return any(os.path.abspath(frame.filename) == path for frame in traceback.extract_tb(error.__traceback__))


def _is_json(body):
    try:
        json.loads(body.decode("utf-8"))
        return True
    except ValueError:
        return False
