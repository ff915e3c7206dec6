"""Packing records: order is kept wherever it shows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rookery.agent.blocks import make_batches
from rookery.testing.fake_keeper import _unpack
from rookery.worker.metric_shapes import MetricTable

VALUES = st.one_of(st.floats(allow_nan=False), st.integers(), st.text(max_size=3), st.booleans(), st.none())
NAMES = st.sampled_from(["a", "b"])
RECORDS = st.lists(
    st.one_of(
        st.builds(lambda n, v, s: ["m", None, n, v, s, 1.0], NAMES, VALUES, st.one_of(st.none(), st.integers(0, 9))),
        st.builds(lambda n, v: ["l", None, n, v, 1.0], NAMES, st.lists(VALUES, max_size=3)),
        st.builds(lambda n, v: ["r", None, n, {"c": v}, 1.0], NAMES, VALUES),
        st.just(["u", None, "artifact", "file"]),
        st.just(["c", "child", None, "", {}, 1.0]),
    ),
    max_size=30,
)


def rows(records):
    return [(10 * (i + 1), record) for i, record in enumerate(records)]


class TestMakeBatches:
    @given(RECORDS, st.booleans())
    def test_metrics_are_the_same_whatever_the_keeper_applies_first(self, records, blocks_first):
        plain, packed = MetricTable(), MetricTable()
        for record in records:
            if record[0] in "mlr":
                plain.apply(record)
        end = 0
        for batch in make_batches(rows(records)):
            assert batch.end > end
            end = batch.end
            scalars = [r for block in batch.blocks for r in _unpack(block)]
            others = [r for r in batch.records if r[0] in "mlr"]
            for record in scalars + others if blocks_first else others + scalars:
                packed.apply(record)
        assert end == 10 * len(records)
        theirs, ours = ({m["name"]: m for m in t.metrics()} for t in (packed, plain))
        assert theirs == ours

    def test_child_is_created_before_its_metrics(self):
        made = make_batches(rows([["c", "k", None, "", {}, 1.0], ["g", "k", {}], ["m", "k", "x", 1.0, None, 1.0]]))
        assert [len(b.blocks) for b in made] == [0, 1]

    def test_upload_stands_alone(self):
        made = make_batches(
            rows([["m", None, "x", 1, None, 1.0], ["u", None, "n", "f"], ["m", None, "x", 2, None, 1.0]])
        )
        assert [bool(b.upload) for b in made] == [False, True, False]
        assert [b.end for b in made] == [10, 20, 30]

    def test_types_are_kept(self):
        made = make_batches(
            rows([["m", None, n, v, None, 1.0] for n, v in (("f", 1.0), ("i", 1), ("b", True), ("h", 2**70))])
        )
        assert [b["dtype"] for b in made[0].blocks] == ["d", "q", "j", "j"]

    def test_damaged_lines_are_counted(self):
        assert make_batches([(5, None), (9, None)])[0].damaged == 2
