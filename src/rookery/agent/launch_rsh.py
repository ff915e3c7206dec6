"""What mpirun calls in place of ssh: `launch_rsh.py HOST COMMAND…` asks the agent of that node to start mpirun's daemon there.

A program that stands alone. hosts.json (ROOKERY_MPI_HOSTS) says where each node's agent listens: a unix socket on one machine (it gets our
output too), else TCP. The agent is shown a proof that only agents of this attempt can make. We stay as long as the daemon does.
"""

import hmac
import json
import os
import socket
import sys

TIMEOUT_S = 20.0


def main(argv):
    if len(argv) < 3:
        sys.stderr.write("usage: launch_rsh.py HOST COMMAND...\n")
        return 2
    host, command = argv[1], " ".join(argv[2:])
    with open(os.environ["ROOKERY_MPI_HOSTS"], encoding="utf-8") as f:
        known = json.load(f)
    channel = known["channels"].get(host)
    if channel is None:
        sys.stderr.write(
            "rookery: mpirun asks for host {}; known: {}.\n".format(host, ", ".join(sorted(known["channels"])))
        )
        return 1
    try:
        line = connect(channel)
        proof = hmac.new(known["secret"].encode(), ("start " + command).encode(), "sha256").hexdigest()
        text = json.dumps({"command": command, "proof": proof}).encode() + b"\n"
        if line.family == socket.AF_UNIX:
            socket.send_fds(line, [text[:1]], [1, 2])
            line.sendall(text[1:])
        else:
            line.sendall(text)
        line.settimeout(TIMEOUT_S)
        if line.recv(1) != b"+":
            raise OSError("it refused")
        line.settimeout(None)
    except OSError as error:
        sys.stderr.write(f"rookery: the agent of node {host} cannot be asked: {error}.\n")
        return 1
    while line.recv(4096):  # the daemon holds the other end
        pass
    return 0


def connect(channel):
    kind, _, place = channel.partition(":")
    if kind == "unix":
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.settimeout(TIMEOUT_S)
        line.connect(place)
        return line
    host, _, port = place.rpartition(":")
    return socket.create_connection((host, int(port)), TIMEOUT_S)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
