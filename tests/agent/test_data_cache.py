"""The cache of data on a machine: what goes when it is full, and what never does."""

from __future__ import annotations

import os
import time

import pytest

from rookery.agent.data_cache import DataCache


def ago(seconds):
    return time.time() - seconds


@pytest.fixture
def cache(tmp_path):
    return DataCache(str(tmp_path / "a cache's"), limit_bytes=250)


def add(cache, tree, *keys, age_s=3600.0, link=os.link):
    """A tree of contents of 100 bytes each, last used that long ago."""
    with cache.hold(tree), cache.building(tree):
        folder = cache.begin(tree)
        for key in keys:
            if not os.path.exists(cache.blob(key)):
                path = os.path.join(cache.incoming_folder(), key)
                with open(path, "wb") as f:
                    f.write(key[:1].encode() * 100)
                cache.keep(key, path)
            os.utime(cache.blob(key), (ago(age_s), ago(age_s)))
            link(cache.blob(key), os.path.join(folder, key))
        cache.complete(tree)
    write_used(cache, tree, age_s)


def write_used(cache, tree, age_s):
    with open(os.path.join(cache.root, "trees", tree + ".json"), "w") as f:
        f.write(f'{{"used": {ago(age_s)}}}')


def has(cache, *keys):
    return [os.path.exists(cache.blob(key)) for key in keys]


class TestLimit:
    def test_what_fits_stays(self, cache):
        add(cache, "t1", "aa", "bb")
        assert cache.trim() == 0
        assert cache.has_tree("t1")

    def test_the_longest_unused_goes_and_no_more_than_that(self, cache):
        add(cache, "old", "aa", age_s=3000)
        add(cache, "middle", "bb", age_s=2000)
        add(cache, "new", "cc", age_s=1000)
        assert cache.trim() == 100
        assert [cache.has_tree(tree) for tree in ("old", "middle", "new")] == [False, True, True]
        assert has(cache, "aa", "bb", "cc") == [False, True, True]

    def test_what_no_tree_shows_goes_before_any_tree(self, cache):
        add(cache, "old", "aa", "bb", age_s=3000)
        add(cache, "new", "cc", age_s=1000)
        cache._remove("new")
        assert cache.trim() == 100
        assert cache.has_tree("old")
        assert has(cache, "aa", "bb", "cc") == [True, True, False]

    def test_a_content_that_a_newer_tree_shows_stays(self, cache):
        add(cache, "old", "aa", "bb", age_s=3000)
        add(cache, "new", "aa", "cc", age_s=1000)
        assert cache.trim() == 100
        assert has(cache, "aa", "bb", "cc") == [True, False, True]

    def test_never_what_a_live_run_holds(self, cache):
        add(cache, "old", "aa", "bb", age_s=9e6)
        add(cache, "new", "cc", "dd", age_s=1000)
        with cache.hold("old"), cache.hold("old"):
            assert cache.trim() == 200  # of the other one: this is over a week old, and the oldest
            assert cache.has_tree("old")
            assert sorted(os.listdir(cache.tree("old"))) == ["aa", "bb"]
            assert has(cache, "aa", "bb", "cc", "dd") == [True, True, False, False]
        cache.trim()
        assert not cache.has_tree("old")

    def test_never_what_a_live_run_holds_by_symbolic_links(self, cache):
        """As on a file system without hard links."""
        add(cache, "old", "aa", "bb", "cc", link=os.symlink)
        with open(cache.symlinks, "wb"):
            pass
        with cache.hold("old"):
            assert cache.trim() == 0
            assert has(cache, "aa", "bb", "cc") == [True, True, True]
        assert cache.trim() == 100

    def test_what_came_just_now_is_about_to_be_used(self, cache):
        add(cache, "t1", "aa", "bb", "cc", age_s=0)
        cache._remove("t1")
        assert cache.trim() == 0
        assert has(cache, "aa", "bb", "cc") == [True, True, True]


class TestLeftovers:
    def test_what_a_killed_agent_has_begun_goes_after_a_day(self, cache):
        with cache.hold("t1"), cache.building("t1"):
            making = cache.begin("t1")
        with cache.incoming("aa", True) as file:
            file.write(b"half")
        partial = os.path.join(cache.incoming_folder(), ".aa")
        cache.trim()
        assert os.path.exists(making)
        assert os.path.exists(partial)
        for path in (making, partial):
            os.utime(path, (ago(90000), ago(90000)))
        with cache.hold("t1"), cache.incoming("aa", True) as file:
            os.utime(partial, (ago(90000), ago(90000)))
            cache.trim()
            assert os.path.exists(making)
            assert os.path.exists(partial)
        cache.trim()
        assert not os.path.exists(making)
        assert not os.path.exists(partial)

    def test_what_cannot_be_checked_is_begun_anew(self, cache):
        for go_on, size in ((True, 0), (True, 4), (False, 0)):
            with cache.incoming("aa", go_on) as file:
                assert file.tell() == size
                file.write(b"half"[size:])
