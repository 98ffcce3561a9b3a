"""What every team has spent and answered, in SQLite: nothing is lost when the server stops."""

import sqlite3
from pathlib import Path
from typing import NamedTuple

SCHEMA = """
CREATE TABLE IF NOT EXISTS spent (
    team TEXT, model INTEGER, queries INTEGER NOT NULL, PRIMARY KEY (team, model));
CREATE TABLE IF NOT EXISTS answers (
    team TEXT, model INTEGER, queries INTEGER NOT NULL, started TEXT NOT NULL, agreement REAL,
    claim TEXT, PRIMARY KEY (team, model));
"""


class Row(NamedTuple):
    """One line of the leaderboard; the agreement is None until the labels have been handed in."""

    team: str
    model: int
    queries: int
    agreement: float | None
    claim: str | None


class Ledger:
    """The counts of all teams.

    Parameters
    ----------
    path : path-like
        The database; it is made if it is not there. ':memory:' keeps nothing.
    """

    def __init__(self, path: str | Path):
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.executescript(SCHEMA)

    def spent(self, team: str, model: int) -> int:
        """Queries of a team to a model so far."""
        row = self._db.execute("SELECT queries FROM spent WHERE team = ? AND model = ?",
                               (team, model)).fetchone()
        return row[0] if row else 0

    def spend(self, team: str, model: int, queries: int, budget: int) -> bool:
        """Count some queries, all or none: False if they exceed the budget."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            if self.spent(team, model) + queries > budget:
                return False
            self._db.execute(
                "INSERT INTO spent VALUES (?, ?, ?) ON CONFLICT (team, model) "
                "DO UPDATE SET queries = queries + excluded.queries", (team, model, queries))
        return True

    def start_final(self, team: str, model: int) -> None:
        """The team has asked for the points of the final test: no query of hers counts after."""
        self._db.execute(
            "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, datetime('now'), NULL, NULL)",
            (team, model, self.spent(team, model)))

    def final(self, team: str, model: int) -> Row | None:
        """Where the team stands in the final test of a model, None before it has begun."""
        row = self._db.execute("SELECT team, model, queries, agreement, claim FROM answers "
                               "WHERE team = ? AND model = ?", (team, model)).fetchone()
        return Row(*row) if row else None

    def finish(self, team: str, model: int, agreement: float, claim: str) -> None:
        """Enter the result of a final test that has been started."""
        self._db.execute("UPDATE answers SET agreement = ?, claim = ? WHERE team = ? AND model = ?",
                         (agreement, claim, team, model))

    def board(self) -> list[Row]:
        """All results: by model, then the best agreement, then the fewest queries."""
        return [Row(*row) for row in self._db.execute(
            "SELECT team, model, queries, agreement, claim FROM answers WHERE agreement NOT NULL "
            "ORDER BY model, agreement DESC, queries, team")]

    def close(self) -> None:
        self._db.close()
