"""Reading, choosing, joining, splitting, cleaning, scaling."""

from __future__ import annotations

import contextlib
import json
import math
import os
import zipfile

import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rookery_tabular as t
from rookery_tabular.frames import Frame
from rookery_tabular.joining import join
from rookery_tabular.selecting import choose
from rookery_tabular.splitting import split
from rookery_vision.errors import ModuleError, by_id

NAMES = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=12)
CELLS = st.one_of(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.text(max_size=8)), min_size=3, max_size=3),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3),
    st.lists(st.booleans(), min_size=3, max_size=3),
)


def raises(error_id, act, *words):
    with pytest.raises(by_id(error_id)) as caught:
        act()
    for word in words:
        assert word in str(caught.value)


class TestFrames:
    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.dictionaries(NAMES, CELLS, min_size=1, max_size=5))
    def test_any_table_and_back(self, tables, columns):
        data = pandas.DataFrame(columns)
        folder = tables.put(data)
        back = tables.get(folder)
        assert list(back.columns) == list(data.columns)
        for name in data.columns:
            for one, other in zip(data[name], back[name]):
                assert one == other or (pandas.isna(one) and pandas.isna(other))
        with open(os.path.join(folder, "_visualization.json")) as f:
            look = json.load(f)
        assert look["num_rows"] == 3
        assert [c["name"] for c in look["columns"]] == list(data.columns)

    def test_what_no_table_holds(self, tables):
        raises("ColumnNamesNotString", lambda: tables.put(pandas.DataFrame({1: [1]})), "1")
        raises("MixedColumn", lambda: tables.put({"a": [1, "x", {}]}), "'a'")
        twice = pandas.DataFrame([[1, 2]], columns=["a", "a"])
        raises("DuplicatedColumnName", lambda: tables.put(twice), "'a'")

    def test_the_evaluator_reads_it(self, tables):
        from rookery_vision.formats.table import read_table

        folder = tables.put({"a": [1, 2], "b": ["x", None]}, roles={"b": "label"})
        read = read_table(folder)
        assert list(read.columns["b"].values) == ["x", None]
        assert read.columns["b"].role == "label"

    def test_empty_ones(self, tables):
        assert len(tables.get(tables.put({"a": []}))) == 0
        assert tables.get(tables.put(pandas.DataFrame())).shape == (0, 0)

    def test_a_damaged_one(self, tables):
        folder = tables.put({"a": [1]})
        with open(os.path.join(folder, "data.parquet"), "wb") as f:
            f.write(b"PAR1 nonsense")
        raises("InvalidDataset", lambda: tables.get(folder), "damaged")


