"""azureml.contrib.services.aml_request: `AMLRequest` has the parts of a Flask request that scoring scripts use. Runs on Python 3.6,
standard library only."""

import functools
import io
import json
from typing import Any
from urllib.parse import parse_qsl

__all__ = ["AMLRequest", "rawhttp"]


def rawhttp(func):
    """Marks a scoring script's `run`: it takes an AMLRequest and returns an AMLResponse."""

    @functools.wraps(func)
    def raw_http_wrapper(*args, **kwargs):
        return func(*args, **kwargs)

    raw_http_wrapper.__rookery_rawhttp__ = True  # type: ignore[attr-defined]
    return raw_http_wrapper


class AMLRequest(object):
    """A request: `method`, `headers`, `args`, `form`, `files`, `data`, `get_data()`, `json`, `get_json()`, `path`, `full_path`,
    `query_string`, `content_type`, `mimetype`, `stream`, `values`, `environ`."""

    def __init__(self, environ=None):
        self.environ = dict(environ or {})
        self.stream = self.environ.get("wsgi.input") or io.BytesIO()
        self._data = None
        self._parts = None

    @property
    def method(self):
        return self.environ.get("REQUEST_METHOD", "GET")

    @property
    def path(self):
        return self.environ.get("PATH_INFO", "/")

    @property
    def query_string(self):
        return self.environ.get("QUERY_STRING", "").encode("latin-1")

    @property
    def full_path(self):
        return self.path + "?" + self.environ.get("QUERY_STRING", "")

    @property
    def content_type(self):
        return self.environ.get("CONTENT_TYPE", "")

    @property
    def mimetype(self):
        return self.content_type.partition(";")[0].strip().lower()

    @property
    def content_length(self):
        return int(self.environ.get("CONTENT_LENGTH") or 0)

    @property
    def remote_addr(self):
        return self.environ.get("REMOTE_ADDR") or None

    @property
    def headers(self):
        found = _Headers()
        for key, value in self.environ.items():
            if key.startswith("HTTP_"):
                found[key[5:].replace("_", "-").title()] = value
            elif key in ("CONTENT_TYPE", "CONTENT_LENGTH") and value:
                found[key.replace("_", "-").title()] = value
        return found

    @property
    def args(self):
        return _Values(parse_qsl(self.environ.get("QUERY_STRING", ""), keep_blank_values=True))

    def get_data(self, cache=True, as_text=False, parse_form_data=False):
        if self._data is None:
            self._data = self.stream.read()
            self.stream = io.BytesIO(self._data)
        return self._data.decode("utf-8", "replace") if as_text else self._data

    @property
    def data(self):
        return self.get_data()

    @property
    def is_json(self):
        return self.mimetype == "application/json" or self.mimetype.endswith("+json")

    def get_json(self, force=False, silent=False, cache=True):
        if not (force or self.is_json):
            return None
        try:
            return json.loads(self.get_data().decode("utf-8"))
        except ValueError:
            if silent:
                return None
            raise

    @property
    def json(self):
        return self.get_json()

    @property
    def form(self):
        return self._multipart()[0]

    @property
    def files(self):
        return self._multipart()[1]

    @property
    def values(self):
        return _Values(list(self.args.all()) + list(self.form.all()))

    def _multipart(self):
        if self._parts is None:
            if self.mimetype == "application/x-www-form-urlencoded":
                text = self.get_data().decode("utf-8", "replace")
                self._parts = (_Values(parse_qsl(text, keep_blank_values=True)), _Values([]))
            elif self.mimetype.startswith("multipart/"):
                self._parts = _parse_multipart(self.content_type, self.get_data())
            else:
                self._parts = (_Values([]), _Values([]))
        return self._parts


class _Headers(dict):
    """Names in any case."""

    def __getitem__(self, key):
        return dict.__getitem__(self, key.title())

    def __contains__(self, key):
        return dict.__contains__(self, str(key).title())

    def get(self, key, default=None, type=None):
        value = dict.get(self, key.title(), default)
        return type(value) if type is not None and value is not None else value


class _Values(dict):
    """The first value of each name; `getlist` has all."""

    def __init__(self, pairs):
        dict.__init__(self)
        self._pairs = list(pairs)
        for key, value in self._pairs:
            self.setdefault(key, value)

    def all(self):
        return self._pairs

    def getlist(self, key):
        return [value for name, value in self._pairs if name == key]

    def get(self, key, default=None, type=None):
        if key not in self:
            return default
        try:
            return type(self[key]) if type is not None else self[key]
        except ValueError:
            return default


class _File(io.BytesIO):
    """An uploaded file: it can be read, and knows its name and type."""

    def __init__(self, data, name, filename, content_type):
        io.BytesIO.__init__(self, data)
        self.name, self.filename, self.content_type = name, filename, content_type
        self.stream = self

    def save(self, target):
        with open(target, "wb") as f:
            f.write(self.getvalue())


def _parse_multipart(content_type, body):
    from email.parser import BytesParser

    message = BytesParser().parsebytes(b"Content-Type: " + content_type.encode("latin-1") + b"\r\n\r\n" + body)
    fields, files = [], []
    parts: Any = message.get_payload() if message.is_multipart() else []
    for part in parts:
        name = part.get_param("name", header="content-disposition")
        filename = part.get_filename()
        data = part.get_payload(decode=True) or b""
        if filename is None:
            fields.append((name, data.decode("utf-8", "replace")))
        else:
            files.append((name, _File(data, name, filename, part.get_content_type())))
    return _Values(fields), _Values(files)
