from __future__ import annotations

import pytest

from rookery.errors import UserError
from rookery.spec.safe_yaml import MAX_BYTES, load_yaml, read_text

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{c}: &{c} [{','.join(['*' + b] * 9)}]\n" for b, c in zip("abcdefghi", "bcdefghij")
)


class TestLoadYaml:
    def test_reads_plain_yaml(self):
        assert load_yaml("a: [1, {b: c}]", "x") == {"a": [1, {"b": "c"}]}

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (BOMB, "aliases"),
            ("a: &a [*a]", "aliases"),
            ("[" * 100 + "]" * 100, "deeper than"),
            ("- x\n" * 30_000, "longer than"),
            ("x" * (MAX_BYTES + 1), "larger than"),
            ("a: [", "line 1"),
            ("a: !!python/object/apply:os.system [ls]", "not valid YAML"),
            ("a: 2020-99-99", "not valid YAML"),
        ],
    )
    def test_refuses_what_is_hostile_or_broken(self, text, said):
        with pytest.raises(UserError, match=said) as caught:
            load_yaml(text, "conda.yml")
        assert caught.value.message.startswith("conda.yml")


class TestReadText:
    @pytest.mark.parametrize(
        ("data", "said"), [(b"\xff\xfe", "not UTF-8"), (b"a\x00b", "binary"), (b"x" * 200, "larger")]
    )
    def test_refuses_what_is_no_small_text(self, tmp_path, data, said):
        (tmp_path / "f").write_bytes(data)
        with pytest.raises(UserError, match=said):
            read_text(str(tmp_path / "f"), limit=100)

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(UserError, match="nowhere"):
            read_text(str(tmp_path / "nowhere"))
