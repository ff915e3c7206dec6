"""The scoring process: comes up, tells its front, and answers one request, or one batch of them, at a time.

One thread does it all: user code is called from the main thread, never twice at once, as v1's single worker did.
"""

import os
import socket
import sys
import time
import traceback

from .answers import TEXT, Answer
from .frames import ANSWER, FAILED, READY, SCORE, STOP, Link, pack

__all__ = ["ALONE_S", "listen", "serve", "tell_failure"]

ALONE_S = 30.0  # without a front for so long: nobody wants us any more
INIT_FAILED = 3  # exit code


def listen(path):
    """The socket that fronts connect to; there before init(), so that they can wait at it."""
    try:
        os.unlink(path)
    except OSError:
        pass
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(path)
    sock.listen(8)
    return sock


def tell_failure(listener, error):
    """init() failed: whoever waits is told why; the traceback is in the log."""
    traceback.print_exc()
    sys.stderr.flush()
    summary = "{}: {}".format(type(error).__name__, error)
    text = traceback.format_exc()
    listener.settimeout(10.0)
    try:
        link = Link(listener.accept()[0])
        link.send(pack(0, FAILED, {"summary": summary[:2000], "traceback": text[-20000:]}))
        link.read(5.0)  # until it has been read: the front hangs up
    except (OSError, EOFError):
        pass
    return INIT_FAILED


def serve(listener, model, told, batch_wait_ms=0.0, max_batch=1, alone_s=ALONE_S):
    """Answers until it is told to stop, or nobody has been there for a while. `told` is what a front learns of us.

    A second front that connects takes over from the first: it is there because the first is dead.
    """
    listener.setblocking(False)
    gather = _Gatherer(batch_wait_ms / 1000.0, max_batch if model.batches else 1)
    link, since = None, time.monotonic()
    while True:
        link = _newest(listener, link, told, 0.0 if link is not None else 0.5)
        if link is None:
            if time.monotonic() - since > alone_s:
                sys.stderr.write("rookery: no front for {:.0f} s; this scoring process ends.\n".format(alone_s))
                return 0
            continue
        since = time.monotonic()
        try:
            first = link.read(1.0)
            if first is None:
                continue
            if first[1] == STOP:
                link.close()
                return 0
            if first[1] == SCORE:
                batch, is_over = gather.add_to(first, link)
                _answer(link, model, batch)
                if is_over:
                    link.close()
                    return 0
        except EOFError:
            link.close()
            link = None


def _newest(listener, link, told, timeout_s):
    """The connection to serve: a new one, where one has come."""
    import select

    ready = select.select([listener], [], [], timeout_s)[0]
    if not ready:
        return link
    try:
        sock = listener.accept()[0]
    except OSError:
        return link
    new = Link(sock)
    try:
        new.send(pack(0, READY, told))
    except EOFError:
        new.close()
        return link
    if link is not None:
        link.close()
    return new


class _Gatherer(object):
    """Which requests are scored together: all that are there, and those that are about to come.

    One that comes alone never waits. While several have been under way, it is waited for as many again, for `wait_s` at most.
    """

    def __init__(self, wait_s, most):
        self._wait_s, self._most = wait_s, most
        self._expected = 1

    def add_to(self, first, link):
        """(messages, whether we were told to stop after them)"""
        batch, is_over = [first], False
        if self._most <= 1:
            return batch, False
        until = time.perf_counter() + self._wait_s
        while len(batch) < self._most:
            left = until - time.perf_counter() if len(batch) < self._expected else 0.0
            message = link.read(max(0.0, left))
            if message is None:
                break
            if message[1] == STOP:
                is_over = True
                break
            batch.append(message)
        self._expected = len(batch)
        return batch, is_over


def _answer(link, model, batch):
    if len(batch) == 1 or not model.batches:
        answers = [_score(model, message) for message in batch]
    else:
        answers = _score_together(model, batch)
    for message, answer in zip(batch, answers):
        link.send(pack(message[0], ANSWER, answer.head(), answer.body))


def _score(model, message):
    try:
        return model.score((message[2], message[3]))
    except Exception as error:  # the model's own code catches what is the user's; this is ours
        traceback.print_exc()
        return Answer("The request could not be scored: {!r}".format(error).encode("utf-8"), 500, TEXT, failed=True)


def _score_together(model, batch):
    try:
        return model.score_many([(message[2], message[3]) for message in batch])
    except Exception:  # one of them may be at fault: then the others have their answer all the same
        return [_score(model, message) for message in batch]
