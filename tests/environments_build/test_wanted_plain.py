"""What was read travels as conda data and is read as the same again."""

import pytest

from rookery.environments.specification.wanted import from_conda, parse_specification
from rookery.environments.specification.wanted_plain import to_conda
from rookery.errors import UserError

UV_LOCK = """
version = 1
requires-python = ">=3.10"
[[package]]
name = "birds"
version = "0"
source = { virtual = "." }
dependencies = [{ name = "alpha" }]
[[package]]
name = "alpha"
version = "1.0"
[[package]]
name = "beta"
version = "2.0"
"""
HASHED = "alpha==1.0 \\\n    --hash=sha256:" + "a" * 64 + "\n"
PYLOCK = 'lock-version = "1.0"\nrequires-python = ">=3.9"\n[[packages]]\nname = "alpha"\nversion = "1.0"\n'


class TestToConda:
    @pytest.mark.parametrize(
        ("path", "text"),
        [
            ("e.yml", "name: x\nchannels: [conda-forge]\ndependencies: [python=3.6.2, 'numpy>=1', {pip: [alpha]}]"),
            ("e.yml", "dependencies: ['python>=3.9,<3.12', pip]"),
            ("r.txt", "--extra-index-url https://a.example/simple\nalpha[x]>=1 ; python_version > '3'\nbeta\n"),
            ("r.txt", HASHED),
            ("uv.lock", UV_LOCK),
            ("pylock.toml", PYLOCK),
            ("r.txt", ""),
        ],
    )
    def test_is_read_as_the_same_wish(self, path, text):
        wanted = parse_specification(text, path)
        again = from_conda(to_conda(wanted))
        for name in ("python", "channels", "pip", "options", "constraints", "locked"):
            assert getattr(again, name) == getattr(wanted, name), name
        assert [c.text for c in again.conda] == [c.text for c in wanted.conda]

    def test_a_lock_stays_a_lock(self):
        assert parse_specification(HASHED, "r.txt").locked
        conda = to_conda(parse_specification(UV_LOCK, "uv.lock"))
        assert conda["constraints"] == ["alpha==1.0", "beta==2.0"]
        assert conda["dependencies"] == ["python>=3.10", {"pip": ["alpha"]}]

    @pytest.mark.parametrize("constraint", ["git+https://x.example/y", 3, "-r other", "file:///x"])
    def test_constraints_are_versions_and_nothing_else(self, constraint):
        with pytest.raises(UserError):
            from_conda({"dependencies": [], "constraints": [constraint]})

    def test_a_huge_text_is_refused(self):
        with pytest.raises(UserError, match="more than"):
            parse_specification("a\n" * 600_000, "r.txt")
