"""Writes studio/src/api/types.ts from the keeper's OpenAPI: what every route takes and answers. `--check` only compares.

Our own, because it is short and needs no network: the document uses a small part of JSON Schema, and a part that is not known here
is an error, not a guess.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from typing import Any

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "src", "api", "types.ts")
HEAD = """/* Made by studio/generate_types.py from the keeper's OpenAPI; `make studio-types` makes it anew. Not to be edited. */
/* eslint-disable */
"""
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")


def generate(document: dict[str, Any]) -> str:
    """The whole file."""
    schemas = document["components"]["schemas"]
    parts = [HEAD]
    for name in sorted(schemas):
        parts.append(f"export interface {_name(name)} {_object(schemas[name])}\n")
    parts.append(_operations(document))
    return "\n".join(parts)


def _operations(document: dict[str, Any]) -> str:
    """`Operations` (types by operation id) and `PATHS` (method and path, for the client)."""
    types, paths = [], []
    for path, methods in sorted(document["paths"].items()):
        if "/agent/" in path:
            continue  # no page speaks for an agent
        for method, operation in sorted(methods.items()):
            name = operation["operationId"]
            types.append(f"  {name}: {{ {_operation(operation)} }};")
            paths.append(f'  {name}: ["{method.upper()}", "{path}"],')
    return (
        "export interface Operations {\n" + "\n".join(types) + "\n}\n\n"
        "export const PATHS: Record<keyof Operations, readonly [method: string, path: string]> = {\n"
        + "\n".join(paths)
        + "\n};\n"
    )


def _operation(operation: dict[str, Any]) -> str:
    groups: dict[str, list[dict[str, Any]]] = {"path": [], "query": []}
    for parameter in operation.get("parameters", ()):
        if parameter["in"] in groups:
            groups[parameter["in"]].append(parameter)
    parts = []
    for where, parameters in groups.items():
        fields = [f"{_key(p['name'], p.get('required', False))}: {_type(p['schema'])}" for p in parameters]
        parts.append(f"{where}: {'{ ' + '; '.join(fields) + ' }' if fields else '{}'}")
    parts.append(f"body: {_body(operation)}")
    parts.append(f"answer: {_answer(operation)}")
    return "; ".join(parts)


def _body(operation: dict[str, Any]) -> str:
    content = operation.get("requestBody", {}).get("content", {})
    if not content:
        return "undefined"
    if "application/json" in content:
        return _type(content["application/json"]["schema"])
    return "Blob"


def _answer(operation: dict[str, Any]) -> str:
    for status, response in sorted(operation["responses"].items()):
        if status.startswith("2"):
            content = response.get("content", {})
            if "application/json" in content:
                return _type(content["application/json"]["schema"])
            return "Response" if content else "undefined"
    return "undefined"


def _object(schema: dict[str, Any]) -> str:
    if schema.get("type") != "object" and "properties" not in schema:
        raise ValueError(f"not an object: {schema}")
    required = set(schema.get("required", ()))
    lines = [f"  {_key(name, name in required)}: {_type(kind)};" for name, kind in schema.get("properties", {}).items()]
    if not lines:
        lines = ["  [key: string]: unknown;"]
    return "{\n" + "\n".join(lines) + "\n}"


def _type(schema: Any) -> str:
    if schema in ({}, True):
        return "unknown"
    if "$ref" in schema:
        return _name(schema["$ref"].rpartition("/")[2])
    for many in ("anyOf", "oneOf"):
        if many in schema:
            return " | ".join(dict.fromkeys(_type(each) for each in schema[many]))
    if "enum" in schema:
        return " | ".join(_literal(value) for value in schema["enum"])
    if "const" in schema:
        return _literal(schema["const"])
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return "[" + ", ".join(_type(each) for each in schema["prefixItems"]) + "]"
        inner = _type(schema.get("items", {}))
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if kind == "object":
        if schema.get("properties"):
            return _object(schema).replace("\n", " ")
        values = schema.get("additionalProperties", {})
        return f"Record<string, {_type(values if values not in (True, False) else {})}>"
    plain = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
    if kind in plain:
        return plain[kind]
    if kind is None and set(schema) <= {"title", "description", "default", "examples", "contentMediaType"}:
        return "unknown"
    raise ValueError(f"a schema that generate_types.py does not know: {schema}")


def _literal(value: Any) -> str:
    return "null" if value is None else repr(value).replace("'", '"') if isinstance(value, str) else str(value).lower()


def _key(name: str, required: bool) -> str:
    shown = name if _IDENTIFIER.match(name) else f'"{name}"'
    return shown if required else shown + "?"


def _name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def current_document() -> dict[str, Any]:
    """The OpenAPI of the code that is here; no keeper is started."""
    from rookery.record import Record
    from rookery.server import create_app
    from rookery.spec.paths import WorkspacePaths
    from rookery.testing.fake_controller import FakeController

    with tempfile.TemporaryDirectory() as folder:
        record = Record(WorkspacePaths(folder))
        try:
            return create_app(record, FakeController(record), {"id": "0", "name": "types"}).openapi()
        finally:
            record.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail where the file is not what it would be"
    )
    check = parser.parse_args().check
    text = generate(current_document())
    try:
        with open(PATH, encoding="utf-8") as f:
            old = f.read()
    except FileNotFoundError:
        old = ""
    if text == old:
        return 0
    if check:
        print(
            "studio/src/api/types.ts is not what the API says now. `make studio-types` makes it anew.", file=sys.stderr
        )
        return 1
    with open(PATH, "w", encoding="utf-8") as f:
        f.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
