import pytest

from rookery.environments.conda.channels import CondaConfig, channel_urls, read_conda_config, without_secret
from rookery.errors import ConfigError, UserError

CONFIG = CondaConfig(
    alias="https://alias.example",
    default_channels=("https://defaults.example/main", "r"),
    channels=("mine",),
    custom={"internal": "https://in.example/conda", "internal/fast": "file:///srv"},
    several={"both": ("one", "two"), "loop": ("loop",)},
)


def urls(*names, config=CONFIG):
    return list(channel_urls(names, config))


class TestChannelUrls:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("conda-forge", ["https://alias.example/conda-forge"]),
            ("anaconda", ["https://alias.example/anaconda"]),
            ("conda-forge/label/dev", ["https://alias.example/conda-forge/label/dev"]),
            ("defaults", ["https://defaults.example/main", "https://alias.example/r"]),
            ("https://a.example/b/", ["https://a.example/b"]),
            ("http://a.example/b", ["http://a.example/b"]),
            ("file:///srv/a b", ["file:///srv/a%20b"]),
            ("file:///srv/a%20b", ["file:///srv/a%20b"]),
            ("/srv/it's", ["file:///srv/it%27s"]),
            ("internal", ["https://in.example/conda/internal"]),
            ("internal/label/dev", ["https://in.example/conda/internal/label/dev"]),
            ("internal/fast", ["file:///srv/internal/fast"]),
            ("internally", ["https://alias.example/internally"]),
            ("both", ["https://alias.example/one", "https://alias.example/two"]),
        ],
    )
    def test_reads_every_way_of_naming_one(self, name, expected):
        assert urls(name) == expected

    def test_a_folder_in_the_persons_home(self, quiet_conda):
        assert urls("~/chan") == [(quiet_conda / "chan").as_uri()]

    def test_keeps_order_and_says_each_once(self):
        assert urls("b", "a", "https://alias.example/b") == ["https://alias.example/b", "https://alias.example/a"]

    def test_none_means_the_persons_own_then_the_defaults(self):
        assert urls() == ["https://alias.example/mine"]
        assert urls("nodefaults") == ["https://alias.example/mine"]
        bare = CondaConfig("https://alias.example", ("https://defaults.example/main",))
        assert urls(config=bare) == ["https://defaults.example/main"]

    @pytest.mark.parametrize("name", ["./here", "../up", "a\\b", "ftp://a.example/b"])
    def test_refuses_what_cannot_be_read(self, name):
        with pytest.raises(UserError, match="Channel"):
            urls(name)

    def test_refuses_a_name_that_stands_for_itself(self):
        with pytest.raises(ConfigError, match="stands for itself"):
            urls("loop")


class TestReadCondaConfig:
    def test_without_a_condarc_the_settings_stand(self):
        config = read_conda_config()
        assert config.alias == "https://conda.anaconda.org"
        assert len(config.default_channels) == 2
        assert config.ssl_verify is True
        assert config.priority == "flexible"

    def test_the_persons_condarc_is_honoured(self, quiet_conda, monkeypatch):
        monkeypatch.setenv("MIRROR", "mirror.example")
        (quiet_conda / ".condarc").write_text(
            "channel_alias: https://${MIRROR}/conda/\n"
            "channels: [conda-forge, own]\n"
            "default_channels:\n  - https://mirror.example/main\n"
            "custom_channels:\n  own: https://own.example/\n"
            "custom_multichannels:\n  all: [conda-forge, own]\n"
            "ssl_verify: false\nchannel_priority: strict\n"
            "proxy_servers:\n  https: http://proxy.example:3128\n"
        )
        config = read_conda_config()
        assert list(channel_urls([], config)) == ["https://mirror.example/conda/conda-forge", "https://own.example/own"]
        assert list(channel_urls(["all"], config)) == list(channel_urls([], config))
        assert list(channel_urls(["defaults"], config)) == ["https://mirror.example/main"]
        assert config.ssl_verify is False
        assert config.priority == "strict"
        assert config.environment({})["HTTPS_PROXY"] == "http://proxy.example:3128"
        assert config.environment({"HTTPS_PROXY": "http://own.example"})["HTTPS_PROXY"] == "http://own.example"

    def test_a_changed_setting_and_condas_variables_win(self, quiet_conda, monkeypatch):
        (quiet_conda / ".condarc").write_text("channel_alias: https://condarc.example\n")
        monkeypatch.setenv("CONDA_CHANNEL_ALIAS", "https://variable.example")
        assert read_conda_config().alias == "https://variable.example"
        monkeypatch.setenv("ROOKERY_CONDA_CHANNEL_ALIAS", "https://setting.example")
        assert read_conda_config().alias == "https://setting.example"

    def test_the_file_that_condarc_names_is_the_strongest(self, quiet_conda, tmp_path, monkeypatch):
        (quiet_conda / ".condarc").write_text("channels: [one]\nchannel_priority: disabled\n")
        (tmp_path / "rc").write_text("channels: [two]\n")
        monkeypatch.setenv("CONDARC", str(tmp_path / "rc"))
        config = read_conda_config()
        assert config.channels == ("two",)
        assert config.priority == "disabled"

    def test_certificates(self, quiet_conda, tmp_path):
        (tmp_path / "ca.pem").write_text("certificates")
        (quiet_conda / ".condarc").write_text(f"ssl_verify: {tmp_path / 'ca.pem'}\n")
        assert read_conda_config().environment({"SSL_CERT_FILE": "x"})["SSL_CERT_FILE"] == str(tmp_path / "ca.pem")
        assert CONFIG.environment({"REQUESTS_CA_BUNDLE": "b"})["SSL_CERT_FILE"] == "b"
        assert CONFIG.environment({"REQUESTS_CA_BUNDLE": "b", "SSL_CERT_FILE": "s"})["SSL_CERT_FILE"] == "s"
        assert "SSL_CERT_FILE" not in CONFIG.environment({})

    @pytest.mark.parametrize("text", ["channels: [", "ssl_verify: /no/such/file\n"])
    def test_says_what_is_wrong_with_it(self, text, quiet_conda):
        (quiet_conda / ".condarc").write_text(text)
        with pytest.raises(ConfigError):
            read_conda_config()


class TestWithoutSecret:
    def test_hides_passwords_and_tokens(self):
        text = without_secret("see https://me:pw@a.example/x and https://a.example/t/to-ken/chan")
        assert text == "see https://a.example/x and https://a.example/t/<hidden>/chan"
