"""The program that solves and installs conda packages. It runs by itself, never inside the keeper.

    python child.py REQUEST.json ANSWER.json

It is started by path with an interpreter that has py-rattler and perhaps nothing else of ours, so it imports only that
and the standard library. What it says for the build log goes to stderr, line by line. The answer is always an object;
{"error": {"kind": …, "message": …, …}} where it failed, and reasons.py has the words for people.
"""

from __future__ import annotations

import asyncio
import difflib
import fcntl
import hashlib
import json
import os
import re
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

PROGRESS_S = 5.0
MAX_CANDIDATES = 12
# What a record needs to be installed again, of all that repodata says about it.
KEPT = (
    "name",
    "version",
    "build",
    "build_number",
    "subdir",
    "noarch",
    "depends",
    "constrains",
    "sha256",
    "md5",
    "size",
)
KEPT_RARELY = ("python_site_packages_path", "track_features")


def main(arguments: list[str]) -> int:
    """Answer one request. The exit code is 0 also for an error that is answered."""
    with open(arguments[0], encoding="utf-8") as f:
        request = json.load(f)
    os.makedirs(request["cache"], exist_ok=True)
    in_use = open(os.path.join(request["cache"], "in-use"), "w")  # noqa: SIM115  held until we end
    fcntl.flock(in_use, fcntl.LOCK_SH)  # whoever wants to empty the cache takes it alone
    try:
        answer = asyncio.run(_COMMANDS[request["command"]](request))
    except ImportError as error:
        answer = {"error": {"kind": "missing", "message": str(error)}}
    except ChildError as error:
        answer = {"error": {"kind": error.kind, "message": str(error), **error.more}}
    except Exception as error:
        # rattler's classes have no common parent; what is not one of them is told as it is.
        answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    with open(arguments[1], "w", encoding="utf-8") as f:
        json.dump(answer, f)
    return 0


