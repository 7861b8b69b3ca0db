# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules, sessions, and a client that replays them as it is told to."""

from harness_ros.sidecar.promotion.records import Rule, Session
from harness_ros.sidecar.promotion.rounds import ReplayOutcome, Validation
from harness_ros.sidecar.promotion.store import RuleStore

BREACH = "breach:tool_correctness"


def a_rule(rule_id="rule-1", **changes):
    fields = {
        "rule_id": rule_id,
        "text": "Look at the label before the first cut.",
        "metric": "tool_correctness",
        "signatures": (BREACH,),
        "author": "agent-7",
    }
    return Rule(**{**fields, **changes})


def a_failure(session_id, score=0.2, **changes):
    fields = {"signatures": (BREACH,), "scores": {"outcome_correct": score}}
    return Session(session_id=session_id, **{**fields, **changes})


def a_win(session_id, score=1.0, protected=True, **changes):
    scores = {"outcome_correct": score, "tool_correctness": score}
    return Session(session_id=session_id, scores=scores, protected=protected, **changes)


class Clock:
    """Seconds that pass when a replay takes them."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Client:
    """A client outside the project: its answers are scripted, its replays take scripted time."""

    def __init__(self, clock, scores=None, takes_s=10.0, **outcome):
        self.clock = clock
        self.scores = scores if scores is not None else {}
        self.takes_s = takes_s
        self.outcome = {"started": True, "exercised": True, **outcome}
        self.asked = []

    def replay(self, rule, case, limits):
        self.asked.append((rule.rule_id, case.case_id))
        self.clock.now += self.takes_s
        score = self.scores.get((rule.rule_id, case.case_id), self.scores.get(case.case_id))
        if isinstance(score, Exception):
            raise score
        scores = None if score is None else {"outcome_correct": score}
        return ReplayOutcome(scores=scores, **self.outcome)


def eventful_store(path):
    """A store with a rule that was promoted, retired, put on trial, and one that waits."""
    with RuleStore(path) as store:
        clock = Clock()
        for number in range(4):
            attempts = ({"outcome_correct": 0.25}, {"outcome_correct": 0.3})
            store.report(a_failure(f"invoice-{number}", attempts=attempts, held_out=number == 2))
            store.report(a_win(f"refund-{number}", score=0.95))
        names = [f"invoice-{number}" for number in range(4)]
        wins = [f"refund-{number}" for number in range(4)]
        scores = {
            **{("promoted", name): 0.2 + 0.2 * n for n, name in enumerate(names)},
            **{("promoted", name): 0.97 for name in wins},
            **{("retired", name): 0.9 for name in names},
            **{("retired", name): 0.4 for name in wins},
            **{("tried", name): 0.2 for name in names},
        }
        client = Client(clock, scores, takes_s=42)
        validation = Validation(store, client, clock=clock, validator="replay_bench")
        for name in ("promoted", "retired", "tried"):
            store.submit(a_rule(name, text=f"{name}: look at the label before the first cut."))
        for name in ("promoted", "retired", "tried", "tried", "tried"):
            validation.validate(name)
        store.submit(a_rule("waiting", signatures=(), metric="tone", author=""))
        for number in range(2):
            store.report(a_win(f"later-{number}", protected=False))
    return path
