# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded answers of a model: one JSON file each, named by what was asked."""

from __future__ import annotations

import hashlib
import os
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from harness_ros.contract import HarnessError, Record
from harness_ros.judges.model.question import Question
from harness_ros.judges.model.reply import Reply
from harness_ros.judges.model.settings import CassetteSettings

FORMAT = 1
Role = Literal["judge", "critic", "pairwise"]
"""What a question is asked for."""


class CassetteError(HarnessError):
    """An answer that is not recorded, or a record that cannot be read or written."""


class ShownPicture(Record):
    """What a record keeps of a picture."""

    caption: str
    digest: str


class Asked(Record):
    """What was asked, for people; the key alone finds the answer."""

    role: Role
    model: str
    post_condition: str
    instruction_sha256: str
    text: str
    pictures: tuple[ShownPicture, ...]


class Recording(Record):
    """One file of a cassette."""

    format: Literal[1]
    key: str
    """SHA-256 over all that was asked."""
    vote: int
    """Which of several answers to the same question, from 1."""
    recorded_from: str
    """Host that answered."""
    recorded_at: str
    """UTC, ISO 8601."""
    asked: Asked
    reply: Reply


class Cassette:
    """The answers in a folder.

    Args:
        source: host that new answers come from.
    """

    def __init__(self, settings: CassetteSettings, source: str) -> None:
        self._folder = settings.folder
        self._source = source
        self.replays_only = settings.mode == "replay"

    @property
    def problem(self) -> str:
        """Why nothing can be played back; empty where something may."""
        if self.replays_only and not self._folder.is_dir():
            return f"cassette: there is no folder {self._folder} to replay answers from"
        return ""

    def find(self, question: Question, vote: int, post_condition: str) -> Reply | None:
        """The recorded answer; None where the model has to be asked.

        Raises:
            CassetteError: there is none and only recorded answers are wanted, or it is damaged.
        """
        path = self._path(question.key, vote)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            if not self.replays_only:
                return None
            raise CassetteError(
                f"no answer is recorded for the post-condition {post_condition!r} with these views "
                f"(key {question.key}, vote {vote}) in {self._folder}"
            ) from None
        except (OSError, ValueError) as error:
            raise CassetteError(f"{path} cannot be read: {error}") from None
        try:
            recording = Recording.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "(top)"
            raise CassetteError(f"{path} is damaged: {where}: {first['msg']}") from None
        if (recording.key, recording.vote) != (question.key, vote):
            raise CassetteError(
                f"{path} is damaged: it holds the answer of key {recording.key}, vote "
                f"{recording.vote}"
            )
        return recording.reply

    def keep(self, question: Question, vote: int, asked: Asked, reply: Reply) -> Reply:
        """Writes an answer; who reads at the same time finds all of it or nothing.

        Returns:
            What is recorded now: where another process was quicker, its answer.

        Raises:
            CassetteError: it cannot be written.
        """
        recording = Recording(
            format=FORMAT,
            key=question.key,
            vote=vote,
            recorded_from=self._source,
            recorded_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            asked=asked,
            reply=reply,
        )
        path = self._path(question.key, vote)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            _write(path, recording.model_dump_json(indent=2) + "\n")
        except FileExistsError:
            return self.find(question, vote, asked.post_condition) or reply
        except (OSError, ValueError) as error:
            raise CassetteError(f"{path} cannot be written: {error}") from None
        return reply

    def _path(self, key: str, vote: int) -> Path:
        return self._folder / f"{key}-{vote}.json"


def asked_of(question: Question, role: Role, model: str, post_condition: str) -> Asked:
    """What a record says of a question: no picture, no key of an endpoint, no header."""
    return Asked(
        role=role,
        model=model,
        post_condition=post_condition,
        instruction_sha256=hashlib.sha256(question.instruction.encode()).hexdigest(),
        text=question.text,
        pictures=tuple(
            ShownPicture(caption=picture.caption, digest=picture.digest)
            for picture in question.pictures
        ),
    )


def _write(path: Path, text: str) -> None:
    handle, beside = tempfile.mkstemp(prefix=f".{path.stem[:16]}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(beside, 0o644)
        try:
            os.link(beside, path)
        except FileExistsError:
            raise
        except OSError:
            os.replace(beside, path)  # a file system without hard links
    finally:
        Path(beside).unlink(missing_ok=True)
