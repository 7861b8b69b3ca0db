# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a judge's requests took since it was started, and the cap on what they may cost."""

from __future__ import annotations

import threading
from contextlib import suppress

from harness_ros.contract import HarnessError, Record, Usage
from harness_ros.judges.model.funds import Funds, FundsError, OwnFunds, Taken
from harness_ros.judges.model.settings import PriceSettings

CHARACTERS_PER_TOKEN = 3
"""Of the text; English has about four."""
PIXELS_PER_TOKEN = 500
"""Of pictures; models count one token for 750 to 1000 pixels."""


class CapReachedError(HarnessError):
    """A request that may cost more than is left under the spending cap."""


class Account(Record):
    """What a judge took since it was started."""

    calls: int = 0
    """Requests that were sent, repeated ones included."""
    replayed: int = 0
    """Answers that came from a cassette, and cost nothing."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    currency: str = ""
    """Empty where the configuration has no prices: then `cost` says nothing."""
    spending_cap: float | None = None
    exhausted: bool = False
    """A request was kept back because of the cap."""


class Bill:
    """What one judgement took."""

    def __init__(self) -> None:
        self._usages: list[Usage] = []

    def add(self, usage: Usage) -> None:
        """Adds what a request took."""
        self._usages.append(usage)

    @property
    def total(self) -> Usage:
        """All so far."""
        return sum(list(self._usages), Usage())


class Spending:
    """The account of a judge; may be used from several threads.

    Before a request, what it may cost at most is set aside: of requests that are under way at the
    same time, none can slip past the cap.

    Args:
        funds: what the cap is of; without, it is of this judge alone.
    """

    def __init__(
        self, prices: PriceSettings | None, cap: float | None, funds: Funds | None = None
    ) -> None:
        self._prices = prices
        self._cap = cap
        self._funds = funds or OwnFunds()
        self._lock = threading.Lock()
        self._usage = Usage()
        self._replayed = 0
        self._exhausted = False

    @property
    def account(self) -> Account:
        """What was taken so far."""
        with self._lock:
            return Account(
                **self._usage.model_dump(),
                replayed=self._replayed,
                currency=self._prices.currency if self._prices else "",
                spending_cap=self._cap,
                exhausted=self._exhausted,
            )

    def replay(self) -> None:
        """Counts an answer that came from a cassette."""
        with self._lock:
            self._replayed += 1

    def reserve(self, input_tokens: int, output_tokens: int, bill: Bill) -> Reservation:
        """Sets aside what a request may cost at most.

        Raises:
            CapReachedError: that is more than is left.
            FundsError: nobody knows what is left.
        """
        estimate = Usage(
            calls=1,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cost=self.cost(input_tokens, output_tokens),
        )
        taken = self._funds.set_aside(estimate.cost, self._cap)
        if taken is not None:
            with self._lock:
                self._exhausted = True
            raise CapReachedError(self._words(taken, estimate.cost))
        return Reservation(self, estimate, bill)

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """By the prices; 0 where there are none."""
        if self._prices is None:
            return 0.0
        million = 1_000_000
        return (
            input_tokens * self._prices.input_per_million / million
            + output_tokens * self._prices.output_per_million / million
        )

    def settle(self, estimate: Usage, taken: Usage) -> None:
        """Takes what a request really took instead of what was set aside for it."""
        with self._lock:
            self._usage += taken
        # Where it cannot be written down, the estimate stays set aside: the answer is no worse.
        with suppress(FundsError):
            self._funds.settle(estimate.cost, taken.cost)

    def _words(self, taken: Taken, estimate: float) -> str:
        currency = self._prices.currency if self._prices else ""
        aside = f", {taken.set_aside:.4g} are set aside" if taken.set_aside else ""
        return (
            f"spending_cap is {self._cap:g} {currency}: {taken.spent:.4g} are spent since the "
            f"judge was started{aside}, and one more request may cost {estimate:.4g}"
        )


class Reservation:
    """What is set aside for one request; used with `with`, behind which it is settled.

    Where nothing else is said the request may have been answered, and the estimate is charged.
    """

    def __init__(self, spending: Spending, estimate: Usage, bill: Bill) -> None:
        self._spending = spending
        self._estimate = estimate
        self._bill = bill
        self._taken = Usage(calls=1, cost=estimate.cost)

    def __enter__(self) -> Reservation:
        return self

    def __exit__(self, *_: object) -> None:
        self._spending.settle(self._estimate, self._taken)
        self._bill.add(self._taken)

    def took(self, input_tokens: int | None, output_tokens: int | None) -> None:
        """The endpoint answered; where it does not count tokens, the estimate is charged."""
        if input_tokens is not None and output_tokens is not None:
            cost = self._spending.cost(input_tokens, output_tokens)
            self._taken = Usage(
                calls=1, input_tokens=input_tokens, output_tokens=output_tokens, cost=cost
            )

    def nothing(self) -> None:
        """The endpoint did not take the request."""
        self._taken = Usage(calls=1)
