# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What counts can and cannot say: rates, intervals, bounds, corrections; docs/statistics.md."""

from harness_ros.statistics.estimates import (
    CONFIDENCE,
    ClusteredMean,
    CorrectedRate,
    Interval,
    NotEstimableError,
    at_most,
    clustered_mean,
    cohen_kappa,
    pass_at_k,
    pass_hat_k,
    rogan_gladen,
    trials_to_exclude,
    upper_bound,
    wilson_interval,
    zero_events_upper_bound,
)
from harness_ros.statistics.rate import Rate, rate_of

__all__ = [
    "CONFIDENCE",
    "ClusteredMean",
    "CorrectedRate",
    "Interval",
    "NotEstimableError",
    "Rate",
    "at_most",
    "clustered_mean",
    "cohen_kappa",
    "pass_at_k",
    "pass_hat_k",
    "rate_of",
    "rogan_gladen",
    "trials_to_exclude",
    "upper_bound",
    "wilson_interval",
    "zero_events_upper_bound",
]
