"""What is built on this machine, over HTTP: real environments of wheels made by hand."""

from __future__ import annotations

import os
import platform
import time

import pytest

from rookery.environments.building import builder, store
from rookery.environments.building.folders import EnvironmentFolder
from rookery.environments.specification.wanted import from_requirements
from tests.environments_build.conftest import wheels  # noqa: F401  a fixture


@pytest.fixture
def built(api, wheels):  # noqa: F811
    """Two environments that share a wheel; nobody has used the first for an hour."""
    first = builder.build(from_requirements("alpha==2.0"), lambda data: None)
    second = builder.build(from_requirements("alpha==2.0\nbeta"), lambda data: None)
    marker = EnvironmentFolder(first.key).marker
    hour_ago = time.time() - 3600
    os.utime(marker, (hour_ago, hour_ago))
    return first.key, second.key


def prune(api, **body):
    response = api.owner.post("/built-environments/prune", json=body)
    assert response.status_code == 200, response.text
    return response.json()


class TestBuiltEnvironments:
    def test_lists_the_last_used_first_with_disk_use(self, api, built):
        told = api.owner.get("/built-environments").json()
        second, first = told["environments"]
        assert (first["key"], second["key"]) == built
        assert first["python_version"] == platform.python_version()
        assert (first["num_packages"], second["num_packages"]) == (1, 2)
        assert first["in_use_by"] == first["deviations"] == []
        assert first["own_bytes"] > 0
        assert first["shared_bytes"] > 0
        assert first["last_used_utc"] < second["last_used_utc"]
        owned = first["own_bytes"] + second["own_bytes"]
        assert told["disk_bytes"] >= owned
        assert told["disk_bytes"] < owned + first["shared_bytes"] + second["shared_bytes"] + told["cache_bytes"] + 10**6
        quick = api.owner.get("/built-environments?measure=false").json()
        assert [one["own_bytes"] for one in quick["environments"]] == [None, None]
        assert "disk_bytes" not in quick

    def test_shows_lock_and_log_by_the_beginning_of_the_key(self, api, built):
        one = api.owner.get(f"/built-environments/{built[1][:8]}").json()
        assert one["key"] == built[1]
        assert "alpha==2.0 \\\n    --hash=sha256:" in one["lock"]
        assert "Building environment" in one["log"]
        assert "import beta: ok" in one["log"]
        assert one["asked"] == ["alpha", "beta"]
        assert api.owner.get("/built-environments/zzz").status_code == 404

    def test_prunes_by_age_and_says_what_is_freed(self, api, built):
        dry = prune(api, older_than_s=1800, dry_run=True)
        assert [one["key"] for one in dry["removed"]] == [built[0]]
        assert dry["freed_bytes"] > 0
        assert len(store.list_environments()) == 2
        done = prune(api, older_than_s=1800)
        assert (done["removed"], done["freed_bytes"]) == (dry["removed"], dry["freed_bytes"])
        assert [one.key for one in store.list_environments()] == [built[1]]

    def test_a_run_keeps_what_it_holds_and_the_answer_says_so(self, api, built):
        store.hold(built[0], "run-1", os.getpid())
        assert api.owner.get(f"/built-environments/{built[0]}").json()["in_use_by"] == ["run-1"]
        told = prune(api, keys=[built[0][:6], built[1]])
        assert [one["key"] for one in told["removed"]] == [built[1]]
        assert [(one["key"], one["reason"]) for one in told["kept"]] == [(built[0], "in use by run-1")]

    def test_the_cache_goes_too_and_the_count_says_it_before(self, api, built):
        dry = prune(api, keys=list(built), cache=True, dry_run=True)
        done = prune(api, keys=list(built), cache=True)
        assert done["freed_bytes"] == pytest.approx(dry["freed_bytes"], rel=0.1)
        assert done["cache_bytes"] > 0
        told = api.owner.get("/built-environments").json()
        assert told["environments"] == []
        assert told["cache_bytes"] < 100_000

    def test_only_the_owner_prunes(self, api, token, built):
        api.run()
        client = api.tcp(token())
        assert client.get("/built-environments?measure=false").status_code == 200
        assert client.post("/built-environments/prune", json={}).status_code == 403
        assert len(store.list_environments()) == 2


class TestSpecifications:
    @pytest.mark.parametrize(
        ("file", "text", "dependencies"),
        [
            ("env.yml", "dependencies: [python=3.11, {pip: [alpha]}]", ["python=3.11", {"pip": ["alpha"]}]),
            ("requirements.txt", "alpha>=1  # a comment\n", [{"pip": ["alpha>=1"]}]),
            (
                "pyproject.toml",
                '[project]\nname = "birds"\nrequires-python = ">=3.10"\ndependencies = ["alpha"]\n',
                ["python>=3.10", {"pip": ["alpha"]}],
            ),
        ],
    )
    def test_reads_every_kind_of_file(self, api, file, text, dependencies):
        told = api.owner.post("/environments/specifications", json={"file": file, "text": text}).json()
        assert told["conda"]["dependencies"] == dependencies

    def test_refuses_what_the_builder_refuses(self, api):
        response = api.owner.post("/environments/specifications", json={"file": "r.txt", "text": "-r other.txt"})
        assert (response.status_code, response.json()["error"]["code"]) == (400, "user_error")
        assert "r.txt" in response.json()["error"]["message"]
        bomb = "a: &a [1,1]\n" + "".join(
            f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)},*{chr(97 + i)}]\n" for i in range(20)
        )
        assert api.owner.post("/environments/specifications", json={"file": "e.yml", "text": bomb}).status_code == 400
