"""`@rawhttp` functions: they take the whole request and give the whole answer."""

import io
import sys

__all__ = ["is_raw", "make_request"]


def is_raw(function):
    """Whether `rawhttp` of azureml.contrib.services marked it: ours by an attribute, Microsoft's by the wrapper's name."""
    found = function
    while found is not None:
        if getattr(found, "__rookery_rawhttp__", False) or getattr(found, "raw_http", False):
            return True
        code = getattr(found, "__code__", None)
        if code is not None and "aml_request" in (code.co_filename or ""):
            return True
        found = getattr(found, "__wrapped__", None)
    return False


def make_request(head, body):
    """An AMLRequest: ours, or Microsoft's over the same WSGI environment where theirs is installed."""
    from azureml.contrib.services.aml_request import AMLRequest

    return AMLRequest(_environ(head, body))


def _environ(head, body):
    """The request as WSGI says it."""
    environ = {
        "REQUEST_METHOD": head.get("m", "POST"),
        "SCRIPT_NAME": "",
        "PATH_INFO": head.get("p", "/score"),
        "QUERY_STRING": head.get("q", ""),
        "CONTENT_LENGTH": str(len(body)),
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": head.get("a", ""),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in head.get("h") or ():
        key = name.upper().replace("-", "_")
        environ[key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else "HTTP_" + key] = value
    environ["CONTENT_LENGTH"] = str(len(body))
    return environ
