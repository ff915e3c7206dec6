"""Scores pictures with the article's model, as a web service: JPEG or PNG in, label and probability out.

`init` and `run` are called by the service; the model's files are below $AZUREML_MODEL_DIR. A JSON body holds what the article sent:
{"data": a prepared picture as nested lists}.
"""

import io
import json
import os

import torch
from azureml.contrib.services.aml_request import rawhttp
from azureml.contrib.services.aml_response import AMLResponse
from PIL import Image, UnidentifiedImageError
from torchvision import models, transforms

CLASSES = ("chickens", "turkeys")
PICTURE_SIZE = 64
PREPARE = transforms.Compose(
    [
        transforms.Resize((PICTURE_SIZE, PICTURE_SIZE)),
        transforms.ToTensor(),
        transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ]
)


def init():
    global model
    torch.set_num_threads(1)
    model = models.resnet18()
    model.fc = torch.nn.Linear(model.fc.in_features, len(CLASSES))
    path = os.path.join(os.environ["AZUREML_MODEL_DIR"], "model.pt")
    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    model.eval()


@rawhttp
def run(request):
    if request.method == "GET":
        return AMLResponse({"classes": CLASSES, "picture_size": PICTURE_SIZE}, 200, json_str=True)
    try:
        picture = read(request)
    except (UnidentifiedImageError, ValueError, KeyError, TypeError) as error:
        return AMLResponse("Send a JPEG or PNG, or JSON like {'data': [[[…]]]}: %s" % error, 400)
    with torch.no_grad():
        probabilities = torch.softmax(model(picture), 1)[0]
    best = int(probabilities.argmax())
    answer = {
        "label": CLASSES[best],
        "probability": round(float(probabilities[best]), 6),
        "probabilities": {name: round(float(p), 6) for name, p in zip(CLASSES, probabilities)},
    }
    return AMLResponse(answer, 200, json_str=True)


def read(request):
    body = request.get_data(False)
    if body[:1] == b"{":
        return torch.tensor(json.loads(body.decode("utf-8"))["data"]).reshape(1, 3, PICTURE_SIZE, PICTURE_SIZE)
    return PREPARE(Image.open(io.BytesIO(body)).convert("RGB")).unsqueeze(0)
