"""Data of real runs on this machine: given in every mode, brought back, registered, recorded."""

from __future__ import annotations

import os
import pathlib
import sys
import textwrap

import pytest

from rookery.errors import DatasetNotFoundError, RunFailedError
from rookery.sdk import (
    Dataset,
    Datastore,
    Environment,
    Experiment,
    OutputFileDatasetConfig,
    RunConfiguration,
    ScriptRunConfig,
    Workspace,
)
from rookery.testing.file_server import file_server

pytestmark = pytest.mark.slow

FILES = {"a/x 'q'.txt": b"1", "a/ünï日本.txt": b"22", "big.bin": os.urandom(3_000_000), "c.csv": b"n,v\na,1\n"}


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    """One keeper for the module: its tests use names of their own."""
    from tests.conftest import stop_keepers

    folder = tmp_path_factory.mktemp("data's home")
    before = os.environ.get("ROOKERY_HOME")
    os.environ["ROOKERY_HOME"] = str(folder)
    try:
        yield Workspace.create("data")
    finally:
        stop_keepers(str(folder))
        if before is None:
            os.environ.pop("ROOKERY_HOME")
        else:
            os.environ["ROOKERY_HOME"] = before


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "some source"
    for path, data in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    (folder / "empty").mkdir()
    return str(folder)


def contents(folder):
    files = [os.path.join(here, name) for here, _, names in os.walk(folder) for name in names]
    return {os.path.relpath(file, folder): pathlib.Path(file).read_bytes() for file in files}


def submit(ws, folder, code, arguments=None, command=None, check=True, run_config=None):
    script = folder / "script"
    script.mkdir(exist_ok=True)
    (script / "use.py").write_text(textwrap.dedent(code))
    environment = Environment("here")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = sys.executable
    more = {"command": command} if command else {"script": "use.py", "arguments": arguments}
    if run_config is not None:
        run_config.environment = environment
        config = ScriptRunConfig(str(script), run_config=run_config, **more)
    else:
        config = ScriptRunConfig(str(script), environment=environment, **more)
    run = Experiment(ws, "data").submit(config)
    run.wait_for_completion(raise_on_error=check)
    return run


LOOK = """
    import hashlib, os, sys
    from rookery.worker import Run
    run = Run.get_context()
    for name, path in zip(sys.argv[1::2], sys.argv[2::2]):
        assert run.input_datasets[name] == path == os.environ[name], (name, path)
        files = {}
        if os.path.isfile(path):
            files[os.path.basename(path)] = open(path, "rb").read()
        for here, folders, names in os.walk(path):
            for each in names:
                full = os.path.join(here, each)
                files[os.path.relpath(full, path)] = open(full, "rb").read()
        run.log(name, hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest())
        run.log(name + " folders", str(sorted(d for h, ds, _ in os.walk(path) for d in ds)))
    run.log("modes", os.environ["AZUREML_DATASET_ENVIRONMENT_VARS"])
"""


def told(files):
    import hashlib

    return hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()


