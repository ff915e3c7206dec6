"""Both ends of the socket between a front and a scoring process, with messages of all sizes in pieces of all sizes."""

from __future__ import annotations

import asyncio
import socket
import threading
from pathlib import Path

import pytest

from rookery.serve.front import wire
from rookery.serve.front.link import HostLink
from rookery.serve.host.frames import ANSWER, KEPT, ROOM, SCORE, Link, pack
from tests.serve.conftest import LIMIT_S

# None, small ones, just as much as there is room for and a little more, far too much, and small ones again.
SIZES = (0, 1, 1000, ROOM - 14, ROOM - 13, ROOM, ROOM + 1, KEPT, KEPT + 5, 3, 100_000, 0)


class TestLink:
    @pytest.mark.parametrize("piece", [7919, 1 << 20])
    def test_messages_come_whole_and_in_order(self, piece):
        ours, theirs = socket.socketpair()
        link = Link(ours)
        sent = [pack(n, SCORE, {"n": n}, bytes([n]) * size) for n, size in enumerate(SIZES)]
        data = memoryview(b"".join(sent))

        def push() -> None:
            for start in range(0, len(data), piece):
                theirs.sendall(data[start : start + piece])

        pushing = threading.Thread(target=push)
        pushing.start()
        for n, size in enumerate(SIZES):
            assert link.read(LIMIT_S) == (n, SCORE, {"n": n}, bytes([n]) * size)
        pushing.join()
        assert link.read(0.0) is None
        theirs.close()
        with pytest.raises(EOFError):
            link.read(LIMIT_S)
        link.close()

    def test_both_ends(self, tmp_path: Path):
        path = str(tmp_path / "s")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()

            def echo() -> None:
                link = Link(listener.accept()[0])
                for _ in SIZES:
                    number, _, head, body = link.read(LIMIT_S)
                    link.send(pack(number, ANSWER, head, body))
                link.close()

            echoing = threading.Thread(target=echo)
            echoing.start()
            got: list[tuple[int, bytes]] = []

            async def scenario() -> bool:
                lost = asyncio.Event()
                link = HostLink(lambda number, kind, head, body: got.append((number, body)), lambda _: lost.set())
                await link.connect(path)
                for n, size in enumerate(SIZES):
                    assert link.send(n, SCORE, b'{"a": 1}', bytearray(bytes([n]) * size))
                await asyncio.wait_for(lost.wait(), LIMIT_S)
                return link.send(0, SCORE, b"{}")

            assert not asyncio.run(scenario())
            echoing.join()
        assert got == [(n, bytes([n]) * size) for n, size in enumerate(SIZES)]


class TestConnection:
    @pytest.mark.parametrize("piece", [1009, 100_000, 1 << 20])
    def test_bodies_in_pieces_one_after_the_other(self, piece):
        """Bodies of all sizes, several requests behind each other on one connection."""
        sizes = (0, 10, 70_000, 600_000, wire.STRAIGHT, wire.STRAIGHT + 1, 5)
        sent = b"".join(
            b"POST /score HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % size + bytes([n]) * size
            for n, size in enumerate(sizes)
        )
        got: list[bytes] = []

        async def scenario() -> None:
            loop, whole = asyncio.get_running_loop(), asyncio.Event()

            def handle(request: wire.Request) -> None:
                got.append(bytes(request.body))
                request.answer(200, [], b"x", "text/plain")
                if len(got) == len(sizes):
                    whole.set()

            server = await loop.create_server(
                lambda: wire.Connection(handle, lambda: 2 * wire.STRAIGHT, set()), "127.0.0.1", 0
            )
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            for start in range(0, len(sent), piece):
                writer.write(sent[start : start + piece])
                await writer.drain()
            await asyncio.wait_for(whole.wait(), LIMIT_S)
            writer.close()
            await writer.wait_closed()
            server.close()

        asyncio.run(scenario())
        assert [(len(body), set(body)) for body in got] == [(s, {n} if s else set()) for n, s in enumerate(sizes)]

    def test_whoever_is_refused_may_finish_sending(self):
        """The answer comes before the body has; a connection that is reset meanwhile would hide it."""

        async def scenario() -> bytes:
            loop, known = asyncio.get_running_loop(), set()
            server = await loop.create_server(
                lambda: wire.Connection(lambda request: None, lambda: 1000, known), "127.0.0.1", 0
            )
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(b"POST /score HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n")
            told = await asyncio.wait_for(reader.read(), LIMIT_S)
            for _ in range(30):
                writer.write(b"x" * 100_000)
                await writer.drain()
            writer.close()
            await writer.wait_closed()
            async with asyncio.timeout(LIMIT_S):
                while known:  # it is closed by both sides
                    await asyncio.sleep(0.01)
            server.close()
            return told

        answered = asyncio.run(scenario())
        assert answered.startswith(b"HTTP/1.1 413")
        assert b"1000 are allowed" in answered
