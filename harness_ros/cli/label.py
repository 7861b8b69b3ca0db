# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros label`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def label(
    runs: Annotated[
        Path,
        typer.Argument(
            help="A folder that `grade` wrote; with --config a bag, or an evaluator's ledger.",
            metavar="DIR",
        ),
    ],
    config: Annotated[
        Path | None,
        typer.Option(help="The eval.yaml: for a bag or a ledger, or to see full frames."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="The file of labels; DIR/labels.jsonl where `grade` wrote DIR."),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Who labels; the name of the login by default.")
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(help="So many runs, of each tool and outcome their share.", min=1),
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides the order, and which runs are chosen.")] = 0,
    again: Annotated[
        bool,
        typer.Option("--again", help="Label the labelled runs once more, to see what agrees."),
    ] = False,
    show_verdict: Annotated[
        bool,
        typer.Option("--show-verdict", help="Let the verdict be seen of runs that are labelled."),
    ] = False,
    port: Annotated[int, typer.Option(help="0: a free one.", min=0, max=65535)] = 0,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Say of recorded runs what a person sees: a local page, keys s, f and u.

    Every key press is on disk at once; started again, it goes on where it stopped.
    """
    from harness_ros.labelling.command import LabelOptions, label_command

    options = LabelOptions(
        runs=runs,
        config=config,
        labels=labels,
        by=by,
        sample=sample,
        seed=seed,
        again=again,
        show_verdict=show_verdict,
        port=port,
        open=open_page,
    )
    raise typer.Exit(label_command(options))
