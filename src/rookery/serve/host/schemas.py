"""Functions decorated with `inference_schema`: which arguments a body becomes, and what swagger.json says of them."""

import json
import sys

from .answers import BadInput

__all__ = ["arguments", "of", "swagger"]


def of(function):
    """{"input": JSON schema, "output": JSON schema or None} of a decorated function; None for any other."""
    util = sys.modules.get("inference_schema.schema_util")
    if "inference_schema" not in sys.modules:
        return None
    if util is None:
        import importlib

        util = importlib.import_module("inference_schema.schema_util")
    try:
        decorated = util.is_schema_decorated(function)
        given = util.get_input_schema(function) if decorated else None
        made = util.get_output_schema(function) if decorated else None
    except Exception as error:  # a function that is only half decorated
        sys.stderr.write("rookery: the schema of run() cannot be read: {}\n".format(error))
        return None
    return {"input": given, "output": made} if given else None


def arguments(schema, body):
    """The keyword arguments that a body is."""
    try:
        given = json.loads(body.decode("utf-8"))
    except ValueError as error:
        raise BadInput("The body is no JSON: {}.".format(error))
    names = sorted((schema["input"].get("properties") or {}).keys())
    if not isinstance(given, dict):
        raise BadInput("The body is a {}, not an object with {}.".format(type(given).__name__, _listed(names)))
    known = {name.lower(): name for name in names}
    found = {known.get(str(key).lower(), key): value for key, value in given.items()}
    strange = sorted(str(key) for key in found if key not in names)
    if strange:
        raise BadInput("The body has {}; this service takes {}.".format(_listed(strange), _listed(names)))
    missing = [name for name in schema["input"].get("required", names) if name not in found]
    if missing:
        raise BadInput("The body lacks {}; this service takes {}.".format(_listed(missing), _listed(names)))
    return found


def swagger(function, name, version, schema):
    """swagger.json in the asked for version (2 or 3) of a service of this name."""
    given = (schema or {}).get("input") or {"type": "object", "example": {}}
    made = (schema or {}).get("output") or {"type": "object"}
    about = {
        "title": name,
        "description": "API specification for the Azure Machine Learning service {}".format(name),
        "version": "1.0",
    }
    if int(version) == 2:
        return {
            "swagger": "2.0",
            "info": about,
            "schemes": ["http", "https"],
            "consumes": ["application/json"],
            "produces": ["application/json"],
            "securityDefinitions": {"Bearer": {"type": "apiKey", "name": "Authorization", "in": "header"}},
            "paths": {
                "/": {"get": _operation("ServiceHealthCheck", {"type": "string"}, "Healthy")},
                "/score": {
                    "post": dict(
                        _operation("RunMLService", {"$ref": "#/definitions/ServiceOutput"}, None),
                        parameters=[
                            {
                                "name": "serviceInputPayload",
                                "in": "body",
                                "required": True,
                                "schema": {"$ref": "#/definitions/ServiceInput"},
                            }
                        ],
                    )
                },
            },
            "definitions": {"ServiceInput": given, "ServiceOutput": made},
        }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/ServiceOutput"}}}
    return {
        "openapi": "3.0.3",
        "info": about,
        "paths": {
            "/": {
                "get": {
                    "operationId": "ServiceHealthCheck",
                    "responses": {
                        "200": {"description": "Healthy", "content": {"text/plain": {"schema": {"type": "string"}}}}
                    },
                }
            },
            "/score": {
                "post": {
                    "operationId": "RunMLService",
                    "security": [{"Bearer": []}],
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ServiceInput"}}},
                    },
                    "responses": {"200": {"description": "The answer of run()", "content": content}},
                }
            },
        },
        "components": {
            "securitySchemes": {"Bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": {"ServiceInput": given, "ServiceOutput": made},
        },
    }


def _operation(name, schema, example):
    answered = {"description": "The answer of run()" if example is None else example, "schema": schema}
    return {"operationId": name, "responses": {"200": answered}}


def _listed(names):
    return ", ".join("'{}'".format(name) for name in names) or "nothing"
