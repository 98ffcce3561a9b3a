"""The server of the sealed models: labels for teams with a key, counted; a final test; a board.

    GET  /models             what a team is told of each model, and what it has left
    POST /labels/NUMBER      {"points": [[...], ...]} -> {"labels": [...], "left": n}
    POST /final/NUMBER       ends the queries to a model -> {"points": [...]}, always the same
    POST /answer/NUMBER      {"labels": [...], "claim": "..."} -> {"agreement": share}, once
    GET  /                   the leaderboard, for a browser

All but the last need the header `Authorization: Bearer KEY`. An error has a status of its own and
{"error": "what is wrong"}. One process answers one request after the other, and counts a query
before it answers it, so that no count is lost.
"""

import hashlib
import html
import json

import numpy as np
from tornado import web

from .ledger import Ledger
from .models import EXAMPLES, Model

MOST_POINTS = 2000  # of a request
MOST_BYTES = 8_000_000
FINAL_POINTS = 2000
LONGEST_CLAIM = 2000  # characters


class Refused(Exception):
    """A request that cannot be answered: its HTTP status, and what to tell the team."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


class Seals:
    """All that the handlers share.

    Parameters
    ----------
    models : dict of int to Model
    teams : dict of str to str
        Keys by team.
    ledger : Ledger
    seed : int
        Of the points of the final tests.
    """

    def __init__(self, models: dict[int, Model], teams: dict[str, str], ledger: Ledger, seed: int):
        self.models, self.ledger, self.seed = models, ledger, seed
        self._teams = {_digest(key): team for team, key in teams.items()}

    def team(self, header: str) -> str:
        """Whose key this is; hashes are compared, so that time does not tell how much is right."""
        team = self._teams.get(_digest(header.removeprefix("Bearer ").strip()))
        if team is None:
            raise Refused(401, "no team has this key; send the header Authorization: Bearer KEY")
        return team

    def model(self, number: str) -> Model:
        if int(number) not in self.models:
            raise Refused(404, f"there is no model {number}, only 1 to {len(self.models)}")
        return self.models[int(number)]

    def labels(self, team: str, number: str, body: dict) -> dict:
        """Answer some points, once they have been counted."""
        model = self.model(number)
        points = _points(body, model)
        if self.ledger.final(team, int(number)):
            raise Refused(409, "your final test of this model has begun: no more queries")
        if not self.ledger.spend(team, int(number), len(points), model.budget):
            left = model.budget - self.ledger.spent(team, int(number))
            raise Refused(402, f"{len(points)} points, but only {left} queries are left; none was "
                               "answered and none counted")
        return {"labels": model.answer(points).tolist(),
                "left": model.budget - self.ledger.spent(team, int(number))}

    def final(self, team: str, number: str) -> dict:
        """The points of the final test, the same whenever a team asks for them."""
        self.model(number)
        self.ledger.start_final(team, int(number))
        return {"points": self._final_points(team, number).tolist()}

    def answer(self, team: str, number: str, body: dict) -> dict:
        """Compare a team's labels with the model's, and enter the result."""
        model, state = self.model(number), self.ledger.final(team, int(number))
        if state is None:
            raise Refused(409, f"ask for the points first: POST /final/{number}")
        if state.agreement is not None:
            raise Refused(409, f"you have answered: agreement {state.agreement:.4f}")
        points = self._final_points(team, number)
        labels, claim = body.get("labels"), body.get("claim", "")
        if not isinstance(labels, list) or len(labels) != len(points):
            given = f"{len(labels)} labels" if isinstance(labels, list) else repr(labels)[:60]
            raise Refused(400, f"labels must be a list of {len(points)} labels, got {given}")
        if not isinstance(claim, str) or len(claim) > LONGEST_CLAIM:
            raise Refused(400, f"claim must be a text of at most {LONGEST_CLAIM} characters")
        agreement = float(np.mean([
            given == true for given, true in zip(labels, model.predict(points).tolist(),
                                                 strict=True)]))
        self.ledger.finish(team, int(number), agreement, claim)
        return {"agreement": agreement}

    def overview(self, team: str) -> dict:
        """What a team is told."""
        return {"team": team, "models": [{
            "number": number, "dimension": model.dimension, "stars": model.stars,
            "told": model.told, "bounds": model.bounds,
            "left": model.budget - self.ledger.spent(team, number),
            "rows": model.rows[:EXAMPLES].tolist()} for number, model in self.models.items()]}

    def _final_points(self, team, number):
        own = int.from_bytes(hashlib.sha256(team.encode()).digest()[:6], "big")
        return self.model(number).final_points(
            FINAL_POINTS, np.random.default_rng([self.seed, own, int(number)]))


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _points(body: dict, model: Model) -> np.ndarray:
    """The points of a request, or a message that says what is wrong with them."""
    expected = f"points must be a list of at most {MOST_POINTS} lists of {model.dimension} numbers"
    try:
        points = np.array(body["points"], dtype=float)
    except (KeyError, TypeError, ValueError) as error:
        raise Refused(400, expected) from error
    if points.ndim != 2 or points.shape[1] != model.dimension or not 0 < len(points) <= MOST_POINTS:
        raise Refused(400, f"{expected}; they have the shape {points.shape}")
    if not np.isfinite(points).all():
        raise Refused(400, "points must be finite: there is nan or inf among them")
    if model.bounds and not ((points >= model.bounds[0]) & (points <= model.bounds[1])).all():
        raise Refused(400, f"features of this model go from {model.bounds[0]} to {model.bounds[1]}")
    return points


class Handler(web.RequestHandler):
    """JSON in, JSON out."""

    def initialize(self, seals: Seals):
        self.seals = seals

    def body(self) -> dict:
        try:
            body = json.loads(self.request.body or b"{}")
        except ValueError as error:
            raise Refused(400, "the body is not JSON") from error
        if not isinstance(body, dict):
            raise Refused(400, 'the body must be an object, {"points": ...} say')
        return body

    def reply(self, what, *arguments):
        """Answer for the team with the key of this request."""
        try:
            team = self.seals.team(self.request.headers.get("Authorization", ""))
            self.write(what(team, *arguments))
        except Refused as error:
            self.set_status(error.status)
            self.write({"error": str(error)})

    def write_error(self, status_code, **_):
        self.write({"error": "the server has failed; your lecturer's log says how"
                    if status_code == 500 else f"{status_code}: {self._reason}"})


class Models(Handler):
    def get(self):
        self.reply(self.seals.overview)


class Labels(Handler):
    def post(self, number):
        self.reply(lambda team: self.seals.labels(team, number, self.body()))


class Final(Handler):
    def post(self, number):
        self.reply(lambda team: self.seals.final(team, number))


class Answer(Handler):
    def post(self, number):
        self.reply(lambda team: self.seals.answer(team, number, self.body()))


class Nothing(Handler):
    def prepare(self):
        self.send_error(404)


class Board(Handler):
    def get(self):
        rows = "".join(
            f"<tr><td>{row.model}<td>{'★' * self.seals.models[row.model].stars}"
            f"<td>{html.escape(row.team)}<td>{row.agreement:.4f}<td>{row.queries:,}"
            for row in self.seals.ledger.board() if row.model in self.seals.models)
        self.write(PAGE.replace("ROWS", rows))


PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Sealed models</title>
<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="30">
<style>:root { color-scheme: light dark; } body { font: 1rem/1.5 sans-serif; max-width: 45rem;
margin: 2rem auto; padding: 0 1rem; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.2rem 0.6rem; border-bottom: 1px solid #8888; }
td:nth-child(n+4), th:nth-child(n+4) { text-align: right; }</style>
<h1>Sealed models</h1><p>For each model, the best copies first: by the share of equal labels in the
final test, then by the queries spent.</p><table><thead><tr><th>Model<th>Difficulty<th>Team
<th>Agreement<th>Queries</thead><tbody>ROWS</tbody></table></html>"""


def application(seals: Seals) -> web.Application:
    """The server, not yet listening."""
    shared = {"seals": seals}
    return web.Application([
        (r"/", Board, shared), (r"/models", Models, shared), (r"/labels/(\d{1,4})", Labels, shared),
        (r"/final/(\d{1,4})", Final, shared), (r"/answer/(\d{1,4})", Answer, shared)],
        default_handler_class=Nothing, default_handler_args=shared)
