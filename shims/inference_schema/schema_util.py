"""What decorated functions say of themselves, as JSON schema."""

__all__ = ["get_input_schema", "get_output_schema", "get_supported_versions", "is_schema_decorated"]


def is_schema_decorated(func):
    return bool(getattr(func, "__inference_schema__", None))


def get_input_schema(func):
    kept = func.__inference_schema__["input"]
    properties = {name: kind.input_to_swagger() for name, (kind, _) in kept.items()}
    required = sorted(name for name, (_, optional) in kept.items() if not optional)
    example = {name: schema.get("example") for name, schema in properties.items()}
    schema = {"type": "object", "properties": properties, "example": example}
    if required:
        schema["required"] = required
    return schema


def get_output_schema(func):
    kind = func.__inference_schema__["output"]
    return kind.input_to_swagger() if kind is not None else {"type": "object"}


def get_supported_versions(func):
    return ["2.0", "3.0", "3.1"]
