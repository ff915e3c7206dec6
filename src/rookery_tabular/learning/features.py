"""A table as numbers for an algorithm: what each column becomes is learned once, kept as data, and the same for every later table."""

from __future__ import annotations

from typing import Any

from rookery_tabular.frames import kind_of
from rookery_vision.errors import by_id

__all__ = ["learn_features", "to_matrix"]

LARGEST = 1e100
MOST_WORDS = 100  # different texts of a column that become columns of their own, the most frequent first


def learn_features(data: Any, but: str) -> list[dict[str, Any]]:
    """One entry for each column that can be learned from, in the table's order.

    Raises:
        TooFewFeatureColumnsInDatasetError: there is none.
    """
    plan: list[dict[str, Any]] = []
    for name in data.columns:
        values = data[name]
        if name == but or values.isna().all():
            continue
        kind = kind_of(values)
        if kind != "text":
            numbers = _numbers(values, kind)
            spread = float(numbers.std(skipna=True, ddof=0))
            plan.append(
                {
                    "column": name,
                    "kind": kind,
                    "fill": float(numbers.median()),
                    "mean": float(numbers.mean()),
                    "spread": spread if spread > 0 else 1.0,
                }
            )
            continue
        counts = values.dropna().astype(str).value_counts()
        # Every row another text is a name or a number of a row, and teaches nothing; ties are told by the alphabet.
        if len(counts) > MOST_WORDS and int(counts.iloc[0]) == 1:
            print(f"Column '{name}' is left out: every text in it is different", flush=True)
            continue
        words = sorted(sorted(counts.index), key=lambda w: -int(counts[w]))[:MOST_WORDS]
        plan.append({"column": name, "kind": kind, "words": words})
    if not plan:
        raise by_id("TooFewFeatureColumnsInDataset")(
            "No column is left to learn from beside the label. Give a table with at least one more column."
        )
    return plan


def to_matrix(data: Any, plan: list[dict[str, Any]], is_scaled: bool) -> Any:
    """Rows × numbers, all finite; `is_scaled`: to mean 0 and spread 1, as straight lines need it.

    Raises:
        ColumnNotFoundError, InvalidColumnTypeError: the table is not like the one that was learned from.
    """
    import numpy

    parts = []
    for each in plan:
        name = each["column"]
        if name not in data.columns:
            raise by_id("ColumnNotFound")(
                f"There is no column '{name:.200}', which the model was trained on. The table has: {', '.join(map(str, data.columns[:20]))}."
            )
        values = data[name]
        if each["kind"] == "text":
            texts = values.astype(str).where(values.notna(), None).to_numpy(dtype=object)
            place = {word: i for i, word in enumerate(each["words"])}
            block = numpy.zeros((len(data), len(place)))
            for row, text in enumerate(texts):
                at = place.get(text, -1)
                if at >= 0:
                    block[row, at] = 1.0
            parts.append(block)
            continue
        if each["kind"] == "time":
            values = _times(values)
        kind = kind_of(values)
        if values.isna().all():
            column = numpy.full(len(data), each["fill"])
        elif kind != each["kind"] and not {kind, each["kind"]} <= {"number", "switch"}:
            raise by_id("InvalidColumnType")(
                f"Column '{name:.200}' is a {kind}; the model was trained on a {each['kind']} there."
            )
        else:
            column = _numbers(values, kind).fillna(each["fill"]).to_numpy()
        if is_scaled:
            column = (column - each["mean"]) / each["spread"]
        parts.append(column.reshape(-1, 1))
    matrix = numpy.hstack(parts)
    return numpy.clip(matrix, -1e30, 1e30)  # scikit-learn's trees count in float32


def _times(values: Any) -> Any:
    """Texts as moments where all of them are: JSON has no times."""
    import pandas

    if kind_of(values) != "text":
        return values
    moments = pandas.to_datetime(values, errors="coerce", utc=True, format="ISO8601")
    return moments if moments.notna().sum() == values.notna().sum() else values


def _numbers(values: Any, kind: str) -> Any:
    """As float64; what is not finite is missing, and squares of the rest are finite too."""
    import numpy
    import pandas

    if kind == "time":
        moments = pandas.to_datetime(values, utc=True)
        numbers = (moments - pandas.Timestamp(0, tz="UTC")).dt.total_seconds()
    elif kind == "switch":
        numbers = values.map({True: 1.0, False: 0.0}, na_action="ignore").astype("float64")
    else:
        numbers = values.astype("float64")
    return numbers.where(numpy.isfinite(numbers.astype("float64"))).clip(-LARGEST, LARGEST)
