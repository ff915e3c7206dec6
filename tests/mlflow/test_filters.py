from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.record.search import Condition, Order
from rookery.server.mlflow.errors import MlflowError
from rookery.server.mlflow.filters import EXPERIMENTS, RUNS, VERSIONS, holds, like, parse_filter, parse_order


class TestParseFilter:
    @pytest.mark.parametrize(
        ("text", "condition"),
        [
            ("metrics.loss < 1", Condition("metric", "loss", "<", 1)),
            ("metrics.loss<1.5e-3", Condition("metric", "loss", "<", 0.0015)),
            ("metrics.loss >= -2", Condition("metric", "loss", ">=", -2)),
            ("`metrics`.`a b` = 1", Condition("metric", "a b", "=", 1)),
            ("metrics.a/b-c = 1", Condition("metric", "a/b-c", "=", 1)),
            ("params.x <> 'y'", Condition("param", "x", "!=", "y")),
            ("params.x = 'it''s'", Condition("param", "x", "=", "it's")),
            ("params.x = \"a 'b'\"", Condition("param", "x", "=", "a 'b'")),
            ("params.x = ''", Condition("param", "x", "=", "")),
            ("tags.mlflow.source.type = 'LOCAL'", Condition("tag", "mlflow.source.type", "=", "LOCAL")),
            ("tag.`mlflow.prompt.is_prompt` != 'true'", Condition("tag", "mlflow.prompt.is_prompt", "!=", "true")),
            ("attributes.run_id in ('a','b' , 'c')", Condition("attribute", "id", "IN", ["a", "b", "c"])),
            ("start_time > 5", Condition("attribute", "began_ms", ">", 5)),
            ("tags.x is not null", Condition("tag", "x", "IS NOT NULL")),
            ("dataset.name like 'a%'", Condition("dataset", "name", "LIKE", "a%")),
        ],
    )
    def test_one(self, text, condition):
        assert parse_filter(text, RUNS) == [condition]

    def test_several(self):
        text = "metrics.a > 1 AND params.b = 'and' and tags.c ILIKE '%x%'"
        assert [c.key for c in parse_filter(text, RUNS)] == ["a", "b", "c"]

    @pytest.mark.parametrize("text", ["", "   ", None])
    def test_nothing(self, text):
        assert parse_filter(text, RUNS) == []

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("metrics.a > 1 or metrics.b > 1", "OR and parentheses are not part"),
            ("(metrics.a > 1)", "a column such as metrics.loss"),
            ("metrics.a > 'x'", "numeric"),
            ("params.a = x", "quoted string value"),
            ("params.a < 'x'", "does not compare a param"),
            ("wings.a = 'x'", "Invalid entity type 'wings'"),
            ("attributes.wings = 'x'", "Invalid attribute key 'wings'"),
            ("dataset.wings = 'x'", "Invalid dataset key 'wings'"),
            ("metrics.a >", "it ends where"),
            ("metrics.a IS NULL", "only possible for tags and params"),
            ("params.a = 'open", "cannot be read"),
            ("status IN ('a')", "run_id"),
            ("run_id IN 'a'", "a list is written"),
            ("run_id IN ('a'", "it ends where"),
        ],
    )
    def test_what_is_wrong_is_said(self, text, says):
        with pytest.raises(MlflowError, match=says) as error:
            parse_filter(text, RUNS)
        assert error.value.code == "INVALID_PARAMETER_VALUE"

    def test_each_search_has_its_own_words(self):
        with pytest.raises(MlflowError, match="Invalid entity type 'metrics'"):
            parse_filter("metrics.a > 1", EXPERIMENTS)
        assert parse_filter("version_number >= 2", VERSIONS) == [Condition("attribute", "version", ">=", 2)]

    @given(st.text(max_size=60))
    def test_rubbish_is_an_error_of_ours_or_a_filter(self, text):
        try:
            parse_filter(text, RUNS)
        except MlflowError as error:
            assert error.status == 400  # noqa: PT017  (most texts are no filter, some are)


class TestParseOrder:
    @pytest.mark.parametrize(
        ("text", "order"),
        [
            ("metrics.a", Order("metric", "a", True)),
            ("metrics.`a b` desc", Order("metric", "a b", False)),
            ("attributes.start_time ASC", Order("attribute", "began_ms", True)),
            ('params."x y"', Order("param", "x y", True)),
        ],
    )
    def test_one(self, text, order):
        assert parse_order(text, RUNS) == order

    @pytest.mark.parametrize("text", ["", "metrics.a up", "metrics.a asc desc", "1", "wings"])
    def test_bad_ones(self, text):
        with pytest.raises(MlflowError):
            parse_order(text, RUNS)


class TestHolds:
    def test_like_minds_capitals_and_ilike_does_not(self):
        assert like("Bird.net", "B%.n_t", False)
        assert not like("bird.net", "B%", False)
        assert like("bird", "B%", True)
        assert not like("birdXnet", "bird.net", False)

    def test_what_is_missing_holds_for_nothing(self):
        assert not holds("!=", None, "x")
        assert holds("NOT IN", "a", ["b"])
