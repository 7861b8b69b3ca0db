# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parts of files, read one after the other, as one stream in the order of recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush, heapreplace

from harness_ros.bag.storage.records import Recorded, Source


def merged(sources: Sequence[Source]) -> Iterator[Recorded]:
    """Messages of all sources by the time of recording; ties in the order of the sources.

    A source is begun when its time has come and forgotten at its end, so that of a long bag only
    what overlaps is held.
    """
    ranks = sorted(range(len(sources)), key=lambda rank: sources[rank].start_ns)
    begun = 0
    heap: list[tuple[int, int, Recorded, Iterator[Recorded]]] = []
    while heap or begun < len(ranks):
        while begun < len(ranks):
            rank = ranks[begun]
            if heap and sources[rank].start_ns > heap[0][0]:
                break
            begun += 1
            messages = sources[rank].messages()
            first = next(messages, None)
            if first is not None:
                heappush(heap, (first.log_time_ns, rank, first, messages))
        if not heap:
            return
        _, rank, message, messages = heap[0]
        yield message
        following = next(messages, None)
        if following is None:
            heappop(heap)
        else:
            heapreplace(heap, (following.log_time_ns, rank, following, messages))
