"""Brings an agent to life on a node that has nothing of ours. Never imported: its text is sent (rookery.engine.kit), with the
tickets of all nodes of a gang in place of TICKETS, to `python3 -I -` there.

It picks its ticket by ROOKERY_NODE, gets code and payload once per machine, writes job.json, and becomes the agent (exec: same
process). It imports the standard library only, and Python 3.6 can still read it, so that an old Python is told in words.
What goes wrong is one last line on standard error and an exit code of its own: see CODES.
"""

import hashlib
import json
import os
import stat
import sys
import time

TICKETS = "@ROOKERY_TICKETS@"

OVER = 3  # the attempt is over; an agent's own exit code for it
OLD_PYTHON = 90
NO_TICKET = 91
NO_FOLDER = 92
NO_KEEPER = 93
REFUSED = 94
DAMAGED = 95
NOT_SHARED = 96
NO_EXEC = 97
UNEXPECTED = 99
CODES = {
    OVER: "the attempt is over, or was started here before",
    OLD_PYTHON: "the node's Python is older than 3.9",
    NO_TICKET: "ROOKERY_NODE names no node of the gang",
    NO_FOLDER: "no folder on the node can be written, or all are too small",
    NO_KEEPER: "the keeper cannot be reached",
    REFUSED: "the keeper refuses",
    DAMAGED: "what came is not what was sent",
    NOT_SHARED: "the workspace's folder is not seen on the node",
    NO_EXEC: "the agent cannot be started",
    UNEXPECTED: "an error of Rookery",
}

MIN_FREE_BYTES = 200 * 1024 * 1024
CHUNK = 1024 * 1024
DIAL_S = 10.0
ANSWER_S = 60.0
WAIT_S = 120.0  # for a keeper that is away; a restart takes seconds
START = (
    "import sys, runpy; sys.path.append({source!r}); sys.argv[:] = ['rookery.agent', *sys.argv[1:]]; "
    "runpy.run_module('rookery.agent', run_name='__main__', alter_sys=False)"
)
# What belongs to a run that this one was started from, or would mislead an agent's Python.
DROPPED = ("AZUREML_", "ROOKERY_RUN_", "ROOKERY_AGENT_", "ROOKERY_JOURNAL_", "ROOKERY_UPLOADS_", "ROOKERY_ERRORS_")
DROPPED_NAMES = (
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONDONTWRITEBYTECODE",
    "ROOKERY_ATTEMPT_KEY",
    "ROOKERY_ATTEMPT",
    "ROOKERY_RANK",
    "ROOKERY_WORLD_SIZE",
    "ROOKERY_EXPERIMENT",
    "ROOKERY_WORKSPACE",
    "ROOKERY_PAYLOAD",
    "ROOKERY_RESUME_DIR",
    "ROOKERY_STOP_FILE",
)


class Problem(Exception):
    """Ends this program: an exit code and one sentence."""

    def __init__(self, code, words):
        super().__init__(words)
        self.code = code


def main():
    """The exit code; does not return when the agent starts."""
    try:
        if sys.version_info < (3, 9):  # noqa: UP036  this text is read by whatever the node has
            raise Problem(
                OLD_PYTHON,
                "Rookery's agent needs Python 3.9 or newer, and {} on this node is {}. Name a newer one in the "
                "target's `python`.".format(sys.executable or "Python", sys.version.split()[0]),
            )
        start(read_ticket(os.environ.get("ROOKERY_NODE", "")))
    except Problem as problem:
        code, words = problem.code, str(problem)
    except Exception as error:
        code, words = UNEXPECTED, f"the agent could not be started: {type(error).__name__}: {error}"
    sys.stderr.write("rookery, node {}: {}\n".format(os.environ.get("ROOKERY_NODE", "?"), " ".join(words.split())))
    sys.stderr.flush()
    return code


def read_ticket(node):
    """What all nodes of the gang have in common, and what this one has of its own."""
    tickets = json.loads(TICKETS)
    own = tickets["nodes"].get(node)
    if own is None:
        known = ", ".join(sorted(tickets["nodes"]))
        raise Problem(
            NO_TICKET,
            f"ROOKERY_NODE={node!r} is no node of this gang, which has: {known}. The engine sets it.",
        )
    ticket = dict(tickets["common"], **own)
    ticket["node"] = int(node)
    return ticket


