"""Specifications read, and hostile ones refused."""

import pytest

from rookery.environments.specification.conda_names import without_conda
from rookery.environments.specification.conda_spec import parse_conda_dependency
from rookery.environments.specification.requirement import parse_requirement
from rookery.environments.specification.wanted import from_conda, from_requirements, read_specification
from rookery.errors import UserError
from rookery.spec.safe_yaml import load_yaml

CLASSIC = """
name: pytorch-env
channels:
  - defaults
  - pytorch
dependencies:
  - python=3.6.2
  - pip:
    - azureml-defaults
    - torch==1.6.0
    - torchvision==0.7.0
    - future==0.17.1
    - pillow
"""


def texts(requirements):
    return [r.text for r in requirements]


class TestConda:
    def test_reads_the_classic_file(self, tmp_path):
        path = tmp_path / "conda.yml"
        path.write_text(CLASSIC)
        wanted = read_specification(str(path))
        assert (wanted.python, wanted.conda, wanted.name) == ("3.6.2", (), "pytorch-env")
        assert wanted.channels == ("defaults", "pytorch")
        assert texts(wanted.pip) == [
            "azureml-defaults",
            "torch==1.6.0",
            "torchvision==0.7.0",
            "future==0.17.1",
            "pillow",
        ]

    @pytest.mark.parametrize(
        ("line", "name", "condition", "as_pip"),
        [
            ("numpy", "numpy", "", ""),
            ("numpy=1.19", "numpy", "=1.19", "==1.19.*"),
            ("numpy==1.19.2", "numpy", "==1.19.2", "==1.19.2"),
            ("numpy 1.19.*", "numpy", "==1.19.*", "==1.19.*"),
            ("numpy 1.19", "numpy", "==1.19", "==1.19"),
            ("numpy=1.19.*", "numpy", "=1.19.*", "==1.19.*"),
            ("numpy>=1.19,<2", "numpy", ">=1.19,<2", ">=1.19,<2"),
            ("numpy >=1.19, <2", "numpy", ">=1.19,<2", ">=1.19,<2"),
            ("conda-forge::numpy=1.19", "numpy", "=1.19", "==1.19.*"),
            ("numpy=1.19=py36_0", "numpy", "=1.19", "==1.19.*"),
            ("numpy 1.19 py36_0", "numpy", "==1.19", "==1.19"),
            ("numpy==1.19=py36_0", "numpy", "==1.19", "==1.19"),
            ("numpy!=1.19", "numpy", "!=1.19", "!=1.19"),
            ("Python = 3.8", "python", "=3.8", "==3.8.*"),
        ],
    )
    def test_reads_a_line(self, line, name, condition, as_pip):
        one = parse_conda_dependency(line)
        assert (one.name, one.condition, one.pip_condition) == (name, condition, as_pip)

    @pytest.mark.parametrize(
        "line",
        ["../numpy", "numpy; rm -rf /", "numpy\n-e .", "num py thing", "", "=1.0", "numpy=$(id)", "a/b", "x" * 600],
    )
    def test_refuses_what_is_no_dependency(self, line):
        with pytest.raises(UserError, match="conda dependency"):
            parse_conda_dependency(line)

    def test_needs_no_conda_for_names_that_the_index_has(self):
        wanted = from_conda(
            {
                "dependencies": [
                    "python=3.8",
                    "pytorch=1.6",
                    "pillow",
                    "scikit-learn>=0.23",
                    "pyyaml",
                    "opencv",
                    "cudatoolkit=10.1",
                ]
            }
        )
        plain = without_conda(wanted)
        assert plain.conda == ()
        assert texts(plain.pip) == ["torch==1.6.*", "pillow", "scikit-learn>=0.23", "pyyaml", "opencv-python-headless"]
        assert len(plain.deviations) == 1
        assert "cudatoolkit=10.1 was left out" in plain.deviations[0]

    def test_keeps_what_only_conda_has(self):
        wanted = without_conda(from_conda({"dependencies": ["numpy", "gcc_linux-64", "cudatoolkit=10.1"]}))
        assert [d.text for d in wanted.conda] == ["gcc_linux-64", "cudatoolkit=10.1"]
        assert [d.text for d in without_conda(from_conda({"dependencies": ["cudatoolkit"]})).conda] == ["cudatoolkit"]

    def test_leaves_out_what_an_interpreter_brings(self):
        wanted = without_conda(
            from_conda(
                {"dependencies": ["_libgcc_mutex=0.1=main", "openssl=1.1.1k=h27cfd23_0", "numpy=1.19=py36_0", "mkl"]}
            )
        )
        assert (wanted.conda, texts(wanted.pip)) == ((), ["numpy==1.19.*"])
        assert len(wanted.deviations) == 4

    def test_keeps_a_pinned_pip_and_says_that_variables_are_not_set(self):
        wanted = from_conda({"dependencies": ["pip=20.2.4"], "variables": {"A": "1"}})
        assert texts(wanted.pip) == ["pip==20.2.4.*"]
        assert "variables" in wanted.deviations[0]

    def test_takes_pips_word_over_condas(self):
        assert texts(without_conda(from_conda({"dependencies": ["numpy=1.19", {"pip": ["numpy==1.20"]}]})).pip) == [
            "numpy==1.20"
        ]

    @pytest.mark.parametrize(
        ("spec", "words"),
        [
            ([], "mapping"),
            ({"dependencies": "numpy"}, "list"),
            ({"dependencies": [{"npm": ["x"]}]}, "pip:"),
            ({"dependencies": [3.8]}, "not text"),
            ({"dependencies": [{"pip": ["six\n-e ."]}]}, "one line"),
            ({"name": "../../etc"}, "name"),
            ({"name": "a\x07b"}, "name"),
            ({"scripts": {}}, "scripts"),
            ({"channels": ["$(id)"]}, "Channel"),
            ({"channels": ["--help"]}, "Channel"),
            ({"dependencies": ["numpy"] * 3000}, "3000"),
        ],
    )
    def test_refuses_other_shapes(self, spec, words):
        with pytest.raises(UserError, match=words):
            from_conda(spec)


