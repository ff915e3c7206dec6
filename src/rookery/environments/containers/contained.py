"""An environment in a container: the image, the interpreter in it and its packages; or, where none is to be had, the reason
and the environment that this machine builds.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from rookery.environments.building.policy import Policy
from rookery.environments.containers.image_python import inside
from rookery.environments.containers.image_wish import ImageWish, read_wish
from rookery.environments.containers.images import Unavailable, get_image
from rookery.environments.containers.packages import install_inside
from rookery.environments.containers.runtimes import ContainerPolicy, find_runtime
from rookery.errors import EnvironmentBuildError
from rookery.spec.container import ContainerSpec, Runtime
from rookery.spec.plain import to_plain
from rookery.spec.run import EnvironmentSpec

if TYPE_CHECKING:
    from rookery.environments.base import BuiltEnvironment
    from rookery.record import Record

__all__ = ["is_contained", "no_container_on_nodes", "prepare_contained", "prepared_contained"]

FRESH_S = 60.0  # how long an image that was found is believed to be there
SOON_S = 20.0
INSTEAD = "It uses the environment built on this machine instead; containers=strict would make this an error."

_lock = threading.Lock()
_known: dict[str, tuple[float, BuiltEnvironment | str]] = {}  # until when; what to run in, or why there is no container


def is_contained(spec: EnvironmentSpec) -> bool:
    """Whether the environment asks for a container. An untouched docker section does not.

    Raises:
        UserError: what it says about images is refused.
    """
    return bool(spec.docker) and read_wish(spec) is not None


def no_container_on_nodes(spec: EnvironmentSpec, root: str | None = None) -> str:
    """Why a run on machines that share no files with us has no container: images are looked after on the keeper's machine.

    Raises:
        EnvironmentBuildError: the setting containers says strict.
    """
    wish = read_wish(spec)
    assert wish is not None
    why = _words(wish, "images are not brought to machines that do not share the workspace's folder")
    if ContainerPolicy.read(root).mode == "strict":
        raise EnvironmentBuildError(
            f"Environment '{spec.name}': {why} The setting containers=strict allows nothing else. Share the workspace's "
            "folder with the nodes, or set containers=auto.",
            details={"step": "container"},
        )
    return f"{why} The node uses the environment that it builds itself; containers=strict would make this an error."


def prepared_contained(
    spec: EnvironmentSpec, plain: Callable[[EnvironmentSpec], BuiltEnvironment | None], root: str | None = None
) -> BuiltEnvironment | None:
    """The environment if it was prepared a moment ago, without starting anything.

    Args:
        plain: the same for the environment that this machine builds.
    """
    with _lock:
        until, known = _known.get(_key(spec, root), (0.0, ""))
    if time.monotonic() >= until:
        return None
    if not isinstance(known, str):
        mounts = known.container.mounts if known.container else ()
        return known if all(os.path.exists(m.source) for m in mounts) else None
    built = plain(spec)
    return _instead(built, known) if built else None


def prepare_contained(
    spec: EnvironmentSpec,
    log: Callable[[bytes], None],
    plain: Callable[[EnvironmentSpec, Callable[[bytes], None]], BuiltEnvironment],
    record: Record | None = None,
    again: bool = False,
    root: str | None = None,
) -> BuiltEnvironment:
    """Get image, interpreter and packages ready.

    Args:
        plain: prepares the environment that this machine builds, for when there is no container to be had.
        record: holds build contexts.
        again: ask again although it is remembered that none was to be had.
        root: the workspace, for its settings.

    Raises:
        UserError: the docker section is refused.
        EnvironmentBuildError: the image or the packages cannot be built; or there is no container to be had and the setting
            containers says strict.
    """
    wish = read_wish(spec)
    assert wish is not None
    policy, building = ContainerPolicy.read(root), Policy.read(root)
    with _lock:
        until, remembered = _known.get(_key(spec, root), (0.0, ""))
    if isinstance(remembered, str) and not again and time.monotonic() < until:
        why = remembered  # asking a registry that does not answer takes seconds, and twenty runs may wait
    else:
        began = time.monotonic()
        try:
            built = _contain(spec, wish, policy, building, log, record)
            _remember(spec, root, FRESH_S, built)
            return built
        except Unavailable as error:
            why = _words(wish, str(error))
            # The longer the answer took, the longer it is believed: what costs nothing may be tried again soon.
            took_s = time.monotonic() - began
            _remember(spec, root, min(building.retry_s, max(SOON_S, 50 * took_s)), why)
    if policy.mode == "strict":
        raise EnvironmentBuildError(
            f"Environment '{spec.name}': {why} The setting containers=strict allows nothing else.",
            details={"step": "container"},
        )
    log(f"{why} {INSTEAD}\n".encode())
    return _instead(plain(spec, log), why)


def _contain(
    spec: EnvironmentSpec,
    wish: ImageWish,
    policy: ContainerPolicy,
    building: Policy,
    log: Callable[[bytes], None],
    record: Record | None,
) -> BuiltEnvironment:
    from rookery.environments.base import BuiltEnvironment

    if policy.mode == "never":
        raise Unavailable("the setting containers says never")
    deadline = time.monotonic() + building.timeout_s
    found = find_runtime(policy)
    if not found.runtime:
        raise Unavailable(found.missing)
    image = get_image(wish, found, policy, log, deadline, building.timeout_s, record)
    container = found.container(policy, image.id, image.name)
    key, variables, deviations = "", dict(spec.variables), list[str]()
    if spec.conda is not None and not spec.user_managed:
        packages = install_inside(spec, container, building, log, deadline)
        container = replace(container, python=packages.python, bin_dir=packages.bin_dir, mounts=packages.mounts)
        variables = {**packages.variables, **variables}
        deviations += packages.deviations
        key = packages.key
    else:
        container = replace(container, python=_interpreter(spec, wish, container))
    if wish.arguments and found.runtime == Runtime.APPTAINER:
        deviations.append(f"docker.arguments {' '.join(wish.arguments)} mean nothing to apptainer and were left out.")
    elif wish.arguments:
        container = replace(container, arguments=wish.arguments)
    container = replace(container, shm_size=wish.shm_size, gpus=wish.gpus)
    log(f"The run will be in a container of {image.name} ({found.runtime}), with {container.python}\n".encode())
    return BuiltEnvironment(container.python, container.bin_dir, variables, tuple(deviations), container, key)


def _interpreter(spec: EnvironmentSpec, wish: ImageWish, container: ContainerSpec) -> str:
    """The image's own Python."""
    given = wish.interpreter if spec.user_managed else ""
    found = inside(container, given)
    if found:
        return found[0].path
    if given in ("", "python"):
        raise Unavailable("it has no Python 3.6 or newer (looked for python and python3 on its PATH)")
    raise EnvironmentBuildError(
        f"Environment '{spec.name}': interpreter '{given}' does not work inside {wish.words}. "
        "`env.python.interpreter_path` is a path or a name inside the image."
    )


def _instead(built: BuiltEnvironment, why: str) -> BuiltEnvironment:
    return replace(built, deviations=(f"{why} {INSTEAD}", *built.deviations))


def _words(wish: ImageWish, why: str) -> str:
    return f"The run is not in a container of {wish.words}: {why.rstrip('.')}."


def _remember(spec: EnvironmentSpec, root: str | None, seconds: float, what: BuiltEnvironment | str) -> None:
    with _lock:
        if len(_known) > 1000:
            _known.clear()
        _known[_key(spec, root)] = (time.monotonic() + seconds, what)


def _key(spec: EnvironmentSpec, root: str | None) -> str:
    policy = ContainerPolicy.read(root)
    return json.dumps([to_plain(spec), to_plain(policy), root, os.environ.get("DOCKER_HOST", "")], sort_keys=True)
