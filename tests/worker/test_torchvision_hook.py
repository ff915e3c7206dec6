"""The hook that lets torchvision import: one of it, however many copies of its module a process has."""

from __future__ import annotations

import importlib.util
import os
import sys

from rookery.worker import torchvision_hook


def _copy(name):
    """As the payload has it: the same file under another name."""
    spec = importlib.util.spec_from_file_location(name, os.path.abspath(torchvision_hook.__file__))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TestInstall:
    def test_two_copies_install_one_finder(self, monkeypatch):
        monkeypatch.setattr(sys, "meta_path", [f for f in sys.meta_path if not torchvision_hook._is_ours(f)])
        _copy("_rookery_torchvision_hook").install()
        torchvision_hook.install()
        assert sum(torchvision_hook._is_ours(f) for f in sys.meta_path) == 1

    def test_two_finders_do_not_ask_each_other(self, monkeypatch):
        other = _copy("_rookery_torchvision_hook")
        rest = [f for f in sys.meta_path if not torchvision_hook._is_ours(f)]
        both = [torchvision_hook.TorchvisionFinder(), other.TorchvisionFinder()]
        monkeypatch.setattr(sys, "meta_path", [*both, *rest])
        for finder in both:
            assert finder.find_spec("torchvision") is not None
            assert finder.find_spec("torch") is None
