"""Whatever a specification holds: it is read, or refused with a UserError, and in no time."""

import contextlib
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rookery.environments.specification.conda_spec import parse_conda_dependency
from rookery.environments.specification.requirement import parse_requirement
from rookery.environments.specification.wanted import from_conda, from_requirements
from rookery.errors import UserError
from rookery.spec.safe_yaml import load_yaml

LINES = st.text("abcXYZ019 .,;:@/\\-_=<>!~*[]()'\"#$`|&%+\t\n\x00é", max_size=60)
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class TestAnything:
    @QUICK
    @given(LINES)
    def test_a_requirement_is_read_the_same_again_or_refused(self, line):
        try:
            one = parse_requirement(line)
        except UserError:
            return
        assert "\n" not in one.text
        assert not one.text.startswith("-")
        assert parse_requirement(one.text) == one

    @QUICK
    @given(LINES)
    def test_other_readers_refuse_politely(self, line):
        for read in (parse_conda_dependency, from_requirements, lambda text: load_yaml(text, "x.yml")):
            with contextlib.suppress(UserError):
                read(line)

    @QUICK
    @given(
        st.recursive(
            st.none() | st.integers() | LINES, lambda c: st.lists(c, max_size=3) | st.dictionaries(LINES, c, max_size=3)
        )
    )
    def test_any_value_as_a_specification(self, value):
        for spec in (
            value,
            {"dependencies": value},
            {"dependencies": [{"pip": value}]},
            {"channels": value},
            {"name": value},
        ):
            with contextlib.suppress(UserError):
                from_conda(spec)


class TestNoTime:
    @pytest.mark.parametrize(
        "line",
        [
            "a" + " " * 1900 + "@",
            "a[" + "a," * 900,
            "a==" + "1." * 900 + "x!",
            "a;" + "(" * 1900,
            "a @ https://" + "a" * 1900 + " x",
            "-" * 1900,
        ],
    )
    def test_long_requirement_lines_take_no_time(self, line):
        began = time.process_time()
        with pytest.raises(UserError):
            from_requirements(line)
        assert time.process_time() - began < 1

    @pytest.mark.parametrize(
        "line", ["a <1" + ",<1" * 160 + "=[", "a" + "=1" * 240, "a " + "1 " * 240, "::" * 240, "a" * 490 + "!"]
    )
    def test_long_conda_lines_take_no_time(self, line):
        began = time.process_time()
        with pytest.raises(UserError):
            parse_conda_dependency(line)
        assert time.process_time() - began < 1
