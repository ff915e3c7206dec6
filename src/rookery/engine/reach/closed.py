"""A node that does not reach the keeper: what that means, and which host, port and direction to open."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

__all__ = ["what_to_open", "why_closed"]


def why_closed(url: str, answer: Mapping[str, Any]) -> str:
    """In words, from the `problem` and `kind` that a node's program tells (reach/probe_program.py)."""
    host, port = _host_and_port(url)
    words = {
        "refused": f"nothing listens at {host} port {port}, or something on the way refuses it",
        "timeout": f"nothing comes back from {host} port {port}, as if a firewall dropped what is sent there",
        "unknown_host": f"the name {host} is not known there",
        "unreachable": f"there is no route from there to {host}",
        "tls": "the certificate is not accepted",
        "stranger": "what answers there is not a Rookery keeper",
    }.get(str(answer.get("kind")), "")
    problem = str(answer.get("problem") or "")
    return f"{words} ({problem})" if words and problem else words or problem


def what_to_open(node: str, url: str, answer: Mapping[str, Any], addresses: Sequence[str]) -> str:
    """What to do, as sentences. `addresses`: those of the node, where they are known."""
    if not urlsplit(url).port:
        return "Give the address at which nodes reach this machine (keeper_url), or share the workspace's folder with them."
    host, port = _host_and_port(url)
    here, kind = os.uname().nodename, answer.get("kind")
    otherwise = (
        " Or give an address at which they reach it (keeper_url, a tunnel's for example), or share the workspace's folder with "
        "the nodes."
    )
    if kind == "tls":
        return (
            "Let the settings agents_tls_cert and agents_tls_key name a certificate that is valid now; with agents_tls_ca it "
            f"must have been made for {host}."
        )
    if kind == "unknown_host":
        return f"Use an address instead of a name: set agents_host for the keeper on {here}.{otherwise}"
    if kind in ("unreachable", "stranger"):
        return f"Let the keeper listen on an address of {here} that the nodes reach: setting agents_host.{otherwise}"
    sources = [address for address in addresses if not address.startswith(("127.", "::1"))]
    source = sources[0] if sources else "<nodes>"
    return (
        f"Open TCP port {port} of {host} ({here}), inwards, for {node} ({source}) and the other nodes: "
        f"`ufw allow proto tcp from {source} to any port {port}`, or `firewall-cmd --permanent --add-port={port}/tcp && "
        f"firewall-cmd --reload`, or `iptables -I INPUT -p tcp -s {source} --dport {port} -j ACCEPT`. The port stays the same; "
        f"the settings agents_host and agents_port choose others.{otherwise}"
    )


def _host_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