def start(ticket):
    home = find_home(ticket.get("node_home") or "")
    keeper = KeeperDoor(ticket)
    kit = unpacked(keeper, ticket, os.path.join(home, "kit"), ticket["kit"], ticket["kit"][:24])
    root = ticket["root"].replace("@ROOKERY_NODE_HOME@", home)
    if ticket.get("shared"):
        text = read_shared_job(ticket, root)
    else:
        unpacked(keeper, ticket, os.path.join(home, "payload"), ticket["payload"], ticket["payload_name"])
        text = keeper.get_job()
    job = json.loads(fill(text, home))
    if job.get("mode") == "run" and os.path.exists(os.path.join(root, "agent.json")):
        raise Problem(OVER, "attempt {} was started on this node before and is over.".format(ticket["attempt"]))
    note_node(job, home, ticket)
    write_private(os.path.join(root, "job.json"), json.dumps(job))
    become_agent(kit, root)


# ---- folders


def find_home(wanted):
    """The folder for code, environments, caches and runs; private, on a disk that has room."""
    if wanted:
        folder = os.path.abspath(os.path.expanduser(wanted))
        trouble = try_home(folder)
        if trouble:
            raise Problem(
                NO_FOLDER,
                f"node_home {folder} cannot be used: {trouble}. Set the target's node_home to another.",
            )
        return folder
    user = os.getuid()
    tried = []  # type: list[str]
    for folder in (own_home(), f"/var/tmp/rookery-node-{user}", f"/tmp/rookery-node-{user}"):
        trouble = try_home(folder)
        if not trouble:
            if tried:
                sys.stderr.write("rookery: using {}, because {}\n".format(folder, "; ".join(tried)))
            return folder
        tried.append(f"{folder}: {trouble}")
    raise Problem(
        NO_FOLDER, "no folder of this node can be used ({}). Set the target's node_home.".format("; ".join(tried))
    )


def own_home():
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        try:
            import pwd

            home = pwd.getpwuid(os.getuid()).pw_dir
        except (ImportError, KeyError):
            home = "/nonexistent"
    return os.path.join(home, ".rookery", "node")


def try_home(folder):
    """Make it, with mode 700. What hinders, or nothing."""
    try:
        private(folder)
        # Not by the process number: machines that share this folder have the same ones, and one would take the other's away.
        probe = os.path.join(folder, f".probe-{os.urandom(8).hex()}")
        with open(probe, "wb"):
            pass
        os.unlink(probe)
        free = os.statvfs(folder)
    except OSError as error:
        return error.strerror or str(error)
    except Problem as problem:
        return str(problem)
    if free.f_bavail * free.f_frsize < MIN_FREE_BYTES:
        return f"only {free.f_bavail * free.f_frsize // 2**20} MB are free, {MIN_FREE_BYTES // 2**20} are needed"
    return ""


def private(folder):
    """A folder of ours with mode 700; never one that somebody else put there."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    found = os.lstat(folder)
    if stat.S_ISLNK(found.st_mode):
        found = os.stat(folder)
        if found.st_uid not in (os.getuid(), 0):
            raise Problem(NO_FOLDER, "it is a link to a folder of somebody else")
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise Problem(NO_FOLDER, "it belongs to somebody else")
    if stat.S_IMODE(found.st_mode) & 0o077:
        os.chmod(folder, 0o700)
    return folder


def runtime_folder():
    """Short, because sockets' paths are limited to 108 bytes. Not XDG_RUNTIME_DIR: it goes with the login that started us."""
    tried = []
    temporary = os.environ.get("TMPDIR", "")
    for base in ("/tmp", temporary if 0 < len(temporary) <= 60 else "/var/tmp", "/dev/shm"):
        folder = os.path.join(base, f"rookery-{os.getuid()}")
        try:
            return private(folder)
        except OSError as error:
            tried.append(f"{folder}: {error.strerror}")
        except Problem as problem:
            tried.append(f"{folder}: {problem}")
    raise Problem(NO_FOLDER, "no short private folder for sockets can be made ({}).".format("; ".join(tried)))


# ---- what comes from the keeper


