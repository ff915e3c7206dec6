"""TensorBoard's event files as metrics: files of a real writer, and bytes made by hand."""

from __future__ import annotations

import math
import os
import struct
import subprocess

import pytest

from rookery.agent.event_files import EventFiles, is_event_file
from rookery.agent.folders import LogFolders
from rookery.errors import ConflictError
from rookery.spec.tfevents import Scalar, event_record, masked_crc, read_event, split_record, version_record
from rookery.testing.tensorboard_env import ensure_tensorboard

NAME = "logs/events.out.tfevents.1.host"

_WRITE = """
import sys
from tensorboardX import SummaryWriter
import numpy
with SummaryWriter(sys.argv[1]) as writer:
    for i in range(100):
        writer.add_scalar("loss", 1.0 / (i + 1), i, walltime=1700000000.5 + i)
    writer.add_scalar("odd", float("nan"), -4)
    writer.add_histogram("weights", numpy.arange(10), 1)
"""
_TENSOR = """
import sys, time
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.util import tensor_util
from tensorboard.summary.writer.event_file_writer import EventFileWriter
import numpy
writer = EventFileWriter(sys.argv[1])
for dtype in ("float32", "float64", "int64", "float16"):
    tensor = tensor_util.make_tensor_proto(numpy.asarray(2, dtype=dtype))
    writer.add_event(Event(wall_time=5.0, step=3, summary=Summary(value=[Summary.Value(tag=dtype, tensor=tensor)])))
writer.close()
"""


class Keeper:
    """Takes journals as the real one does: a part must begin where the stored one ends."""

    def __init__(self) -> None:
        self.offsets: dict[str, int] = {}
        self.blocks: list[dict] = []

    def call(self, method, path, query=None, body=None):
        assert (method, path) == ("POST", "journal")
        have = self.offsets.get(body["journal"], 0)
        if body["from"] != have:
            raise ConflictError("no", details={"offset": have})
        self.offsets[body["journal"]] = body["to"]
        self.blocks += body["blocks"]
        return {"ack": body["to"]}

    def values(self, name: str) -> list[tuple[float, int, float]]:
        import base64

        found = []
        for block in self.blocks:
            if block["name"] == name:
                columns = [struct.unpack(f"<{block['n']}{c}", base64.b64decode(block[k]))
                           for c, k in (("d", "values"), ("q", "steps"), ("d", "times"))]  # fmt: skip
                found += list(zip(*columns))
        return found


@pytest.fixture
def shipped(tmp_path):
    keeper, warnings = Keeper(), []
    return keeper, EventFiles(keeper, {}, warnings.append), warnings, tmp_path / "events"


