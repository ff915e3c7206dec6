"""One requirement line of pip: read, judged, and written again in one way.

Names come from the index. A direct address is a way to run somebody else's code from somewhere else, so each
kind has to be
allowed by the setting `requirement_sources`; `git+` is read with https and ssh only, `file:` only for an
archive.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from rookery.environments.python.versions import is_condition
from rookery.errors import UserError

__all__ = ["SOURCES", "Requirement", "mask", "normal_name", "parse_requirement"]

SOURCES = ("https", "http", "git", "file")
MAX_LINE = 2000
ARCHIVES = (".whl", ".tar.gz", ".tar.bz2", ".zip")

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_LINE = re.compile(
    rf"(?P<name>{_NAME})\s*(?:\[(?P<extras>[A-Za-z0-9._,\s-]*)\])?\s*"
    r"(?:@\s*(?P<url>\S+)|(?P<condition>\([^()]*\)|[^;@]*?))?\s*(?:;\s*(?P<marker>.*))?"
)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\u0085\u2028\u2029]")
_MARKER = re.compile(r"""[A-Za-z0-9_.,+*<>=!~()'"\s-]+""")
_MARKER_WORDS = frozenset(
    [
        "python_version",
        "python_full_version",
        "os_name",
        "sys_platform",
        "platform_machine",
        "platform_system",
        "platform_release",
        "platform_version",
        "platform_python_implementation",
        "implementation_name",
        "implementation_version",
        "extra",
        "and",
        "or",
        "in",
        "not",
    ]
)
_HASH = re.compile(r"--hash[=\s]\s*(sha(?:256|384|512):[0-9a-fA-F]{64,128})")
_SECRET = re.compile(r"(?<=://)[^/\s@]*@")


@dataclass(frozen=True)
class Requirement:
    """A requirement in parts. `text` is what uv gets."""

    name: str
    extras: tuple[str, ...] = ()
    condition: str = ""
    url: str = ""
    marker: str = ""
    hashes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        where = f" @ {self.url} " if self.url else self.condition
        marker = f"; {self.marker}" if self.marker else ""
        return (f"{self.name}{extras}{where}{marker}" + "".join(f" --hash={h}" for h in self.hashes)).strip()


def parse_requirement(line: str, sources: Collection[str] = ("https",), folder: str = "") -> Requirement:
    """Read one line.

    Args:
        sources: kinds of direct addresses that are allowed, of SOURCES.
        folder: archives inside it may be named by `file:` whatever the sources say.

    Raises:
        UserError: it is not a requirement, or comes from where it may not.
    """
    shown = mask(line[:80])
    if len(line) > MAX_LINE and "--hash" not in line:
        raise UserError(
            f"Requirement {shown!r}… has {len(line)} characters; {MAX_LINE} are allowed. Split it or write a file."
        )
    if _CONTROL.search(line):
        raise UserError(f"Requirement {shown!r} holds control characters. Write it on one line of plain text.")
    hashes = tuple(_HASH.findall(line))
    line = " ".join(_HASH.sub("", line).split())  # also keeps the pattern from trying runs of spaces in all ways
    if re.match(r"(git|hg|svn|bzr)\+|[A-Za-z][A-Za-z+.-]*:/", line) or line.startswith((".", "/", "~")):
        line = _named(line, shown)
    found = _LINE.fullmatch(line)
    if found is None:
        raise UserError(_not_a_requirement(shown))
    condition = re.sub(r" ?([<>=!~,]+) ?", r"\1", (found["condition"] or "").strip("() "))
    marker = (found["marker"] or "").strip()
    if not is_condition(condition) or (condition and condition[0] not in "<>=!~") or re.match(r"=[^=]", condition):
        raise UserError(_not_a_requirement(shown))
    if marker and not _is_marker(marker):
        raise UserError(f"Requirement {shown!r}: the marker after ';' is not one, like `python_version < \"3.9\"`.")
    if found["url"]:
        _check_address(found["url"], shown, sources, folder)
    extras = tuple(sorted(e.strip() for e in (found["extras"] or "").split(",") if e.strip()))
    return Requirement(found["name"], extras, condition, found["url"] or "", marker, hashes)


def normal_name(name: str) -> str:
    """The name as the index compares it: lower case, one dash for each run of dots, dashes and underscores."""
    return re.sub(r"[-_.]+", "-", name).lower()


def mask(text: str) -> str:
    """The text without the user and password of any address in it."""
    return _SECRET.sub("***@", text)


def _is_marker(text: str) -> bool:
    """Whether it is made of comparisons of the known variables with quoted text; uv checks the grammar."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", text)
    words = re.findall(r"[A-Za-z_]\w*", bare)
    return bool(words) and bool(_MARKER.fullmatch(text)) and all(w in _MARKER_WORDS for w in words)


def _not_a_requirement(shown: str) -> str:
    return f'{shown!r} is not a requirement. Allowed: a package\'s name with a condition, like `torch==1.6.0`, `pillow` or `numpy>=1.20,<2; python_version<"3.12"`.'


def _named(line: str, shown: str) -> str:
    """'name @ address' for an address that stands alone: from its `#egg=` or from a wheel's file name."""
    address, _, fragment = line.partition("#")
    egg = re.search(rf"egg=({_NAME})", fragment)
    base = unquote(address.rstrip("/").rpartition("/")[2])
    wheel = re.match(rf"({_NAME})-[0-9][^-]*-.*\.whl$", base)
    if not egg and not wheel:
        raise UserError(
            f"Requirement {shown!r} is an address or a path without a name. Write `name @ "
            f"{mask(address[:60])}`, or the package's name if it is in an index."
        )
    name = (egg or wheel).group(1)  # type: ignore[union-attr]
    return f"{name} @ {address}"


def _check_address(url: str, shown: str, sources: Collection[str], folder: str) -> None:
    scheme, _, rest = url.partition(":")
    scheme = scheme.lower()
    kind = {"git+https": "git", "git+ssh": "git", "https": "https", "http": "http", "file": "file"}.get(scheme)
    if kind is None or not rest.startswith("//"):
        raise UserError(
            f"Requirement {shown!r}: addresses that start with '{mask(url[:20])}' are never taken. Known: "
            "https://, http://, git+https://, git+ssh://, file://."
        )
    if kind == "file":
        _check_file(url, shown, sources, folder)
        return
    if kind not in sources:
        raise UserError(
            f"Requirement {shown!r} comes from '{scheme}:', which is not allowed here (allowed: "
            f"{', '.join(sources) or 'indexes only'}). "
            f"Use a release from an index, or add '{kind}' to the setting requirement_sources."
        )
    parts = urlsplit(url)
    if not parts.hostname or parts.hostname.startswith("-") or "/-" in parts.path or "@-" in url:
        raise UserError(f"Requirement {shown!r}: the address names no host, or a part of it starts with a dash.")


def _check_file(url: str, shown: str, sources: Collection[str], folder: str) -> None:
    parts = urlsplit(url)
    path = os.path.realpath(unquote(parts.path))
    inside = bool(folder) and path.startswith(os.path.realpath(folder) + os.sep)
    if parts.netloc not in ("", "localhost") or not (inside or "file" in sources):
        raise UserError(
            f"Requirement {shown!r} is a file outside the specification's folder. Put the archive into an "
            "index or a find-links folder, "
            "or add 'file' to the setting requirement_sources."
        )
    if not path.endswith(ARCHIVES) or not os.path.isfile(path):
        raise UserError(
            f"Requirement {shown!r}: {path} is not a file that ends in {', '.join(ARCHIVES)}. Source "
            "folders are not installed."
        )
