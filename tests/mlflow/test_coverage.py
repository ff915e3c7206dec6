from __future__ import annotations

import json

import pytest

from rookery.server.mlflow.routes import ROUTES
from rookery.testing.mlflow_coverage import CALLS, PATH, THEIRS, _bare, coverage_text


class TestCoverage:
    def test_the_page_is_current(self):
        with open(PATH, encoding="utf-8") as f:
            assert f.read() == coverage_text(), "run: python -m rookery.testing.mlflow_coverage"

    def test_the_figure_is_in_the_docs(self):
        figure = coverage_text().partition("**")[2].partition("**")[0]
        with open(PATH.replace("COVERAGE.md", "docs/mlflow.md"), encoding="utf-8") as f:
            assert figure in f.read()

    def test_every_handler_exists(self):
        import importlib

        for route in ROUTES:
            module, _, function = route.handler.partition(":")
            assert callable(getattr(importlib.import_module("rookery.server.mlflow." + module), function)), route

    def test_what_tests_call_is_a_route(self):
        assert set(CALLS) <= {route.handler for route in ROUTES}

    def test_every_path_is_there_once(self):
        pairs = [(route.method, _bare(route.path)) for route in ROUTES]
        assert len(pairs) == len(set(pairs))

    @pytest.mark.slow
    def test_theirs_are_what_the_client_has(self, drive):
        code = (
            "import json\n"
            "from mlflow.server.handlers import get_endpoints\n"
            "print('PAIRS' + json.dumps(sorted({f'{m} {p}' for p, h, ms in get_endpoints() for m in ms if p.startswith('/api/')})))\n"
        )
        pairs = json.loads(drive(code).partition("PAIRS")[2].splitlines()[0])
        import re

        has = {_bare(re.sub(r"<[^>]*>", "{}", pair)) for pair in pairs}
        assert {_bare(pair) for pair in THEIRS} <= has
