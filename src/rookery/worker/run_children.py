"""Child runs: branches of this process with metrics and files of their own."""

import os
import time
import uuid

from rookery.errors import UserError
from rookery.worker.run_base import RunBase

__all__ = ["ChildrenPart"]

MAX_CHILDREN = 100


class ChildrenPart(RunBase):
    def child_run(self, name=None, run_id=None, outputs=None):
        """A new child, Running at once. `outputs`: a folder that is uploaded when it completes."""
        return self._create([(run_id or str(uuid.uuid4()), name or "", {}, outputs)])[0]

    def create_children(self, count=None, tag_key=None, tag_values=None):
        """Several children: `count` of them, or one for each of `tag_values`, tagged with it. At most 100 at
        a time."""
        if (count is None) == (tag_key is None and tag_values is None):
            raise UserError("create_children: give either count, or tag_key with tag_values.")
        if count is not None:
            tags = [{"azureml.batch_child_number": str(number)} for number in range(int(count))]
        else:
            if tag_key is None or tag_values is None:
                raise UserError("create_children: tag_key and tag_values go together.")
            tags = [{str(tag_key): str(value)} for value in tag_values]
        if not 1 <= len(tags) <= MAX_CHILDREN:
            raise UserError(
                "create_children: {} children asked for; 1 to {} are allowed at a time.".format(len(tags), MAX_CHILDREN)
            )
        return self._create([(str(uuid.uuid4()), "", one, None) for one in tags])

    def get_children(self, recursive=False, tags=None, properties=None, type=None, status=None, _rehydrate_runs=True):
        """The children, newest first, as a generator."""
        self._drain()
        query = {
            "recursive": "true" if recursive else None,
            "tag": _pairs(tags),
            "property": _pairs(properties),
            "status": status,
        }
        for data in reversed(self._ask(path="/children", query=query)["runs"]):
            child = self._make_child(data["id"])
            child._data, child._is_child = data, data["kind"] == "child"
            if type is None or child.type == type:
                yield child

    def _create(self, wanted):
        now = time.time()
        records = [["c", run_id, None, name, tags, now] for run_id, name, tags, _ in wanted]
        if hasattr(self._sink, "extend"):
            self._sink.extend(records)
        else:
            for record in records:
                self._sink.append(record)
        children = []
        for run_id, _, _, outputs in wanted:
            child = self._make_child(run_id)
            child._is_child = True
            if outputs:
                os.makedirs(outputs, exist_ok=True)
                child._outputs = outputs
            children.append(child)
        return children


def _pairs(wanted):
    if not wanted:
        return None
    if isinstance(wanted, str):
        return [wanted]
    if isinstance(wanted, dict):
        return [key if value is None else "{}={}".format(key, value) for key, value in wanted.items()]
    return list(wanted)
