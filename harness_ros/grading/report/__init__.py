# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The report of offline grading: one HTML file, read without a server and without the network.

`page/` holds its template, style and scripts. Every text of a bag is escaped and made visible
before it gets there, and the page's Content Security Policy allows its own script alone.
"""

from harness_ros.grading.report.data import Label, ReportData, ReportError, ReportView
from harness_ros.grading.report.pictures import picture_of, view_of
from harness_ros.grading.report.writing import write_report

__all__ = [
    "Label",
    "ReportData",
    "ReportError",
    "ReportView",
    "picture_of",
    "view_of",
    "write_report",
]