class KeeperDoor:
    """The two things that are asked for here: content by hash, and the job."""

    def __init__(self, ticket):
        self.ticket = ticket
        self.urls = [u for u in [ticket["keeper"].get("url"), *(ticket["keeper"].get("urls") or ())] if u]
        self.connection = None

    def get_job(self):
        from urllib.parse import quote

        path = "/agent/{}/{}/{}/job".format(quote(self.ticket["run"]), self.ticket["attempt"], self.ticket["node"])
        parts = []  # type: list[bytes]
        self.get(path, parts.append)
        return b"".join(parts).decode("utf-8")

    def get_content(self, sha256, file):
        """Into an open file, wherever it can be had."""
        shared = self.ticket.get("shared")
        places = []
        if shared:
            places = [os.path.join(shared, "content", sha256[:2], sha256), os.path.join(shared, "kit", sha256 + ".zip")]
        for place in places:
            try:
                with open(place, "rb") as f:
                    for piece in iter(lambda: f.read(CHUNK), b""):
                        file.write(piece)
                return
            except OSError:
                continue
        if not self.urls:
            raise Problem(
                NOT_SHARED,
                f"{places[0] if places else sha256} is not seen on this node, so the workspace's folder is not shared "
                "here. Attach the target with shared_files=False.",
            )
        self.get("/content/" + sha256, file.write, file)

    def get(self, path, write, file=None):
        """Ask until the keeper answers; it may just be restarting."""
        end, pause = time.time() + float(self.ticket.get("wait_s") or WAIT_S), 0.1
        while True:
            try:
                if file is not None:
                    file.seek(0)
                    file.truncate()
                return self.get_once(path, write)
            except Problem as problem:
                if problem.code != NO_KEEPER or time.time() > end:
                    raise
                time.sleep(pause)
                pause = min(pause * 1.6, 2.0)

    def get_once(self, path, write):
        import http.client

        try:
            connection = self.connect()
            connection.request("GET", "/api/v1" + path, headers={"Authorization": "Bearer " + self.ticket["token"]})
            answer = connection.getresponse()
            if answer.status >= 300:
                self.complain(answer.status, answer.read(65536))
            length, came = answer.getheader("Content-Length"), 0
            for piece in iter(lambda: answer.read(CHUNK), b""):
                write(piece)
                came += len(piece)
            if length is not None and came != int(length):
                raise OSError("the connection broke")
        except (OSError, http.client.HTTPException) as error:
            self.connection = None
            raise Problem(
                NO_KEEPER,
                f"the keeper at {' or '.join(self.urls)} cannot be reached from {os.uname().nodename}: "
                f"{error or type(error).__name__}. Open that port for this node, or set the target's keeper_url.",
            ) from error

    def connect(self):
        """The first of the keeper's addresses that answers."""
        if self.connection is not None:
            return self.connection
        trouble = OSError("the ticket names no address of it")
        for url in self.urls:
            try:
                self.connection = dial(url, self.ticket["keeper"].get("certificate") or "")
                return self.connection
            except OSError as error:
                trouble = error
        raise trouble

    def complain(self, status, body):
        try:
            words = json.loads(body.decode("utf-8"))["error"]["message"]
        except (ValueError, KeyError, TypeError):
            words = body[:200].decode("utf-8", "replace")
        if status == 409:
            raise Problem(OVER, words)
        if status >= 500 or status == 429:
            raise Problem(NO_KEEPER, f"the keeper at {self.urls[0]} answers {status}: {words}")
        raise Problem(REFUSED, f"the keeper at {self.urls[0]} refuses ({status}): {words}")


def dial(url, trusted):
    """An open connection. `trusted`: certificates in PEM; a keeper that shows one of them is accepted by any name, one that
    was signed by them must have the right one (as worker/tls.py)."""
    import http.client
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme != "https":
        plain = http.client.HTTPConnection(host, parts.port or 80, timeout=DIAL_S)
        plain.connect()
        plain.sock.settimeout(ANSWER_S)
        return plain
    import re
    import ssl

    pattern = "-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\\s]+-----END CERTIFICATE-----"
    own = re.findall(pattern, trusted)
    context = ssl.create_default_context(cadata="\n".join(own) or None)
    context.verify_flags |= 0x80000  # X509_V_FLAG_PARTIAL_CHAIN: what is trusted needs no authority above it
    context.check_hostname = not own
    try:
        while True:
            secure = http.client.HTTPSConnection(host, parts.port or 443, timeout=DIAL_S, context=context)
            secure.connect()
            shown = secure.sock.getpeercert(True)
            if context.check_hostname or shown in [ssl.PEM_cert_to_DER_cert(one) for one in own]:
                secure.sock.settimeout(ANSWER_S)
                return secure
            secure.close()
            context.check_hostname = True
    except ssl.SSLCertVerificationError as error:
        raise Problem(
            REFUSED,
            f"who answers at {url} is not the keeper: {error.verify_message or error}. Its certificate may be a new one: "
            "attach the target again.",
        ) from error


