"""Columns by what is written in a parameter: names, patterns, types."""

from __future__ import annotations

import csv
import difflib
import fnmatch

from rookery_tabular.frames import Frame, kind_of
from rookery_vision.errors import ParameterParsingError, by_id

__all__ = ["choose", "choose_one", "select"]

TYPES = ("number", "text", "time", "switch")


def select(frame: Frame, text: str, is_excluded: bool) -> Frame:
    """The chosen columns in the order in which they are named, or all others in the table's own."""
    chosen = choose(frame, text, "Columns")
    kept = [n for n in frame.data.columns if n not in chosen] if is_excluded else chosen
    if not kept:
        raise by_id("NoColumnsSelected")(f"{text!r:.200} leaves no column. Keep at least one.")
    return frame.with_data(frame.data[kept])


def choose(frame: Frame, text: str, label: str) -> list[str]:
    """Their names, each once.

    Raises:
        ColumnNotFoundError, NoColumnsSelectedError: one is not there; none is left.
    """
    known = list(frame.data.columns)
    chosen: dict[str, None] = {}
    for word in _words(text):
        found = _matching(frame, known, word)
        if not found and not _is_pattern(word):
            near = difflib.get_close_matches(word, known, n=1)
            hint = f"Did you mean '{near[0]}'? " if near else ""
            shown = ", ".join(known[:20]) + (" …" if len(known) > 20 else "")
            raise by_id("ColumnNotFound")(f"{label}: there is no column '{word:.200}'. {hint}The table has: {shown}.")
        chosen.update(dict.fromkeys(found))
    if not chosen:
        raise by_id("NoColumnsSelected")(
            f"{label}: {text!r:.200} chooses no column. Give names with commas between, a pattern with * or ?, or type:number."
        )
    return list(chosen)


def choose_one(frame: Frame, text: str, label: str) -> str:
    """
    Raises:
        BadNumberOfSelectedColumnsError: there are several.
    """
    if text in frame.data.columns:
        return text  # also a name with a comma in it
    found = choose(frame, text, label)
    if len(found) != 1:
        raise by_id("BadNumberOfSelectedColumns")(f"{label}: {text!r:.200} are {len(found)} columns. Give one.")
    return found[0]


def _words(text: str) -> list[str]:
    try:
        rows = list(csv.reader([",".join(text.splitlines())], skipinitialspace=True))
    except csv.Error as error:
        raise ParameterParsingError(
            f"{text!r:.200} is no list of columns: {error}. Give names with commas between."
        ) from None
    return [word.strip() for row in rows for word in row if word.strip()]


def _matching(frame: Frame, known: list[str], word: str) -> list[str]:
    if word in known:
        return [word]  # a name is a name, whatever signs it has
    if word.startswith("type:"):
        wanted = word[len("type:") :].strip().lower()
        if wanted not in TYPES:
            raise by_id("InvalidColumnCategorySelected")(
                f"'{word:.100}' is no type of columns. Allowed: {', '.join('type:' + t for t in TYPES)}."
            )
        return [n for n in known if kind_of(frame.data[n]) == wanted]
    return [n for n in known if fnmatch.fnmatchcase(n, word)] if _is_pattern(word) else []


def _is_pattern(word: str) -> bool:
    return word.startswith("type:") or any(sign in word for sign in "*?")
