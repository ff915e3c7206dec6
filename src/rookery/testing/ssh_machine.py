"""Machines that answer to ssh, for tests: a real sshd on each node of a network of namespaces, with keys of its own.

    with SshMachines(["m0", "m1"], folder, private=["/root/.rookery"]) as machines:
        machines.options()                     # ClusterSpec.options of an SshEngine
        machines.network["m0"].cut()

Nothing of this machine's own ssh is used or changed: no service, no key, no known host of its user.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

from rookery.testing.debian import ensure_programs
from rookery.testing.netns import Network, Node

__all__ = ["PASSWORD", "PORT", "SshMachines"]

PORT = 2222
PATIENCE_S = 60.0
PASSWORD = "rookery's own: not a secret"
_CONFIG = """
Port {port}
ListenAddress {address}
HostKey {host_key}
PidFile none
AuthorizedKeysFile {authorized}
StrictModes no
UsePAM no
UseDNS no
PermitRootLogin yes
PubkeyAuthentication yes
PasswordAuthentication {passwords}
KbdInteractiveAuthentication no
AllowUsers root
LogLevel VERBOSE
"""


class SshMachines:
    """Nodes with sshd. `folder` holds keys, configurations and logs.

    Args:
        private: folders that each machine has for itself (see Network).
        passwords: let root in with `PASSWORD` too.
    """

    def __init__(
        self,
        names: Sequence[str],
        folder: Path,
        *,
        private: Sequence[str] = (),
        own_pids: bool = False,
        passwords: bool = False,
    ) -> None:
        self.programs = ensure_programs(
            {"sshd": "openssh-server", "ssh": "openssh-client", "ssh-keygen": "openssh-client", "openssl": "openssl"}
        )
        self.folder = folder
        self.key = self.make_key("user")
        self._passwords = passwords
        self._servers: dict[str, subprocess.Popen[bytes]] = {}
        self.network = Network(names, private=private, own_pids=own_pids)
        try:
            for node in self.network:
                self.make_key(node.name)
                self.serve(node.name)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> SshMachines:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.network.close()
        for server in self._servers.values():
            server.wait(PATIENCE_S)

    def options(self, names: Sequence[str] = (), **others: Any) -> dict[str, Any]:
        """Options of an SshEngine for these machines (default: all)."""
        found = [f"{self.network[name].address}:{PORT}" for name in names or self.network.nodes]
        quiet = ("-Fnone",)  # whoever runs the tests may have a configuration of their own
        return {"addresses": found, "username": "root", "private_key_file": self.key, "extra": quiet, **others}

    def make_key(self, name: str, passphrase: str = "") -> str:
        """A new key pair; the path of its private part."""
        path = self.folder / f"{name}_key"
        path.unlink(missing_ok=True)
        command = [self.programs["ssh-keygen"], "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", str(path)]
        subprocess.run(command, check=True, timeout=30)
        return str(path)

    def allow(self, key: str) -> None:
        """Let in who holds this key besides."""
        with open(self.folder / "authorized", "a") as f:
            f.write(Path(key + ".pub").read_text())

    def serve(self, name: str, address: str = "") -> None:
        """Start sshd on a machine and wait until it listens."""
        node = self.network[name]
        authorized = self.folder / "authorized"
        if not authorized.exists():
            authorized.write_text(Path(self.key + ".pub").read_text())
        config = self.folder / f"{name}.conf"
        config.write_text(
            _CONFIG.format(
                port=PORT,
                address=address or node.address,
                host_key=self.folder / f"{name}_key",
                authorized=authorized,
                passwords="yes" if self._passwords else "no",
            )
        )
        log = self.log(name)
        # Its own: sshd lets nobody in whose account is locked, as root's may be here.
        script = f"mkdir -p /run/sshd; mount --bind '{self._shadow()}' /etc/shadow; "
        command = ["sh", "-c", script + f"exec {self.programs['sshd']} -D -f '{config}' -E '{log}'"]
        before = log.read_text().count("Server listening") if log.exists() else 0
        server = node.popen(command, stdin=subprocess.DEVNULL)
        self._servers[name] = server
        until = time.monotonic() + PATIENCE_S
        while not log.exists() or log.read_text().count("Server listening") <= before:
            if server.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"sshd of {name} did not start: {log.read_text() if log.exists() else ''}")
            time.sleep(0.01)

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def end_sshd(self, name: str) -> None:
        """End sshd and its connections on a machine; what was started through it stays."""
        node = self.network[name]
        _kill(_processes(node, "sshd"))
        self._servers.pop(name).wait(PATIENCE_S)
        _kill(_processes(node, "sshd"))  # of a connection that it had just taken

    def crash(self, name: str) -> None:
        """The power is gone."""
        self.network[name].crash()
        self._servers.pop(name).wait(PATIENCE_S)

    def boot(self, name: str) -> None:
        self.network[name].boot()
        self.serve(name)

    def _shadow(self) -> Path:
        """A shadow file in which root has PASSWORD or none: laid over the machine's own in its namespace."""
        path = self.folder / "shadow"
        if not path.exists():
            command = [self.programs["openssl"], "passwd", "-6", PASSWORD]
            done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=30)
            crypted = done.stdout.strip() if self._passwords else "*"
            path.touch(0o600)
            path.write_text(f"root:{crypted}:19000:0:99999:7:::\nsshd:*:19000:0:99999:7:::\n")
        return path


def _kill(pids: Sequence[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _processes(node: Node, name: str) -> list[int]:
    found = []
    for pid in node.pids():
        try:
            with open(f"/proc/{pid}/comm") as f:
                comm: Optional[str] = f.read().strip()
        except OSError:
            continue
        if comm == name and os.path.exists(f"/proc/{pid}"):
            found.append(pid)
    return found