def unpacked(keeper, ticket, parent, sha256, name):
    """The folder of a zip that is named by its hash: there already, or fetched by whoever of this machine comes first."""
    folder = os.path.join(parent, name)
    if not os.path.isdir(folder):
        private(parent)
        with open(os.path.join(parent, ".lock-" + name), "wb") as lock:
            try:
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX)
            except (ImportError, OSError):
                pass  # a file system without locks: it is fetched twice, and one of them wins
            if not os.path.isdir(folder):
                fetch(keeper, parent, sha256, folder)
    try:
        os.utime(folder)  # the time of last use
    except OSError:
        pass
    return folder


def fetch(keeper, parent, sha256, folder):
    import shutil
    import tempfile
    import zipfile

    partial = tempfile.mkdtemp(prefix=".partial-", dir=parent)
    try:
        file = os.path.join(partial, "zip")
        with open(file, "w+b") as f:
            keeper.get_content(sha256, f)
        if hash_of(file) != sha256:
            raise Problem(
                DAMAGED, f"what came for {sha256} has another hash. Try again; if it stays, a proxy changes it."
            )
        with zipfile.ZipFile(file) as zipped:
            zipped.extractall(os.path.join(partial, "files"))  # made by us and checked by its hash
        try:
            os.rename(os.path.join(partial, "files"), folder)
        except OSError:
            if not os.path.isdir(folder):
                raise
    except OSError as error:
        raise Problem(NO_FOLDER, f"{parent} cannot be written: {error.strerror or error}.") from error
    except zipfile.BadZipFile as error:
        raise Problem(DAMAGED, f"what came for {sha256} is no zip: {error}.") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def hash_of(file):
    digest = hashlib.sha256()
    with open(file, "rb") as f:
        for piece in iter(lambda: f.read(CHUNK), b""):
            digest.update(piece)
    return digest.hexdigest()


# ---- the job


def read_shared_job(ticket, root):
    file = os.path.join(root, "job.json")
    try:
        with open(file, encoding="utf-8") as f:
            return f.read()
    except OSError as error:
        raise Problem(
            NOT_SHARED,
            f"{file} cannot be read on {os.uname().nodename}: {error.strerror}. If the workspace's folder is not shared "
            "with this node, attach the target with shared_files=False.",
        ) from error


def fill(text, home):
    """Put this node's places into the job."""
    values = {
        "@ROOKERY_NODE_HOME@": home,
        "@ROOKERY_RUNTIME@": runtime_folder(),
        "@ROOKERY_PATH@": os.environ.get("PATH") or "/usr/local/bin:/usr/bin:/bin",
    }
    for name, value in values.items():
        text = text.replace(name, json.dumps(value)[1:-1])
    return text


def note_node(job, home, ticket):
    """What the engine said about this node, for the agent (agent/node.py)."""
    variables = os.environ
    cpus = variables.get("ROOKERY_NODE_CPUS", "")
    job.setdefault("extra", {})["node"] = {
        "home": home,
        "shared": bool(ticket.get("shared")),
        "name": variables.get("ROOKERY_NODE_NAME", ""),
        "cpus": int(cpus) if cpus.isdigit() else 0,
        "cache_bytes": ticket.get("cache_bytes") or 0,
        "unused_s": ticket.get("unused_s") or 0,
    }
    if job.get("launch") and variables.get("ROOKERY_NODE_ADDRESS"):
        job["launch"]["address"] = variables["ROOKERY_NODE_ADDRESS"]


def write_private(file, text):
    """Whole or not at all, readable by its owner only: tokens are in it."""
    for tries_left in range(9, -1, -1):
        try:
            os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
            break
        except FileNotFoundError:  # the attempt before this one leaves, and takes the run's empty folder with it
            if not tries_left:
                raise
    temporary = f"{file}.{os.getpid()}.new"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(temporary, file)


def become_agent(kit, root):
    import signal

    variables = {k: v for k, v in os.environ.items() if not k.startswith(DROPPED) and k not in DROPPED_NAMES}
    signal.pthread_sigmask(signal.SIG_SETMASK, [])  # what an engine blocks or ignores is its own affair
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    log = os.open(os.path.join(root, "agent.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    words = os.dup(2)  # for what goes wrong here; not inherited
    os.chdir("/")
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", START.format(source=kit), root], variables)
    except OSError as error:
        os.dup2(words, 2)
        raise Problem(NO_EXEC, f"{sys.executable} cannot be started: {error.strerror}.") from error


if __name__ == "__main__":
    sys.exit(main())
