# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures that eval.yaml names by `file:`."""

import json

import numpy as np
import pytest
import yaml

from harness_ros.capture.images import encode_png
from harness_ros.config import ConfigError, EvaluationConfig, load
from harness_ros.judges import Criterion

NOISE = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)


def raw(reference, objects=None):
    changed = {"view": "tray", "reference": reference, "min_fraction": 0.2}
    return {
        "version": 1,
        "cameras": {"tray": {"topic": "image"}},
        "judges": {"deterministic": {}},
        "objects": objects or {},
        "tools": {
            "open": {
                "post_condition": "The drawer is open.",
                "judge": "deterministic",
                "cameras": ["tray"],
                "arguments": {"target": {"one_of": list(objects)}} if objects else {},
                "criterion": {"success": {"any": [{"changed": changed}]}},
            }
        },
    }


@pytest.fixture
def write(tmp_path):
    """write(reference, objects) -> path of an eval.yaml beside references/drawer.png."""
    folder = tmp_path / "references"
    folder.mkdir()
    (folder / "drawer.png").write_bytes(encode_png(NOISE))

    def written(reference, objects=None):
        path = tmp_path / "eval.yaml"
        path.write_text(yaml.safe_dump(raw(reference, objects)))
        return path

    return written


def pixels(config, arguments=None):
    criterion = Criterion.model_validate_json(config.criterion("open", arguments or {}))
    (check,) = criterion.checks()
    return check.parameters.reference.pixels


def test_a_picture_is_found_relative_to_the_file(write, tmp_path, monkeypatch):
    path = write("file:references/drawer.png")
    monkeypatch.chdir("/")
    np.testing.assert_array_equal(pixels(load(path)), NOISE)
    monkeypatch.chdir(tmp_path)
    np.testing.assert_array_equal(pixels(load("eval.yaml")), NOISE)


def test_a_picture_may_have_an_absolute_path(write, tmp_path):
    path = write(f"file:{tmp_path}/references/drawer.png")
    np.testing.assert_array_equal(pixels(load(path)), NOISE)


def test_a_criterion_needs_the_file_no_more(write, tmp_path):
    config = load(write("file:references/drawer.png"))
    (tmp_path / "references" / "drawer.png").unlink()
    np.testing.assert_array_equal(pixels(config), NOISE)
    json.loads(config.criterion("open", {}))


def test_another_picture_makes_other_criteria(write, tmp_path):
    path = write("file:references/drawer.png")
    before = load(path).criteria_hash
    assert load(path).criteria_hash == before
    (tmp_path / "references" / "drawer.png").write_bytes(encode_png(NOISE[::-1]))
    assert load(path).criteria_hash != before


def test_each_object_may_have_a_picture_of_its_own(write, tmp_path):
    (tmp_path / "references" / "lid.png").write_bytes(encode_png(NOISE[::-1]))
    objects = {
        "drawer": {"closed": "file:references/drawer.png"},
        "lid": {"closed": "file:references/lid.png", "mesh": "file:meshes/lid.stl"},
    }
    config = load(write("{target.closed}", objects))
    np.testing.assert_array_equal(pixels(config, {"target": "drawer"}), NOISE)
    np.testing.assert_array_equal(pixels(config, {"target": "lid"}), NOISE[::-1])
    assert config.objects["lid"]["mesh"] == "file:meshes/lid.stl"


def test_a_configuration_without_a_path_keeps_what_is_written():
    config = EvaluationConfig.model_validate(raw("file:references/drawer.png"))
    assert "file:references/drawer.png" in config.criterion("open", {})
    assert len(config.criteria_hash) == 64


def error_of(path):
    with pytest.raises(ConfigError) as caught:
        load(path)
    return str(caught.value)


WHERE = "tools.open.criterion.success.any[0].changed.reference"


def test_a_missing_picture_names_file_key_and_value(write, tmp_path):
    path = write("file:references/none.png")
    assert error_of(path) == (
        f"{path}: {WHERE}: {tmp_path}/references/none.png: No such file or directory "
        "(value: 'file:references/none.png')"
    )


def test_a_missing_picture_of_an_object_names_the_object(write):
    path = write("{target.closed}", {"drawer": {"closed": "file:none.png"}})
    assert f"{path}: objects.drawer.closed: " in error_of(path)


def test_a_folder_is_no_picture(write):
    assert "references: Is a directory" in error_of(write("file:references"))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "0 bytes that begin with '' are neither PNG nor JPEG"),
        (b"GIF89a", "neither PNG nor JPEG"),
        (encode_png(NOISE)[:200], "drawer.png: "),
        (b"\x89PNG\r\n\x1a\n" + bytes(1_000_001), "1000009 bytes, at most 1000000 are allowed"),
    ],
)
def test_a_file_that_is_no_picture_is_an_error_with_its_path(write, tmp_path, data, said):
    (tmp_path / "references" / "drawer.png").write_bytes(data)
    message = error_of(write("file:references/drawer.png"))
    assert WHERE in message
    assert "references/drawer.png" in message
    assert said in message


def test_a_path_with_a_placeholder_says_what_to_write_instead(write):
    path = write("file:references/{target}.png", {"drawer": {}})
    message = error_of(path)
    assert WHERE in message
    assert "{argument.property}" in message


def test_each_wrong_picture_is_a_line(write):
    path = write("{target.closed}", {"a": {"closed": "file:a.png"}, "b": {"closed": "file:b.png"}})
    assert len(error_of(path).splitlines()) == 2
