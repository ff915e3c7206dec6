"""Metrics as the keeper sends them, in the shapes that `get_metrics()` had in v1; and the same made from
records, for offline runs."""

__all__ = ["MetricTable", "artifact_location", "metrics_as_v1"]


def metrics_as_v1(run_id, metrics, name=None, fetch=None):
    """{name: value}. `fetch(artifact name)` gives the bytes of a picture where contents are wanted instead
    of locations."""
    return {m["name"]: _value(run_id, m, fetch) for m in metrics if name is None or m["name"] == name}


def artifact_location(run_id, artifact):
    return "aml://artifactId/ExperimentRun/dcid.{}/{}".format(run_id, artifact)


def _value(run_id, metric, fetch):
    kind = metric["kind"]
    if kind == "scalar":
        return _one_or_list(metric["values"])
    if kind == "list":
        return list(metric["values"])
    if kind == "row":
        return {c: v[0] if metric["rows"] == 1 else list(v) for c, v in metric["columns"].items()}
    if kind == "table":
        return {c: list(v) for c, v in metric["columns"].items()}
    items = [_item(run_id, metric, item, fetch) for item in metric["items"]]
    return _one_or_list(items)


def _one_or_list(values):
    return values[0] if len(values) == 1 else list(values)


def _item(run_id, metric, item, fetch):
    if metric["kind"] == "image":
        return fetch(item["artifact"]) if fetch else artifact_location(run_id, item["artifact"])
    return item if fetch else artifact_location(run_id, metric["name"])


class MetricTable(object):
    """Metrics of one run, kept in memory from its records (`m`, `l`, `r`, `t`, `d`)."""

    def __init__(self):
        self._metrics = {}

    def apply(self, record):
        """Take one record; returns a warning where its name is in use with another kind."""
        tag, _, name = record[:3]
        if tag == "m":
            return self._values(name, "scalar", [record[3]], [record[4]], record[5])
        if tag == "l":
            return self._values(name, "list", record[3], [None] * len(record[3]), record[4])
        if tag in ("r", "t"):
            columns = {c: [v] for c, v in record[3].items()} if tag == "r" else record[3]
            return self._columns(name, "row" if tag == "r" else "table", columns)
        metric = self._metrics.setdefault(name, {"name": name, "kind": record[3], "items": []})
        if metric["kind"] != record[3]:
            return _clash(name, metric, record[3])
        metric["items"].append(record[4])
        return None

    def metrics(self):
        """As GET /runs/{id}/metrics answers, in order of first appearance."""
        return list(self._metrics.values())

    def _values(self, name, kind, values, steps, when):
        fresh = {"name": name, "kind": kind, "values": [], "steps": [], "times": []}
        metric = self._metrics.setdefault(name, fresh)
        if metric["kind"] not in ("scalar", "list"):
            return _clash(name, metric, kind)
        if metric["kind"] != kind:
            metric["kind"] = "list"
        metric["values"].extend(values)
        metric["steps"].extend(steps)
        metric["times"].extend([when] * len(values))
        return None

    def _columns(self, name, kind, columns):
        metric = self._metrics.setdefault(name, {"name": name, "kind": kind, "rows": 0, "columns": {}})
        if metric["kind"] != kind:
            return _clash(name, metric, kind)
        added = max([len(values) for values in columns.values()] or [0])
        for column in columns:
            metric["columns"].setdefault(column, [None] * metric["rows"])
        for column, values in metric["columns"].items():
            values.extend(columns.get(column, [None] * added))
        metric["rows"] += added
        return None


def _clash(name, metric, kind):
    return "Metric '{}' is a {}; a {} of that name is not stored.".format(name, metric["kind"], kind)
