# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Definitions of message types: those of the bag, of given folders, and the standard ones."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from harness_ros.bag.definitions import standard_types
from harness_ros.bag.storage.records import BagReadError, Problems, Topic, said, type_name
from harness_ros.capture.definitions import difference, message_type_of

Types = dict[str, Any]
"""Parsed definitions by `package/msg/Type`."""

MOST_CHARACTERS = 1 << 20
"""Of a definition: all of sensor_msgs together have less."""
IDL_SEPARATOR = "=" * 80 + "\n"
EMPTY_CONSTANT = re.compile(r"^(w?string(?:<=\d+)? \w+)=[ \t]*$", re.MULTILINE)
"""As rosbags writes a constant that is empty, and does not read it."""


class MessageFolders:
    """Finds .msg files in folders: share/<package>/msg/X.msg, <package>/msg/X.msg or X.msg.

    Raises:
        BagReadError: one of them is no folder.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        for folder in folders:
            if not folder.is_dir():
                raise BagReadError(f"{folder}: no folder with message definitions")
        self._folders = folders
        self._files: dict[tuple[str, str], Path] | None = None

    def find(self, message_type: str) -> Path | None:
        """The file of a type."""
        if not self._folders:
            return None
        if self._files is None:
            self._files = {}
            for folder in self._folders:
                for path in sorted(folder.resolve().rglob("*.msg")):
                    parent = path.parent
                    package = parent.parent.name if parent.name == "msg" else ""
                    self._files.setdefault((package, path.stem), path)
        package, _, name = message_type.split("/")
        return self._files.get((package, name)) or self._files.get(("", name))


class BagDefinitions:
    """What is known of the message types of a bag.

    Args:
        topics: of each file, with the definitions that it carries.
        folders: where .msg files are looked for before the standard ones.
    """

    def __init__(
        self,
        path: Path,
        topics: Iterable[tuple[Path, Topic]],
        folders: Sequence[Path],
        problems: Problems,
    ) -> None:
        self._path, self._problems = path, problems
        self._topics = list(topics)
        self._folders = MessageFolders(folders)
        self._parsed: dict[tuple[str, str], Types] = {}

    def typestore(self, names: Iterable[str]) -> Typestore:
        """Definitions of the types of topics and of all that they refer to, as far as known."""
        asked = set(names)
        types: Types = {}
        wanted: set[str] = set()
        for path, topic in self._topics:
            if topic.name not in asked:
                continue
            wanted.add(topic.type)
            for name, found in self._of_bag(path, topic).items():
                if name not in types:
                    types[name] = found
                    known = standard_types().get(name)
                    other = difference(name, found[1], known[1]) if known else ""
                    if other:
                        self._problems.say(
                            path, f"its definition of {name} is not that of this version: {other}"
                        )
                elif found[1] != types[name][1]:
                    self._problems.say(
                        path, f"has another definition of {name} than before: the first counts"
                    )
        needed = self._with_parts(types, wanted)
        try:
            # No more than is needed: code is made of each.
            return _store_of(needed)
        except Exception as error:
            # It runs code that it writes from the definitions, and raises what that raises.
            self._problems.say(
                self._path,
                f"its definitions cannot be used ({said(error)}): the standard ones were used",
            )
            return _store_of(self._with_parts({}, wanted))

    def _with_parts(self, types: Types, wanted: Iterable[str]) -> Types:
        found: Types = {}
        open_ = list(wanted)
        while open_:
            name = open_.pop()
            if name in found:
                continue
            definition = types.get(name) or self._elsewhere(name)
            if definition is not None:
                found[name] = definition
                open_ += [part for _, field in definition[1] if (part := message_type_of(field))]
        return found

    def _elsewhere(self, name: str) -> Any:
        path = self._folders.find(name) if type_name(name) == name else None
        if path is not None:
            try:
                return parsed(path.read_text(encoding="utf-8"), "ros2msg", name)[name]
            except Exception as error:
                # The grammar raises what it likes.
                self._problems.say(path, f"no message definition ({said(error)}): not used")
        return standard_types().get(name)

    def _of_bag(self, path: Path, topic: Topic) -> Types:
        key = (topic.type, topic.definition)
        if key not in self._parsed:
            self._parsed[key] = {}
            if topic.format or topic.definition.strip():
                try:
                    self._parsed[key] = parsed(topic.definition, topic.format, topic.type)
                except Exception as error:
                    # The grammar raises what it likes on a damaged definition.
                    self._problems.say(
                        path,
                        f"its definition of {topic.type} cannot be read ({said(error)}): "
                        "another one was looked for",
                    )
        return self._parsed[key]


_stores: deque[tuple[Types, Typestore]] = deque(maxlen=8)
"""The last ones: bags of one robot define the same types, and making the code of a store takes
longer than opening a bag."""


def _store_of(types: Types) -> Typestore:
    """A type store with these definitions.

    Raises:
        Exception: of any kind, where they cannot be used.
    """
    for known, store in _stores:
        if known == types:
            return store
    store = get_typestore(Stores.EMPTY)
    store.register(types)
    _stores.append((types, store))
    return store


def parsed(text: str, encoding: str, message_type: str) -> Types:
    """The types in a definition.

    Raises:
        Exception: of any kind, where the text is no definition in this encoding.
    """
    if not text.strip():
        return {}
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"it has {len(text)} characters")
    types: Types = {}
    if encoding == "ros2msg":
        types.update(get_types_from_msg(EMPTY_CONSTANT.sub(r'\1=""', text), message_type))
    elif encoding in ("ros2idl", "omgidl"):
        for part in text.split(IDL_SEPARATOR) if text.startswith(IDL_SEPARATOR) else [text]:
            idl = part.partition("\n")[2] if part.startswith("IDL: ") else part
            if idl.strip():
                types.update(get_types_from_idl(idl))
    else:
        raise ValueError(f"its encoding is '{encoding}'; ros2msg and ros2idl are known")
    for name in types:
        if type_name(name) != name:
            raise ValueError(f"'{name}' is no name of a type")
    if message_type not in types:
        raise ValueError(f"it defines {', '.join(types) or 'nothing'}")
    return types
