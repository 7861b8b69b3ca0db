# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A judge of eval.yaml, of any type, as a hidden service that answers several questions at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from statistics import median
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node

from harness_ros import srv
from harness_ros.config.calibrated import judge_states
from harness_ros.contract import Judgement
from harness_ros.judges.base import no_judgement
from harness_ros.judges.describing import described
from harness_ros.judges.making import all_asked, make_judges
from harness_ros.ros import conversion
from harness_ros.ros.deferring import Deferred, create_deferring_service
from harness_ros.ros.diagnostics import Diagnostics, Level, Report
from harness_ros.ros.judge_threads import JudgeThreads
from harness_ros.ros.parameters import ParameterError, declare, declare_config


class ConfiguredJudge(Node):
    """Node `_judge_<key>`: serves a judge under `judges` in eval.yaml.

    Questions are answered in threads, `parallel` of them at the same time: neither a slow endpoint
    nor a judge that hangs holds up what else is asked.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("_judge_model", **options)
        config = declare_config(self)
        self._key = declare(self, "judge", "model", "key under `judges` in eval.yaml to serve")
        if self._key not in config.judges:
            raise ParameterError(
                f"parameter 'judge' is '{self._key}', which is not under `judges`: "
                f"{sorted(config.judges)}"
            )
        self._settings = config.judges[self._key]
        self._judge = make_judges(config.judges, config.cards, [self._key])[self._key]
        self._state = judge_states(config).get(self._key)
        self._unready = self._prepared()
        self._threads = JudgeThreads(f"judge {self._key}", self._settings.parallel)
        self._diagnostics = Diagnostics(self, self._reports)
        self._service = create_deferring_service(
            self, srv.Evaluate, f"_evaluate/{self._key}", self._on_evaluate
        )
        self._say_who()

    def destroy_node(self) -> None:
        """Waits a little for answers that are on their way, then ends."""
        self._threads.close()
        super().destroy_node()
        for judge in all_asked(self._judge):
            with suppress(Exception):
                getattr(judge, "close", lambda: None)()

    def _on_evaluate(self, request: Any, response: Any) -> Deferred:
        deferred, asked_at = Deferred(), time.monotonic()

        def answer() -> Judgement:
            waited_s = time.monotonic() - asked_at
            if waited_s > self._settings.timeout_s:
                # The evaluator has given it up; a model would be paid for nothing.
                words = f"not asked: the question waited {waited_s:.3g} s for its turn"
                judgement = no_judgement(self._judge.name, words)
            else:
                judgement = self._judged(request)
            try:
                deferred.answer(conversion.judgement_to_response(judgement, response))
            except InvalidHandle:  # the node has ended since
                pass
            except Exception as error:
                self._diagnostics.failed(f"the answer on run {request.observation.run_id}", error)
                return no_judgement(self._key, f"the answer could not be sent: {error!r}")
            return judgement

        self._threads.add(answer)
        return deferred

    def _judged(self, request: Any) -> Judgement:
        try:
            return self._judge.judge(conversion.request_from_message(request))
        except Exception as error:
            self._diagnostics.failed(f"run {request.observation.run_id}", error)
            return no_judgement(self._judge.name, f"the judge failed: {error!r}")

    # What it tells of itself

    def _prepared(self) -> str:
        """Has everything loaded before the first question; why it could not judge, or nothing."""
        problems = []
        for judge in all_asked(self._judge):
            problem = getattr(judge, "prepare", lambda: "")()
            if problem:
                problems.append(f"judge '{judge.name}' cannot judge: {problem}")
        return "; ".join(problems)

    def _say_who(self) -> None:
        log = self.get_logger()
        log.info(f"judge '{self._key}' is ready: {described(self._settings)}")
        if self._state is not None:
            words = f"judge '{self._key}': {self._state.words}"
            if self._measured:
                log.info(words)
            else:
                log.warning(words)
        if self._unready:
            log.error(self._unready)

    def _reports(self) -> Iterator[Report]:
        yield self._answers()
        accounts = {
            judge.name: judge.account
            for judge in all_asked(self._judge)
            if hasattr(judge, "account")
        }
        for name, account in accounts.items():
            values = {
                "calls": account.calls,
                "replayed": account.replayed,
                "input tokens": account.input_tokens,
                "output tokens": account.output_tokens,
                "cost": account.cost,
                "currency": account.currency,
                "spending cap": "" if account.spending_cap is None else account.spending_cap,
            }
            text = f"{account.cost:.4g} {account.currency}" if account.currency else "no prices"
            if account.exhausted:
                yield Report(f"spending {name}", Level.ERROR, f"cap reached: {text}", values)
            else:
                yield Report(f"spending {name}", Level.OK, text, values)
        if self._state is not None:
            level = Level.OK if self._measured else Level.WARN
            yield Report("error card", level, self._state.card, {"errors": self._state.errors})

    @property
    def _measured(self) -> bool:
        """Whether the judge's errors are known, or need not be."""
        state = self._state
        return state is None or not (
            state.stale or (state.uncalibrated and not state.deterministic)
        )

    def _answers(self) -> Report:
        counts = self._threads.counts
        latencies = list(counts.latencies_s)
        values = {
            "judge": self._key,
            "type": self._settings.type,
            "service": self._service.srv_name,
            "asked": counts.asked,
            "waiting": counts.waiting,
            "could not judge": counts.could_not,
            "last problem": counts.last_problem or self._unready,
            "latency median (s)": float(median(latencies)) if latencies else "",
            "latency worst (s)": max(latencies, default=""),
            "calls": counts.usage.calls,
            "input tokens": counts.usage.input_tokens,
            "output tokens": counts.usage.output_tokens,
        }
        if self._unready:
            return Report("judge", Level.ERROR, self._unready, values)
        level = Level.WARN if counts.could_not else Level.OK
        return Report("judge", level, f"{counts.answered} questions answered", values)
