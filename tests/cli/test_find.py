import pytest

from rookery.cli.find import all_runs, find_run
from rookery.errors import RunNotFoundError, UserError
from tests.cli.fake import FakeKeeper, make_run


@pytest.fixture
def keeper():
    fake = FakeKeeper()
    fake.add(make_run("birds_100_aaaa", display_name="first try"))
    fake.add(make_run("birds_101_aabb", display_name="second try"))
    fake.add(make_run("fish_102_cccc", display_name="second try"))
    return fake


class TestFindRun:
    @pytest.mark.parametrize(
        ("given", "meant"),
        [
            ("birds_100_aaaa", "birds_100_aaaa"),
            ("birds_101", "birds_101_aabb"),
            ("f", "fish_102_cccc"),
            ("first try", "birds_100_aaaa"),
            ("@last", "fish_102_cccc"),
        ],
    )
    def test_by_id_prefix_name_or_last(self, keeper, given, meant):
        assert find_run(keeper, given)["id"] == meant

    def test_an_exact_id_wins_over_a_longer_one(self, keeper):
        keeper.add(make_run("birds_100_aaaa_1"))
        assert find_run(keeper, "birds_100_aaaa")["id"] == "birds_100_aaaa"

    @pytest.mark.parametrize("given", ["birds_10", "second try"])
    def test_refuses_what_means_several_and_names_them(self, keeper, given):
        with pytest.raises(UserError, match="means 2 runs") as caught:
            find_run(keeper, given)
        assert "birds_101_aabb" in str(caught.value)

    @pytest.mark.parametrize("given", ["birds_100_aaab", "frist try"])
    def test_suggests_a_near_one(self, keeper, given):
        with pytest.raises(RunNotFoundError, match=r"(?s)Did you mean:.*birds_100_aaaa"):
            find_run(keeper, given)

    @pytest.mark.parametrize("given", ["zzz", "", "../../etc", "x" * 5000, "nul\0"])
    def test_names_the_newest_when_nothing_is_near(self, keeper, given):
        with pytest.raises(RunNotFoundError, match=r"(?s)The newest are:.*fish_102_cccc"):
            find_run(keeper, given)

    @pytest.mark.parametrize("given", ["zzz", "@last"])
    def test_says_how_to_start_when_there_is_none(self, given):
        with pytest.raises(RunNotFoundError, match="rookery run"):
            find_run(FakeKeeper(), given)

    def test_looks_through_every_page(self, keeper, monkeypatch):
        monkeypatch.setattr("rookery.cli.find.PAGE", 2)
        assert [r["id"] for r in all_runs(keeper, {})] == [
            "fish_102_cccc",
            "birds_101_aabb",
            "birds_100_aaaa",
        ]
        assert len(list(all_runs(keeper, {}, 1))) == 1
        assert find_run(keeper, "birds_100")["id"] == "birds_100_aaaa"
