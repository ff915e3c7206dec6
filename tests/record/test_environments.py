from __future__ import annotations

import pytest

from rookery.errors import ArtifactNotFoundError, ConflictError, EnvironmentNotFoundError, NotFoundError, UserError
from rookery.record import Record
from rookery.spec.run import MASK


def definition(name="mine", **more):
    return {"name": name, "python": {"condaDependencies": {"dependencies": ["python=3.11"]}}, **more}


def register(record, given, **secrets):
    return record.environments.register(given, secrets, "me")


class TestRegister:
    def test_versions_count_up_and_the_same_content_is_the_same_version(self, record):
        first, is_new = register(record, definition())
        assert (first["version"], is_new) == ("1", True)
        second, _ = register(record, definition(docker={"baseImage": "x"}))
        assert second["version"] == "2"
        again, is_new = register(record, definition(version="2", assetId="azureml:mine:2"))
        assert (again["version"], is_new) == ("1", False)
        assert [e["version"] for e in record.environments.list("mine")] == ["2", "1"]
        assert again["definition"]["python"] == definition()["python"]

    def test_another_name_begins_again(self, record):
        register(record, definition())
        assert register(record, definition("other"))[0]["version"] == "1"
        assert [e["name"] for e in record.environments.list()] == ["mine", "other"]

    @pytest.mark.parametrize("name", ["AzureML-x", "azureml", "MICROSOFT-y", "a/b", "..", "", None])
    def test_a_reserved_or_impossible_name_is_refused(self, record, name):
        with pytest.raises(UserError):
            register(record, definition(name))
        assert record.environments.list() == []

    def test_survives_a_restart(self, paths, record):
        register(record, definition())
        other = Record(paths)
        assert other.environments.get("mine")["version"] == "1"
        other.close()


class TestGet:
    def test_by_version_label_and_latest(self, record):
        register(record, definition())
        register(record, definition(docker={"baseImage": "x"}))
        record.environments.label("mine", "1", ["prod", "old"])
        assert record.environments.get("mine")["version"] == "2"
        assert record.environments.get("mine", version="1")["labels"] == ["old", "prod"]
        assert record.environments.get("mine", label="prod")["version"] == "1"
        record.environments.label("mine", "2", ["prod"])
        assert record.environments.get("mine", label="prod")["version"] == "2"
        assert record.environments.get("mine", label="latest")["version"] == "2"

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("nobody",), "does not exist"),
            (("mine", "7"), "Known: 1"),
            (("mine", "x"), "versions are numbers"),
            (("mine", None, "prod"), "no label 'prod'"),
        ],
    )
    def test_what_is_not_there_is_named(self, record, arguments, said):
        register(record, definition())
        with pytest.raises(EnvironmentNotFoundError, match=said):
            record.environments.get(*arguments)

    def test_latest_is_no_label_to_give(self, record):
        register(record, definition())
        with pytest.raises(UserError, match="latest"):
            record.environments.label("mine", "1", ["Latest"])


class TestSecretVariables:
    def secret(self, **more):
        return definition(environmentVariables={"TOKEN": MASK, "A": "1"}, **more)

    def values(self, record, version):
        with record.database.read() as conn:
            return record.environments.secret_values(conn, "mine", version)

    def test_are_content_though_nobody_sees_them(self, record):
        assert register(record, self.secret(), TOKEN="one")[0]["version"] == "1"
        assert register(record, self.secret(), TOKEN="two")[0]["version"] == "2"
        assert register(record, self.secret(), TOKEN="one")[0]["version"] == "1"
        assert self.values(record, "1") == {"TOKEN": "one"}
        assert self.values(record, "2") == {"TOKEN": "two"}

    def test_without_a_value_keep_that_of_the_version_they_come_from(self, record):
        register(record, self.secret(), TOKEN="one")
        register(record, self.secret(), TOKEN="two")
        made, _ = register(record, self.secret(version="1", docker={"baseImage": "x"}))
        assert self.values(record, made["version"]) == {"TOKEN": "one"}

    def test_without_any_value_are_refused(self, record):
        with pytest.raises(UserError, match=r"'TOKEN'.*has no value"):
            register(record, self.secret())

    def test_a_value_in_clear_is_refused(self, record):
        with pytest.raises(UserError, match="must say"):
            register(record, definition(environmentVariables={"TOKEN": "hidden"}), TOKEN="hidden")


class TestBuilds:
    def test_one_key_is_built_once_at_a_time(self, record):
        first, is_new = record.builds.begin("k", {"name": "x"}, "me")
        assert is_new
        assert record.builds.begin("k", {"name": "x"}, "me") == (first, False)
        record.builds.end(first["id"], error="no wheel")
        assert record.builds.get(first["id"])["status"] == "Failed"
        assert record.builds.begin("k", {"name": "x"}, "me")[1]

    def test_those_of_a_dead_keeper_are_found(self, paths, record):
        build, _ = record.builds.begin("k", {"name": "x"}, "me")
        other = Record(paths)
        assert [b["id"] for b in other.builds.running()] == [build["id"]]
        other.close()

    def test_the_log_grows_and_rings(self, record):
        build, _ = record.builds.begin("k", {}, "me")
        rung = []
        record.bell.subscribe(f"build/{build['id']}", lambda: rung.append(record.builds.log_size(build["id"])))
        assert record.builds.read_log(build["id"], 0, 100) == b""
        record.builds.append_log(build["id"], b"one\n")
        record.builds.append_log(build["id"], b"two\n")
        assert rung == [4, 8]
        assert record.builds.read_log(build["id"], 4, 100) == b"two\n"

    def test_an_unknown_one(self, record):
        with pytest.raises(NotFoundError):
            record.builds.get("../../secret")


class TestWheels:
    NAME = "chick-1.0-py3-none-any.whl"

    def test_lies_under_its_name_and_hash(self, record, tmp_path):
        import io
        from urllib.parse import unquote, urlsplit

        sha256, _ = record.content.put(io.BytesIO(b"wheel"))
        made = record.wheels.add(self.NAME, sha256)
        path = unquote(urlsplit(made["url"]).path)
        assert path.endswith(f"{sha256}/{self.NAME}")
        with open(path, "rb") as f:
            assert f.read() == b"wheel"
        with pytest.raises(ConflictError, match="exist_ok"):
            record.wheels.add(self.NAME, sha256)
        assert record.wheels.add(self.NAME, sha256, exist_ok=True) == made

    @pytest.mark.parametrize(
        "name", ["../chick-1.0-py3-none-any.whl", "chick.whl", "x.tar.gz", "", None, "a/b-1-py3-none-any.whl"]
    )
    def test_another_name_is_refused(self, record, name):
        with pytest.raises(UserError, match="no wheel's file name"):
            record.wheels.add(name, "0" * 64)

    def test_content_that_is_not_stored(self, record):
        with pytest.raises(ArtifactNotFoundError):
            record.wheels.add(self.NAME, "0" * 64)
