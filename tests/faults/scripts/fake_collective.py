"""A collective in forty lines: rank 0 is the hub of a unix socket. Ranks that lose a peer raise what gloo raises."""

import os
import socket
import time


class Group:
    def __init__(self, path, rank, world):
        self.rank, self.peers = rank, []
        if world == 1:
            return
        if rank == 0:
            hub = socket.socket(socket.AF_UNIX)
            hub.bind(path + ".new")
            hub.listen(world)
            os.rename(path + ".new", path)
            self.peers = [hub.accept()[0] for _ in range(world - 1)]
        else:
            while True:
                peer = socket.socket(socket.AF_UNIX)
                try:
                    peer.connect(path)
                    break
                except OSError:
                    peer.close()
                    time.sleep(0.01)
            self.peers = [peer]

    def all_reduce(self):
        if self.rank:
            self._send(self.peers[0])
        for peer in self.peers:
            self._receive(peer)
        if not self.rank:
            for peer in self.peers:
                self._send(peer)

    def close(self):
        for peer in self.peers:
            peer.close()

    def _send(self, peer):
        try:
            peer.sendall(b"x")
        except OSError as error:
            raise RuntimeError("[gloo/transport/tcp/pair.cc:534] Broken pipe [127.0.0.1]") from error

    def _receive(self, peer):
        try:
            data = peer.recv(1)
        except OSError:
            data = b""
        if not data:
            raise RuntimeError("[gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]")
