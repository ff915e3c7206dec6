"""The OpenAPI is complete: every route is named, and says what it takes and answers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rookery.server.openapi import OPERATIONS
from rookery.spec.protocol import PREFIX


@pytest.fixture
def document(api):
    response = api.tcp().get("/openapi.json")
    assert response.status_code == 200
    return response.json()


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield (method.upper(), path[len(PREFIX) :]), operation


def forms(document, schema):
    """The object schemas that a schema comes to."""
    for one in schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf") or [schema]:
        if "$ref" in one:
            yield from forms(document, document["components"]["schemas"][one["$ref"].rpartition("/")[2]])
        elif one.get("type") != "null":
            yield one


class TestOpenApi:
    def test_every_route_is_in_the_table_and_nothing_else(self, document):
        found = {key for key, _ in operations(document)}
        assert found - set(OPERATIONS) == set(), "name them in server/openapi.py, with what they answer"
        assert set(OPERATIONS) - found == set()

    def test_every_answer_has_a_schema(self, document):
        for key, operation in operations(document):
            done = [status for status in operation["responses"] if status.startswith("2")]
            assert done, key
            assert "default" in operation["responses"], key
            for status in done:
                if key[0] == "HEAD":
                    continue
                (content,) = operation["responses"][status]["content"].values()
                assert content["schema"], key

    def test_every_write_says_what_it_takes(self, document):
        """Those that take nothing are named here."""
        bare = {
            key for key, o in operations(document) if key[0] in ("POST", "PUT", "PATCH") and "requestBody" not in o
        }  # fmt: skip
        assert bare - {("POST", "/gc")} == {
            ("POST", "/session/code"), ("POST", "/keeper/stop"), ("POST", "/tokens/tracking"), ("PUT", "/experiments/{name}"), ("POST", "/runs/{run_id}/cancel"),
            ("POST", "/runs/{run_id}/visit"), ("POST", "/runs/{run_id}/manifests"),
            ("POST", "/compute/{name}/check"), ("POST", "/webhooks/{webhook_id}/ping"),
            ("POST", "/webhooks/{webhook_id}/deliveries/{delivery}/again"), ("POST", "/datastores/{name}/default"),
            ("POST", "/data/definitions/{definition_id}/resolve"),
            ("POST", "/endpoints/{name}/reload"), ("POST", "/endpoints/{name}/token"),
            ("POST", "/pipelines/runs/{run_id}/clone"), ("POST", "/pipelines/runs/{run_id}/steps/{node}/retry"),
        }  # fmt: skip

    def test_no_body_is_just_an_object(self, document):
        for key, operation in operations(document):
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if content is not None:
                assert all(form.get("properties") for form in forms(document, content["schema"])), key

    def test_what_is_sent_is_what_is_said(self):
        """The models of bodies that handlers parse themselves against what clients and agents send."""
        from rookery.server import body_models as b
        from tests.server.conftest import run_spec

        block = {"run": None, "name": "loss", "n": 1, "dtype": "d", "values": "AA==", "steps": None, "times": "AA=="}
        for model, body in (
            (b.NewRun, run_spec()),
            (b.NewRun, run_spec("kid", kind="child", parent_id="run-1")),
            (b.Records, {"records": [["m", None, "loss", 1.0, None, 5.0]]}),
            (b.NewSnapshot, {"entries": [{"path": "a", "sha256": "0" * 64, "size": 1, "mode": 420, "link": None}]}),
            (b.NewBuild, {"spec": run_spec()["environment"], "fresh": True}),
            (b.JournalPart, {"journal": "1-a.jnl", "from": 0, "to": 9, "blocks": [block], "records": [["w", None, "x"]]}),
            (b.NodeOutcome, {"result": "failed", "exit_code": 1, "signal": None, "cause": None, "ranks": [], "ended": 1.5}),
        ):  # fmt: skip
            model.model_validate(body)
        with pytest.raises(ValueError, match="colour"):
            b.NewRun.model_validate({**run_spec(), "colour": "red"})

    def test_operation_ids_are_unique(self, document):
        ids = [operation["operationId"] for _, operation in operations(document)]
        assert len(ids) == len(set(ids))

    def test_every_reference_leads_somewhere(self, document):
        text = str(document)
        import re

        for name in set(re.findall(r"#/components/schemas/([\w.-]+)", text)):
            assert name in document["components"]["schemas"], name

    def test_what_is_answered_is_what_is_said(self, api):
        """The models against real answers."""
        from rookery.server import answer_models as a

        api.run()
        api.owner.post("/users", json={"name": "ann"})
        hook = api.owner.post("/webhooks", json={"url": "http://127.0.0.1:9/", "events": ["run.failed"]}).json()
        for path, model in (
            ("/hello", a.Hello),
            ("/keeper", a.Keeper),
            ("/workspace", a.Workspace),
            ("/experiments/birds", a.Experiment),
            ("/runs/run-1", a.Run),
            ("/users/ann", a.User),
            ("/me", a.Me),
            (f"/webhooks/{hook['id']}", a.Webhook),
        ):
            model.model_validate(api.owner.get(path).json())
        a.WebhookMade.model_validate(hook)
        a.AuditEntry.model_validate(api.owner.get("/audit").json()["entries"][0])
        a.RunInList.model_validate(api.owner.get("/runs").json()["runs"][0])
        a.UserTokenMade.model_validate(api.owner.post("/user-tokens", json={"user": "ann"}).json())
        a.Delivery.model_validate(api.owner.post(f"/webhooks/{hook['id']}/ping").json())

    def test_costs_nothing_until_it_is_asked_for(self):
        code = "import sys, rookery.server; assert 'rookery.server.answer_models' not in sys.modules"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
