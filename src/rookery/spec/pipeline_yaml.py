"""A graph as a YAML file and back, without loss. Where an input comes from is written `node.port`, which people can type."""

from __future__ import annotations

import copy
import datetime
from typing import Any

from rookery.errors import UserError
from rookery.spec.pipeline import GRAPH_VERSION
from rookery.spec.pipeline_file import written_twice
from rookery.spec.safe_yaml import load_yaml

__all__ = ["graph_from_yaml", "graph_to_yaml"]

_FIRST = (
    "version",
    "name",
    "description",
    "default_compute",
    "default_datastore",
    "environment",
    "parameters",
    "nodes",
)


def graph_to_yaml(graph: dict[str, Any]) -> str:
    """The file's text. `graph_from_yaml` gives the same graph back."""
    import yaml

    plain = {key: graph[key] for key in _FIRST if key in graph}
    plain.update({key: value for key, value in graph.items() if key not in plain})
    plain = copy.deepcopy(plain)
    nodes = plain.get("nodes")
    for node in nodes.values() if isinstance(nodes, dict) else ():
        inputs = node.get("inputs") if isinstance(node, dict) else None
        if isinstance(inputs, dict):
            node["inputs"] = {
                port: source if _short(source) is None else _short(source) for port, source in inputs.items()
            }
    return str(yaml.dump(plain, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=120))


def graph_from_yaml(text: str, where: str = "The file") -> dict[str, Any]:
    """The graph. What it lacks of version and name is added; what it says is not judged here.

    Raises:
        UserError: it is no YAML, no graph at all, or has a key twice; the last with `details.problems`.
    """
    data = _plain(load_yaml(text, where), where)
    twice = written_twice(text)
    if twice:
        words = " ".join(problem.message for problem in twice)
        raise UserError(f"{where}: {words}", details={"problems": [problem.plain() for problem in twice]})
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), dict):
        raise UserError(f"{where} is no pipeline: it has no `nodes`. docs/pipelines.md shows one.")
    version = data.setdefault("version", GRAPH_VERSION)
    if version != GRAPH_VERSION:
        raise UserError(f"{where} says version {version!r}; this Rookery reads version {GRAPH_VERSION}.")
    data.setdefault("name", "pipeline")
    for node in data["nodes"].values():
        inputs = node.get("inputs") if isinstance(node, dict) else None
        if isinstance(inputs, dict):
            node["inputs"] = {port: _long(source) for port, source in inputs.items()}
    return data


def _plain(value: Any, where: str) -> Any:
    """As JSON has it: keys are text, and so are dates, which YAML knows and JSON does not."""
    if isinstance(value, dict):
        return {_key(key): _plain(each, where) for key, each in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(each, where) for each in value]
    if isinstance(value, datetime.date):  # and datetime, which is one
        return value.isoformat()
    if isinstance(value, bytes):
        raise UserError(f"{where} holds binary data (!!binary), which a pipeline has no use for.")
    return value


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    return "null" if key is None else str(key).lower() if isinstance(key, bool) else str(key)


def _long(source: Any) -> Any:
    if not isinstance(source, str) or "." not in source:
        return source
    name, _, output = source.rpartition(".")
    return {"node": name, "port": output}


def _short(source: Any) -> Any:
    """`node.port`, or None where that would not give the same back."""
    if not isinstance(source, dict) or list(source) != ["node", "port"]:
        return None
    node, port = source["node"], source["port"]
    if not isinstance(node, str) or not isinstance(port, str) or not node or not port or "." in port:
        return None
    return f"{node}.{port}"


def _dumper() -> Any:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Without aliases: the reader takes none."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    def text(dumper: Any, value: str) -> Any:
        # Line ends of other alphabets are folded away in every style but this one.
        odd = any((ord(c) < 32 and c != "\n") or c in "\x7f\x85\xa0\u2028\u2029\ufeff" for c in value)
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style='"' if odd else None)

    Dumper.add_representer(str, text)
    return Dumper
