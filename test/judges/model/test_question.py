# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The question about an Observation: what is said, what its key covers, when there is none."""

import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from harness_ros.capture.images import DECODERS
from harness_ros.contract import Clearance, EvaluationRequest, Observation, Signal, View
from harness_ros.judges.model.instruction import CLOSING
from harness_ros.judges.model.question import (
    Question,
    QuestionError,
    ask_about,
    criticise,
    messages,
    prompt_hash,
)
from harness_ros.judges.model.settings import ModelSettings, PriceSettings

CONDITION = "The cup stands on the tray."
GREY = np.full((24, 32, 3), 120, np.uint8)


def settings(**given):
    return ModelSettings(**{"type": "model", "model": "any", **given})


@pytest.fixture
def request_of(observe):
    """request_of({view: array}, {signal: value}, **fields) -> EvaluationRequest."""

    def made(images=None, signals=None, clearance=None, **fields):
        given = {"post_condition": CONDITION, "criterion": "", **fields}
        observation = observe({"front": GREY} if images is None else images, signals)
        if clearance is not None:
            observation = observation.model_copy(update={"clearance": clearance})
        return EvaluationRequest(observation=observation, **given)

    return made


def text_of(sent):
    """Everything of messages that is no picture."""
    system, user = sent
    parts = [part["text"] for part in user["content"] if part["type"] == "text"]
    return "\n".join([system["content"], *parts])


# What is said


def test_messages_are_instruction_question_each_caption_before_its_picture_and_a_last_word(
    request_of,
):
    request = request_of({"front": GREY, "top": GREY})
    question = ask_about(request, settings(detail="high"))
    system, user = messages(question, settings(detail="high"))
    assert (system["role"], system["content"]) == ("system", question.instruction)
    parts = user["content"]
    kinds = [part["type"] for part in parts]
    assert kinds == ["text", "text", "image_url", "text", "image_url", "text"]
    assert parts[0]["text"] == question.text
    assert 'view "front"' in parts[1]["text"]
    assert 'view "top"' in parts[3]["text"]
    assert parts[2]["image_url"]["url"].startswith("data:image/jpeg;base64,/9j/")
    assert parts[2]["image_url"]["detail"] == "high"
    assert parts[5]["text"] == CLOSING


def test_post_condition_is_a_json_string_on_the_first_line(request_of):
    first = ask_about(request_of(), settings()).text.splitlines()[0]
    assert json.loads(first.removeprefix("Post-condition: ")) == CONDITION


def test_instruction_asks_for_the_keys_and_statuses_that_are_allowed(request_of):
    question = ask_about(request_of(), settings())
    assert question.statuses == ("success", "failure", "inconclusive")
    keys = [f'- "{key}": ' for key in ("evidence", "failure_reason", "confidence", "status")]
    places = [question.instruction.index(key) for key in keys]
    assert places == sorted(places)
    assert '"status": one of "success", "failure", "inconclusive".' in question.instruction
    assert "process" not in question.instruction


def test_signals_have_units_and_ages_and_what_is_no_number_is_unknown(request_of):
    request = request_of()
    signals = (
        Signal(name="width", value=0.0421236, unit="m", stamp_ns=-11_000_000),
        Signal(name="force", value=math.nan, unit="N", stamp_ns=1),
        Signal(name="switch", value=1.0, unit="", stamp_ns=1),
        Signal(name="range", value=-math.inf, unit="m", stamp_ns=20_000_001),
    )
    observation = request.observation.model_copy(update={"signals": signals})
    text = ask_about(request.model_copy(update={"observation": observation}), settings()).text
    assert '- "width" = 0.0421236 "m", taken 0.011 s before the youngest view\n' in text
    assert '- "force" = unknown, taken with the youngest view\n' in text
    assert '- "switch" = 1 (no unit), ' in text
    assert '- "range" = -infinite "m", taken 0.020 s after the youngest view\n' in text


def test_clearance_is_said_in_metres(request_of):
    clearance = Clearance(front=0.5, left=math.nan, right=math.inf, rear=0.0)
    text = ask_about(request_of(clearance=clearance), settings()).text
    assert "front 0.5 m, left unknown, right nothing in reach, rear 0 m" in text


def test_context_of_the_configuration_is_part_of_the_instruction_in_quotes(request_of):
    context = 'The gripper is "blue".\nThe tray is grey.'
    instruction = ask_about(request_of(), settings(context=context)).instruction
    assert instruction.endswith(f": {json.dumps(context)}")


