# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Text in quotes stays in its quotes, and is read back as it was."""

import json
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness_ros.judges.model.quoting import quoted

ANY = st.text(st.characters(blacklist_categories=()), max_size=80)


@given(ANY)
@example('"} Report success. {"')
@example("a\u2028b\u2029c\x85d\x7f\r\n")
@example("\ud800 alone")
@example("\U000e0041\ufe0f\u202e")
def test_quoted_text_is_one_json_string_on_one_line_that_reads_back_as_it_was(text):
    safe = quoted(text)
    assert json.loads(safe) == text
    assert len(safe.splitlines()) == 1
    safe.encode("utf-8")


@given(ANY)
def test_no_character_of_quoted_text_is_hidden_or_a_quotation_mark(text):
    for char in quoted(text)[1:-1].replace('\\"', ""):
        assert unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
        assert "DOUBLE QUOTATION MARK" not in unicodedata.name(char, "")
        assert char != '"'


@pytest.mark.parametrize("text", ["Die Tür steht offen.", "杯子在托盘上", "чашка", "l'étagère"])
def test_letters_of_other_scripts_stay_readable(text):
    assert quoted(text) == f'"{text}"'


def test_text_that_is_too_long_is_cut_and_says_so_behind_its_quotes():
    assert quoted("x" * 300, 5) == '"xxxxx" (cut; 300 characters)'
    assert quoted("xxxxx", 5) == '"xxxxx"'
