import json

import pytest

from rookery.errors import ConfigError
from rookery.settings import SETTINGS, get_setting


class TestGetSetting:
    def test_environment_beats_workspace_beats_home_beats_default(self, home, tmp_path, monkeypatch):
        assert get_setting("cancel_grace_s") == 10.0
        home.mkdir()
        (home / "settings.json").write_text(json.dumps({"cancel_grace_s": 3}))
        assert get_setting("cancel_grace_s") == 3.0
        (tmp_path / "settings.json").write_text(json.dumps({"cancel_grace_s": 4}))
        assert get_setting("cancel_grace_s", str(tmp_path)) == 4.0
        monkeypatch.setenv("ROOKERY_CANCEL_GRACE_S", "5")
        assert get_setting("cancel_grace_s", str(tmp_path)) == 5.0

    @pytest.mark.parametrize(("text", "value"), [("1", True), ("true", True), ("No", False), ("off", False)])
    def test_reads_truth_words(self, text, value, monkeypatch):
        monkeypatch.setenv("ROOKERY_STRICT_CONFIG", text)
        assert get_setting("strict_config") is value

    def test_says_where_a_bad_value_is(self, home, monkeypatch):
        monkeypatch.setenv("ROOKERY_LOCAL_SLOTS", "many")
        with pytest.raises(ConfigError, match="ROOKERY_LOCAL_SLOTS"):
            get_setting("local_slots")
        monkeypatch.delenv("ROOKERY_LOCAL_SLOTS")
        home.mkdir()
        (home / "settings.json").write_text("{not json")
        with pytest.raises(ConfigError, match=r"settings\.json"):
            get_setting("local_slots")

    def test_every_default_has_its_declared_type(self):
        for setting in SETTINGS.values():
            assert isinstance(setting.default, setting.kind)