class TestYaml:
    def test_refuses_a_bomb_before_it_grows(self):
        bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"{n}: &{n} [{','.join(['*' + p] * 9)}]\n" for p, n in zip("abcdefgh", "bcdefghi")
        )
        with pytest.raises(UserError, match="aliases"):
            load_yaml(bomb, "conda.yml")

    @pytest.mark.parametrize("text", ["[" * 100_000, "a: " + "[" * 50 + "]" * 50, "- x\n" * 30_000])
    def test_refuses_depth_and_length(self, text):
        with pytest.raises(UserError, match=r"deeper|valid YAML|nested"):
            load_yaml(text, "conda.yml")

    def test_refuses_objects(self):
        with pytest.raises(UserError, match="valid YAML"):
            load_yaml("!!python/object/apply:os.system ['true']", "conda.yml")

    def test_refuses_a_huge_file(self, tmp_path):
        path = tmp_path / "conda.yml"
        path.write_text("#" * (2 * 1024 * 1024))
        with pytest.raises(UserError, match="larger than 1024 kB"):
            read_specification(str(path))

    def test_refuses_binary_data(self, tmp_path):
        path = tmp_path / "requirements.txt"
        path.write_bytes(b"six\x00\xff")
        with pytest.raises(UserError, match=r"UTF-8|binary"):
            read_specification(str(path))