class ChildError(Exception):
    def __init__(self, kind: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.more = more


async def solve(request: dict[str, Any]) -> dict[str, Any]:
    """Specs → exact packages.

    Request: channels [url], specs [{text, channel}], priority, cache, ssl_verify, reach_s.
    """
    import rattler
    from rattler.exceptions import GatewayError, InvalidMatchSpecError, SolverError

    channels: list[str] = request["channels"]
    specs = []
    for one in request["specs"]:
        text = f"{one['channel']}::{one['text']}" if one["channel"] else one["text"]
        try:
            specs.append(rattler.MatchSpec(text, strict=False))
        except InvalidMatchSpecError as error:
            raise ChildError("spec", str(error), spec=one["text"]) from error
    say(f"Reading the package lists of {len(channels)} conda channel{'s' * (len(channels) != 1)}")
    reach(channels, float(request["reach_s"]))
    gateway = rattler.Gateway(cache_dir=os.path.join(request["cache"], "lists"), client=_client(request))
    sources = [rattler.Channel(c) for c in channels]
    platforms = [rattler.Subdir.current(), rattler.Subdir("noarch")]
    priority = {
        "strict": rattler.ChannelPriority.Strict,
        "disabled": rattler.ChannelPriority.Disabled,
    }.get(request["priority"], rattler.ChannelPriority.Flexible)
    try:
        found = await rattler.solve(
            sources,
            specs,
            gateway=gateway,
            platforms=platforms,
            virtual_packages=rattler.VirtualPackage.detect(rattler.VirtualPackageOverrides.from_env()),
            channel_priority=priority,
        )
    except GatewayError as error:
        raise ChildError("channel", str(error), channel=_named_channel(str(error), channels)) from error
    except SolverError as error:
        more = await _candidates(gateway, sources, platforms, str(error), specs)
        raise ChildError("solve", str(error), **more) from error
    packages = [_plain(record) for record in found]
    packages.sort(key=lambda p: str(p["name"]))
    size = sum(int(p.get("size") or 0) for p in packages)
    say(f"Solved: {len(packages)} conda packages, {size / 1e6:.1f} MB packed")
    return {"packages": packages}


async def install(request: dict[str, Any]) -> dict[str, Any]:
    """Exact packages → prefix.

    rattler compares the hashes of what it downloads, but not of files in a folder: that is done here.
    Request: packages (as solve gave them), prefix, cache, specs [text], scripts, ssl_verify, reach_s.
    """
    import rattler

    records = [_record(p) for p in request["packages"]]
    for package in request["packages"]:
        _check_file(package)
    reach(sorted({str(p["channel"]) for p in request["packages"]} - _cached(request)), float(request["reach_s"]))
    asked = [rattler.MatchSpec(s, strict=False)._match_spec for s in request["specs"]]  # 0.28 wants the inner object
    reporter = Reporter({str(p["name"]): f"{p['name']} {p['version']} {p['build']}" for p in request["packages"]})
    try:
        await rattler.install(
            records,
            request["prefix"],
            cache_dir=os.path.join(request["cache"], "packages"),
            show_progress=False,
            execute_link_scripts=bool(request["scripts"]),
            client=_client(request),
            requested_specs=asked,
            reporter=reporter,
        )
    except Exception as error:
        names = [str(p["name"]) for p in request["packages"]]
        raise ChildError("install", str(error), package=_named_package(str(error), names)) from error
    return {"scripts": [] if request["scripts"] else _link_scripts(request["prefix"])}


def reach(channels: list[str], timeout_s: float) -> None:
    """Find at once that a channel cannot be reached: rattler itself would wait for a silent server for ever.

    Any answer will do, also one that refuses; only silence, a closed door and an unknown name count.
    """

    def knock(channel: str) -> str:
        parts = urlsplit(channel)
        if parts.scheme == "file":
            folder = unquote(parts.path)
            listed = os.path.join(folder, "noarch", "repodata.json")
            if not os.path.isdir(folder):
                return "there is no such folder"
            return "" if os.path.exists(listed) else "the folder has no noarch/repodata.json, so it is no channel"
        if parts.scheme not in ("http", "https"):
            return ""
        host = parts.netloc.rpartition("@")[2]
        url = urlunsplit((parts.scheme, host, parts.path.rstrip("/") + "/noarch/repodata.json", "", ""))
        asked = urllib.request.Request(url, headers={"Range": "bytes=0-0"})
        try:
            with urllib.request.urlopen(asked, timeout=timeout_s) as answer:
                answer.read(1)
        except urllib.error.HTTPError as error:
            error.close()
        except (urllib.error.URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            if "SSL" in type(reason).__name__:
                return ""  # somebody is there; whether the certificate will do is rattler's to say
            if isinstance(reason, TimeoutError) or "timed out" in str(reason):
                return f"it did not answer within conda_channel_timeout_s={timeout_s:g} s"
            return re.sub(r"^\[Errno -?\d+\] ", "", str(reason))
        return ""

    with ThreadPoolExecutor(max(1, min(8, len(channels)))) as pool:
        for channel, problem in zip(channels, pool.map(knock, channels)):
            if problem:
                raise ChildError("unreachable", problem, channel=channel)


class Reporter:
    """rattler's installer tells it what it does, from several threads. One line per package, and for long downloads."""

    def __init__(self, shown: dict[str, str]) -> None:
        self._shown = shown
        self._lock = threading.Lock()
        self._names: list[str] = []
        self._num_done = 0
        self._last_said = time.monotonic()

    def _note(self, name: str) -> int:
        with self._lock:
            self._names.append(name)
            return len(self._names) - 1

    def on_populate_cache_start(self, operation: int, package_name: str) -> int:
        return self._note(package_name)

    def on_download_start(self, cache_entry: int) -> int:
        say(f"  downloading {self._shown.get(self._names[cache_entry], self._names[cache_entry])}")
        return cache_entry

    def on_download_progress(self, download_idx: int, progress: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self._last_said > PROGRESS_S and total:
            self._last_said = now
            say(f"  downloading {self._names[download_idx]}: {progress / 1e6:.0f} of {total / 1e6:.0f} MB")

    def on_link_start(self, operation: int, package_name: str) -> int:
        return self._note(package_name)

    def on_link_complete(self, index: int) -> None:
        with self._lock:
            self._num_done += 1
            name = self._names[index]
            say(f"  [{self._num_done}/{len(self._shown)}] {self._shown.get(name, name)}")


def say(text: str) -> None:
    """A line for the build log."""
    os.write(2, text.encode("utf-8", "replace") + b"\n")


def _client(request: dict[str, Any]) -> Any:
    import rattler

    verify = request["ssl_verify"]
    # The system's certificates, because that is where a company's own one is; SSL_CERT_FILE names another file.
    text = "tls-no-verify = true" if verify is False else 'tls-root-certs = "system"'
    return rattler.Client.from_config(rattler.Config.from_toml(text), user_agent="rookery")


def _plain(record: Any) -> dict[str, Any]:
    """What the lock keeps of a record."""
    data = json.loads(record.to_json())
    kept = {k: data.get(k) for k in KEPT}
    kept.update({k: data[k] for k in KEPT_RARELY if data.get(k)})
    kept.update(url=record.url, channel=record.channel, file_name=record.file_name)
    if not kept["sha256"] and record.url.startswith("file:"):  # a folder that somebody made may have no hashes
        kept["sha256"] = _sha256(unquote(urlsplit(record.url).path))
    return kept


def _record(package: dict[str, Any]) -> Any:
    import rattler

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "index.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({k: package[k] for k in (*KEPT, *KEPT_RARELY) if package.get(k) is not None}, f)
        about = rattler.PackageRecord.from_index_json(
            path,
            package.get("size"),
            package.get("sha256") or None,
            package.get("md5") or None,
        )
    return rattler.RepoDataRecord(about, package["file_name"], package["url"], package["channel"])


def _check_file(package: dict[str, Any]) -> None:
    path = unquote(urlsplit(package["url"]).path)
    if not package["url"].startswith("file:") or not package.get("sha256") or not os.path.exists(path):
        return
    if _sha256(path) != package["sha256"]:
        raise ChildError("install", f"hash mismatch of {package['file_name']}", package=package["name"])


def _sha256(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def _cached(request: dict[str, Any]) -> set[str]:
    """Channels that are not needed, because all that is wanted of them is in the package cache.

    rattler keeps the hash of each package at the end of a .lock file beside it.
    """
    folder = os.path.join(request["cache"], "packages")
    have = set()
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.endswith(".lock"):
            with open(os.path.join(folder, name), "rb") as f:
                have.add(f.read(4096)[-32:].hex())
    lacking = {str(p["channel"]) for p in request["packages"] if p.get("sha256") not in have}
    return {str(p["channel"]) for p in request["packages"]} - lacking


async def _candidates(gateway: Any, sources: Any, platforms: Any, message: str, specs: list[Any]) -> dict[str, Any]:
    """For every package that the solver names and has no candidate for: which versions there are, or which names."""
    missing = re.findall(r"No candidates were found for (\S+)", message)
    missing += re.findall(r"^[\s│├└─]*([\w.-]+)[^\n]*, for which no candidates were found", message, re.MULTILINE)
    found: dict[str, list[str]] = {}
    similar: dict[str, list[str]] = {}
    try:
        for name in [n for n in dict.fromkeys(missing) if re.fullmatch(r"[\w.-]+", n)][:5]:
            records = [r for part in await gateway.query(sources, platforms, [name], recursive=False) for r in part]
            versions = dict.fromkeys(str(r.version) for r in sorted(records, reverse=True))
            found[name] = list(versions)[:MAX_CANDIDATES]
            if not records and not name.startswith("__"):
                names = [n.normalized for n in await gateway.names(sources, platforms)]
                similar[name] = difflib.get_close_matches(name, names, 3, 0.75)
    except Exception:  # the solver's own words are still worth saying
        pass
    asked = [str(s.name.normalized) if hasattr(s.name, "normalized") else str(s).split(" ")[0] for s in specs]
    return {"candidates": found, "similar": similar, "asked": asked}


def _named_channel(message: str, channels: list[str]) -> str:
    for channel in channels:
        bare = channel.rstrip("/").rpartition("@")[2]  # rattler leaves passwords out of its words
        if bare.partition("://")[2] in message if "://" in bare else bare in message:
            return channel
    return channels[0] if len(channels) == 1 else ""


def _named_package(message: str, names: list[str]) -> str:
    fitting = [n for n in names if re.search(rf"(?<![\w.-]){re.escape(n)}(?=[\s'\"`:/,]|-\d|$)", message)]
    return max(fitting, key=len, default="")


def _link_scripts(prefix: str) -> list[str]:
    """Packages that would like to run a script of their own after being installed."""
    try:
        names = os.listdir(os.path.join(prefix, "bin"))
    except FileNotFoundError:
        return []
    return sorted(found[1] for n in names if (found := re.fullmatch(r"\.(.+)-post-link\.sh", n)))


_COMMANDS = {"solve": solve, "install": install}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