class TestImport:
    def test_files_of_a_data_set(self, tables, tmp_path):
        folder = tmp_path / "some files"
        (folder / "deep").mkdir(parents=True)
        (folder / "a.csv").write_text('x,"y, z"\n1,ä\n')
        (folder / "deep" / "b.csv").write_text('x,"y, z"\n2,\n')
        (folder / "_SUCCESS").write_text("")
        out = t.import_data(str(folder), tables.new())
        assert tables.get(out).to_dict("list")["x"] == [1, 2]
        out = t.import_data(str(folder), tables.new(), path="deep/*")
        assert tables.get(out)["x"].tolist() == [2]
        # A module takes the data set as it is.
        out = t.select_columns(str(folder), tables.new(), columns='"y, z"')
        assert list(tables.get(out).columns) == ["y, z"]

    def test_formats(self, tables, tmp_path):
        pandas.DataFrame({"a": [1.5]}).to_parquet(tmp_path / "p.parquet")
        (tmp_path / "l.jsonl").write_text('{"a": 1}\n{"a": 2, "b": "x"}\n')
        (tmp_path / "t.tsv").write_text("1\t2\n")
        (tmp_path / "odd.dat").write_bytes("name\ncafé\n".encode("latin-1"))
        assert tables.get(t.import_data(str(tmp_path / "p.parquet"), tables.new()))["a"].tolist() == [1.5]
        assert tables.get(t.import_data(str(tmp_path / "l.jsonl"), tables.new()))["a"].tolist() == [1, 2]
        plain = t.import_data(str(tmp_path / "t.tsv"), tables.new(), has_header=False)
        assert tables.get(plain).to_dict("list") == {"Col1": [1], "Col2": [2]}
        odd = t.import_data(str(tmp_path / "odd.dat"), tables.new(), file_format="CSV", encoding="latin-1")
        assert tables.get(odd)["name"].tolist() == ["café"]

    def test_refused(self, tables, tmp_path):
        (tmp_path / "a.csv").write_text("a\n1\n")
        (tmp_path / "odd.csv").write_bytes(b"name\n\xff\xfe\n")
        (tmp_path / "not.parquet").write_text("no")
        (tmp_path / "notes.txt").write_text("words")
        raises("NullOrEmpty", lambda: t.import_data(None, tables.new()), "Path or URL")
        raises("InvalidDataset", lambda: t.import_data(str(tmp_path), tables.new()), "several kinds")
        raises("InvalidDataset", lambda: t.import_data(str(tmp_path), tables.new(), path="../x.csv"), "leads out")
        raises("InvalidDataset", lambda: t.import_data(str(tmp_path / "notes.txt"), tables.new()), "no table")
        raises("FileParsingFailed", lambda: t.import_data(str(tmp_path / "odd.csv"), tables.new()), "Encoding")
        raises("FileParsingFailed", lambda: t.import_data(str(tmp_path / "not.parquet"), tables.new()), "Parquet")
        wrong = lambda: t.import_data(str(tmp_path / "a.csv"), tables.new(), path="a.csv", encoding="klingon")  # noqa: E731
        raises("ParameterParsing", wrong, "klingon")
        gone = "http://127.0.0.1:9/secret.csv?key=hush"
        raises("CouldNotDownloadFile", lambda: t.import_data(None, tables.new(), path=gone), "127.0.0.1")
        with pytest.raises(ModuleError) as caught:
            t.import_data(None, tables.new(), path=gone)
        assert "hush" not in str(caught.value)

    def test_export_and_back(self, tables):
        data = pandas.DataFrame({"a": [1, 2], "when": pandas.to_datetime(["2026-01-01", None]), "t": ['x,"y"\n', None]})
        for form in ("CSV", "TSV", "Parquet", "JSON lines"):
            out = t.export_data(tables.put(data), tables.new(), file_name="out", file_format=form)
            back = tables.get(out)
            assert back["a"].tolist() == [1, 2], form
            assert back["t"].iloc[0] == 'x,"y"\n', form
        raises("ParameterParsing", lambda: t.export_data(tables.put(data), tables.new(), file_name="../x"), "File name")


class TestColumns:
    def frame(self):
        return Frame(pandas.DataFrame({"a*": [1], "b": ["x"], "ba": [True], "day": pandas.to_datetime(["2026-01-01"])}))

    @pytest.mark.parametrize(
        ("text", "chosen"),
        [
            ("b, a*", ["b", "a*"]),
            ("b*", ["b", "ba"]),
            ("type:number", ["a*"]),
            ("type:time, type:switch", ["day", "ba"]),
            ("*", ["a*", "b", "ba", "day"]),
            ("b, b*, b", ["b", "ba"]),
        ],
    )
    def test_chosen(self, text, chosen):
        assert choose(self.frame(), text, "Columns") == chosen

    def test_refused(self):
        raises("ColumnNotFound", lambda: choose(self.frame(), "dya", "Columns"), "Did you mean 'day'", "a*, b")
        raises("NoColumnsSelected", lambda: choose(self.frame(), " , ", "Columns"))
        raises("NoColumnsSelected", lambda: choose(self.frame(), "z*", "Columns"))
        raises("InvalidColumnCategorySelected", lambda: choose(self.frame(), "type:fish", "Columns"), "type:number")

    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.text(max_size=40))
    def test_any_text_is_an_answer_or_one_of_ours(self, text):
        chosen = []
        with contextlib.suppress(ModuleError):
            chosen = choose(self.frame(), text, "Columns")
        assert set(chosen) <= set(self.frame().data.columns)

    def test_excluding(self, tables):
        out = t.select_columns(tables.put({"a": [1], "b": [2]}), tables.new(), columns="a", mode="Exclude")
        assert list(tables.get(out).columns) == ["b"]
        raises(
            "NoColumnsSelected",
            lambda: t.select_columns(tables.put({"a": [1]}), tables.new(), columns="*", mode="Exclude"),
        )


