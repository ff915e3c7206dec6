"""From what is recorded of a datastore to an open store."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any, Optional
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from rookery.errors import DataError, UserError
from rookery.stores.base import Store

__all__ = ["KINDS", "check_store_spec", "open_store", "open_url", "split_url"]

# kind → (what `spec` may say, what `credentials` may hold)
KINDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "folder": (frozenset({"folder", "follow_links"}), frozenset()),
    "s3": (frozenset({"bucket", "prefix", "endpoint", "region", "anonymous"}), frozenset({"key", "secret", "token"})),
    "gcs": (frozenset({"bucket", "prefix", "project", "endpoint", "anonymous"}), frozenset({"token"})),
    "azure": (
        frozenset({"account", "container", "prefix", "endpoint", "anonymous"}),
        frozenset({"account_key", "sas_token", "tenant_id", "client_id", "client_secret"}),
    ),
    "http": (frozenset({"url"}), frozenset({"headers", "query", "username", "password"})),
}
_REQUIRED = {
    "folder": ("folder",),
    "s3": ("bucket",),
    "gcs": ("bucket",),
    "azure": ("account", "container"),
    "http": ("url",),
}
FACTS = "facts"  # what v1's names of a store say about it; means nothing here
_SECRET_PARAMETER = re.compile(r"(?i)(sig|token|secret|password|credential|key)")


def check_store_spec(kind: Any, spec: Any, credentials: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """(spec, credentials) as they are kept.

    Raises:
        UserError: names what is missing or not known; never quotes a credential.
    """
    if kind not in KINDS:
        raise UserError(f"kind={kind!r:.40} of a datastore. Known: {', '.join(KINDS)}.")
    if not isinstance(spec, dict) or not isinstance(credentials or {}, dict):
        raise UserError("spec and credentials of a datastore are objects.")
    known, secret = KINDS[kind]
    for what, given, allowed in (("spec", spec, known | {FACTS}), ("credentials", credentials or {}, secret)):
        unknown = sorted(set(given) - allowed)
        if unknown:
            raise UserError(
                f"{what} of a {kind} datastore has no {', '.join(unknown)[:100]}. Known: {', '.join(sorted(allowed))}."
            )
    missing = [name for name in _REQUIRED[kind] if not isinstance(spec.get(name), str) or not spec[name]]
    if missing:
        raise UserError(f"A {kind} datastore needs {' and '.join(missing)}.")
    if kind == "folder" and not os.path.isabs(spec["folder"]):
        raise UserError(
            f"folder={spec['folder']!r:.200} of a datastore must be an absolute path on the keeper's machine."
        )
    if kind == "http":
        _check_http(spec["url"])
    kept = {name: value for name, value in spec.items() if value not in (None, "")}
    return kept, {name: value for name, value in (credentials or {}).items() if value not in (None, "", {})}


def open_store(name: str, kind: str, spec: Mapping[str, Any], credentials: Mapping[str, Any]) -> Store:
    """Opens nothing but what it needs to know; the first use tells whether it can be reached.

    Raises:
        DataError: a library is missing; the error names what to install.
    """
    if kind == "folder":
        from rookery.stores.folder import FolderStore

        return FolderStore(name, spec["folder"], bool(spec.get("follow_links")))
    if kind == "http":
        return _open_http(name, spec["url"], credentials)
    from rookery.stores.objects import AZURE, ObjectStore

    where = spec.get("bucket") or spec.get("container")
    root = f"{where}/{str(spec.get('prefix') or '').strip('/')}".rstrip("/")
    identity = f"{kind}:{spec.get('endpoint') or spec.get('account') or ''}:{root}"
    if kind == "s3":
        return ObjectStore(name, "S3", "s3", root, _s3_options(spec, credentials), identity, "s3")
    if kind == "gcs":
        return ObjectStore(name, "Google Cloud Storage", "gcs", root, _gcs_options(spec, credentials), identity, "gcs")
    if kind == "azure":
        return ObjectStore(name, AZURE, "abfs", root, _azure_options(spec, credentials), identity, "azure")
    raise DataError(f"Datastore '{name}' is of a kind that this version does not know: {kind}.")


def open_url(url: str) -> tuple[Store, str]:
    """(a store without credentials of its own, the path in it) for a source by URL."""
    kind, spec, path = split_url(url)
    return open_store(_shown(url), kind, spec, {}), path


def split_url(url: str) -> tuple[str, dict[str, Any], str]:
    """(kind, spec, path) of a source by URL.

    Raises:
        UserError: it carries credentials, which would be recorded with it.
    """
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    if scheme in ("http", "https"):
        _check_http(url)
        if parts.query:
            raise UserError(
                f"{_shown(url)} has a query, and a data set's files have none. Register the server as a datastore, with the "
                "query as its credential."
            )
        folder, _, name = parts.path.rpartition("/")
        return "http", {"url": urlunsplit((parts.scheme, parts.netloc, folder + "/", "", ""))}, unquote(name)
    if scheme == "file":
        path = os.path.normpath(unquote(parts.path))
        if parts.netloc not in ("", "localhost") or not os.path.isabs(path):
            raise UserError(f"{url!r:.200}: give file:///absolute/path.")
        if os.path.isdir(path):
            return "folder", {"folder": path, "follow_links": True}, ""
        return "folder", {"folder": os.path.dirname(path), "follow_links": True}, os.path.basename(path)
    if parts.username or parts.password:
        raise UserError(
            f"{_shown(url)} carries credentials. Register a datastore with them instead: they are sealed there."
        )
    path = unquote(parts.path).strip("/")
    if scheme == "s3":
        return "s3", {"bucket": parts.netloc}, path
    if scheme in ("gs", "gcs"):
        return "gcs", {"bucket": parts.netloc}, path
    raise UserError(f"{_shown(url)}: register Azure storage as a datastore, with its account.")


def _check_http(url: Any) -> None:
    parts = urlsplit(str(url))
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise UserError(f"{_shown(str(url))!r:.200} is no http or https address.")
    secret = [key for key, _ in parse_qsl(parts.query) if _SECRET_PARAMETER.search(key)]
    if parts.username or parts.password or secret:
        raise UserError(
            f"{_shown(str(url))} carries credentials, which would be recorded with it. Register the server as a datastore, "
            "with the credentials apart: they are sealed there."
        )


def _open_http(name: str, url: str, credentials: Mapping[str, Any]) -> Store:
    from rookery.stores.http import HttpStore

    headers = {str(k): str(v) for k, v in (credentials.get("headers") or {}).items()}
    if credentials.get("username"):
        import base64

        pair = f"{credentials['username']}:{credentials.get('password', '')}"
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode("ascii")
    return HttpStore(name, url, headers, str(credentials.get("query") or ""))


def _s3_options(spec: Mapping[str, Any], credentials: Mapping[str, Any]) -> dict[str, Any]:
    client = {"endpoint_url": spec.get("endpoint"), "region_name": spec.get("region")}
    options: dict[str, Any] = {name: credentials.get(name) for name in ("key", "secret", "token")}
    return _given(
        **options,
        anon=bool(spec.get("anonymous")),
        client_kwargs=_given(**client),
        config_kwargs={"retries": {"max_attempts": 2}, "connect_timeout": 10, "read_timeout": 60},
    )


def _gcs_options(spec: Mapping[str, Any], credentials: Mapping[str, Any]) -> dict[str, Any]:
    token: Optional[Any] = credentials.get("token")
    if isinstance(token, str) and token.lstrip().startswith("{"):
        token = json.loads(token)
    return _given(
        token="anon" if spec.get("anonymous") else token,
        project=spec.get("project"),
        endpoint_url=spec.get("endpoint"),
    )


def _azure_options(spec: Mapping[str, Any], credentials: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: credentials.get(name) for name in KINDS["azure"][1]}
    if given.get("sas_token"):
        given["sas_token"] = str(given["sas_token"]).lstrip("?")
    host = str(spec.get("endpoint") or "")
    is_url = "://" in host  # a server of one's own that speaks it; otherwise a cloud's domain
    return _given(
        account_name=spec["account"],
        account_host=f"{spec['account']}.blob.{host}"
        if host and not is_url and "/" not in host and ":" not in host
        else None,
        connection_string=_azure_connection(host, spec["account"], given) if is_url else None,
        anon=bool(spec.get("anonymous")) or None,
        **given,
    )


def _azure_connection(url: str, account: str, given: Mapping[str, Any]) -> str:
    """As Azure's library takes the address of a server: `http://host:10000/account`."""
    parts = {"DefaultEndpointsProtocol": urlsplit(url).scheme, "AccountName": account, "BlobEndpoint": url.rstrip("/")}
    if given.get("account_key"):
        parts["AccountKey"] = str(given["account_key"])
    elif given.get("sas_token"):
        parts["SharedAccessSignature"] = str(given["sas_token"])
    return ";".join(f"{name}={value}" for name, value in parts.items())


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _shown(url: str) -> str:
    """A URL without user and query."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        host += f":{parts.port}" if parts.port else ""
    except ValueError:
        pass
    return urlunsplit((parts.scheme, host, parts.path, "", ""))[:300]