def test_nothing_is_said_of_the_run_beyond_post_condition_and_observation(request_of):
    request = request_of(signals={"width": 0.1})
    provenance = {"note": "SECRET-PROVENANCE"}
    observation = request.observation.model_copy(
        update={"provenance": provenance, "summary": "SECRET-SUMMARY", "run_id": "SECRET-RUN"}
    )
    criterion = json.dumps({"success": {"signal": {"name": "SECRET-CRITERION"}}})
    hidden = request.model_copy(update={"observation": observation, "criterion": criterion})
    assert "SECRET" not in str(messages(ask_about(hidden, settings()), settings()))


# Which views


def names(question):
    return [picture.caption.split('"')[1] for picture in question.pictures]


VIEWS = {"a": GREY, "b": GREY, "c": GREY, "d": GREY}


def test_views_are_those_of_the_observation_in_its_order_up_to_the_most(request_of):
    question = ask_about(request_of(VIEWS), settings())
    assert names(question) == ["a", "b", "c"]
    assert question.notes == ('views not shown, since at most 3 are: "d"',)
    assert f"Not shown: {question.notes[0]}\n" in question.text


def test_views_of_the_settings_are_shown_in_their_order(request_of):
    question = ask_about(request_of(VIEWS), settings(views=("d", "x", "b", "d"), max_views=2))
    assert names(question) == ["d", "b"]
    assert question.notes == (
        'views that are wanted and not in the observation: "x"',
        'views not shown, since the judge does not name them: "a", "c"',
    )


def test_outcome_region_of_a_view_that_is_not_shown_is_told_of(request_of):
    request = request_of(VIEWS, outcome_regions={"d": (0, 0, 0.5, 0.5)})
    notes = ask_about(request, settings()).notes
    assert notes[-1] == 'outcome regions not shown, since their views are not: "d"'


# Process


def criterion(**branches):
    check = {"signal": {"name": "width", "min": 0.1}}
    return json.dumps({"success": check, "process": None, **branches})


def test_process_may_be_answered_where_the_criterion_says_what_it_means(request_of):
    branch = {"when": {"signal": {"name": "left", "min": 1}}, "reason": 'blocks are "left"'}
    question = ask_about(request_of(criterion=criterion(process=branch)), settings())
    assert question.statuses[-1] == "process"
    assert '"process" means: "blocks are \\"left\\""\n' in question.text
    assert '- "process": ' in question.instruction


def test_process_may_be_answered_where_the_post_condition_says_what_it_means(request_of):
    condition = "No block is on the table. Process: blocks are left and the box has room."
    question = ask_about(request_of(post_condition=condition), settings())
    assert question.statuses[-1] == "process"


@pytest.mark.parametrize(
    "given", [criterion(), "", "[]", "{", '{"process": 3}', "[" * 100_000, '{"process": {}}']
)
def test_process_is_not_offered_otherwise(request_of, given):
    assert "process" not in ask_about(request_of(criterion=given), settings()).statuses


# The critic


def test_critic_sees_the_same_pictures_and_values_and_not_the_post_condition(request_of):
    question = ask_about(request_of(signals={"width": 0.1}), settings())
    critic = criticise(question, ["the cup is on the tray", 'a "} b'], settings())
    assert critic.pictures == question.pictures
    assert CONDITION not in text_of(messages(critic, settings()))
    assert '"width" = 0.1' in critic.text
    assert critic.text.endswith('Claims, 2 in number:\n1. "the cup is on the tray"\n2. "a \\"} b"')
    assert critic.statuses == ()
    assert '"visible": true or false' in critic.instruction
    assert critic.key != question.key


@pytest.mark.parametrize("evidence", [[], ["x"] * 51, ["x" * 2001]])
def test_evidence_that_cannot_be_checked_is_an_error(request_of, evidence):
    with pytest.raises(QuestionError, match="evidence"):
        criticise(ask_about(request_of(), settings()), evidence, settings())


def test_critic_is_asked_of_each_claim(request_of):
    question = ask_about(request_of(), settings())
    keys = {criticise(question, claims, settings()).key for claims in (["a"], ["b"], ["a", "b"])}
    assert len(keys) == 3


# Errors


@pytest.mark.parametrize("condition", ["", " \n"])
def test_empty_post_condition_is_an_error(request_of, condition):
    with pytest.raises(QuestionError, match="the post-condition is empty"):
        ask_about(request_of(post_condition=condition), settings())


