"""What the benchmark of endpoints runs in its own environment.

    python serve_model.py make FOLDER            the model: for us, and as MLflow keeps it; a picture and the bodies of requests
    python serve_model.py beside FOLDER PORT     ONNX Runtime by itself and the endpoint at that port, in turns: milliseconds for one picture, one tensor

The last line of each is JSON.
"""

import io
import json
import os
import socket
import statistics
import sys
import time

import numpy
from serve_load import ask, request

EDGE, CLASSES = 224, 10
TURNS, EACH = 40, 25
PICTURE, TENSOR = ("picture.jpg", "image/jpeg"), ("tensor.npy", "application/x-npy")


def make(folder):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    chance = numpy.random.default_rng(0)
    nodes, weights, name, channels = [], [], "images", 3
    for place, wide in enumerate((16, 32, 64, 128)):
        weights.append(
            numpy_helper.from_array(chance.normal(0, 0.05, (wide, channels, 3, 3)).astype("float32"), f"w{place}")
        )
        nodes.append(helper.make_node("Conv", [name, f"w{place}"], [f"c{place}"], strides=[2, 2], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{place}"], [f"r{place}"]))
        name, channels = f"r{place}", wide
    nodes.append(helper.make_node("GlobalAveragePool", [name], ["pooled"]))
    nodes.append(helper.make_node("Flatten", ["pooled"], ["flat"]))
    weights.append(numpy_helper.from_array(chance.normal(0, 1, (channels, CLASSES)).astype("float32"), "head"))
    nodes.append(helper.make_node("MatMul", ["flat", "head"], ["scores"]))
    given = helper.make_tensor_value_info("images", TensorProto.FLOAT, ["N", 3, EDGE, EDGE])
    made = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", CLASSES])
    graph = helper.make_graph(nodes, "net", [given], [made], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    os.makedirs(os.path.join(folder, "ours"))
    onnx.save(model, os.path.join(folder, "ours", "model.onnx"))
    _write_ours(os.path.join(folder, "ours"))
    _write_bodies(folder, chance)
    try:
        import mlflow.onnx
    except ImportError:
        return {"mlflow": False}
    options = {"intra_op_num_threads": 1, "inter_op_num_threads": 1, "execution_mode": "sequential"}
    mlflow.onnx.save_model(model, os.path.join(folder, "theirs"), onnx_session_options=options)
    return {"mlflow": True}


def _write_ours(folder):
    told = {
        "input": "images", "output": "scores", "height": EDGE, "width": EDGE, "resize_shorter_edge": 256, "center_crop": EDGE,
        "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225], "scores_to_probabilities": "softmax",
    }  # fmt: skip
    with open(os.path.join(folder, "preprocessing.json"), "w", encoding="utf-8") as f:
        json.dump(told, f)
    with open(os.path.join(folder, "index_to_label.csv"), "w", encoding="utf-8") as f:
        f.write("index,label\n" + "".join(f"{n},bird {n}\n" for n in range(CLASSES)))


def _write_bodies(folder, chance):
    from PIL import Image

    small = chance.integers(0, 255, (30, 40, 3), dtype=numpy.uint8)
    Image.fromarray(small).resize((500, 375)).save(os.path.join(folder, "picture.jpg"), quality=85)
    tensor = chance.normal(0, 1, (1, 3, EDGE, EDGE)).astype("float32").round(4)
    kept = io.BytesIO()
    numpy.save(kept, tensor)
    with open(os.path.join(folder, "tensor.npy"), "wb") as f:
        f.write(kept.getvalue())
    with open(os.path.join(folder, "tensor.json"), "w", encoding="utf-8") as f:
        json.dump({"inputs": {"images": tensor.astype("float64").round(4).tolist()}}, f)


def beside(folder, port):
    """The turns are short and follow each other at once: what else the machine does meanwhile, both have to bear."""
    from rookery_vision.onnx import open_model

    model = open_model(os.path.join(folder, "ours"), 1)
    with open(os.path.join(folder, "picture.jpg"), "rb") as f:
        picture = f.read()
    tensor = numpy.load(os.path.join(folder, "tensor.npy"))
    session = model._network._session
    bare = {"picture": lambda: model.score([picture]), "tensor": lambda: session.run(None, {"images": tensor})}
    told = {"wrong": 0}
    with socket.create_connection(("127.0.0.1", int(port)), timeout=120) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for what, (name, kind) in {"picture": PICTURE, "tensor": TENSOR}.items():
            sent = request("/score", os.path.join(folder, name), kind)

            def over_http(sent=sent):
                sock.sendall(sent)
                told["wrong"] += not ask(sock)

            pairs = [(_median(bare[what]), _median(over_http)) for _ in range(TURNS)]
            told[f"{what}_ms"] = statistics.median(one for one, _ in pairs)
            told[f"ours_{what}_ms"] = statistics.median(other for _, other in pairs)
            told[f"{what}_over_ms"] = statistics.median(other - one for one, other in pairs)
    return told


def _median(call):
    spent = []
    for _ in range(EACH):
        began = time.perf_counter()
        call()
        spent.append((time.perf_counter() - began) * 1000)
    return statistics.median(spent)


if __name__ == "__main__":
    print(json.dumps({"make": make, "beside": beside}[sys.argv[1]](*sys.argv[2:])))
