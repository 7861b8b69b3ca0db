# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Judges of one's own: what is wrong with them is said before the first question."""

import itertools
import sys
import textwrap

import pytest

from harness_ros.contract import EvaluationRequest, Kind, Observation, Status
from harness_ros.judges.plugin import PluginError, load_plugin
from harness_ros.judges.settings import PluginSettings

REQUEST = EvaluationRequest(
    post_condition="It is there.",
    criterion="",
    observation=Observation(run_id="run-1", captured_at_ns=1, views=()),
)
START = """
from harness_ros.contract import Judgement, Status
SUCCESS = Judgement(status=Status.SUCCESS, evidence=("seen",))
"""
numbers = itertools.count()


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """plugin(text of a module, attribute, **options) -> (its name, the judge or its error)."""
    monkeypatch.syspath_prepend(tmp_path)
    written = []

    def load(text, attribute="MyJudge", **options):
        name = f"own_judge_{next(numbers)}"
        (tmp_path / f"{name}.py").write_text(START + textwrap.dedent(text))
        written.append(name)
        return name, load_plugin(
            "mine", PluginSettings(type="plugin", judge=f"{name}:{attribute}", options=options)
        )

    yield load
    for name in written:
        sys.modules.pop(name, None)


def test_a_class_with_one_method_is_a_judge_and_gets_its_options(plugin):
    _, judge = plugin(
        """
        class MyJudge:
            def __init__(self, *, words):
                self.words = words

            def judge(self, request):
                return SUCCESS.model_copy(update={"evidence": (self.words, request.post_condition)})
        """,
        words="looked twice",
    )
    judgement = judge.judge(REQUEST)
    assert judgement.status is Status.SUCCESS
    assert judgement.evidence == ("looked twice", "It is there.")
    assert judge.name == judgement.judge == "mine", "the key, where the class has no name"


def test_a_class_may_say_its_name(plugin):
    _, judge = plugin(
        """
        class MyJudge:
            name = "mine, version 3"
            def judge(self, request):
                return SUCCESS
        """
    )
    assert judge.name == judge.judge(REQUEST).judge == "mine, version 3"


def test_a_function_is_a_judge_too(plugin):
    _, judge = plugin(
        """
        def look(request, words="none"):
            return SUCCESS.model_copy(update={"evidence": (words,), "judge": "a function"})
        """,
        "look",
        words="in passing",
    )
    assert judge.judge(REQUEST).evidence == ("in passing",)
    assert judge.judge(REQUEST).judge == "a function"


BROKEN = {
    "broken import": (
        "import a_module_that_is_not_there",
        {},
        "module '{module}' cannot be imported: ModuleNotFoundError: No module named "
        "'a_module_that_is_not_there'",
    ),
    "module that is no Python": ("def (", {}, "module '{module}' cannot be imported: SyntaxError"),
    "module that ends the process": (
        "import sys; sys.exit('no licence')",
        {},
        "module '{module}' cannot be imported: SystemExit: no licence",
    ),
    "no such class": ("class YourJudge: pass", {}, "{module}.py) has no 'MyJudge'"),
    "neither class nor function": ("MyJudge = 7", {}, "is 7; a class or a function is wanted"),
    "no method": ("class MyJudge: pass", {}, "has no method `judge(request)`"),
    "constructor that raises": (
        """
        class MyJudge:
            def __init__(self):
                raise OSError("no weights in /opt/weights")
            def judge(self, request): ...
        """,
        {},
        "cannot be made with options {{}}: OSError: no weights in /opt/weights",
    ),
    "option that the class does not know": (
        """
        class MyJudge:
            def __init__(self, threshold=0.5): ...
            def judge(self, request): ...
        """,
        {"treshold": 0.9},
        "judges.mine.options of class '{module}:MyJudge' is called with its options alone and "
        "{{'treshold': 0.9}}, and takes (threshold=0.5): got an unexpected keyword argument",
    ),
    "option that is missing": (
        """
        class MyJudge:
            def __init__(self, threshold): ...
            def judge(self, request): ...
        """,
        {},
        "missing a required argument: 'threshold'",
    ),
    "method without a request": (
        """
        class MyJudge:
            def judge(self): ...
        """,
        {},
        "is called with a request, and takes (self): too many positional arguments",
    ),
    "method that wants more": (
        """
        class MyJudge:
            def judge(self, request, instruction): ...
        """,
        {},
        "missing a required argument: 'instruction'",
    ),
    "coroutine": (
        """
        class MyJudge:
            async def judge(self, request): ...
        """,
        {},
        "is a coroutine (async); a plain function is wanted",
    ),
}


@pytest.mark.parametrize(("text", "options", "words"), BROKEN.values(), ids=list(BROKEN))
def test_what_is_broken_names_key_module_and_cause(plugin, text, options, words):
    with pytest.raises(PluginError) as caught:
        plugin(text, **options)
    (module,) = [
        name
        for name in str(caught.value).replace("'", " ").replace(":", " ").split()
        if name.startswith("own_judge_")
    ][:1]
    assert str(caught.value).startswith("judges.mine.")
    assert words.format(module=module) in str(caught.value)


def test_a_function_with_a_wrong_option_is_refused(plugin):
    with pytest.raises(PluginError, match="unexpected keyword argument 'depth'"):
        plugin("def look(request, width=1): ...", "look", depth=2)


def test_a_package_that_is_not_installed_is_named():
    settings = PluginSettings(type="plugin", judge="no_such_package.judges:MyJudge")
    with pytest.raises(PluginError, match=r"'no_such_package\.judges' cannot be imported: .*'no_s"):
        load_plugin("mine", settings)


@pytest.mark.parametrize("answer", ["None", "True", "{'status': 1}", "'success'"])
def test_an_answer_that_is_no_judgement_is_none(plugin, answer):
    _, judge = plugin(f"def look(request): return {answer}", "look")
    judgement = judge.judge(REQUEST)
    assert judgement.status is Status.FAILURE
    assert judgement.kind is Kind.JUDGE_PROTOCOL_VIOLATION
    assert judgement.error.endswith("; a Judgement is wanted")


def test_what_a_judge_raises_is_its_error(plugin):
    _, judge = plugin("def look(request): raise ValueError('no depth')", "look")
    judgement = judge.judge(REQUEST)
    assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.JUDGED)
    assert judgement.error == "the judge failed: ValueError('no depth')"