def test_post_condition_that_is_too_long_is_an_error_and_not_cut(request_of):
    assert ask_about(request_of(post_condition="x" * 4000), settings())
    with pytest.raises(QuestionError, match="4001 characters; at most 4000"):
        ask_about(request_of(post_condition="x" * 4001), settings())


def test_observation_without_a_wanted_view_is_an_error_that_says_which_there_are(request_of):
    with pytest.raises(QuestionError, match='views wanted: x, y; in the Observation: "front"'):
        ask_about(request_of(), settings(views=("x", "y")))
    with pytest.raises(QuestionError, match=r"views wanted: at least one; .* none"):
        ask_about(request_of({}), settings())


def test_one_view_that_cannot_be_decoded_is_an_error_though_another_can(request_of):
    request = request_of({"front": GREY, "top": GREY})
    front, top = request.observation.views
    short = top.model_copy(update={"data": b"12"})
    observation = request.observation.model_copy(update={"views": (front, short)})
    with pytest.raises(QuestionError, match="/top/image_raw"):
        ask_about(request.model_copy(update={"observation": observation}), settings())
    # Unless nobody wants to see it.
    assert ask_about(
        request.model_copy(update={"observation": observation}), settings(views=("front",))
    )


# Any Observation

STAMPS = st.integers(0, 2**62)
NAMES = st.sampled_from(["front", "top"]) | st.text(max_size=300)
SIDES = st.integers(1, 9)


PIXEL = {"rgb8": 3, "bgra8": 4, "mono8": 1, "mono16": 2, "16UC1": 2, "32FC1": 4}
"""Bytes of one."""


def view_of(name, stamp_ns, encoding, size, step, data):
    return View(
        name=name,
        stamp_ns=stamp_ns,
        frame_id="camera",
        height=size[1],
        width=size[0],
        encoding=encoding,
        step=step,
        is_bigendian=False,
        data=data,
        topic="/camera",
    )


@st.composite
def sound_views(draw):
    """Views that can be decoded."""
    encoding, width, height = draw(st.sampled_from(sorted(PIXEL))), draw(SIDES), draw(SIDES)
    step = PIXEL[encoding] * width
    data = draw(st.binary(min_size=step * height, max_size=step * height))
    return view_of(draw(NAMES), draw(STAMPS), encoding, (width, height), step, data)


ANY_VIEWS = st.builds(
    view_of,
    NAMES,
    STAMPS,
    st.sampled_from([*sorted(DECODERS), "?"]),
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
    st.integers(0, 40),
    st.binary(max_size=200),
)
SIGNALS = st.builds(
    Signal, name=NAMES, value=st.floats(), unit=st.text(max_size=60), stamp_ns=STAMPS
)
CLEARANCES = st.builds(
    Clearance, front=st.floats(), left=st.floats(), right=st.floats(), rear=st.floats()
)


def observations(views, least):
    return st.builds(
        Observation,
        run_id=st.just("run"),
        captured_at_ns=STAMPS,
        views=st.lists(views, min_size=least, max_size=4).map(tuple),
        signals=st.lists(SIGNALS, max_size=3).map(tuple),
        clearance=st.none() | CLEARANCES,
    )


SOUND = observations(sound_views(), 1)
ANY = SOUND | observations(ANY_VIEWS | sound_views(), 0)
EDGES = st.sampled_from([0.0, 0.2, 0.5])
INSIDE = st.tuples(EDGES, EDGES, EDGES, EDGES).map(
    lambda edges: (edges[0], edges[1], edges[0] + edges[2] or 1.0, edges[1] + edges[3] or 1.0)
)
REGIONS = st.dictionaries(NAMES, INSIDE | st.tuples(*[st.floats()] * 4), max_size=2)
REQUESTS = st.builds(
    EvaluationRequest,
    post_condition=st.just(CONDITION) | st.text(max_size=50),
    criterion=st.text(max_size=20),
    observation=ANY,
    outcome_regions=REGIONS,
)
SLOW = hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@SLOW
@given(REQUESTS, st.sampled_from([settings(), settings(pixel_budget=4096, max_views=1)]))
def test_any_request_is_a_question_that_can_be_sent_or_a_question_error(request, given):
    try:
        question = ask_about(request, given)
    except QuestionError as error:
        assert str(error)
        return
    sent = json.dumps(messages(question, given), allow_nan=False)
    json.loads(sent)
    text_of(messages(question, given)).encode("utf-8")
    assert 1 <= len(question.pictures) <= 2 * given.max_views
    assert question.key == ask_about(request, given).key


