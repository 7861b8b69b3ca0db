# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What goes over HTTP: the records, and their description as OpenAPI."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import ConfigDict, Field, JsonValue
from pydantic.json_schema import models_json_schema

from harness_ros import __version__
from harness_ros.contract import Record
from harness_ros.sidecar.turns import TurnResult

VERIFY, DESCRIPTION = "/v1/verify_turn", "/openapi.json"
LONGEST_BODY = 1_000_000
"""Bytes."""


class TurnRequest(Record):
    """A turn that is to be verified."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    session_id: str = Field(min_length=1, max_length=1000)
    """Of the agent's session."""
    turn_index: int = Field(default=0, ge=0, le=2**31 - 1)
    """Of the turn in the session."""
    end_state: dict[str, JsonValue]
    """What the verifier looks at."""


class Refusal(Record):
    """Why a request was not taken."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    error: str
    """For people."""


@cache
def openapi() -> dict[str, Any]:
    """The description of the endpoint (OpenAPI 3.1), made from the models."""
    _, schemas = models_json_schema(
        [(TurnRequest, "validation"), (TurnResult, "serialization"), (Refusal, "serialization")],
        ref_template="#/components/schemas/{model}",
    )

    def json_of(model: str, text: str) -> dict[str, Any]:
        schema = {"$ref": f"#/components/schemas/{model}"}
        return {"description": text, "content": {"application/json": {"schema": schema}}}

    refusals = {
        "400": "No JSON.",
        "401": "The token is missing, or another.",
        "403": "Asked for by another name, or by a page in a browser.",
        "411": "Content-Length is missing.",
        "413": f"More than {LONGEST_BODY} bytes.",
        "415": "Not application/json.",
        "422": "Not a TurnRequest.",
    }
    verify = {
        "operationId": "verify_turn",
        "summary": "What a turn was worth; has_score false is no failure",
        "requestBody": {"required": True, **json_of("TurnRequest", "The turn.")},
        "responses": {
            "200": json_of("TurnResult", "What it was worth, or why there is no score."),
            **{code: json_of("Refusal", text) for code, text in refusals.items()},
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "harness_ros sidecar", "version": __version__},
        "security": [{"token": []}],
        "paths": {VERIFY: {"post": verify}},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas["$defs"],
        },
    }
