from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rookery.submit.ignore import IgnoreRules, read_ignore_file

# Few letters, so that patterns and paths meet; and every character that means something.
NAMES = st.text(alphabet="ab.é -[]!#\\", min_size=1, max_size=4).filter(
    lambda n: n not in (".", "..") and n.lower() != ".git"
)
TREES = st.lists(st.lists(NAMES, min_size=1, max_size=4), min_size=1, max_size=12)
PIECES = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        ".",
        "*",
        "**",
        "?",
        "/",
        "/**/",
        "**/",
        "/**",
        "[ab]",
        "[!a]",
        "[^b]",
        "[a-b]",
        "[]a]",
        "[[:alpha:]]",
        "[a-",
        "[",
        "]",
        "!",
        "#",
        "\\",
        "\\*",
        " ",
        "\\ ",
        "é",
        "-",
        "[[:bad:]]",
        "[[:",
        "[\\]]",
        "[b-a]",
        "[a\\-b]",
        "[--b]",
        "\\/",
        "[!é]",
        "[/]",
    ]
)
PATTERNS = st.lists(st.lists(PIECES, min_size=1, max_size=6).map("".join), min_size=1, max_size=5)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("repository"))
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


@pytest.mark.slow
class TestAgainstGit:
    @settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(tree=TREES, patterns=PATTERNS)
    @example(tree=[["foo", "x", "bar"], ["foox", "bar"]], patterns=["foo**/bar"])
    @example(tree=[["a", "b", "c"], ["a", "d"]], patterns=["a/*", "!a/b"])
    @example(tree=[["a", "b"], ["é"], ["ab"]], patterns=["?", "!ab"])
    @example(tree=[["a", "b", "a"], ["b"]], patterns=["a/**/a", "b/"])
    @example(tree=[["a "], ["a"]], patterns=["a\\ ", "!a  "])
    @example(tree=[["build", "a"], ["b", "build"]], patterns=["/build/", "\r", "b/build\r"])
    def test_same_answers(self, repository, tree, patterns):
        text = "\n".join(patterns).encode()
        files, folders = _plant(tree)
        expected = _ask_git(repository, text, files, folders)
        rules = IgnoreRules(text)
        ours = {f for f in files if _is_ignored(rules, f)}
        assert ours == expected


class TestRules:
    def test_comments_blank_lines_and_a_byte_order_mark(self):
        rules = IgnoreRules(b"\xef\xbb\xbf# no\n\n\\#yes\n   \n*.log\r\n")
        assert rules.is_ignored("#yes", False)
        assert rules.is_ignored("x/y.log", False)
        assert not rules.is_ignored("# no", False)
        assert not rules.is_ignored("   ", False)

    def test_the_last_one_decides(self):
        rules = IgnoreRules(b"*.log\n!keep.log\nkeep.log/\n")
        assert rules.is_ignored("a.log", False)
        assert not rules.is_ignored("keep.log", False)
        assert rules.is_ignored("keep.log", True)


class TestReadIgnoreFile:
    def test_amlignore_comes_first(self, tmp_path):
        assert read_ignore_file(str(tmp_path)) is None
        (tmp_path / ".gitignore").write_text("a")
        assert read_ignore_file(str(tmp_path)).is_ignored("a", False)
        (tmp_path / ".amlignore").write_text("b")
        rules = read_ignore_file(str(tmp_path))
        assert rules.is_ignored("b", False)
        assert not rules.is_ignored("a", False)


def _plant(tree):
    """Paths of files and of folders that can exist together."""
    files: set[str] = set()
    folders: set[str] = set()
    for parts in tree:
        path = "/".join(parts)
        parents = {"/".join(parts[:n]) for n in range(1, len(parts))}
        if path in folders or parents & files:
            continue
        files.add(path)
        folders |= parents
    return files, folders


def _ask_git(repository, text, files, folders):
    for name in os.listdir(repository):
        if name != ".git":
            subprocess.run(["rm", "-rf", "--", os.path.join(repository, name)], check=True)
    for folder in sorted(folders):
        os.makedirs(os.path.join(repository, folder), exist_ok=True)
    for file in files:
        with open(os.path.join(repository, file), "w"):
            pass
    with open(os.path.join(repository, ".git", "info", "exclude"), "wb") as f:
        f.write(text)
    done = subprocess.run(
        [
            "git",
            "-C",
            repository,
            "-c",
            "core.excludesFile=/dev/null",
            "check-ignore",
            "--no-index",
            "-z",
            "--stdin",
        ],
        input="\0".join(sorted(files)).encode(),
        capture_output=True,
    )
    assert done.returncode in (0, 1), done.stderr
    return {p.decode() for p in done.stdout.split(b"\0") if p}


def _is_ignored(rules, path):
    parts = path.split("/")
    above = ("/".join(parts[:n]) for n in range(1, len(parts)))
    return any(rules.is_ignored(folder, True) for folder in above) or rules.is_ignored(path, False)
