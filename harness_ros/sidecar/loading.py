# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A verifier of your own, named in eval.yaml by its module.

What cannot be used is found when it is loaded and not when the first session waits for its score.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from functools import partial
from operator import attrgetter
from typing import Any

from harness_ros.contract import HarnessError
from harness_ros.sidecar.verifier import Verifier


class VerifierError(HarnessError):
    """A verifier that cannot be used; the text names module, function and cause."""


def load_verifier(
    name: str,
    options: Mapping[str, Any] | None = None,
    offered: Mapping[str, Any] | None = None,
) -> Verifier:
    """The verifier that `module:function` names.

    Args:
        options: keyword arguments beside the session and its end state.
        offered: further ones that are only given to a verifier that has a parameter of that name;
            `options` go first.

    Raises:
        VerifierError: it cannot be imported, or called as a verifier is.
    """
    module_name, colon, attribute = name.partition(":")
    if not (colon and module_name and attribute):
        raise VerifierError(f"verifier '{name}': `module:function` is wanted")
    found = _found(name, module_name, attribute)
    if inspect.isclass(found):
        raise VerifierError(
            f"verifier '{name}' is a class; a function, or an object that can be called, is wanted"
        )
    if not callable(found):
        raise VerifierError(f"verifier '{name}' is {found!r}; a function is wanted")
    given = {**_asked_for(found, offered or {}), **(options or {})}
    _check_signature(name, found, given, dict(options or {}))
    verifier: Verifier = partial(found, **given) if given else found
    return verifier


def _found(name: str, module_name: str, attribute: str) -> Any:
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise VerifierError(
            f"verifier '{name}': module '{module_name}' cannot be imported: "
            f"{type(error).__name__}: {' '.join(str(error).split())}"
        ) from error
    try:
        return attrgetter(attribute)(module)
    except AttributeError:
        raise VerifierError(
            f"verifier '{name}': module '{module_name}' ({getattr(module, '__file__', 'no file')}) "
            f"has no '{attribute}'"
        ) from None


def _asked_for(found: Any, offered: Mapping[str, Any]) -> dict[str, Any]:
    """What of the offered arguments a verifier has parameters for."""
    try:
        parameters = inspect.signature(found).parameters
    except (TypeError, ValueError):  # written in C
        return {}
    keywords = [item.name for item in parameters.values() if item.kind is item.KEYWORD_ONLY]
    return {key: value for key, value in offered.items() if key in keywords}


def _check_signature(name: str, found: Any, given: dict[str, Any], options: dict[str, Any]) -> None:
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):  # written in C; the call will tell
        return
    try:
        signature.bind("session", {}, **given)
    except TypeError as error:
        more = f" and the options {options}" if options else ""
        raise VerifierError(
            f"verifier '{name}' is called with session_id and end_state{more}, and takes "
            f"{signature}: {error}"
        ) from None
