"""The data exam, sat by Azure Blob and Google Cloud Storage: real clients (adlfs, gcsfs) and real servers on loopback."""

from __future__ import annotations

import json
import os
import secrets
import urllib.error
import urllib.parse
import urllib.request

import pytest

from rookery.data import resolver_of
from rookery.errors import DataError, PathError
from rookery.testing.cloud_stores import ACCOUNT, ACCOUNT_KEY, azurite, gcs_emulator
from rookery.testing.data_exam import DataExam, Place

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
BUCKET = "rookery-test"
NOBODY = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def azure(tmp_path_factory):
    with azurite(str(tmp_path_factory.mktemp("blobs"))) as address:
        yield address


@pytest.fixture(scope="module")
def google():
    with gcs_emulator() as address:
        yield address


class CloudPlace(Place):
    large_bytes = 24 * 1024**2
    num_many = 100
    kind = ""
    credentials: dict[str, str] = {}

    def __init__(self, record, address):
        super().__init__(record)
        self.address, self.prefix = address, secrets.token_hex(4)
        record.datastores.register(self.body(self.spec(address)), "me")

    def spec(self, address):
        raise NotImplementedError

    def body(self, spec, name=None):
        return {"name": name or self.name, "kind": self.kind, "spec": spec, "credentials": self.credentials}

    def put_large(self, path):
        self.put(path, b"\0" * (self.large_bytes - 3) + b"end")

    def go_away(self):
        self.record.datastores.register({**self.body(self.spec(NOBODY)), "overwrite": True}, "me")


class AzurePlace(CloudPlace):
    kind = "azure"
    credentials = {"account_key": ACCOUNT_KEY}

    def spec(self, address):
        return {"account": ACCOUNT, "container": BUCKET, "prefix": self.prefix, "endpoint": address}

    def put(self, path, data):
        from azure.storage.blob import BlobServiceClient

        parts = f"AccountName={ACCOUNT};AccountKey={ACCOUNT_KEY};BlobEndpoint={self.address}"
        with BlobServiceClient.from_connection_string(f"DefaultEndpointsProtocol=http;{parts}") as client:
            container = client.get_container_client(BUCKET)
            if not container.exists():
                container.create_container()
            container.upload_blob(f"{self.prefix}/{path}", data, overwrite=True)

    def put_folder(self, path):
        self.put(path + "/", b"")


class GcsPlace(CloudPlace):
    kind = "gcs"

    def spec(self, address):
        return {"bucket": BUCKET, "prefix": self.prefix, "endpoint": address, "anonymous": True}

    def put(self, path, data):
        query = urllib.parse.urlencode({"uploadType": "media", "name": f"{self.prefix}/{path}"})
        self._post(f"/upload/storage/v1/b/{BUCKET}/o?{query}", data, "application/octet-stream")

    def put_folder(self, path):
        self.put(path + "/", b"")

    def make_bucket(self):
        try:
            self._post("/storage/v1/b?project=test", json.dumps({"name": BUCKET}).encode(), "application/json")
        except urllib.error.HTTPError as error:
            if error.code != 409:  # it is there
                raise

    def _post(self, path, data, kind):
        asked = urllib.request.Request(self.address + path, data=data, headers={"Content-Type": kind}, method="POST")
        urllib.request.urlopen(asked, timeout=60).close()


class CloudExam(DataExam):
    def test_keys_that_are_no_paths_are_refused(self, place):
        place.put("t/a//b", b"1")
        with pytest.raises((DataError, PathError)):
            place.resolve("t")

    def test_a_wrong_bucket_is_named(self, place):
        spec = {**place.spec(place.address), "bucket" if place.kind == "gcs" else "container": "there-is-none"}
        place.record.datastores.register(place.body(spec, "wrong"), "me")
        with pytest.raises(DataError, match="wrong"):
            resolver_of(place.record).store("wrong").check()

    def test_it_can_be_checked(self, place):
        place.put("x", b"1")
        resolver_of(place.record).store(place.name).check()


class TestAzure(CloudExam):
    @pytest.fixture
    def place(self, record, azure):
        return AzurePlace(record, azure)

    def test_credentials_are_in_clear_nowhere(self, place):
        place.put("s/x", b"1")
        place.resolve("s")
        assert ACCOUNT_KEY not in str([place.record.datastores.get("exam"), place.record.datastores.list()])
        place.go_away()
        with pytest.raises(DataError) as caught:
            place.resolve("s")
        assert ACCOUNT_KEY not in str(caught.value)
        for name in os.listdir(place.record.paths.root):
            path = os.path.join(place.record.paths.root, name)
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    assert ACCOUNT_KEY.encode() not in f.read(), name

    def test_a_wrong_key_says_so_without_it(self, place):
        place.put("x", b"1")
        wrong = "d3Jvbmc" + ACCOUNT_KEY[7:]
        body = {**place.body(place.spec(place.address), "wrong"), "credentials": {"account_key": wrong}}
        place.record.datastores.register(body, "me")
        with pytest.raises(DataError) as caught:
            resolver_of(place.record).store("wrong").check()
        assert wrong not in str(caught.value)


class TestGoogle(CloudExam):
    @pytest.fixture
    def place(self, record, google):
        place = GcsPlace(record, google)
        place.make_bucket()
        return place
