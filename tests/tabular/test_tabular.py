"""The modules for tables, in an interpreter that has pandas and scikit-learn: the `check_*.py` beside this file are its tests."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import rookery_tabular
from rookery.testing.tabular_env import ROOT, ensure_tabular_python
from rookery_vision import catalog

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("file", sorted(name for name in os.listdir(HERE) if name.startswith("check_")))
def test_with_pandas(file):
    command = [ensure_tabular_python(), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--confcutdir={HERE}"]
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("ROOKERY_", "AZUREML_", "PYTEST_"))
    }
    done = subprocess.run(
        [*command, os.path.join(HERE, file)],
        cwd=ROOT,
        env={**kept, "PYTHONDONTWRITEBYTECODE": "", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
    assert " passed" in done.stdout


class TestCatalog:
    def test_one_registry_has_both(self):
        known = catalog.names()
        assert {"rookery_vision", "rookery_tabular"} == set(known.values())
        assert not set(catalog.MODULES) & set(rookery_tabular.__all__)
        assert catalog.find("Split Data") is rookery_tabular.split_data
        assert set(dir(rookery_tabular)) == set(rookery_tabular.__all__)
        with pytest.raises(AttributeError, match="no attribute 'split_rows'"):
            _ = rookery_tabular.split_rows

    def test_reading_cards_needs_nothing_heavy(self):
        program = (
            "import sys; from rookery_vision import catalog; [c.describe() for c in catalog.modules()];"
            "print(*sorted({'pandas', 'sklearn', 'numpy', 'pyarrow', 'yaml', 'torch'} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == ""

    def test_what_is_missing_is_named_with_what_to_install(self, tmp_path, monkeypatch, capsys):
        from rookery_vision.__main__ import main

        (tmp_path / "in.csv").write_text("a\n1\n")
        monkeypatch.setitem(sys.modules, "pandas", None)
        words = ["select_columns", f"--dataset={tmp_path}/in.csv", f"--results-dataset={tmp_path}/out", "--columns=a"]
        assert main(words) == 1
        assert "pip install 'rookery[tabular]'" in capsys.readouterr().err

    def test_columns_and_code_say_how_to_edit_them(self):
        by_name = {p["name"]: p for p in catalog.find("train_model").describe()["parameters"]}
        assert by_name["label_column"]["editor"] == "columns"
        (script,) = catalog.find("execute_python_script").describe()["parameters"]
        assert script["editor"] == "code"
        assert "azureml_main" in script["default"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
class TestAsRuns:
    """As steps of a pipeline are: ordinary runs of an interpreter that has pandas, started with the card's command."""

    SCRIPT = "import sys\n\nfrom rookery_vision.__main__ import main\n\nsys.exit(main())\n"

    @pytest.fixture
    def step(self, home, tmp_path):
        from rookery.sdk import Environment, Experiment, ScriptRunConfig, Workspace

        ws = Workspace.create("nest")
        there = Environment("tables")
        there.python.user_managed_dependencies = True
        there.python.interpreter_path = ensure_tabular_python()
        source = tmp_path / "source"
        source.mkdir()
        (source / "run_module.py").write_text(self.SCRIPT)

        def run(name, ports, parameters):
            words = catalog.find(name).command({n: str(path) for n, path in ports.items()}, {}, parameters)
            config = ScriptRunConfig(str(source), "run_module.py", arguments=words, environment=there)
            made = Experiment(ws, "tables").submit(config)
            made.wait_for_completion(raise_on_error=False)
            return made

        return run

    def test_a_script_and_a_model(self, step, tmp_path):
        (tmp_path / "in.csv").write_text("x,y\n" + "".join(f"{i},{3 * i + 1}\n" for i in range(40)))
        script = "def azureml_main(a=None, b=None):\n    return a[a['x'] > 4],\n"
        ports = {"dataset1": tmp_path / "in.csv", "result_dataset": tmp_path / "a", "result_dataset2": tmp_path / "b"}
        run = step("execute_python_script", ports, {"python_script": script})
        assert run.get_status() == "Completed", run.get_details_with_logs()
        assert "module_statistics/error_info.json" in run.get_file_names()
        run = step("linear_regression", {"untrained_model": tmp_path / "net"}, {})
        assert run.get_status() == "Completed", run.get_details_with_logs()
        ports = {"untrained_model": tmp_path / "net", "dataset": tmp_path / "a", "trained_model": tmp_path / "model"}
        run = step("train_model", ports, {"label_column": "y"})
        assert run.get_status() == "Completed", run.get_details_with_logs()
        assert "trained_model_outputs/score.py" in run.get_file_names()

    def test_an_error_is_the_documented_one(self, step, tmp_path):
        (tmp_path / "in.csv").write_text("x\n1\n")
        ports = {"dataset": tmp_path / "in.csv", "results_dataset": tmp_path / "out"}
        run = step("select_columns", ports, {"columns": "z"})
        assert run.get_status() == "Failed"
        assert "ColumnNotFoundError" in str(run.get_details()["error"])