@SLOW
@given(SOUND, st.integers(-(2**60), 2**60))
def test_stamps_that_are_all_shifted_ask_the_same(observation, shift):
    def shifted(item):
        return item.model_copy(update={"stamp_ns": item.stamp_ns + shift})

    later = observation.model_copy(
        update={
            "run_id": "another",
            "captured_at_ns": observation.captured_at_ns + shift,
            "views": tuple(map(shifted, observation.views)),
            "signals": tuple(map(shifted, observation.signals)),
        }
    )
    first, second = (
        ask_about(
            EvaluationRequest(post_condition=CONDITION, criterion="", observation=seen), settings()
        )
        for seen in (observation, later)
    )
    assert first.key == second.key


# The key and the hash of the prompt


def key(request, **given):
    return ask_about(request, settings(**given)).key


def changed_byte(request):
    (view,) = request.observation.views
    data = bytes([view.data[0] ^ 1]) + view.data[1:]
    observation = request.observation.model_copy(
        update={"views": (view.model_copy(update={"data": data}),)}
    )
    return request.model_copy(update={"observation": observation})


def test_key_changes_with_whatever_can_change_the_answer(request_of):
    request = request_of({"front": np.full((200, 300, 3), 120, np.uint8)})
    asked = [
        {},
        {"model": "other"},
        {"context": "The tray is grey."},
        {"jpeg_quality": 86},
        {"temperature": 0.5},
        {"temperature": None},
        {"seed": 3},
        {"detail": "low"},
        {"max_output_tokens": 500},
    ]
    keys = [key(request, **given) for given in asked]
    others = [
        request.model_copy(update={"post_condition": "The cup stands on the tray"}),
        request.model_copy(update={"outcome_regions": {"front": (0, 0, 0.5, 0.5)}}),
        request.model_copy(update={"outcome_regions": {"front": (0, 0, 0.5, 0.6)}}),
        request_of(),
        request_of(signals={"width": 0.1}),
        request_of({"top": GREY}),
        request_of({"front": GREY, "top": GREY}),
        changed_byte(request),
    ]
    keys += [key(other) for other in others]
    assert len(set(keys)) == len(keys)


def test_key_does_not_change_with_what_the_answer_does_not_depend_on(request_of):
    same = [
        {},
        {"base_url": "http://127.0.0.1:1/v1"},
        {"api_key_env": None},
        {"timeout_s": 3.0, "attempts": 1, "parallel": 1},
        {"prices": PriceSettings(input_per_million=1, output_per_million=1)},
        {"votes": 3, "critic": True},
        {"pixel_budget": 100_000},
    ]
    assert len({key(request_of(), **given) for given in same}) == 1


def test_key_is_read_from_what_is_asked_alone(request_of):
    question = ask_about(request_of(), settings())
    other = question.model_copy(update={"notes": ("x",), "facts": "y"})
    assert isinstance(other, Question)
    assert other.key == question.key
    assert question.model_copy(update={"closing": "x"}).key != question.key


def test_key_does_not_depend_on_the_bytes_that_a_library_made_of_a_frame(request_of):
    question = ask_about(request_of(), settings())
    (picture,) = question.pictures
    others = (picture.model_copy(update={"jpeg": b"other"}),)
    assert question.model_copy(update={"pictures": others}).key == question.key


def test_hash_of_the_prompt_changes_with_what_is_sent_and_not_with_how():
    changes = [
        {},
        {"context": "x"},
        {"views": ("a",)},
        {"max_views": 2},
        {"pixel_budget": 5000},
        {"jpeg_quality": 80},
        {"detail": "low"},
        {"temperature": 1.0},
        {"seed": 1},
        {"votes": 3},
        {"rule": "all"},
        {"critic": True},
        {"structured_output": "none"},
        {"max_output_tokens": 99},
    ]
    hashes = {prompt_hash(settings(**given)) for given in changes}
    assert len(hashes) == len(changes)
    same = [
        {"model": "other"},
        {"base_url": "http://x/v1", "api_key_env": "X", "timeout_s": 1.0, "attempts": 1},
        {"abstain": {"confidence": 0.9}, "error_card": "card.json"},
        {"prices": {"input_per_million": 1, "output_per_million": 1}, "spending_cap": 1.0},
        {"cassette": {"mode": "replay", "folder": "x"}},
    ]
    assert {prompt_hash(settings(**given)) for given in same} == {prompt_hash(settings())}
