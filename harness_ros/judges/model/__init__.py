# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The model judge: a vision-language model behind an OpenAI-compatible endpoint."""
