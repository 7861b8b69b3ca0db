# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From serialized frames to the Observation of a run: the same code live and from a bag.

`sample` names what arrives, `matcher` says which frames form a set, `session` collects the
evidence of one run, `decoding` turns the chosen bytes into views and signals, `images` decodes
pixels.
"""
