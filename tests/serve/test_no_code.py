"""Models that are deployed without an entry script, each in an environment that has what it needs."""

from __future__ import annotations

import io
import struct
import threading
import warnings

import pytest

from rookery.errors import EndpointError, UnsupportedError
from tests.serve import onnx_bytes
from tests.serve.conftest import ask, score

pytestmark = pytest.mark.slow

ROWS = [[1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 1.0]]


def npy(rows: list[list[float]]) -> bytes:
    """The rows as a .npy file, without numpy."""
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    head = head + " " * (-(len(head) + 11) % 64) + "\n"
    return (
        b"\x93NUMPY\x01\x00"
        + struct.pack("<H", len(head))
        + head.encode()
        + b"".join(struct.pack("<f", v) for r in rows for v in r)
    )


class TestOnnx:
    def test_every_form_and_batches(self, coop):
        coop.model("linear", {"linear.onnx": onnx_bytes.linear()}, framework="Onnx")
        found = coop.deploy("linear", models=[{"name": "linear"}], config={"max_batch_size": 8, "batch_wait_ms": 200})
        assert found["state"] == "Healthy", found["error"]
        assert found["versions"][0]["no_code"] == "onnx"
        wanted = {"outputs": {"scores": onnx_bytes.expected(ROWS)}}
        for body in ({"data": ROWS}, {"x": ROWS}, {"inputs": ROWS}, {"instances": ROWS}, {"inputs": {"x": ROWS}}, ROWS):
            assert score(found, body).json() == wanted, body
        assert ask(found["scoring_uri"], npy(ROWS), {"Content-Type": "application/x-npy"}).json() == wanted
        assert score(found, {"data": ROWS[0]}).json() == {"outputs": {"scores": onnx_bytes.expected(ROWS)[0]}}

        for rubbish in (
            b"",
            b"rubbish",
            b"[]",
            b'{"data": "x"}',
            b'{"data": [[1, 2]]}',
            b'{"data": [[1,2,3,"four"]]}',
            b'{"y": 1}',
            b"\x93NUMPY",
        ):
            assert ask(found["scoring_uri"], rubbish).status == 400, rubbish
        self.ask_together(coop, found)

    def ask_together(self, coop, found):
        """Concurrent requests are scored together, each gets its own, and one that is wrong spoils no other."""
        batches = set()

        def press(number: int) -> None:
            rows = [[float(number)] * 4]
            for _ in range(20):
                answered = score(found, {"data": rows})
                assert answered.json() == {"outputs": {"scores": onnx_bytes.expected(rows)}}
                timing = answered.headers["Server-Timing"]
                if "batch;desc=" in timing:
                    batches.add(int(timing.rpartition("=")[2]))
                assert score(found, {"data": "no"}).status == 400

        failures = []

        def guarded(number: int) -> None:
            try:
                press(number)
            except BaseException as error:
                failures.append(error)

        asking = [threading.Thread(target=guarded, args=(n,)) for n in range(6)]
        for one in asking:
            one.start()
        for one in asking:
            one.join()
        assert not failures
        assert batches
        assert max(batches) <= 8

    def test_a_model_of_one_row(self, coop):
        coop.model("single", {"single.onnx": onnx_bytes.linear(batch=False)})  # known by its file
        found = coop.deploy("single", models=[{"name": "single", "version": 1}])
        assert score(found, {"data": ROWS[:1]}).json() == {"outputs": {"scores": onnx_bytes.expected(ROWS[:1])}}
        answered = score(found, {"data": ROWS})
        assert (answered.status, "this model takes 1×4" in answered.text) == (400, True)


class TestTorch:
    def test_torchscript(self, coop):
        torch = pytest.importorskip("torch")
        kept = io.BytesIO()
        network = torch.nn.Linear(4, 3, bias=False)
        with torch.no_grad():
            network.weight.copy_(torch.tensor(onnx_bytes.WEIGHTS).T)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is deprecated: people have such files
            torch.jit.save(torch.jit.trace(network, torch.zeros(2, 4)), kept)
        coop.model("net", {"net.pt": kept.getvalue()}, framework="PyTorch")
        found = coop.deploy("net", models=[{"name": "net"}])
        assert found["state"] == "Healthy", found["error"]
        assert score(found, {"data": ROWS}).json() == {"outputs": {"output": onnx_bytes.expected(ROWS)}}
        assert score(found, {"data": [[1.0, 2.0]]}).status == 400


class TestScikitLearn:
    def test_predicts_by_the_named_method(self, coop):
        """Made and read in the environment that is built for such a model."""
        train = (
            "from sklearn.linear_model import LogisticRegression\nimport joblib, base64, io\n"
            "def init():\n    pass\n"
            "def run(data):\n    kept = io.BytesIO()\n"
            "    joblib.dump(LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]), kept)\n"
            "    return base64.b64encode(kept.getvalue()).decode()\n"
        )
        import base64

        packages = ["scikit-learn", "joblib", "numpy", "pandas", "orjson"]
        conda = {"dependencies": [f"python={_python()}", {"pip": packages}]}
        trainer = coop.deploy("trainer", inference=coop.script(train, environment={"name": "sk", "conda": conda}))
        assert trainer["state"] == "Healthy", trainer["error"]
        data = base64.b64decode(score(trainer, {}).json())
        coop.ask("DELETE", "/endpoints/trainer")
        coop.model("sk", {"model.pkl": data}, framework="ScikitLearn")
        found = coop.deploy("sk", models=[{"name": "sk"}])
        assert found["state"] == "Healthy", found["error"]
        assert score(found, {"data": [[0.0], [3.0]]}).json() == {"predict": [0, 1]}
        assert score(found, {"data": [[0.0]], "method": "predict_proba"}).json()["predict_proba"][0][0] > 0.5
        for rubbish in ({}, {"data": [[1, 2]]}, {"data": [[1]], "method": "fit"}, {"data": [["x"]]}):
            assert score(found, rubbish).status == 400, rubbish


class TestRefusals:
    def test_frameworks_and_numbers_of_models(self, coop):
        coop.model("tf", {"saved_model.pb": b"x"}, framework="TensorFlow")
        with pytest.raises(UnsupportedError, match="Onnx, PyTorch and ScikitLearn"):
            coop.deploy("tf", models=[{"name": "tf"}])
        with pytest.raises(EndpointError, match="exactly one model"):
            coop.deploy("tf", models=[{"name": "tf"}, {"name": "tf", "version": 1}][:0])


def _python() -> str:
    import sys

    return f"{sys.version_info[0]}.{sys.version_info[1]}"
