"""One line of a conda specification, in parts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rookery.environments.python.versions import is_condition
from rookery.errors import UserError

__all__ = ["CondaDependency", "check_channel", "parse_conda_dependency"]

_NAME = re.compile(r"(?:(?P<channel>[A-Za-z0-9._/:-]+)::)?(?P<name>[A-Za-z0-9_][A-Za-z0-9_.-]*)(?P<rest>.*)")
_WITH_BUILD = re.compile(r"(?P<condition>=?=? ?[0-9][^=<>!~, ]*)[= ](?P<build>[A-Za-z0-9_.*]+)")
_SINGLE = re.compile(r"=?=?\s*(?:[0-9]+!)?[0-9][0-9A-Za-z.+_]*(?:\.\*|\*)?")


@dataclass(frozen=True)
class CondaDependency:
    """`condition` keeps conda's meaning: '=1.2' is a prefix, '==1.2' exact."""

    name: str
    condition: str = ""
    build: str = ""
    channel: str = ""
    text: str = ""

    @property
    def pip_condition(self) -> str:
        """The same condition in pip's words."""
        if not self.condition or self.condition[0] in "<>!~":
            return re.sub(r"(?<![<>=!~])=(?!=)", "==", self.condition)
        version = self.condition.lstrip("= ")
        if self.condition.startswith("==") or version.endswith("*"):
            return "==" + version
        return f"=={version}.*" if self.condition.startswith("=") else "==" + version


def parse_conda_dependency(text: str) -> CondaDependency:
    """Read 'name', 'name=1.2', 'name==1.2.3', 'name 1.2.*', 'name>=1,<2', 'name=1.2=build' or
    'channel::name…'.

    Raises:
        UserError: it is none of them.
    """
    found = _NAME.fullmatch(" ".join(text.split())) if len(text) < 500 and text.isprintable() else None
    rest = found["rest"] if found else ""
    with_build = _WITH_BUILD.fullmatch(rest.strip())
    condition = re.sub(r" ?([<>=!~,]+) ?", r"\1", (with_build["condition"] if with_build else rest).strip())
    if condition and condition[0] not in "<>=!~":
        # 'name 1.2' is exact, 'name 1.2.*' a prefix: both read the same after '=='. Without the space it is
        # no version.
        condition = "==" + condition if rest.startswith(" ") else "?"
    if found is None or (condition and not _is_readable(condition)):
        raise UserError(
            f"{text[:80]!r} is not a conda dependency. Allowed: a package's name with a version, like "
            "`numpy=1.19`, "
            "`python==3.6.2`, `pillow>=8,<9` or `conda-forge::numpy`."
        )
    build = with_build["build"] if with_build else ""
    return CondaDependency(found["name"].lower(), condition, build, found["channel"] or "", text.strip())


def check_channel(channel: object) -> str:
    """A channel's name or address.

    Raises:
        UserError: it is neither.
    """
    text = str(channel).strip()
    plain = isinstance(channel, str) and re.fullmatch(r"(?:(?:https?|file)://)?[A-Za-z0-9._/~%@:+ -]{1,400}", text)
    if not plain or ".." in text.split("/") or text.startswith("-"):
        raise UserError(
            f"Channel {text[:80]!r} is not one. Allowed: a name like conda-forge, an https:// address or a "
            "folder as file:///…"
        )
    return text


def _is_readable(condition: str) -> bool:
    return bool(_SINGLE.fullmatch(condition)) or is_condition(condition)
