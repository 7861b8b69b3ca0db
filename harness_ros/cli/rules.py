# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros rules`: the rules that an agent learned, and what they rest on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Store = Annotated[Path, typer.Option("--store", help="The rule store of a sidecar.")]
RuleId = Annotated[str, typer.Argument(help="Id of a rule, or how it begins.", metavar="RULE")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

rules = typer.Typer(
    help="Rules that an agent learned: which are trusted, and why.", no_args_is_help=True
)


@rules.command("list")
def list_rules(
    store: Store,
    state: Annotated[
        str | None, typer.Option(help="Only these: candidate, active or retired.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the rules: state, id, text."""
    from harness_ros.rules.command import list_command

    list_command(store, state, as_json)


@rules.command()
def show(rule: RuleId, store: Store, as_json: AsJson = False) -> None:
    """Show where a rule stands, why, and the cases of its last round."""
    from harness_ros.rules.command import show_command

    show_command(store, rule, as_json)


@rules.command()
def history(rule: RuleId, store: Store, as_json: AsJson = False) -> None:
    """Show every round and every change of state of a rule."""
    from harness_ros.rules.command import history_command

    history_command(store, rule, as_json)


@rules.command()
def page(
    rule: RuleId,
    store: Store,
    out: Annotated[Path, typer.Option(help="The page, an .html file.")],
) -> None:
    """Write the evidence of a rule as one HTML file."""
    from harness_ros.rules.command import page_command

    page_command(store, rule, out)
