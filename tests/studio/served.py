"""An endpoint for pages to show: it tells rooks by looking whether something is a picture at all."""

from __future__ import annotations

from typing import Any

from tests.studio.filled import _picture

PICTURE = _picture(120)

SCORE = """
import json
from azureml.contrib.services.aml_request import rawhttp
from azureml.contrib.services.aml_response import AMLResponse

def init():
    print("I have come up", flush=True)

@rawhttp
def run(request):
    body = request.get_data(False)
    if body.startswith(b"\\x89PNG"):
        answer = {"label": "rook", "probability": 0.875, "probabilities": {"rook": 0.875, "crow": 0.1, "jay": 0.025}}
        return AMLResponse(answer, 200, json_str=True)
    try:
        return AMLResponse({"seen": json.loads(body.decode())}, 200, json_str=True)
    except ValueError:
        return AMLResponse("This is neither a picture nor JSON.", 400)
"""

DEPLOYS = """
import sys
from azureml.core import Model, Workspace
from azureml.core.model import InferenceConfig
from azureml.core.webservice import AciWebservice
ws = Workspace.from_config()
Model.register(ws, "words.json", "words")
config = AciWebservice.deploy_configuration(cpu_cores=1, auth_enabled=sys.argv[2] == "auth", tags={"camera": "east"})
service = Model.deploy(ws, sys.argv[1], [Model(ws, "words")], InferenceConfig("score.py"), config)
service.wait_for_deployment()
with open("rook.png", "rb") as file:
    picture = file.read()
for _ in range(20):
    service.run(picture)
"""


def serve(studio: Any, name: str, *, auth: bool = False) -> None:
    """Deploys it and asks it a few times."""
    (studio.project / "score.py").write_text(SCORE)
    (studio.project / "words.json").write_text("{}")
    (studio.project / "rook.png").write_bytes(PICTURE)
    studio.python(DEPLOYS, name, "auth" if auth else "open")
