# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import pytest

from harness_ros.placeholders import PlaceholderError, fill, names

OBJECTS = {
    "red_block": {"tag": 7, "hue": [0, 10], "size": {"x_m": 0.04, "parts": {"lid": "red lid"}}},
    "bin": {"relation": "inside", "open": True, "owner": None},
}


def test_an_argument_is_put_into_a_sentence():
    assert fill("the {object} is in the {object}.", {"object": "cup"}, {}) == (
        "the cup is in the cup."
    )


def test_a_property_of_the_named_object_is_put_in():
    assert fill("tag {object.tag}", {"object": "red_block"}, OBJECTS) == "tag 7"


def test_a_property_may_be_nested():
    arguments = {"object": "red_block"}
    assert fill("{object.size.parts.lid}", arguments, OBJECTS) == "red lid"
    assert fill("at {object.size.x_m} m", arguments, OBJECTS) == "at 0.04 m"


@pytest.mark.parametrize(
    ("template", "value"),
    [("{o.tag}", 7), ("{o.hue}", [0, 10]), ("{o.size.x_m}", 0.04), ("{d.open}", True)],
)
def test_a_string_that_is_one_placeholder_keeps_the_type(template, value):
    filled = fill(template, {"o": "red_block", "d": "bin"}, OBJECTS)
    assert filled == value
    assert type(filled) is type(value)


def test_a_property_that_is_null_stays_null():
    assert fill({"who": "{d.owner}"}, {"d": "bin"}, OBJECTS) == {"who": None}


def test_lists_and_mappings_are_filled_inside_and_other_values_stay():
    template = {"add": [["{d.relation}", "{o}", "{d}"]], "limit": 3, "{o}": None}
    assert fill(template, {"o": "red_block", "d": "bin"}, OBJECTS) == {
        "add": [["inside", "red_block", "bin"]],
        "limit": 3,
        "{o}": None,
    }


def test_a_value_that_looks_like_a_placeholder_is_not_filled_again():
    assert fill("{a} {b}", {"a": "{b}", "b": "secret"}, {}) == "{b} secret"


def test_filling_leaves_the_template_as_it_was():
    template = {"add": [["on", "{o}", "table"]]}
    fill(template, {"o": "cup"}, {})
    assert template == {"add": [["on", "{o}", "table"]]}


@pytest.mark.parametrize(
    ("template", "arguments", "words"),
    [
        ("{thing}", {"object": "cup"}, ["{thing}", "['object']"]),
        ("{object.tag}", {"object": "cup"}, ["{object.tag}", "'cup'", "['bin', 'red_block']"]),
        ("{object.weight}", {"object": "bin"}, ["objects.bin", "'weight'", "'relation'"]),
        ("{object.size.y_m}", {"object": "red_block"}, ["'y_m'", "['parts', 'x_m']"]),
        ("{object.tag.bits}", {"object": "red_block"}, ["'bits'", "none"]),
    ],
)
def test_what_is_missing_is_named(template, arguments, words):
    with pytest.raises(PlaceholderError) as error:
        fill(["nothing here", template], arguments, OBJECTS)
    for word in words:
        assert word in str(error.value)


def test_every_placeholder_of_a_template_is_listed():
    template = {"a": "{x} and {y.tag.id}", "b": ["{z.hue}", 3, None, ("{x}",)]}
    assert list(names(template)) == [("x", ""), ("y", "tag.id"), ("z", "hue"), ("x", "")]


@pytest.mark.parametrize("text", ["{}", "{ a }", "{1a}", "{a.}", "{a", "a}", "{a-b}"])
def test_braces_that_are_no_placeholder_stay(text):
    assert fill(text, {"a": "cup"}, {}) == text
    assert list(names(text)) == []
