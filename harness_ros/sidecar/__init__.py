# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The sidecar of a text agent: what an outcome was worth, and which learned rules it bears out.

Importable with no ROS. `verifier`: the contract, and calling one; `loading`: `module:function`;
`verifiers`: those built in; `turns`: threshold, integrity and what scores can tell apart;
`http_endpoint` and `client`: for agents in another Python; `promotion`: of rules.
"""

from harness_ros.sidecar.loading import VerifierError, load_verifier
from harness_ros.sidecar.promotion import Case, Decision, Policy, Rule, decide
from harness_ros.sidecar.verifier import Verifier, give_reason, run_verifier

__all__ = [
    "Case",
    "Decision",
    "Policy",
    "Rule",
    "Verifier",
    "VerifierError",
    "decide",
    "give_reason",
    "load_verifier",
    "run_verifier",
]
