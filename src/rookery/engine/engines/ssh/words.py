"""What the ssh program says when it fails, in words that help: what happened, and what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Refusal", "explain"]


@dataclass(frozen=True)
class Refusal:
    """Why there is no connection. `is_final`: trying again changes nothing before somebody has done something."""

    words: str
    is_final: bool = False


_NO_PYTHON = (
    "{where} has no Python by the name {python}. Install Python 3.9 or newer there, or name it with reach.python."
)
# First match wins. {where} is user@address:port, {found} the first group of the pattern.
_TABLE = (
    (
        r"REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for \S+ has changed|differs from the key for the IP",
        "The host key of {where} is not the one that it had. Either the machine was set up anew, or somebody else "
        "answers in its place. When you know that it is right, remove the old key with `ssh-keygen -R {host} -f {file}`.",
        True,
    ),
    (
        r"Host key verification failed|No \S+ host key is known",
        "The host key of {where} is not known, and host_key_check=strict wants it known already. Add it to {file} "
        "(`ssh-keyscan {scan}`, compared with what the machine itself shows), or use host_key_check=accept-new.",
        True,
    ),
    (
        r"UNPROTECTED PRIVATE KEY FILE|bad permissions",
        "The private key for {where} may be read by others, so ssh does not use it. `chmod 600` it.",
        True,
    ),
    (
        r"(?:Load key|identity file) \"?([^\":]+)\"?.*(?:incorrect passphrase|error in libcrypto|invalid format)",
        "The private key {found} cannot be used: it needs a passphrase (give private_key_passphrase, or let ssh's agent "
        "hold it: `ssh-add {found}`), or it is no private key.",
        True,
    ),
    (
        r"Permission denied \(([^)]*)\)|Too many authentication failures|No supported authentication methods",
        "{where} does not let us in ({found}). Put the public key on the machine (`ssh-copy-id`), and give username and "
        "private_key_file as they are for it.",
        True,
    ),
    (
        r"Could not resolve hostname (\S+?):",
        "The name {found} is not known here. Give the machine's address, or a name that this machine resolves.",
        True,
    ),
    (r"Connection refused", "Nothing answers at {where} (connection refused). Is sshd running there?", False),
    (r"Connection timed out|Operation timed out", "{where} does not answer (timed out).", False),
    (r"No route to host|Network is unreachable", "There is no way to {where} in the network ({found}).", False),
    (r"Connection closed by|Connection reset|Broken pipe|not responding", "The connection to {where} was lost.", False),
)


def explain(said: str, where: str, host: str, port: int, known_hosts: str, python: str, exit_code: int) -> Refusal:
    """From what ssh wrote to standard error to a sentence."""
    scan = host if port == 22 else f"-p {port} {host}"
    host_name = host if port == 22 else f"'[{host}]:{port}'"
    if exit_code in (126, 127):  # the words of a shell, not of ssh
        return Refusal(_NO_PYTHON.format(where=where, python=python), is_final=True)
    for pattern, words, is_final in _TABLE:
        match = re.search(pattern, said)
        if match is not None:
            found = next((g for g in match.groups() if g), match.group(0))
            return Refusal(
                words.format(where=where, host=host_name, scan=scan, file=known_hosts, found=found), is_final
            )
    last = said.strip().splitlines()[-1].strip() if said.strip() else f"ssh ended with exit code {exit_code}"
    return Refusal(f"There is no connection to {where}: {last.rstrip('.')}.")