class TestJoin:
    LEFT = pandas.DataFrame({"id": [1, 2, 2, None], "name": ["Ann", "Bo", "Cy", "Di"]})
    RIGHT = pandas.DataFrame({"id": [2, 3, None], "name": ["x", "y", "z"]})

    def join(self, how, keep=True, left="id", right="id", case=True, **frames):
        a, b = frames.get("a", self.LEFT), frames.get("b", self.RIGHT)
        return join(Frame(a), Frame(b), left, right, case, how, keep).data

    def test_kinds(self):
        inner = self.join("Inner Join")
        assert list(inner.columns) == ["id", "name", "id (1)", "name (1)"]
        assert inner["name"].tolist() == ["Bo", "Cy"]
        assert self.join("Left Outer Join")["name"].tolist() == ["Ann", "Bo", "Cy", "Di"]
        outer = self.join("Full Outer Join")
        assert len(outer) == 6  # missing keys match none, on both sides
        assert self.join("Left Semi-Join").to_dict("list")["name"] == ["Bo", "Cy"]
        assert list(self.join("Inner Join", keep=False).columns) == ["id", "name", "name (1)"]

    def test_case(self):
        a, b = pandas.DataFrame({"k": ["A", "b"]}), pandas.DataFrame({"k": ["a", "B"], "v": [1, 2]})
        assert len(self.join("Inner Join", left="k", right="k", a=a, b=b)) == 0
        assert self.join("Inner Join", left="k", right="k", case=False, a=a, b=b)["v"].tolist() == [1, 2]

    def test_refused(self):
        raises("ColumnCountNotEqual", lambda: self.join("Inner Join", left="id,name"), "2 key columns")
        raises("JoinOnIncompatibleColumnTypes", lambda: self.join("Inner Join", right="name"), "number", "text")
        many = pandas.DataFrame({"id": [1] * 20_000})
        raises("FailedJoinOperation", lambda: self.join("Inner Join", a=many, b=many), "400,000,000")


class TestSplit:
    @settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.integers(2, 60), st.floats(0, 1), st.booleans(), st.integers(0, 99))
    def test_every_row_is_in_one_part(self, count, fraction, is_random, seed):
        frame = Frame(pandas.DataFrame({"n": range(count), "k": [i % 3 for i in range(count)]}))
        for stratify in ("", "k"):
            a, b = split(frame, "Split Rows", fraction, is_random, seed, stratify, "")
            assert sorted([*a.data["n"], *b.data["n"]]) == list(range(count))
            assert abs(len(a.data) - count * fraction) <= 1
            again, _ = split(frame, "Split Rows", fraction, is_random, seed, stratify, "")
            assert again.data["n"].tolist() == a.data["n"].tolist()

    def test_shares_of_a_key(self):
        frame = Frame(pandas.DataFrame({"k": ["rare"] * 10 + ["often"] * 90}))
        a, _ = split(frame, "Split Rows", 0.7, True, 1, "k", "")
        assert a.data["k"].value_counts().to_dict() == {"often": 63, "rare": 7}

    @pytest.mark.parametrize(
        ("mode", "expression", "chosen"),
        [
            ("Relative Expression", '\\"age" >= 30', [2, 3]),
            ("Relative Expression", '"age" > 20 & "city" = "Bonn"', [2]),
            ("Relative Expression", '"age" < 20 | "city" != Bonn', [1, 3]),
            ("Regular Expression", '\\"city" ^B', [0, 2]),
            ("Regular Expression", '"city" ^B | "city" ^K', [0, 1, 2]),
        ],
    )
    def test_expressions(self, mode, expression, chosen):
        data = pandas.DataFrame({"age": [20, 10, 30, 40], "city": ["Bonn", "Kiel", "Bonn", "Ulm"], "n": range(4)})
        a, b = split(Frame(data), mode, 0.5, True, 0, "", expression)
        assert a.data["n"].tolist() == chosen
        assert len(a.data) + len(b.data) == 4

    def test_refused(self):
        frame = Frame(pandas.DataFrame({"a": [1, 2]}))
        bad = lambda mode, text: lambda: split(frame, mode, 0.5, True, 0, "", text)  # noqa: E731
        raises("NullOrEmpty", bad("Relative Expression", ""), "Expression")
        raises("ParameterParsing", bad("Relative Expression", "a > 1"), "in quotes")
        raises("ParameterParsing", bad("Regular Expression", '"a" ('), "regular expression")
        raises("ParameterParsing", bad("Relative Expression", '"a" > 1 & "a" < 2 | "a" = 1'), "not both")
        raises("CouldNotConvertColumn", bad("Relative Expression", '"a" > many'), "many")
        raises("ColumnNotFound", bad("Relative Expression", '"b" > 1'), "'b'")
        one = Frame(pandas.DataFrame({"a": [1]}))
        raises("TooFewRowsInDataset", lambda: split(one, "Split Rows", 0.5, True, 0, "", ""), "1 rows")


