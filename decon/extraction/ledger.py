"""What every stage has cost: queries booked under names, and a progress bar."""

from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from ..oracles.oracle import Oracle
from .settings import SETTINGS


class Ledger:
    """The queries of an oracle, stage by stage.

    Parameters
    ----------
    oracle : Oracle
    progress : bool
        Show a progress bar when the work takes more than a few seconds.

    Attributes
    ----------
    queries : dict
        Queries spent in every stage, in the order in which they began.

    Examples
    --------
    >>> oracle = Oracle(lambda X: X[:, 0] > 0, dimension=1, positive=True)
    >>> ledger = Ledger(oracle, progress=False)
    >>> with ledger.stage("features"):
    ...     labels = oracle([[1.], [2.]])
    >>> ledger, ledger.queries
    (Ledger(2 queries: features), {'features': 2})
    """

    def __init__(self, oracle: Oracle, progress: bool = True):
        self.oracle = oracle
        self.queries: dict[str, int] = {}
        self._booked = 0
        self.bar = tqdm(unit=" queries", delay=3, disable=not progress, leave=False)

    def __repr__(self) -> str:
        return f"Ledger({sum(self.queries.values()):,} queries: {', '.join(self.queries)})"

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the queries of a block of code under a name; of a block in it, under its own.

        Parameters
        ----------
        name : str
            What the stage is called in `queries`.

        Yields
        ------
        None
        """
        before, booked = self.oracle.queries, self._booked
        self.bar.set_description(name, refresh=False)
        try:
            yield
        finally:
            spent = self.oracle.queries - before - (self._booked - booked)
            self._booked += spent
            self.queries[name] = self.queries.get(name, 0) + spent
            self.bar.update(spent)

    def expect(self, queries: float, what: str) -> None:
        """Say how many queries the next step will cost, if they are many and progress is shown.

        Parameters
        ----------
        queries : float
            An estimate.
        what : str
            What they are for.
        """
        if queries >= SETTINGS.worth_saying and not self.bar.disable:
            self.bar.write(f"{what}: about {round(queries, -3):,.0f} queries")

    def discard(self) -> None:
        """Count all that has been spent so far as discarded: the search begins anew."""
        if self.queries:
            self.queries = {"discarded": sum(self.queries.values())}

    def close(self) -> None:
        """Remove the progress bar."""
        self.bar.close()