class TestInputs:
    def test_mounted_downloaded_and_one_file(self, ws, source, tmp_path):
        store = ws.get_default_datastore()
        store.upload(source, "in", show_progress=False)
        every = Dataset.File.from_files((store, "in")).register(ws, "every")
        one = Dataset.File.from_files((store, "in/c.csv"))
        run = submit(
            ws,
            tmp_path,
            LOOK,
            ["mounted", every.as_named_input("mounted").as_mount(), "copied", every.as_named_input("copied").as_download(), "one", one.as_named_input("one").as_mount()],
        )  # fmt: skip
        metrics = run.get_metrics()
        assert metrics["mounted"] == metrics["copied"] == told(FILES)
        assert metrics["one"] == told({"c.csv": FILES["c.csv"]})
        assert metrics["mounted folders"] == metrics["copied folders"] == "['a', 'empty']"
        assert metrics["modes"] == "mounted:Mount,copied:Download,one:Mount"
        given = {d["consumptionDetails"]["inputName"]: d for d in run.get_details()["inputDatasets"]}
        assert given["mounted"]["dataset"]["name"] == "every"
        assert given["mounted"]["dataset"]["fingerprint"] == every.fingerprint
        assert given["one"]["consumptionDetails"]["mechanism"] == "Mount"
        assert run.input_datasets["mounted"].version == 1

    def test_a_download_is_the_runs_own(self, ws, tmp_path):
        (tmp_path / "mine").write_text("as it was")
        dataset = Dataset.File.from_files(str(tmp_path / "mine"))
        code = "import sys; open(sys.argv[1], 'a').write(' and more'); open('../there.txt').read(); print('done')"
        submit(ws, tmp_path, code, [dataset.as_download("../there.txt")], check=False)
        code = "import sys; open(sys.argv[1], 'a').write(' and more'); print('done')"
        submit(ws, tmp_path, code, [dataset.as_download()])
        assert (tmp_path / "mine").read_text() == "as it was"

    def test_a_command_and_a_place_of_its_own(self, ws, source, tmp_path):
        dataset = Dataset.File.from_files(source)
        command = [
            "test -f",
            dataset.as_named_input("d").as_mount("here/it is"),
            "|| test -f 'here/it is/c.csv' && ls -d",
        ]
        command += [dataset.as_named_input("d").as_mount("here/it is")]
        run = submit(ws, tmp_path, "", command=command)
        assert run.get_status() == "Completed"

    def test_fetched_once_per_machine(self, ws, source, tmp_path):
        with file_server(source) as server:
            store = Datastore.register_http(ws, "web_in", server.url, overwrite=True)
            dataset = Dataset.File.from_files((store, ""))
            server.cut_next(1, after=1_000_000)
            for n in range(2):
                server.seen.clear()
                run = submit(ws, tmp_path, LOOK, ["mounted", dataset.as_named_input("mounted").as_mount()])
                assert run.get_metrics()["mounted"] == told(FILES)
                fetched = [path for method, path in server.seen if method == "GET" and not path.endswith("/")]
                assert bool(fetched) == (n == 0), fetched

    def test_an_input_that_is_not_there_fails_before_anything_starts(self, ws, tmp_path):
        folder = tmp_path / "short-lived"
        folder.mkdir()
        (folder / "x").write_text("x")
        store = Datastore.register_folder(ws, "short_lived", str(folder), overwrite=True)
        dataset = Dataset.File.from_files((store, ""))
        (folder / "x").unlink()
        run = submit(ws, tmp_path, "print('ran')", [dataset.as_mount()], check=False)
        error = run.get_details()["error"]
        assert run.get_status() == "Failed"
        assert error["cause"]["kind"] == "DataError"
        assert "short_lived" in error["error"]["message"]
        assert "ran" not in str(run.get_details_with_logs()["logFiles"])

    def test_a_reference_to_a_datastore(self, ws, source, tmp_path):
        store = ws.get_default_datastore()
        store.upload(source, "ref", show_progress=False)
        code = "import os, sys; assert sorted(os.listdir(sys.argv[1])) == ['a', 'big.bin', 'c.csv', 'empty']; print(os.environ['AZUREML_DATAREFERENCE_theirs'])"
        submit(ws, tmp_path, code, [store.path("ref", "theirs").as_mount()])
        code = "import sys; open(sys.argv[1] + '/written.txt', 'w').write('w')"
        submit(ws, tmp_path, code, [store.path("not/there/yet").as_mount()])
        assert Dataset.File.from_files((store, "not/there/yet")).to_path() == ["/written.txt"]


