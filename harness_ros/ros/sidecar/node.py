# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The sidecar as a node: services for a text agent, beside everything that judges its tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node

from harness_ros import srv
from harness_ros.ros.deferring import Deferred, create_deferring_service
from harness_ros.ros.deployment import default_rules
from harness_ros.ros.diagnostics import Diagnostics, Report
from harness_ros.ros.parameters import ParameterError, declare, declare_config, declare_ledger
from harness_ros.ros.python_logs import NodeHandler
from harness_ros.ros.sidecar.replaying import ActionReplayer
from harness_ros.ros.sidecar.rules import RuleServices
from harness_ros.ros.sidecar.turns import TurnAnswers
from harness_ros.ros.workers import Workers
from harness_ros.sidecar.http_endpoint import endpoint_of
from harness_ros.sidecar.promotion.rounds import Budgets, Validation
from harness_ros.sidecar.promotion.store import RuleStore
from harness_ros.sidecar.turns import turn_verifier

AT_ONCE = 64
LEAST_S, DAY_S = 0.1, 86400.0


class Sidecar(Node):
    """Node `sidecar`. Every service is answered in a thread: whatever hangs holds up no other."""

    def __init__(self, **options: Any) -> None:
        super().__init__("sidecar", **options)
        config = declare_config(self)
        ledger = declare_ledger(self)
        rules = declare(
            self, "rules", str(default_rules()), "path of the SQLite file of learned rules"
        )
        at_once = declare(
            self, "at_once", AT_ONCE, "turns with the verifier at the same time", (1, 1000)
        )
        budgets = self._declare_budgets()
        if config.sidecar is None:
            raise ParameterError(
                f"{self.get_parameter('config').value}: section 'sidecar' is missing; it names the "
                "verifier, see docs/sidecar.md"
            )
        self._logs = NodeHandler(self, "harness_ros.sidecar")
        self._ending = False
        turns = turn_verifier(config.sidecar, {"ledger": ledger})
        self._turns = TurnAnswers(turns, config.sidecar.verifier_timeout_s, at_once)
        self._store = RuleStore(Path(rules).expanduser())
        replayer = ActionReplayer(self, lambda: self._ending)
        validation = Validation(
            self._store, replayer, config.sidecar.promotion, budgets, self.get_name()
        )
        self._rules = RuleServices(self._store, validation)
        self._store_work = Workers("rules", 1)
        self._rounds = Workers("round", 4)
        self._diagnostics = Diagnostics(self, self._reports)
        self._serve()
        http = config.sidecar.http
        self._endpoint = None if http is None else endpoint_of(http, turns)
        if self._endpoint is not None:
            self._endpoint.start()
            self.get_logger().info(f"turns are verified over HTTP too: {self._endpoint.url}")

    def destroy_node(self) -> None:
        """Waits a little for answers that are on their way, then ends."""
        self._ending = True
        if self._endpoint is not None:
            self._endpoint.close()
        for workers in (self._turns, self._store_work, self._rounds):
            workers.close()
        self._logs.end()
        super().destroy_node()
        self._store.close()

    def _declare_budgets(self) -> Budgets:
        usual = Budgets()
        meant = {
            "replay_s": "seconds that a replay may take",
            "environment_s": "seconds that a replay may wait for its environment",
            "round_s": "seconds that the replays of a round may take together",
        }
        given = {
            name: declare(self, name, float(getattr(usual, name)), text, (LEAST_S, DAY_S))
            for name, text in meant.items()
        }
        try:
            return Budgets(**given)
        except ValidationError as error:
            said = "; ".join(item["msg"] for item in error.errors(include_url=False))
            raise ParameterError(f"parameters {', '.join(given)}: {said}") from None

    def _serve(self) -> None:
        create_deferring_service(self, srv.VerifyTurn, "sidecar/verify_turn", self._on_verify_turn)
        rules = self._rules
        for service, name, answer, workers in (
            (srv.SubmitRule, "submit_rule", rules.submit, self._store_work),
            (srv.ReportSession, "report_session", rules.report, self._store_work),
            (srv.ListRules, "list_rules", rules.listed, self._store_work),
            (srv.ValidateRule, "validate_rule", rules.validate, self._rounds),
        ):
            callback = self._answered_by(workers, name, answer)
            create_deferring_service(self, service, f"sidecar/{name}", callback)

    def _on_verify_turn(self, request: Any, response: Any) -> Deferred:
        deferred = Deferred()
        self._turns.answer(request, response, self._sending(deferred, request.session_id))
        return deferred

    def _answered_by(
        self, workers: Workers, name: str, answer: Callable[[Any], Any]
    ) -> Callable[[Any, Any], Deferred]:
        """A service callback whose answer is made by a worker."""

        def callback(request: Any, response: Any) -> Deferred:
            deferred = Deferred()
            send = self._sending(deferred, name)

            def work() -> None:
                try:
                    send(answer(request))
                except Exception as error:
                    self._diagnostics.failed(name, error)
                    response.reason = f"the sidecar failed: {error!r}"
                    send(response)

            workers.add(work)
            return deferred

        return callback

    def _sending(self, deferred: Deferred, what: str) -> Callable[[Any], None]:
        def send(response: Any) -> None:
            try:
                deferred.answer(response)
            except InvalidHandle:  # the node has ended since
                pass
            except Exception as error:
                self._diagnostics.failed(f"the answer to {what}", error)

        return send

    def _reports(self) -> Iterator[Report]:
        yield from self._turns.reports()
        yield from self._rules.reports()