class TestRequirements:
    def test_reads_lines_comments_and_index_options(self):
        wanted = from_requirements(
            "# head\nsix >= 1.0 , <2  # why\nPillow[extra]; python_version<'3.12'\n--extra-index-url "
            "https://example.org/simple\n-f https://example.org/w\n"
        )
        assert texts(wanted.pip) == ["six>=1.0,<2", "Pillow[extra]; python_version<'3.12'"]
        assert wanted.options == (
            ("--extra-index-url", "https://example.org/simple"),
            ("--find-links", "https://example.org/w"),
        )

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("-e .", "source folder"),
            ("-r other.txt", "that file's lines"),
            ("-c other.txt", "that file's lines"),
            ("--install-option=--prefix=/", "not taken"),
            ("--global-option build_ext", "not taken"),
            ("--config-settings x=y", "not taken"),
            ("--index-url file:///etc", "https"),
            ("--find-links /etc", "https"),
            ("--index-url http://example.org/", "requirement_sources"),
            ("--index-url --no-deps", "dash"),
            ("--index-url a b", "not taken"),
            ("git+https://example.org/x.git#egg=x", "'git'"),
            ("x @ git+https://example.org/x.git", "'git'"),
            ("x @ git+file:///etc", "never taken"),
            ("x @ git+ext::sh -c id", "not a requirement"),
            ("x @ ext::sh", "never taken"),
            ("x @ file:///etc/passwd", "outside"),
            ("file:///etc/passwd#egg=x", "outside"),
            ("/etc/passwd", "without a name"),
            ("./folder", "without a name"),
            ("..", "without a name"),
            ("x @ http://example.org/x.whl", "'http'"),
            ("x @ https://-oProxyCommand=id/x.whl", "dash"),
            ("six; import os", "marker|requirement"),
            ("six; python_version<'3'`id`", "marker"),
            ("a/b==1", "not a requirement"),
            ("six==1.0 --global-option=x", "not a requirement"),
            ("six\x1b[2J", "control"),
            ("six=1.0", "not a requirement"),
            ("six one", "not a requirement"),
            ("six==1 2", "not a requirement"),
            ("x" * 3000, "characters"),
        ],
    )
    def test_refuses(self, line, words):
        with pytest.raises(UserError, match=words):
            from_requirements(line)

    def test_takes_git_where_the_setting_allows_it(self):
        assert (
            parse_requirement("x @ git+https://example.org/x.git@v1", ("git",)).url
            == "git+https://example.org/x.git@v1"
        )
        with pytest.raises(UserError, match="dash"):
            parse_requirement("x @ git+https://example.org/x.git@--upload-pack=id", ("git",))

    def test_takes_an_archive_inside_the_folder_only(self, tmp_path):
        (tmp_path / "in").mkdir()
        for where in ("in", "."):
            (tmp_path / where / "x-1.0-py3-none-any.whl").write_bytes(b"")
        (tmp_path / "in" / "link-1.0-py3-none-any.whl").symlink_to(tmp_path / "x-1.0-py3-none-any.whl")
        folder = str(tmp_path / "in")
        assert parse_requirement(f"x @ file://{folder}/x-1.0-py3-none-any.whl", (), folder).url
        for outside in (
            f"x @ file://{tmp_path}/x-1.0-py3-none-any.whl",
            f"x @ file://{folder}/../x-1.0-py3-none-any.whl",
            f"x @ file://{folder}/link-1.0-py3-none-any.whl",
        ):
            with pytest.raises(UserError, match="outside"):
                parse_requirement(outside, (), folder)

    def test_hides_passwords_in_errors(self):
        with pytest.raises(UserError) as caught:
            from_requirements("x @ git+https://me:hunter2@example.org/x.git")
        assert "hunter2" not in str(caught.value)

    def test_knows_a_lock_by_its_hashes(self):
        digest = "a" * 64
        assert from_requirements(f"six==1.0 \\\n    --hash=sha256:{digest}\n    # via nothing\n").locked
        assert not from_requirements(f"six==1.0 --hash=sha256:{digest}\nfuture==1\n").locked


class TestToml:
    def test_reads_a_pyproject(self, tmp_path):
        path = tmp_path / "pyproject.toml"
        path.write_text('[project]\nname = "p"\nrequires-python = ">=3.9"\ndependencies = ["six>=1", "torch"]\n')
        wanted = read_specification(str(path))
        assert (wanted.python, texts(wanted.pip)) == (">=3.9", ["six>=1", "torch"])

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("[tool.poetry]\n", r"\[project\]"),
            ('[project]\ndynamic = ["dependencies"]\n', "dynamic"),
            ("[", "valid TOML"),
            ('[project]\ndependencies = ["-e ."]\n', "list of requirements"),
        ],
    )
    def test_refuses_one_without_plain_dependencies(self, tmp_path, text, words):
        path = tmp_path / "pyproject.toml"
        path.write_text(text)
        with pytest.raises(UserError, match=words):
            read_specification(str(path))

    def test_reads_a_uv_lock(self, tmp_path):
        path = tmp_path / "uv.lock"
        path.write_text(
            'version = 1\nrequires-python = ">=3.10"\n[[package]]\nname = "p"\nversion = "0"\nsource = { '
            'virtual = "." }\ndependencies = [{ name = "six" }]\n'
            '[[package]]\nname = "six"\nversion = "1.16.0"\nsource = { registry = '
            '"https://example.org/simple" }\n'
        )
        wanted = read_specification(str(path))
        assert (texts(wanted.pip), wanted.constraints, wanted.python) == (["six"], ("six==1.16.0",), ">=3.10")

    def test_reads_a_pylock(self, tmp_path):
        path = tmp_path / "pylock.toml"
        path.write_text('lock-version = "1.0"\n[[packages]]\nname = "six"\nversion = "1.16.0"\n')
        assert texts(read_specification(str(path)).pip) == ["six==1.16.0"]