class TestClean:
    DATA = {"n": [1.0, None, 3.0, 100.0], "t": ["x", "x", None, "y"], "all": [None] * 4}

    def clean(self, tables, **more):
        out, steps = t.clean_missing_data(tables.put(self.DATA), tables.new(), tables.new(), **more)
        return tables.get(out), steps

    def test_modes(self, tables):
        for mode, value in (("mean", 104 / 3), ("median", 3.0)):
            data, _ = self.clean(tables, columns="n", mode=f"Replace with {mode}")
            assert math.isclose(data["n"][1], value)
        data, _ = self.clean(tables, columns="t", mode="Replace with mode")
        assert data["t"].tolist() == ["x", "x", "x", "y"]
        data, _ = self.clean(tables, mode="Replace with mode")
        assert list(data.columns) == ["n", "t"]  # nothing to learn a mode from: taken out
        data, _ = self.clean(tables, mode="Replace with mode", all_missing="Propagate")
        assert list(data.columns) == ["n", "t", "all"]
        data, _ = self.clean(tables, columns="n,t", mode="Remove entire row")
        assert len(data) == 2
        data, _ = self.clean(tables, mode="Remove entire column", maximum_ratio=0.5)
        assert list(data.columns) == ["all"]
        data, _ = self.clean(tables, columns="n", replacement="-1", indicator=True)
        assert data["n"].tolist() == [1, -1, 3, 100]
        assert data["n_IsMissing"].tolist() == [False, True, False, False]

    def test_the_same_for_other_rows(self, tables):
        _, steps = self.clean(tables, columns="n", mode="Replace with median")
        out = t.apply_transformation(steps, tables.put({"n": [None, 5.0]}), tables.new())
        assert tables.get(out)["n"].tolist() == [3.0, 5.0]
        raises("ColumnNotFound", lambda: t.apply_transformation(steps, tables.put({"m": [1.0]}), tables.new()), "'n'")
        words = tables.put({"n": ["a", None]})
        _, mean = self.clean(tables, columns="n", mode="Replace with mean")
        raises("InvalidColumnType", lambda: t.apply_transformation(mean, words, tables.new()), "'n'")
        nothing = t.apply_transformation(mean, tables.put({"n": [None, None]}), tables.new())
        assert tables.get(nothing)["n"].notna().all()

    def test_refused(self, tables):
        raises("InvalidColumnType", lambda: self.clean(tables, columns="t", mode="Replace with mean"), "'t'")
        raises("CouldNotConvertColumn", lambda: self.clean(tables, columns="n", replacement="none"), "'none'")
        raises("NotInRangeValue", lambda: self.clean(tables, minimum_ratio=0.9, maximum_ratio=0.1), "Swap")
        raises("InvalidDataset", lambda: self.clean(tables, mode="Remove entire column"), "none would be left")
        endless = tables.put({"n": [math.inf, None]})
        act = lambda: t.clean_missing_data(endless, tables.new(), tables.new(), mode="Replace with mean")  # noqa: E731
        raises("Infinity", act, "'n'")


