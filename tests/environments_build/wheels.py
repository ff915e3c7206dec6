"""Wheels made by hand."""

from __future__ import annotations

import base64
import hashlib
import os
import zipfile


def write_wheel(folder, name, version, files, requires=(), tag="py3-none-any", scripts=""):
    """Write <name>-<version>-<tag>.whl with the given files. Returns its path."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(
        f"Requires-Dist: {r}\n" for r in requires
    )
    everything = dict(files)
    everything[f"{info}/METADATA"] = metadata
    everything[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: {tag}\n"
    if scripts:
        everything[f"{info}/entry_points.txt"] = scripts
    path = os.path.join(folder, f"{name}-{version}-{tag}.whl")
    record = []
    with zipfile.ZipFile(path, "w") as z:
        for member, text in everything.items():
            data = text if isinstance(text, bytes) else text.encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{member},sha256={digest},{len(data)}")
            z.writestr(member, data)
        z.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,"]) + "\n")
    return path


def sha256_of(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()
