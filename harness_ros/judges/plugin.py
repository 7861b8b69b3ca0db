# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A judge of your own, named in eval.yaml by its module: a class with one method, or a function.

What cannot be used is found when it is loaded and not when the first run waits for a verdict.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from harness_ros.contract import EvaluationRequest, HarnessError, Judgement, Kind, Status
from harness_ros.judges.base import no_judgement
from harness_ros.judges.settings import PluginSettings

SHOWN = 200
"""Characters of an answer that is none, in the words about it."""


class PluginError(HarnessError):
    """A plug-in that cannot be used; the text names key, module and cause."""


class PluginJudge:
    """What a plug-in says; whatever it raises or returns instead of a Judgement is an error."""

    def __init__(self, name: str, judge: Callable[[EvaluationRequest], Any]) -> None:
        self.name = name
        self._judge = judge

    def judge(self, request: EvaluationRequest) -> Judgement:
        """The judgement of the plug-in, with its name where it does not say who judges."""
        try:
            answer = self._judge(request)
        except Exception as error:
            return no_judgement(self.name, f"the judge failed: {error!r}")
        if not isinstance(answer, Judgement):
            problem = f"the judge answered {repr(answer)[:SHOWN]}; a Judgement is wanted"
            return Judgement(
                status=Status.FAILURE,
                judge=self.name,
                error=problem,
                kind=Kind.JUDGE_PROTOCOL_VIOLATION,
            )
        return answer if answer.judge else answer.model_copy(update={"judge": self.name})


def find_plugin(key: str, settings: PluginSettings) -> Any:
    """The class or function that the settings name; it is imported and not called.

    Args:
        key: under `judges` in eval.yaml, for errors.

    Raises:
        PluginError: it cannot be imported, or called with the options.
    """
    where = f"judges.{key}.judge: '{settings.judge}'"
    module_name, _, attribute = settings.judge.partition(":")
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise PluginError(
            f"{where}: module '{module_name}' cannot be imported: {_words(error)}"
        ) from error
    try:
        found = getattr(module, attribute)
    except AttributeError:
        raise PluginError(
            f"{where}: module '{module_name}' ({getattr(module, '__file__', 'no file')}) has no "
            f"'{attribute}'"
        ) from None
    if not callable(found):
        raise PluginError(f"{where} is {found!r}; a class or a function is wanted")
    if inspect.isclass(found):
        _takes(found, (), settings.options, f"judges.{key}.options of class '{settings.judge}'")
        _check_method(getattr(found, "judge", None), (None, None), where)
    else:
        _check_method(found, (None,), where, settings.options)
    return found


def load_plugin(key: str, settings: PluginSettings) -> PluginJudge:
    """The judge that the settings name.

    Raises:
        PluginError: it cannot be imported or made.
    """
    found = find_plugin(key, settings)
    if not inspect.isclass(found):
        return PluginJudge(key, partial(found, **settings.options))
    where = f"judges.{key}.judge: '{settings.judge}'"
    try:
        made: Any = found(**settings.options)
    except (Exception, SystemExit) as error:
        raise PluginError(
            f"{where} cannot be made with options {settings.options}: {_words(error)}"
        ) from error
    _check_method(getattr(made, "judge", None), (None,), where)
    name = getattr(made, "name", None)
    return PluginJudge(name if isinstance(name, str) and name else key, made.judge)


def _check_method(
    method: Any, arguments: tuple[None, ...], where: str, options: Mapping[str, Any] | None = None
) -> None:
    """Whether something can be asked: it takes a request, and answers at once."""
    if not callable(method):
        raise PluginError(f"{where} has no method `judge(request)`")
    if inspect.iscoroutinefunction(method):
        raise PluginError(f"{where}: `judge` is a coroutine (async); a plain function is wanted")
    _takes(method, arguments, options or {}, where)


def _takes(
    called: Callable[..., Any],
    arguments: tuple[None, ...],
    options: Mapping[str, Any],
    where: str,
) -> None:
    try:
        signature = inspect.signature(called)
    except ValueError:  # written in C; the call will tell
        return
    try:
        signature.bind(*arguments, **options)
    except TypeError as error:
        given = "a request" if arguments else "its options alone"
        more = f" and {dict(options)}" if options else ""
        raise PluginError(
            f"{where} is called with {given}{more}, and takes {signature}: {error}"
        ) from None


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
