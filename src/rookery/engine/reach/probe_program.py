"""What a node is asked when a target is checked. This file is sent as text and runs there: any Python, standard library.

It must be readable by Pythons that are too old for the agent, so that they can say so. Q and TLS are put in by probe.py.
"""
# ruff: noqa: UP030, UP032
# mypy: ignore-errors

import json
import os
import socket
import sys
import time

Q = {}  # the fields of probe.Questions
TLS = ""  # source text of worker/tls.py, where it is needed
MARK = "ROOKERY-ANSWER "


def main():
    found = {
        "python": list(sys.version_info[:3]),
        "executable": sys.executable,
        "hostname": socket.gethostname(),
        "user": os.getuid(),
        "time": time.time(),
        "marks": {},
        "urls": {},
        "programs": {},
        "home": {"path": "", "free_bytes": 0, "writable": False},
        "problems": [],
    }
    for name, ask in (
        ("marks", marks),
        ("urls", urls),
        ("programs", programs),
        ("home", home),
        ("machine", machine),
        ("addresses", addresses),
        ("gpus", gpus),
    ):
        try:
            found[name] = ask()
        except Exception as error:  # what one thing cannot tell must not hide the others
            found["problems"].append("{0}: {1}: {2}".format(name, type(error).__name__, error))
    sys.stdout.write("\n" + MARK + json.dumps(found) + "\n")
    sys.stdout.flush()


def marks():
    """Whether files with these very words are seen here; empty where they are, else why not."""
    found = {}
    for name, (path, text) in Q["marks"].items():
        try:
            with open(path) as f:
                found[name] = "" if f.read() == text else "another file lies there"
            if name in Q["writable"]:
                trial = "{0}-{1}-{2}".format(path, socket.gethostname(), os.getpid())
                with open(trial, "w"):
                    pass
                os.unlink(trial)
        except OSError as error:
            found[name] = error.strerror or str(error)
    return found


def programs():
    return {program: os.access(program, os.X_OK) for program in Q["programs"]}


def machine():
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError, AttributeError):
        libc = ""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    system = os.uname()
    return {
        "cores": cores,
        "all_cores": os.cpu_count() or cores,
        "memory_bytes": memory,
        "arch": system.machine,
        "system": system.sysname,
        "libc": libc,
    }


def addresses():
    """What this node calls itself, and the addresses from which it reaches the keeper."""
    found = []
    try:
        for item in socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM):
            found.append(item[4][0])
    except OSError:
        pass
    for url in Q["urls"]:
        host, port, _ = parts_of(url)
        try:
            for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM):
                with socket.socket(family, kind, protocol) as sock:
                    sock.connect(address)  # sends nothing: it asks the routing table
                    found.append(sock.getsockname()[0])
        except OSError:
            pass
    return sorted(set(found))


def parts_of(url):
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80), parts.scheme


def urls():
    return {url: knock(url) for url in Q["urls"]}


def knock(url):
    """What the keeper says there and when; or the problem, and what kind of problem it is."""
    import http.client

    began = time.time()
    try:
        connection = connect(url)
        try:
            connection.request("GET", "/api/v1/hello")
            answer = connection.getresponse()
            hello = json.loads(answer.read(1 << 20).decode("utf-8"))
            if not isinstance(hello, dict) or hello.get("service") != "rookery":
                raise ValueError("what answers there is not a Rookery keeper")
            return {"hello": hello, "began": began, "ended": time.time()}
        finally:
            connection.close()
    except (OSError, ValueError, http.client.HTTPException) as error:
        return {"problem": str(error) or type(error).__name__, "kind": kind_of(error)}


def connect(url):
    import http.client

    host, port, scheme = parts_of(url)
    timeout = Q["timeout_s"]
    if scheme != "https":
        connection = http.client.HTTPConnection(host, port, timeout=timeout)
    else:
        namespace = {"__name__": "tls"}
        exec(TLS, namespace)
        connection = namespace["tls_connector"](host, port, Q["certificate"], timeout)()
    connection.connect()
    return connection


def kind_of(error):
    import errno

    if isinstance(error, socket.gaierror):
        return "unknown_host"
    if isinstance(error, (socket.timeout, TimeoutError)):
        return "timeout"
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    if type(error).__module__ == "ssl" or "certificate" in str(error).lower():
        return "tls"
    if getattr(error, "errno", None) in (errno.ENETUNREACH, errno.EHOSTUNREACH):
        return "unreachable"
    if isinstance(error, ValueError):
        return "stranger"
    return "other"


def home():
    """The folder for code, environments and caches; or the nearest one above it that is there."""
    path = os.path.abspath(os.path.expanduser(Q["node_home"] or "~/.rookery/node"))
    there = path
    while not os.path.isdir(there) and os.path.dirname(there) != there:
        there = os.path.dirname(there)
    disk = os.statvfs(there)
    return {
        "path": path,
        "free_bytes": disk.f_bavail * disk.f_frsize,
        "writable": os.access(there, os.W_OK | os.X_OK),
        "noexec": bool(disk.f_flag & getattr(os, "ST_NOEXEC", 8)),
        "free_inodes": disk.f_favail if disk.f_files else None,
    }


def gpus():
    import subprocess

    command = ["nvidia-smi", "--query-gpu=index,name,memory.total", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return []
    found = []
    for line in done.stdout.decode("utf-8", "replace").splitlines() if done.returncode == 0 else ():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 3 and fields[0].isdigit():
            memory = int(fields[2]) * 2**20 if fields[2].isdigit() else 0
            found.append({"index": int(fields[0]), "name": fields[1], "memory_bytes": memory})
    return found


if __name__ == "__main__":
    main()
