# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From settings to judges; a panel asks all its members at once and waits for none too long."""

import subprocess
import sys
import threading
import time
from types import ModuleType

import pytest

from harness_ros.contract import EvaluationRequest, Judgement, Kind, Observation, Status
from harness_ros.judges.card import CardError
from harness_ros.judges.making import JudgeError, make_judges, with_members
from harness_ros.judges.panel import Member, PanelJudge
from harness_ros.judges.settings import (
    AbstainSettings,
    DeterministicSettings,
    JudgeSettings,
    PanelSettings,
    PluginSettings,
)

REQUEST = EvaluationRequest(
    post_condition="It is there.",
    criterion="",
    observation=Observation(run_id="run-1", captured_at_ns=1, views=()),
)
SUCCESS = Judgement(status=Status.SUCCESS, evidence=("seen",), confidence=0.6)
FAILURE = Judgement(status=Status.FAILURE, failure_reason="not there", confidence=0.9)
RULE = DeterministicSettings()
SOME_S = 20.0
"""Longer than any answer here takes."""


class Own:
    """A judge that answers what it was made with, and waits before where it is told to."""

    def __init__(self, answer, wait_for=None):
        self.name = "own"
        self._answer = answer
        self._wait_for = wait_for

    def judge(self, request):
        if self._wait_for is not None and not self._wait_for():
            return Judgement(status=Status.FAILURE, error="waited in vain")
        return self._answer


@pytest.fixture
def plugin(monkeypatch):
    """plugin(judgement) -> settings of a plug-in that answers so."""
    module = ModuleType("judges_of_this_test")
    monkeypatch.setitem(sys.modules, module.__name__, module)

    def settings(answer, **more):
        name = f"judge_{len(vars(module))}"
        setattr(module, name, lambda request: answer)
        return PluginSettings(type="plugin", judge=f"{module.__name__}:{name}", **more)

    return settings


def panel(*members, **more):
    return PanelSettings(type="panel", members=members, **more)


def of(members, rule="majority", timeout_s=SOME_S, parallel=8):
    return PanelJudge(
        "both",
        rule,
        timeout_s,
        {name: Member(judge, timeout_s, parallel) for name, judge in members.items()},
    )


def test_each_key_gets_its_judge(plugin):
    settings = {
        "rule": RULE,
        "mine": plugin(SUCCESS),
        "yours": plugin(FAILURE),
        "both": panel("mine", "yours", rule="any_failure"),
    }
    judges = make_judges(settings)
    said = {key: judge.judge(REQUEST) for key, judge in judges.items()}
    assert said["rule"].error.startswith("the request has no criterion")
    assert said["mine"].status is Status.SUCCESS
    assert said["both"].status is Status.FAILURE and said["both"].kind is Kind.JUDGED
    assert said["both"].judge == judges["both"].name == "both"
    assert "mine: seen" in said["both"].evidence
    assert "yours: failure: not there" in said["both"].evidence


def test_only_what_is_wanted_is_made_and_the_members_of_a_panel(plugin):
    broken = PluginSettings(type="plugin", judge="no_such_package.judges:MyJudge")
    settings = {"rule": RULE, "mine": plugin(SUCCESS), "broken": broken, "both": panel("rule", "x")}
    assert list(make_judges(settings, wanted=["mine"])) == ["mine"]
    assert list(make_judges(settings, wanted=[])) == []
    assert with_members(settings, ["both", "mine"]) == ["both", "rule", "x", "mine"]
    with pytest.raises(JudgeError, match=r"judge 'ear' is not under `judges`: \['both', 'broken'"):
        make_judges(settings, wanted=["ear"])
    with pytest.raises(JudgeError, match=r"judges\.both\.members: \['x'\] not under `judges`"):
        make_judges(settings, wanted=["both"])
    settings["both"] = panel("rule", "both")
    with pytest.raises(JudgeError, match=r"judges\.both\.members: 'both' is a panel itself"):
        make_judges(settings, wanted=["both"])


def test_settings_that_nothing_is_known_of_make_no_judge():
    with pytest.raises(JudgeError, match=r"judges\.odd: nothing makes a judge of JudgeSettings"):
        make_judges({"odd": JudgeSettings()})


