"""From a target's options to its machines and the command that reaches each."""

from __future__ import annotations

import os
import stat
from typing import Optional

from rookery.engine.engines.ssh.line import Machine
from rookery.errors import ComputeError
from rookery.spec.compute import Reach
from rookery.spec.engine_options import SshOptions

__all__ = ["make_machines"]

ALIVE_S = 5  # ssh asks this often whether the other side is there …
ALIVE_COUNT = 3  # … and gives up after so many without an answer
_ASKPASS = """#!/bin/sh
# ssh asks this program instead of a terminal. The answers lie in files that only the keeper's user can read.
case "$1" in
*assphrase*) exec cat -- "$ROOKERY_PASSPHRASE_FILE" ;;
*assword*) exec cat -- "$ROOKERY_PASSWORD_FILE" ;;
*) exit 1 ;;
esac
"""


def make_machines(options: SshOptions, reach: Reach, state_folder: str) -> list[Machine]:
    """The machines of a target.

    Raises:
        ComputeError: a key or password file is not there, or others may read it.
    """
    own = os.path.join(state_folder, "known_hosts")
    known_hosts = os.path.expanduser(options.known_hosts) if options.known_hosts else own
    variables = _askpass(options, state_folder)
    found = []
    for given in options.addresses or (options.address,):
        host, port = _split(given, options.ssh_port)
        command = [
            *("ssh", "-T", "-x", "-a", "-p", str(port)),
            *_option("BatchMode", "no" if variables else "yes"),
            *_option("NumberOfPasswordPrompts", "1"),
            *_option("ConnectTimeout", str(options.connect_timeout_s)),
            *_option("ServerAliveInterval", str(ALIVE_S)),
            *_option("ServerAliveCountMax", str(ALIVE_COUNT)),
            *_option("StrictHostKeyChecking", "yes" if options.host_key_check == "strict" else "accept-new"),
            *_option("UserKnownHostsFile", _files(options.known_hosts, own)),
            *_option("LogLevel", "ERROR"),
            *_option("ControlPath", "none"),  # nobody else's connection, which might end with them
            *_option("EscapeChar", "none"),
        ]
        if options.private_key_file:
            key = os.path.expanduser(options.private_key_file)
            if not os.path.isfile(key):
                raise ComputeError(f"private_key_file={key!r} is not there. It must lie on the keeper's machine.")
            command += ["-i", key, *_option("IdentitiesOnly", "yes")]
        if options.password_file and not options.private_key_file:
            command += _option("PreferredAuthentications", "password,keyboard-interactive")
        if options.username:
            command += ["-l", options.username]
        name = host if port == 22 else f"{host}:{port}"
        command = [*command, *options.extra, "--", host]
        home = reach.node_home or "~/.rookery/node"
        found.append(Machine(name, host, port, tuple(command), known_hosts, reach.python, home, variables))
    return found


def _split(given: str, port: int) -> tuple[str, int]:
    """HOST or HOST:PORT; an IPv6 address has more than one colon, and a port only behind brackets."""
    if given.startswith("[") and "]" in given:
        host, _, rest = given[1:].partition("]")
        return host, int(rest[1:]) if rest[1:].isdigit() else port
    host, _, number = given.rpartition(":")
    return (host, int(number)) if host and ":" not in host and number.isdigit() else (given, port)


def _option(name: str, value: str) -> list[str]:
    return ["-o", f"{name}={value}"]


def _files(given: str, own: str) -> str:
    """Known hosts as ssh's configuration writes them: new keys go to the first, all are looked at."""
    files = [os.path.expanduser(given)] if given else [own, os.path.expanduser("~/.ssh/known_hosts")]
    return " ".join('"' + path.replace("%", "%%") + '"' for path in files)


def _askpass(options: SshOptions, state_folder: str) -> tuple[tuple[str, str], ...]:
    """Variables that let ssh ask for a password or passphrase without a terminal; never in a command line."""
    if not options.password_file and not options.passphrase_file:
        return ()
    program = os.path.join(state_folder, "askpass")
    descriptor: Optional[int] = os.open(program, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o700)
    assert descriptor is not None
    with open(descriptor, "w") as f:
        f.write(_ASKPASS)
    return (
        ("SSH_ASKPASS", program),
        ("SSH_ASKPASS_REQUIRE", "force"),
        ("DISPLAY", os.environ.get("DISPLAY") or ":0"),  # before OpenSSH 8.4 it asks only where there is one
        ("ROOKERY_PASSWORD_FILE", _private(options.password_file, "password_file")),
        ("ROOKERY_PASSPHRASE_FILE", _private(options.passphrase_file, "passphrase_file")),
    )


def _private(path: str, name: str) -> str:
    if not path:
        return os.devnull
    path = os.path.abspath(os.path.expanduser(path))
    try:
        found = os.stat(path)
    except OSError as error:
        raise ComputeError(f"{name}={path!r} cannot be read on the keeper's machine: {error.strerror}.") from error
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise ComputeError(f"{name}={path!r} may be read by others. `chmod 600` it.")
    return path
