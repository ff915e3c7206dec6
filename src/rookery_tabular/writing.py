"""A table as a file that other programs read."""

from __future__ import annotations

import os

from rookery_tabular.frames import read_frame
from rookery_vision.errors import ParameterParsingError

__all__ = ["export_table"]

ENDINGS = {"CSV": ".csv", "TSV": ".tsv", "Parquet": ".parquet", "JSON lines": ".jsonl"}


def export_table(dataset: str, output: str, file_name: str, file_format: str) -> None:
    """
    Raises:
        ParameterParsingError: the name is a path.
    """
    name = file_name.strip()
    if not name or name in (".", "..") or any(sign in name for sign in "/\\\0"):
        raise ParameterParsingError(f"Parameter 'File name' is {file_name!r:.200}. Allowed: a name without '/'.")
    data = read_frame(dataset).data
    path = os.path.join(output, name + ENDINGS[file_format])
    partial = path + ".part"
    if file_format == "Parquet":
        data.to_parquet(partial, index=False)
    elif file_format == "JSON lines":
        data.to_json(partial, orient="records", lines=True, force_ascii=False, date_format="iso")
    else:
        data.to_csv(partial, index=False, sep="," if file_format == "CSV" else "\t")
    os.replace(partial, path)
    print(f"{os.path.basename(path)}: {len(data)} rows, {os.path.getsize(path)} bytes", flush=True)