def written(code: str, folder) -> str:
    done = subprocess.run(
        [ensure_tensorboard(), "-c", code, str(folder)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    (name,) = os.listdir(folder)
    return os.path.join(folder, name)


@pytest.mark.slow
class TestRealWriter:
    def test_every_scalar_with_step_and_time(self, shipped, tmp_path):
        keeper, events, warnings, _ = shipped
        path = written(_WRITE, tmp_path / "logs")
        assert is_event_file(path)
        events.add("logs/train/" + os.path.basename(path), path)
        events.ship()
        loss = keeper.values("train/loss")
        assert [(round(v, 6), s, t) for v, s, t in loss] == [
            (round(1.0 / (i + 1), 6), i, 1700000000.5 + i) for i in range(100)
        ]
        assert math.isnan(keeper.values("train/odd")[0][0])
        assert keeper.values("train/odd")[0][1] == -4
        assert len(warnings) == 1
        assert "histograms" in warnings[0]

    def test_tensors_of_one_number(self, shipped, tmp_path):
        keeper, events, _, _ = shipped
        path = written(_TENSOR, tmp_path / "logs")
        events.add(NAME, path)
        events.ship()
        for dtype in ("float32", "float64", "int64", "float16"):
            assert keeper.values(dtype) == [(2.0, 3, 5.0)]

    def test_our_files_are_read_by_tensorboard(self, tmp_path):
        path = tmp_path / "events.out.tfevents.7.here"
        path.write_bytes(
            version_record(1.0) + b"".join(event_record(Scalar("a/b", i / 4, i - 1, 10.0 + i)) for i in range(9))
        )
        code = (
            "import sys; from tensorboard.backend.event_processing.event_accumulator import EventAccumulator as E\n"
            "e = E(sys.argv[1]); e.Reload(); print([(s.value, s.step, s.wall_time) for s in e.Scalars('a/b')])"
        )
        done = subprocess.run(
            [ensure_tensorboard(), "-W", "ignore", "-c", code, str(path)],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.stdout.strip() == str([(i / 4, i - 1, 10.0 + i) for i in range(9)]), done.stderr


class TestEventFiles:
    def test_grows_byte_by_byte_and_is_stored_once(self, shipped):
        keeper, events, warnings, path = shipped
        data = version_record(1.0) + b"".join(event_record(Scalar("loss", float(i), i, 2.0)) for i in range(5))
        path.write_bytes(b"")
        events.add(NAME, str(path))
        for i in range(0, len(data), 7):
            with open(path, "ab") as f:
                f.write(data[i : i + 7])
            events.ship()
        assert keeper.values("loss") == [(float(i), i, 2.0) for i in range(5)]
        again = EventFiles(keeper, keeper.offsets, warnings.append)  # the agent was restarted
        again.add(NAME, str(path))
        again.ship()
        lost = EventFiles(keeper, {}, warnings.append)  # and this one does not know where it was
        lost.add(NAME, str(path))
        lost.ship()
        assert len(keeper.values("loss")) == 5
        assert not warnings

    def test_a_damaged_record_is_skipped_and_a_damaged_length_ends_it(self, shipped):
        keeper, events, warnings, path = shipped
        records = [event_record(Scalar("x", float(i), i, 2.0)) for i in range(4)]
        hurt = bytearray(records[1])
        hurt[20] ^= 0xFF
        path.write_bytes(records[0] + bytes(hurt) + records[2] + b"\x01" * 40 + records[3])
        events.add(NAME, str(path))
        events.ship()
        events.ship()
        assert [v for v, _, _ in keeper.values("x")] in ([0.0, 2.0], [])
        assert any("damaged" in text for text in warnings)

    def test_a_damaged_tail_waits(self, shipped):
        keeper, events, warnings, path = shipped
        record = event_record(Scalar("x", 1.0, 0, 2.0))
        path.write_bytes(record[:-4] + b"\0\0\0\0")
        events.add(NAME, str(path))
        events.ship()
        assert keeper.values("x") == []
        assert not warnings
        path.write_bytes(record)
        events.ship()
        assert keeper.values("x") == [(1.0, 0, 2.0)]

    def test_the_checksum_is_crc32c(self):
        # RFC 3720's vector (32 zero bytes: 0x8A9136AA), masked.
        crc = 0x8A9136AA
        assert masked_crc(b"\0" * 32) == (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF

    @pytest.mark.parametrize("rubbish", [b"\xff" * 20, b"\x0a\xff", b"\x2a\x7f"])
    def test_rubbish_is_no_message(self, rubbish):
        with pytest.raises(ValueError, match=r"\w"):
            read_event(rubbish)

    def test_an_unfinished_record_is_none(self):
        assert split_record(event_record(Scalar("x", 1.0, 0, 2.0))[:-1], 0) is None


def test_files_are_told_once(tmp_path):
    class Shipper:
        streams: dict = {}

        def add(self, stream):
            self.streams[stream.name] = stream

    class Watcher:
        def add(self, path):
            return True

    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "x").write_text("1")
    folders = LogFolders(str(tmp_path), ("logs",), Shipper(), Watcher(), {}, {}, print)  # type: ignore[arg-type]
    told: list[str] = []
    folders.found = lambda name, path: told.append(name)
    folders.discover()
    folders.discover()
    assert told == ["logs/x"]
