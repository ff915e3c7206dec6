"""Conda and pip packages of an environment, as data. Nothing is resolved or installed here."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, Optional, Union

from rookery.errors import UserError
from rookery.sdk.yaml_text import dump_yaml, load_yaml, read_text

__all__ = [
    "CONDA_FILE_NAME",
    "CPU",
    "DEFAULT_SDK_ORIGIN",
    "GPU",
    "PYTHON_DEFAULT_VERSION",
    "CondaDependencies",
]

CONDA_FILE_NAME = "auto_conda_dependencies.yml"
DEFAULT_SDK_ORIGIN = ""  # v1 named the public index here; ours come from whatever index pip is configured with
PYTHON_DEFAULT_VERSION = "3.10.18"
TENSORFLOW_DEFAULT_VERSION = "2.2.0"
CNTK_DEFAULT_VERSION = "2.7"
CPU = "cpu"
GPU = "gpu"
_CHANNELS, _PACKAGES, _PIP = "channels", "dependencies", "pip"
_DEFAULT = {
    _CHANNELS: ["anaconda", "conda-forge"],
    _PACKAGES: ["python=3.8.13", {_PIP: ["azureml-defaults"]}],
    "name": "project_environment",
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class CondaDependencies:
    """A conda environment file that can be edited. Adding a package replaces an earlier version of the same
    package."""

    DEFAULT_NUMBER_OF_CONDA_PACKAGES = 0
    DEFAULT_NUMBER_OF_PIP_PACKAGES = 0

    def __init__(
        self,
        conda_dependencies_file_path: Optional[str] = None,
        _underlying_structure: Optional[dict[str, Any]] = None,
    ) -> None:
        if conda_dependencies_file_path is not None and _underlying_structure is not None:
            raise UserError("Give either a conda file or its content, not both.")
        if conda_dependencies_file_path is not None:
            self._conda_dependencies = _read_file(conda_dependencies_file_path)
        elif _underlying_structure is not None:
            self._conda_dependencies = _check(copy.deepcopy(_underlying_structure), "The given content")
        else:
            self._conda_dependencies = copy.deepcopy(_DEFAULT)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> CondaDependencies:
        """From what `as_dict` gave."""
        return cls(_underlying_structure=data)

    @staticmethod
    def create(
        pip_indexurl: Optional[str] = None,
        pip_packages: Optional[Iterable[str]] = None,
        conda_packages: Optional[Iterable[str]] = None,
        python_version: str = PYTHON_DEFAULT_VERSION,
        pin_sdk_version: bool = True,
    ) -> CondaDependencies:
        """New dependencies. `pin_sdk_version` is accepted and changes nothing: `azureml-*` packages are
        provided by Rookery."""
        made = CondaDependencies()
        made.set_python_version(python_version)
        for package in _texts(conda_packages or (), "conda_packages"):
            made.add_conda_package(package)
        made.set_pip_requirements(
            list(_texts(["azureml-defaults"] if pip_packages is None else pip_packages, "pip_packages"))
        )
        if pip_indexurl:
            made.set_pip_index_url(pip_indexurl)
        return made

    @staticmethod
    def merge_requirements(requirements: Iterable[str]) -> list[str]:
        """One entry per package, its specifiers joined: ['a>1', 'a<3'] becomes ['a>1,<3']. Options and URLs
        are kept as they are."""
        merged: dict[str, list[str]] = {}
        heads: dict[str, str] = {}
        for requirement in requirements:
            found = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*\s*(?:\[[^\]]*\])?)\s*([<>=!~].*)?$", requirement)
            key = _package_name(found.group(1)) if found else requirement
            heads.setdefault(key, found.group(1).strip() if found else requirement)
            specifiers = merged.setdefault(key, [])
            for part in (found.group(2) or "").split(",") if found else []:
                if part.strip() and part.strip() not in specifiers:
                    specifiers.append(part.strip())
        return [heads[key] + ",".join(parts) for key, parts in merged.items()]

    @staticmethod
    def sdk_origin_url() -> str:
        return DEFAULT_SDK_ORIGIN

    @property
    def conda_channels(self) -> Iterator[str]:
        return iter(list(self._conda_dependencies.get(_CHANNELS) or []))

    @property
    def conda_packages(self) -> Iterator[str]:
        return iter([p for p in self._packages() if isinstance(p, str)])

    @property
    def pip_packages(self) -> Iterator[str]:
        return iter([p for p in self._pip() if not p.startswith("-")])

    @property
    def pip_options(self) -> Iterator[str]:
        return iter([p for p in self._pip() if p.startswith("-")])

    def get_default_number_of_packages(self) -> tuple[int, int]:
        return self.DEFAULT_NUMBER_OF_CONDA_PACKAGES, self.DEFAULT_NUMBER_OF_PIP_PACKAGES

    def get_python_version(self) -> Optional[str]:
        """'3.8.13' for python=3.8.13; None when Python is not listed."""
        for package in self.conda_packages:
            if _package_name(package) == "python":
                return re.sub(r"^\s*python\s*=*\s*", "", package) or None
        return None

    def set_python_version(self, version: Optional[str]) -> None:
        if version is None:
            self.remove_conda_package("python")
            return
        text = str(version)
        self.add_conda_package(f"python{text}" if text[:1] in "<>=!" else f"python={text}")

    def add_channel(self, channel: str) -> None:
        channels = self._conda_dependencies.setdefault(_CHANNELS, [])
        if channel not in channels:
            channels.append(channel)

    def remove_channel(self, channel: str) -> None:
        channels = self._conda_dependencies.get(_CHANNELS) or []
        if channel in channels:
            channels.remove(channel)

    def add_conda_package(self, conda_package: str) -> None:
        _replace(self._packages(), conda_package, end=self._pip_index())

    def remove_conda_package(self, conda_package: str) -> None:
        _remove(self._packages(), conda_package)

    def add_pip_package(self, pip_package: str) -> None:
        _replace(self._pip(create=True), pip_package)

    def remove_pip_package(self, pip_package: str) -> None:
        _remove(self._pip(), pip_package)

    def set_pip_option(self, pip_option: str) -> None:
        """Add an option line such as '--index-url URL'; one of the same name is replaced."""
        self.remove_pip_option(pip_option)
        self._pip(create=True).append(pip_option)

    def remove_pip_option(self, pip_option: str) -> None:
        entries = self._pip()
        name = _option_name(pip_option)
        entries[:] = [e for e in entries if not e.startswith("-") or _option_name(e) != name]

    def set_pip_index_url(self, index_url: str) -> None:
        self.set_pip_option(f"--index-url {index_url}")

    def set_pip_requirements(self, pip_requirements: Iterable[str]) -> None:
        """Replace everything that pip installs with these lines."""
        self._pip(create=True)[:] = list(_texts(pip_requirements, "pip_requirements"))

    def add_cntk_package(self, core_type: str = CPU) -> None:
        self.add_pip_package(f"cntk{_suffix(core_type)}=={CNTK_DEFAULT_VERSION}")

    def add_tensorflow_pip_package(self, core_type: str = CPU, version: Optional[str] = None) -> None:
        self.add_pip_package(f"tensorflow{_suffix(core_type)}=={version or TENSORFLOW_DEFAULT_VERSION}")

    def add_tensorflow_conda_package(self, core_type: str = CPU, version: Optional[str] = None) -> None:
        self.add_conda_package(f"tensorflow{_suffix(core_type)}={version or TENSORFLOW_DEFAULT_VERSION}")

    def save_to_file(self, base_directory: str, conda_file_path: Optional[str] = None) -> str:
        """Write below `base_directory`; returns the path relative to it."""
        relative = conda_file_path or CONDA_FILE_NAME
        self.save(os.path.join(base_directory, relative))
        return os.path.normpath(relative)

    def save(self, path: Optional[str] = None) -> str:
        """Write to `path` (a folder gets auto_conda_dependencies.yml; default the current one); returns
        where it was written."""
        target = os.path.normpath(path or CONDA_FILE_NAME)
        if os.path.isdir(target):
            target = os.path.join(target, CONDA_FILE_NAME)
        os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
        with open(target, "w", encoding="utf-8") as f:
            f.write(self.serialize_to_string())
        return target

    def serialize_to_string(self) -> str:
        return dump_yaml(self._conda_dependencies)

    def as_dict(self) -> dict[str, Any]:
        return copy.deepcopy(self._conda_dependencies)

    def __repr__(self) -> str:
        return f"CondaDependencies({self._conda_dependencies!r})"

    def _packages(self) -> list[Union[str, dict[str, list[str]]]]:
        packages: list[Union[str, dict[str, list[str]]]] = self._conda_dependencies.setdefault(_PACKAGES, [])
        return packages

    def _pip_index(self) -> Optional[int]:
        return next((i for i, p in enumerate(self._packages()) if isinstance(p, dict) and _PIP in p), None)

    def _pip(self, create: bool = False) -> list[str]:
        index = self._pip_index()
        if index is not None:
            entry = self._packages()[index]
            assert isinstance(entry, dict)
            return entry[_PIP]
        entries: list[str] = []
        if create:
            self._packages().append({_PIP: entries})
        return entries


def _read_file(path: str) -> dict[str, Any]:
    if not os.path.isfile(path):
        raise FileNotFoundError(f"There is no conda file {path}. Give the path of a YAML file with 'dependencies:'.")
    return _check(load_yaml(read_text(path), path), path)


def _check(data: Any, where: str) -> dict[str, Any]:
    """The same data, or UserError that says what a conda file looks like."""
    packages = data.get(_PACKAGES) if isinstance(data, dict) else None
    fine = isinstance(data, dict) and isinstance(packages or [], list)
    for package in packages or [] if fine else []:
        if isinstance(package, dict):
            package[_PIP] = package.get(_PIP) or []
            fine = fine and all(isinstance(p, str) for p in package[_PIP])
        fine = fine and isinstance(package, (str, dict))
    if not fine:
        raise UserError(
            f"{where} is no conda environment. Expected 'dependencies:' with a list of packages, and in it "
            "'pip:' with a list of strings."
        )
    for key in (_CHANNELS, _PACKAGES):
        if key in data and data[key] is None:
            data[key] = []
    return data


def _package_name(package: str) -> str:
    """'torch' for 'conda-forge::Torch[extra]==1.6'; the whole entry when it has no name (a URL)."""
    text = package.strip().split("::")[-1]
    found = _NAME.match(text)
    if not found or "://" in text.split("@")[0]:
        return package
    return re.sub(r"[-_.]+", "-", found.group(0)).lower()


def _replace(entries: list[Any], package: str, end: Optional[int] = None) -> None:
    if not isinstance(package, str) or not package.strip():
        raise UserError(f"{package!r} is no package. Give a string such as 'numpy' or 'torch==1.6.0'.")
    name = _package_name(package)
    for i, entry in enumerate(entries):
        if isinstance(entry, str) and _package_name(entry) == name:
            entries[i] = package
            return
    entries.insert(len(entries) if end is None else end, package)


def _remove(entries: list[Any], package: str) -> None:
    name = _package_name(package)
    entries[:] = [e for e in entries if not isinstance(e, str) or _package_name(e) != name]


def _option_name(option: str) -> str:
    return re.split(r"[\s=]", option.strip(), maxsplit=1)[0]


def _suffix(core_type: str) -> str:
    if core_type not in (CPU, GPU):
        raise UserError(f"core_type={core_type!r} does not exist. Known: {CPU}, {GPU}.")
    return "-gpu" if core_type == GPU else ""


def _texts(values: Iterable[str], what: str) -> Iterable[str]:
    if isinstance(values, str):
        raise UserError(f"{what}={values!r} must be a list of strings, like [{values!r}].")
    for value in values:
        if not isinstance(value, str):
            raise UserError(f"{what} holds {value!r}; only strings such as 'torch==1.6.0' are allowed.")
        yield value