def test_a_judge_with_a_threshold_abstains_and_so_does_a_member(plugin):
    unsure = plugin(SUCCESS, abstain=AbstainSettings(confidence=0.7))
    sure = plugin(SUCCESS, abstain=AbstainSettings(confidence=0.5))
    judges = make_judges({"unsure": unsure, "sure": sure, "both": panel("unsure", "sure")})
    assert judges["sure"].judge(REQUEST).status is Status.SUCCESS
    assert judges["unsure"].judge(REQUEST).kind is Kind.INCONCLUSIVE
    combined = judges["both"].judge(REQUEST)
    assert (combined.status, combined.kind) == (Status.FAILURE, Kind.INCONCLUSIVE)


def test_a_panel_abstains_by_the_share_of_its_members(plugin):
    settings = {"a": plugin(SUCCESS), "b": plugin(SUCCESS), "c": plugin(FAILURE)}
    more = {"abstain": AbstainSettings(confidence=0.7)}
    judges = make_judges({**settings, "most": panel(*"abc"), "sure": panel(*"abc", **more)})
    assert judges["most"].judge(REQUEST).confidence == pytest.approx(2 / 3)
    assert judges["sure"].judge(REQUEST).kind is Kind.INCONCLUSIVE


def test_a_threshold_that_no_card_gives_is_no_judge(plugin):
    with pytest.raises(CardError, match=r"'mine'.*0\.02.*`error_card` is wanted"):
        make_judges({"mine": plugin(SUCCESS, abstain=AbstainSettings(false_success=0.02))})


def test_members_are_asked_at_the_same_time():
    together = threading.Barrier(3)

    def met():
        together.wait(SOME_S)
        return True

    members = {name: Own(SUCCESS, met) for name in "abc"}
    assert of(members, rule="all").judge(REQUEST).status is Status.SUCCESS


def test_a_member_that_hangs_costs_its_vote_and_no_more_than_the_time():
    released = threading.Event()
    members = {"a": Own(SUCCESS), "b": Own(SUCCESS), "hangs": Own(SUCCESS, released.wait)}
    judge = of(members, timeout_s=0.4)
    began = time.monotonic()
    judgement = judge.judge(REQUEST)
    assert time.monotonic() - began < SOME_S / 2
    released.set()
    assert judgement.status is Status.SUCCESS
    assert "hangs: could not judge: no answer in 0.38 s" in judgement.evidence
    assert of(members, rule="all").judge(REQUEST).status is Status.SUCCESS


def test_with_every_member_hanging_nobody_could_judge():
    released = threading.Event()
    members = {name: Own(SUCCESS, released.wait) for name in "ab"}
    judgement = of(members, timeout_s=0.2).judge(REQUEST)
    released.set()
    assert judgement.error == "a: no answer in 0.19 s; b: no answer in 0.19 s"
    assert judgement.judge == "both"


def test_a_member_gets_no_more_questions_at_a_time_than_it_takes():
    lock, all_asked = threading.Lock(), threading.Event()
    now, most = [], []

    class Counting:
        name = "counting"

        def judge(self, request):
            with lock:
                now.append(request)
                most.append(len(now))
            all_asked.wait(SOME_S)
            with lock:
                now.pop()
            return SUCCESS

    judge = of({"a": Counting(), "b": Own(SUCCESS)}, parallel=1)
    askers = [threading.Thread(target=judge.judge, args=(REQUEST,)) for _ in range(6)]
    for asker in askers:
        asker.start()
    all_asked.set()
    for asker in askers:
        asker.join(SOME_S)
    assert len(most) == 6
    assert max(most) == 1


def test_a_member_that_raises_costs_its_vote():
    class Raising:
        name = "raising"

        def judge(self, request):
            raise RuntimeError("no memory")

    judgement = of({"a": Raising(), "b": Own(FAILURE)}, rule="any_failure").judge(REQUEST)
    assert judgement.failure_reason == "not there"
    assert "a: could not judge: the judge failed: RuntimeError('no memory')" in judgement.evidence


def test_the_client_of_models_is_loaded_for_models_alone():
    code = (
        "import sys\n"
        "from harness_ros.judges.making import make_judges\n"
        "from harness_ros.judges.settings import DeterministicSettings\n"
        "make_judges({'rule': DeterministicSettings()})\n"
        "print([name for name in ('openai', 'harness_ros.judges.model.judge') "
        "if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
