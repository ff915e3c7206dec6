"""What test_tables.py runs in an interpreter with pandas: every way to read a table, against a real keeper."""

import os
import sys
from datetime import datetime

import pandas

from rookery.errors import DataError, DatasetTimestampMissingError, UserError
from rookery.sdk import Dataset, Workspace
from rookery.sdk.data_types import DataType, PromoteHeadersBehavior


def raises(kind, act):
    try:
        act()
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind.__name__} was not raised")


def put(store, files):
    for path, text in files.items():
        local = os.path.join(sys.argv[1], path)
        os.makedirs(os.path.dirname(local), exist_ok=True)
        with open(local, "w", encoding="utf-8") as f:
            f.write(text)
    store.upload(sys.argv[1], "t", overwrite=True, show_progress=False)


ws = Workspace.create("tables", exist_ok=True)
store = ws.get_default_datastore()
put(
    store,
    {
        "day/2026/01/01/a.csv": "id,when,name\n1,2026-01-01T10:00:00,ann\n2,2026-01-02T00:00:00,bo\n",
        "day/2026/01/02/b.csv": 'id,when,name\n3,2026-01-03T00:00:00,"c, d"\n',
        "plain.tsv": "1\t2\n3\t4\n",
        "lines.jsonl": '{"a": 1}\n{"a": 2, "b": "x"}\nnot json\n',
        "odd.csv": "n,b,t\n1,true,01/02/2026\nx,no,nonsense\n",
    },
)
csv = Dataset.Tabular.from_delimited_files((store, "t/day/**/*.csv"))
frame = csv.to_pandas_dataframe()
assert list(frame["id"]) == [1, 2, 3], frame
assert frame["name"].iloc[2] == "c, d"
assert str(frame["when"].dtype).startswith("datetime64"), frame.dtypes

timed = csv.with_timestamp_columns(timestamp="when", validate=True)
assert timed.timestamp_columns == ("when", None)
assert list(timed.time_after(datetime(2026, 1, 2)).to_pandas_dataframe()["id"]) == [2, 3]
assert list(timed.time_after(datetime(2026, 1, 2), include_boundary=False).to_pandas_dataframe()["id"]) == [3]
assert list(timed.time_before(datetime(2026, 1, 2)).to_pandas_dataframe()["id"]) == [1, 2]
between = timed.time_between(datetime(2026, 1, 1, 11), datetime(2026, 1, 2, 1))
assert list(between.to_pandas_dataframe()["id"]) == [2]
raises(DatasetTimestampMissingError, lambda: csv.time_after(datetime(2026, 1, 1)))
assert "nothere" in raises(UserError, lambda: csv.with_timestamp_columns("nothere", validate=True))

assert list(csv.take(2).to_pandas_dataframe()["id"]) == [1, 2]
assert list(csv.skip(1).take(1).to_pandas_dataframe()["id"]) == [2]
assert list(csv.keep_columns(["name"]).to_pandas_dataframe().columns) == ["name"]
assert list(csv.drop_columns("name").to_pandas_dataframe().columns) == ["id", "when"]
assert list(csv.filter((csv["id"] > 1) & (csv["name"] != "bo")).to_pandas_dataframe()["id"]) == [3]
assert list(csv.filter(csv["name"].starts_with("a") | (csv["id"] == 2)).to_pandas_dataframe()["id"]) == [1, 2]
first, second = csv.random_split(0.67, seed=1)
assert sorted([*first.to_pandas_dataframe()["id"], *second.to_pandas_dataframe()["id"]]) == [1, 2, 3]
assert len(first.to_pandas_dataframe()) == 2
assert "missing" in raises(DataError, lambda: csv.keep_columns(["missing"]).to_pandas_dataframe())

parted = Dataset.Tabular.from_delimited_files(
    (store, "t/day/**/*.csv"), partition_format="/{day:yyyy/MM/dd}/{file}.csv", include_path=True
)
frame = parted.to_pandas_dataframe()
assert [d.day for d in frame["day"]] == [1, 1, 2], frame
assert list(frame["file"]) == ["a", "a", "b"]
assert frame["Path"].iloc[2] == "/2026/01/02/b.csv"
assert parted.partition_keys == ["day", "file"]
assert [v["file"] for v in parted.get_partition_key_values(["file"])] == ["a", "b"]

tsv = Dataset.Tabular.from_delimited_files((store, "t/plain.tsv"), separator="\t", header=False)
assert tsv.to_pandas_dataframe().to_dict("list") == {"Column1": [1, 3], "Column2": [2, 4]}
same = Dataset.Tabular.from_delimited_files(
    (store, "t/plain.tsv"), separator="\t", header=PromoteHeadersBehavior.NO_HEADERS
)
assert same.id == tsv.id

assert "no JSON" in raises(
    DataError, Dataset.Tabular.from_json_lines_files((store, "t/lines.jsonl")).to_pandas_dataframe
)
lines = Dataset.Tabular.from_json_lines_files((store, "t/lines.jsonl"), invalid_lines="drop").to_pandas_dataframe()
assert list(lines["a"]) == [1, 2]
assert lines["b"].iloc[1] == "x"

types = {"n": DataType.to_long(), "b": DataType.to_bool(), "t": DataType.to_datetime("%d/%m/%Y")}
odd = Dataset.Tabular.from_delimited_files((store, "t/odd.csv"), set_column_types=types)
frame = odd.to_pandas_dataframe()
assert frame["n"].isna().tolist() == [False, True]
assert frame["b"].tolist() == [True, False]
assert frame["t"].iloc[0] == datetime(2026, 2, 1)
assert "does not hold long" in raises(DataError, lambda: odd.to_pandas_dataframe(on_error="fail"))

given = pandas.DataFrame({"x": [1, 2], "s": ["a", "ü"]})
made = Dataset.Tabular.register_pandas_dataframe(given, (store, "frames"), "frame", show_progress=False)
assert made.version == 1
assert Dataset.get_by_name(ws, "frame").to_pandas_dataframe().equals(given)
assert Dataset.Tabular.register_pandas_dataframe(given, store, "frame", show_progress=False).version == 2
assert csv.to_parquet_files().to_path() == ["/part-00000.parquet"]
assert csv.to_csv_files().to_path() == ["/part-00000.csv"]

sales = pandas.DataFrame({"store": [2, 5, 2], "brand": ["dom", "dom", "min"], "sold": [1.5, 2.5, 3.5]})
table = Dataset.Tabular.register_pandas_dataframe(sales, (store, "frames"), "sales", show_progress=False)
cut = table.partition_by(["store", "brand"], (store, "cut"), name="cut sales", show_progress=False)
assert cut.partition_keys == ["store", "brand"]
found = Dataset.get_by_name(ws, "cut sales").to_pandas_dataframe().sort_values("sold", ignore_index=True)
assert found[list(sales.columns)].equals(sales), found
assert {"store": "5", "brand": "dom"} in cut.get_partition_key_values()
files = table.partition_by("store", store, partition_as_file_dataset=True)
assert files.to_path() == ["/2/part-00000.parquet", "/5/part-00000.parquet"], files.to_path()
assert "Known: store, brand, sold" in raises(UserError, lambda: table.partition_by(["shop"], store))
print("all of it")