class TestOutputs:
    def test_registered_on_completion_twice(self, ws, tmp_path):
        code = """
            import os, sys
            from rookery.worker import Run
            folder = sys.argv[1]
            assert Run.get_context().output_datasets["made"] == folder == os.environ["made"]
            os.makedirs(folder + "/deep/er")
            open(folder + "/deep/er/ü.txt", "w").write(os.environ["ROOKERY_RUN_ID"])
        """
        for version in (1, 2):
            output = OutputFileDatasetConfig("made").register_on_complete("made", "words", {"a": "b"})
            run = submit(ws, tmp_path, code, [output])
            dataset = Dataset.get_by_name(ws, "made")
            assert (dataset.version, dataset.description, dataset.tags) == (version, "words", {"a": "b"})
            assert dataset.to_path() == ["/deep/er/ü.txt"]
            (path,) = dataset.download(str(tmp_path / f"down {version}"))
            assert pathlib.Path(path).read_text() == run.id
            assert run.output_datasets["made"].version == version
            assert run.get_details()["outputDatasets"][0]["dataset"]["name"] == "made"

    def test_uploaded_at_the_end_to_a_place(self, ws, tmp_path):
        store = Datastore.register_folder(ws, "results", str(tmp_path), overwrite=True)
        output = OutputFileDatasetConfig("up", (store, "to/{run-id}/{output-name}"), source="mine").as_upload(
            source_globs=["*.bin", "keep/*"]
        )
        code = """
            import os
            os.makedirs("mine/keep")
            open("mine/large.bin", "wb").write(b"x" * 3_000_000)
            open("mine/keep/k", "w").write("k")
            open("mine/other.txt", "w").write("not taken")
            print(os.environ["up"])
        """
        run = submit(ws, tmp_path, code, [output])
        assert contents(tmp_path / "to" / run.id / "up") == {"large.bin": b"x" * 3_000_000, "keep/k": b"k"}

    def test_a_run_that_fails_registers_nothing(self, ws, tmp_path):
        output = OutputFileDatasetConfig("made").as_upload().register_on_complete("never")
        code = "import sys; open(sys.argv[1] + '/x', 'w').write('x'); sys.exit(3)"
        with pytest.raises(RunFailedError):
            submit(ws, tmp_path, code, [output])
        with pytest.raises(DatasetNotFoundError):
            Dataset.get_by_name(ws, "never")

    @pytest.mark.parametrize("direct", [True, False])
    def test_what_a_failed_attempt_wrote(self, ws, tmp_path, direct):
        """Directly in its place it is there for the next one, which is told; sent at the end it is not sent."""
        name = f"tried {direct}"
        output = OutputFileDatasetConfig("made").register_on_complete(name)
        wanted = RunConfiguration()
        wanted.retries.user_error = 1
        code = """
            import os, sys
            attempt = os.environ["ROOKERY_ATTEMPT"]
            open(os.path.join(sys.argv[1], attempt), "w").close()
            open(os.path.join(sys.argv[1], "both"), "w").write(attempt)
            sys.exit(attempt == "1")
        """
        run = submit(ws, tmp_path, code, [output if direct else output.as_upload()], run_config=wanted)
        made = Dataset.get_by_name(ws, name)
        assert (made.version, made.to_path()) == (1, ["/1", "/2", "/both"] if direct else ["/2", "/both"])
        made.download(str(tmp_path / "down"))
        assert (tmp_path / "down" / "both").read_text() == "2"
        warnings = [text for text in run.get_details()["warnings"] if "held files already" in str(text)]
        assert len(warnings) == direct

    def test_a_link_out_of_an_output_fails_the_run(self, ws, tmp_path):
        output = OutputFileDatasetConfig("made").as_upload().register_on_complete("never")
        code = "import os, sys; os.symlink('/etc/hostname', sys.argv[1] + '/x')"
        run = submit(ws, tmp_path, code, [output], check=False)
        assert run.get_details()["error"]["cause"]["kind"] == "DataError"
        with pytest.raises(DatasetNotFoundError):
            Dataset.get_by_name(ws, "never")

    def test_both_nodes_of_a_run_write_one_output(self, ws, tmp_path):
        from rookery.sdk import AmlCompute, ComputeTarget, PyTorchConfiguration

        configuration = AmlCompute.provisioning_configuration(vm_size="TWO", max_nodes=2)
        ComputeTarget.create(ws, "two-nodes", configuration).wait_for_completion()
        wanted = RunConfiguration()
        wanted.target, wanted.framework, wanted.communicator, wanted.node_count = "two-nodes", "PyTorch", "Gloo", 2
        wanted.pytorch = PyTorchConfiguration("Gloo", process_count=2, node_count=2)
        output = OutputFileDatasetConfig("parts").as_upload().register_on_complete("parts")
        code = "import os, sys; open(sys.argv[1] + '/' + os.environ['RANK'], 'w').write(os.environ['RANK'])"
        submit(ws, tmp_path, code, [output], run_config=wanted)
        parts = Dataset.get_by_name(ws, "parts")
        assert (parts.version, parts.to_path()) == (1, ["/0", "/1"])
