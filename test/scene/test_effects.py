# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import pytest
from pydantic import ValidationError

from harness_ros.scene import RELATIONS, Effects

KNOWN = ("robot", "table", "red_block")


def test_effects_of_known_things_have_no_problems():
    effects = Effects(
        delete=(("on", "red_block", "*"), ("inside", "*", "table")),
        add=(("holding", "robot", "red_block"), ("near", "robot", "table")),
    )
    assert effects.problems(KNOWN) == []


def test_an_unknown_relation_is_named_with_those_allowed():
    (problem,) = Effects(add=(("atop", "red_block", "table"),)).problems(KNOWN)
    assert "add[0]" in problem
    assert "'atop'" in problem
    assert str(list(RELATIONS)) in problem


@pytest.mark.parametrize("key", ["delete", "add"])
def test_an_unknown_thing_is_named_with_those_known(key):
    triples = (("on", "red_block", "table"), ("on", "blue_block", "shelf"))
    blue, shelf = Effects(**{key: triples}).problems(KNOWN)
    assert blue == f"{key}[1]: unknown ref 'blue_block'; known are ['red_block', 'robot', 'table']"
    assert "'shelf'" in shelf


def test_a_star_is_a_problem_in_add():
    (problem,) = Effects(add=(("on", "red_block", "*"),)).problems(KNOWN)
    assert problem == "add[0]: '*' is allowed in `delete` only"


def test_placeholders_are_kept_until_they_are_filled():
    effects = Effects.model_validate({"add": [["{destination.relation}", "{object}", "{x}"]]})
    assert effects.add == (("{destination.relation}", "{object}", "{x}"),)


def test_a_misspelt_key_is_an_error():
    with pytest.raises(ValidationError):
        Effects.model_validate({"remove": []})


def test_effects_cannot_be_changed():
    with pytest.raises(ValidationError):
        Effects().add = (("on", "red_block", "table"),)
