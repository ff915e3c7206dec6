from __future__ import annotations

import pytest

from rookery.errors import UserError
from rookery.sdk.filters import texts


class TestTexts:
    def test_keys_and_values_become_text(self):
        assert texts({1: 2, "a": None}) == {"1": "2", "a": None}
        assert texts(None) is None

    @pytest.mark.parametrize("values", ["x", 5, ["a"]])
    def test_what_is_no_dict_is_refused_in_words(self, values):
        with pytest.raises(UserError, match="Give a dict"):
            texts(values)
