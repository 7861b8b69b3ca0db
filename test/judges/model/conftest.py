# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Model judges and the server that they ask."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from judge_world import KEY, KEY_VARIABLE, request_of
from openai_server import OpenAIServer

from harness_ros.contract import EvaluationRequest
from harness_ros.judges.model.funds import Funds
from harness_ros.judges.model.judge import ModelJudge
from harness_ros.judges.model.settings import ModelSettings

MakeJudge = Callable[..., ModelJudge]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as started:
        yield started


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, and nothing of what the client would take from this machine."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.fixture
def settings_with(server: OpenAIServer) -> Callable[..., ModelSettings]:
    """settings_with(setting=..., ...) -> those of a judge that asks the server."""

    def make(**settings: Any) -> ModelSettings:
        stated = {
            "type": "model",
            "model": "test-model",
            "base_url": server.base_url,
            "api_key_env": KEY_VARIABLE,
            "timeout_s": 20.0,
            **settings,
        }
        return ModelSettings.model_validate(stated)

    return make


@pytest.fixture
def make_judge(settings_with: Callable[..., ModelSettings]) -> Iterator[MakeJudge]:
    """make_judge(setting=..., ..., funds=...) -> a judge that asks the server."""
    judges = []

    def make(funds: Funds | None = None, **settings: Any) -> ModelJudge:
        judges.append(ModelJudge("looker", settings_with(**settings), funds))
        return judges[-1]

    yield make
    for judge in judges:
        judge.close()


@pytest.fixture
def request_record() -> EvaluationRequest:
    return request_of()