class TestNormalize:
    DATA = {"a": [1.0, 2.0, 3.0, None], "c": [5, 5, 5, 5], "t": ["x", "y", "z", "x"]}

    def scale(self, tables, method, **more):
        out, steps = t.normalize_data(tables.put(self.DATA), tables.new(), tables.new(), method=method, **more)
        return tables.get(out), steps

    def test_methods(self, tables):
        data, steps = self.scale(tables, "MinMax")
        assert data["a"].tolist()[:3] == [0, 0.5, 1]
        assert data["c"].tolist() == [0] * 4
        assert data["t"].tolist() == self.DATA["t"]
        other = t.apply_transformation(steps, tables.put({"a": [5.0], "c": [5]}), tables.new())
        assert tables.get(other)["a"].tolist() == [2.0]
        data, _ = self.scale(tables, "ZScore", constant_to_zero=False)
        assert abs(data["a"].mean()) < 1e-12
        assert data["c"].isna().all()
        data, _ = self.scale(tables, "Logistic", columns="a")
        assert math.isclose(data["a"][0], 1 / (1 + math.exp(-1)))
        data, _ = self.scale(tables, "Tanh", columns="a")
        assert math.isclose(data["a"][1], math.tanh(2))
        data, _ = self.scale(tables, "LogNormal", columns="a")
        assert 0 < data["a"][0] < data["a"][1] < data["a"][2] < 1

    def test_refused(self, tables):
        raises("InvalidColumnType", lambda: self.scale(tables, "ZScore", columns="t"), "'t'")
        lonely = tables.put({"t": ["x"]})
        raises("NotEnoughNormalizedColumns", lambda: t.normalize_data(lonely, tables.new(), tables.new()), "numbers")
        low = tables.put({"a": [-1.0, 1.0]})
        raises("NotInRangeValue", lambda: t.normalize_data(low, tables.new(), tables.new(), method="LogNormal"), "-1")

    def test_a_transformation_of_pictures(self, tables):
        from rookery_vision import init_image_transformation

        other = init_image_transformation(tables.new())
        raises(
            "InvalidTransformationDirectory",
            lambda: t.apply_transformation(other, tables.put({"a": [1]}), tables.new()),
        )


class TestScript:
    def run(self, tables, script, *given):
        return t.execute_python_script(
            *[*given, None, None, None][:3], tables.new(), tables.new(), python_script=script
        )

    def test_the_default_gives_its_first_input(self, tables):
        a, b = t.execute_python_script(tables.put({"x": [1]}), None, None, tables.new(), tables.new())
        assert tables.get(a)["x"].tolist() == [1]
        assert tables.get(b).empty

    def test_two_tables_and_a_bundle(self, tables, tmp_path):
        with zipfile.ZipFile(tmp_path / "code.zip", "w") as f:
            f.writestr("of_mine.py", "def twice(x): return x * 2\n")
        script = "import of_mine\ndef azureml_main(a, b):\n    return of_mine.twice(a), b.assign(n=len(a))\n"
        given = (tables.put({"x": [1, 2]}), tables.put({"y": [9]}), str(tmp_path / "code.zip"))
        a, b = self.run(tables, script, *given)
        assert tables.get(a)["x"].tolist() == [2, 4]
        assert tables.get(b).to_dict("list") == {"y": [9], "n": [2]}

    @pytest.mark.parametrize(
        ("script", "word"),
        [
            ("def azureml_main(a, b):\n    return 1 / 0\n", "ZeroDivisionError, line 2"),
            ("def azureml_main(:\n", "SyntaxError, line 1"),
            ("x = 1\n", "no function azureml_main"),
            ("def azureml_main(a, b): return 5\n", "returned int"),
            ("def azureml_main(a, b): return a, a, a\n", "3 tables"),
            ("import sys\ndef azureml_main(a, b): sys.exit(3)\n", "exit(3)"),
        ],
    )
    def test_what_goes_wrong_is_told(self, tables, script, word):
        raises("FailedToEvaluateScript", lambda: self.run(tables, script, tables.put({"x": [1]})), word)

    def test_a_hostile_bundle(self, tables, tmp_path):
        with zipfile.ZipFile(tmp_path / "bad.zip", "w") as f:
            f.writestr("../over.py", "")
        act = lambda: self.run(tables, "def azureml_main(): pass", None, None, str(tmp_path / "bad.zip"))  # noqa: E731
        raises("InvalidDataset", act, "over.py")
