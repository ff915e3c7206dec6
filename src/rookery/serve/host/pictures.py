"""Pictures in a request, and labels in an answer."""

import base64
import binascii

from .answers import BadInput
from .tensors import encode, parse_json

__all__ = ["encode_labels", "rows_of"]

MAGIC = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM")


def rows_of(head, body):
    """([bytes of a picture], the form of the answer: `one` for a single picture, `rows` for a list); None: no pictures here."""
    if _is_picture(head, body):
        return [body], "one"
    if b'"image"' not in body[:200]:
        return None
    given = parse_json(body)
    rows = given if isinstance(given, list) else [given]
    found = [_from_row(row) for row in rows]
    if not found:
        raise BadInput("The list of pictures is empty.")
    return found, "rows" if isinstance(given, list) else "one"


def _is_picture(head, body):
    if (head.get("c") or "").startswith("image/"):
        return True
    return body[:8].startswith(MAGIC) or body[8:12] == b"WEBP"


def _from_row(row):
    if not isinstance(row, dict) or not isinstance(row.get("image"), str):
        raise BadInput('Each row is an object with "image", a picture in base64.')
    text = row["image"].partition(",")[2] if row["image"].startswith("data:") else row["image"]
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadInput('"image" is no base64: {}.'.format(error))


def encode_labels(form, probabilities, labels):
    """The answer for one picture, or for a list of them (as the designer's endpoints answer)."""
    if form == "one":
        values = [float(p) for p in probabilities[0]]
        best = max(range(len(values)), key=values.__getitem__)
        told = {"label": labels[best], "probability": values[best], "probabilities": dict(zip(labels, values))}
        return encode(told)
    result = []
    for row in probabilities:
        values = [float(p) for p in row]
        result.append(values + [labels[max(range(len(values)), key=values.__getitem__)]])
    return encode({"result": result})
