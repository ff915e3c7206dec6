"""The first of ours in every Python process of a run: chains an existing sitecustomize, then installs
recorder, offer and hooks.

Lives in the payload's `first` folder, which PYTHONPATH begins with, beside copies of the modules it needs.
Nothing here may break the user's process or slow its start.
"""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _chain():
    """Run the sitecustomize that would have been found without us."""
    from _frozen_importlib_external import PathFinder

    elsewhere = [p for p in sys.path if os.path.abspath(p or os.curdir) != _here]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is None or spec.loader is None:
        return
    module = type(sys)("sitecustomize")
    module.__file__, module.__spec__, module.__loader__ = spec.origin, spec, spec.loader
    ours = sys.modules.get("sitecustomize")
    sys.modules["sitecustomize"] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if ours is not None:
            sys.modules["sitecustomize"] = ours
        raise


def _begin():
    """One part that fails must not take the others with it."""
    for part in (_record, _launched, _offer, _hook):
        try:
            part()
        except Exception as error:
            sys.stderr.write("rookery: {} failed at start: {}: {}\n".format(part.__name__, type(error).__name__, error))


def _record():
    import _rookery_recorder  # type: ignore[import-not-found]

    _rookery_recorder.install()


def _launched():
    if os.environ.get("ROOKERY_LAUNCHED_DIR"):
        import _rookery_launched  # type: ignore[import-not-found]
        import _rookery_recorder

        _rookery_launched.begin(_rookery_recorder)


def _offer():
    import _rookery_offer  # type: ignore[import-not-found]

    _rookery_offer.install(os.path.join(os.path.dirname(_here), "offered"))


def _hook():
    import _rookery_torchvision_hook  # type: ignore[import-not-found]

    _rookery_torchvision_hook.install()


if os.environ.get("ROOKERY_RUN_ID"):
    _begin()
_chain()
