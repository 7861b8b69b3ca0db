# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What may be spent: by one judge, or by those of several processes together."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from harness_ros.contract import HarnessError

WAIT_S = 5.0
"""For processes that write at the same moment; each takes about a millisecond."""


class FundsError(HarnessError):
    """An account of several processes that cannot be used."""


class Taken(NamedTuple):
    """What is gone of a cap."""

    spent: float
    set_aside: float
    """For requests that are under way."""

    def leaves(self, cap: float, cost: float) -> bool:
        """Whether a request that may cost so much stays below a cap."""
        total = self.spent + self.set_aside
        return total < cap and total + cost <= cap


class Funds(Protocol):
    """Where the money for requests comes from; may be used from several threads."""

    def set_aside(self, cost: float, cap: float | None) -> Taken | None:
        """Sets aside what a request may cost; where a cap does not allow it, what was taken.

        Raises:
            FundsError: nobody knows what was taken.
        """

    def settle(self, estimate: float, cost: float) -> None:
        """A request for which so much was set aside has cost so much.

        Raises:
            FundsError: it cannot be written down, and stays set aside.
        """


class OwnFunds:
    """Those of one judge."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken = Taken(0.0, 0.0)

    def set_aside(self, cost: float, cap: float | None) -> Taken | None:
        """See Funds."""
        with self._lock:
            taken = self._taken
            if cap is not None and not taken.leaves(cap, cost):
                return taken
            self._taken = Taken(taken.spent, taken.set_aside + cost)
        return None

    def settle(self, estimate: float, cost: float) -> None:
        """See Funds."""
        with self._lock:
            spent, aside = self._taken
            self._taken = Taken(spent + cost, max(0.0, aside - estimate))


class SharedFunds:
    """Those of the judges of one name in several processes, in a file that `open_accounts` makes.

    What a process had set aside when it was killed stays set aside.
    """

    def __init__(self, path: Path, judge: str) -> None:
        self._path, self._judge = path, judge

    def set_aside(self, cost: float, cap: float | None) -> Taken | None:
        """See Funds."""
        with self._account() as account:
            row = account.execute(
                "SELECT spent, set_aside FROM account WHERE judge = ?", (self._judge,)
            ).fetchone()
            taken = Taken(*row) if row else Taken(0.0, 0.0)
            if cap is not None and not taken.leaves(cap, cost):
                return taken
            self._add(account, 0.0, cost)
        return None

    def settle(self, estimate: float, cost: float) -> None:
        """See Funds."""
        with self._account() as account:
            self._add(account, cost, -estimate)

    def _add(self, account: sqlite3.Connection, spent: float, set_aside: float) -> None:
        account.execute(
            "INSERT INTO account VALUES (:judge, :spent, max(0.0, :aside)) ON CONFLICT (judge) DO "
            "UPDATE SET spent = spent + :spent, set_aside = max(0.0, set_aside + :aside)",
            {"judge": self._judge, "spent": spent, "aside": set_aside},
        )

    @contextmanager
    def _account(self) -> Iterator[sqlite3.Connection]:
        """The file, which nobody else reads or writes meanwhile."""
        try:
            # Not made where it is not there: each machine would have an account of its own.
            address = f"{self._path.resolve().as_uri()}?mode=rw"
            opened = sqlite3.connect(address, timeout=WAIT_S, isolation_level=None, uri=True)
            with closing(opened) as account:
                account.execute("BEGIN IMMEDIATE")
                yield account
                account.execute("COMMIT")
        except sqlite3.Error as error:
            raise FundsError(
                f"{self._path}: what was spent cannot be shared with other processes: {error}"
            ) from None


class Purse:
    """Funds of judges by their names: a judge that is made several times has them once.

    Args:
        accounts: file of `open_accounts`, where those of other processes have them too.
    """

    def __init__(self, accounts: Path | None = None) -> None:
        self._accounts = accounts
        self._funds: dict[str, Funds] = {}

    def of(self, judge: str) -> Funds:
        """The funds of the judge of that name."""
        if judge not in self._funds:
            accounts = self._accounts
            self._funds[judge] = SharedFunds(accounts, judge) if accounts else OwnFunds()
        return self._funds[judge]


@contextmanager
def open_accounts(folder: Path) -> Iterator[Path]:
    """A file of accounts in which nothing is spent yet; there while this lasts.

    What an earlier one left in the folder when it was killed is removed. The name is a new one: a
    worker of that time, which still waits for an answer, settles nothing here.

    Raises:
        FundsError: the file cannot be made.
    """
    path = folder / f"spending-{secrets.token_hex(4)}.sqlite"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _remove(folder)
        with closing(sqlite3.connect(path)) as file:
            file.execute(
                "CREATE TABLE account (judge TEXT PRIMARY KEY, spent REAL, set_aside REAL)"
            )
    except (OSError, sqlite3.Error) as error:
        raise FundsError(f"{path}: no account of what is spent: {error}") from None
    try:
        yield path
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    for path in folder.glob("spending-*.sqlite*"):
        path.unlink(missing_ok=True)
