"""The sealed models of the course: honest counts, separate teams, clear refusals, a fair final."""

import json
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.client import call, labels_of
from course.keys import make_keys, read_keys
from course.ledger import Ledger
from course.models import EXAMPLES, KINDS, sealed
from course.server import FINAL_POINTS, MOST_POINTS, Refused, Seals
from decon import Oracle, deconstruct

ROOT = Path(__file__).parents[1]
SEED = 20
QUADRATIC_FOURTH = 2  # a seed by which the model that is extracted is one of the first four
CLIENTS = 60


@pytest.fixture(scope="module")
def models():
    return sealed(SEED)


@pytest.fixture
def seals(models):
    return Seals(models, {"ada": "a-key", "bob <b>": "b-key"}, Ledger(":memory:"), SEED)


def refusal(status, what, *arguments):
    with pytest.raises(Refused) as caught:
        what(*arguments)
    assert caught.value.status == status
    return str(caught.value)


def test_the_models_are_graded_and_show_both_labels(models):
    assert len(models) == len(KINDS) == 20
    assert [m.stars for m in models.values()] == sorted(m.stars for m in models.values())
    assert len({m.truth for m in models.values()}) == 20
    for model in models.values():
        labels = model.answer(model.rows[:EXAMPLES])
        assert len(set(labels.tolist())) >= 2 and labels.dtype.kind == "i"


def test_another_seed_makes_other_models_in_another_order(models):
    others = sealed(SEED + 1)
    assert [m.truth for m in others.values()] != [m.truth for m in models.values()]
    quadratic = [next(m for m in some.values() if m.truth == "quadratic, rank 3")
                 for some in (models, others)]
    X = np.random.default_rng(0).standard_normal((2000, 15))
    assert (quadratic[0].predict(X) != quadratic[1].predict(X)).mean() > 0.1


def test_the_final_points_lie_on_both_sides_and_half_of_them_close(models):
    for model in models.values():
        points = model.final_points(400, np.random.default_rng(1))
        assert points.shape == (400, model.dimension)
        labels = model.predict(points)
        assert 0.2 < (labels == labels[0]).mean() < 0.95
        if model.bounds:
            assert points.min() >= model.bounds[0] and points.max() <= model.bounds[1]


def test_keys_are_for_the_owner_alone_and_stay(tmp_path):
    first = make_keys(tmp_path / "keys", ["ada"])
    seed = read_keys(tmp_path / "keys")["seed"]
    second = make_keys(tmp_path / "keys", ["bob", "ada"])
    assert second["ada"] == first["ada"] != second["bob"]
    assert read_keys(tmp_path / "keys")["seed"] == seed
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o600
    (tmp_path / "other").write_text('{"seed": "no"}')
    with pytest.raises(ValueError, match="not a file of keys"):
        read_keys(tmp_path / "other")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 2), st.integers(1, 60))))
def test_the_ledger_counts_like_a_dictionary(spends):
    ledger, counts = Ledger(":memory:"), {}
    for team, model, queries in spends:
        fits = counts.get((team, model), 0) + queries <= 100
        assert ledger.spend(team, model, queries, budget=100) == fits
        counts[team, model] = counts.get((team, model), 0) + queries * fits
    assert all(ledger.spent(*key) == count for key, count in counts.items())


def test_the_ledger_survives_a_restart(tmp_path):
    ledger = Ledger(tmp_path / "db")
    ledger.spend("ada", 3, 70, 100)
    ledger.start_final("ada", 3)
    ledger.finish("ada", 3, 0.9, "cubic")
    ledger.close()
    again = Ledger(tmp_path / "db")
    assert again.spent("ada", 3) == 70 and not again.spend("ada", 3, 31, 100)
    assert again.board()[0][1:] == (3, 70, 0.9, "cubic")


def test_what_is_asked_must_make_sense(seals, models):
    d = models[1].dimension
    ask = seals.labels
    assert "no team" in refusal(401, seals.team, "Bearer other")
    assert "1 to 20" in refusal(404, ask, "ada", "21", {})
    for points in ([], [[1.0] * (d + 1)], [1.0] * d, "x", [["x"] * d], [[1.0] * d] * 2001, None):
        assert f"{d} numbers" in refusal(400, ask, "ada", "1", {"points": points})
    assert "finite" in refusal(400, ask, "ada", "1", {"points": [[float("nan")] * d]})
    number, bounded = next((n, m) for n, m in models.items() if m.bounds)
    assert "0.0 to 1.0" in refusal(400, ask, "ada", str(number),
                                   {"points": [[2.0] * bounded.dimension]})
    assert all(seals.ledger.spent("ada", n) == 0 for n in models)


def test_a_batch_beyond_the_budget_is_neither_answered_nor_counted(seals, models):
    seals.ledger.spend("ada", 1, models[1].budget - 5, models[1].budget)
    row = models[1].rows[0].tolist()
    assert "only 5 queries are left" in refusal(402, seals.labels, "ada", "1",
                                                {"points": [row] * 6})
    assert seals.labels("ada", "1", {"points": [row] * 5})["left"] == 0


def test_the_final_is_the_same_again_but_not_for_another_team_and_ends_the_queries(seals, models):
    points = seals.final("ada", "2")["points"]
    assert points == seals.final("ada", "2")["points"] != seals.final("bob <b>", "2")["points"]
    assert len(points) == FINAL_POINTS
    assert "has begun" in refusal(409, seals.labels, "ada", "2", {"points": points[:1]})
    true = models[2].predict(np.array(points)).tolist()
    assert "2000 labels" in refusal(400, seals.answer, "ada", "2", {"labels": true[1:]})
    assert "text" in refusal(400, seals.answer, "ada", "2", {"labels": true, "claim": 3})
    false = [1 - label for label in true[:500]] + true[500:]
    assert seals.answer("ada", "2", {"labels": false, "claim": "linear"}) == {"agreement": 0.75}
    assert "0.7500" in refusal(409, seals.answer, "ada", "2", {"labels": true})
    assert "POST /final/3" in refusal(409, seals.answer, "ada", "3", {"labels": true})


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A running server, and the keys of 60 teams; all tests query its first four models."""
    file = tmp_path_factory.mktemp("course") / "keys.json"
    file.write_text(json.dumps({"seed": QUADRATIC_FOURTH, "teams": {}}))
    keys = make_keys(file, [f"team {i}" for i in range(CLIENTS)])
    process = subprocess.Popen([sys.executable, "-m", "course", "serve", str(file), "--port", "0"],
                               stdout=subprocess.PIPE, text=True, cwd=ROOT)
    address = process.stdout.readline().split()[-1]
    yield address, list(keys.values()), file
    process.terminate()
    process.wait()


def test_sixty_clients_at_once_lose_no_count(served):
    address, keys, file = served
    told = call(f"{address}/models", keys[0])["models"]
    sizes = np.random.default_rng(0).integers(1, 60, (CLIENTS, 8))

    def work(i):
        for j, n in enumerate(sizes[i]):
            model = told[(i + j) % 4]
            call(f"{address}/labels/{model['number']}", keys[i],
                 {"points": (model["rows"] * 2)[:int(n)]})

    with ThreadPoolExecutor(CLIENTS) as threads:
        list(threads.map(work, range(CLIENTS)))
    ledger = Ledger(f"{file}.db")
    for i in range(CLIENTS):
        for k in range(4):
            asked = sum(int(n) for j, n in enumerate(sizes[i]) if (i + j) % 4 == k)
            assert ledger.spent(f"team {i}", told[k]["number"]) == asked
    ledger.close()


def test_errors_over_http_say_what_is_wrong(served):
    address, keys, _ = served
    for path, key, body, status in [("/labels/1", "x", {}, 401), ("/labels/77", keys[0], {}, 404),
                                    ("/labels/1", keys[0], {"points": 3}, 400),
                                    ("/labels/1", keys[0], [1], 400), ("/other", keys[0], {}, 404)]:
        with pytest.raises(HTTPError) as caught:
            call(address + path, key, body)
        assert caught.value.code == status and json.loads(caught.value.read())["error"]


def test_a_team_extracts_a_model_and_stands_on_the_board(served):
    address, keys, file = served
    key, truth = keys[7], sealed(read_keys(file)["seed"])
    number = next(n for n, m in truth.items() if m.truth == "quadratic, rank 3")
    told = call(f"{address}/models", key)["models"][number - 1]
    spent, rows = truth[number].budget - told["left"], np.array(told["rows"])  # in other tests
    oracle = Oracle(labels_of(address, key, number, MOST_POINTS), rows.shape[1])
    result = deconstruct(oracle, rows, random_state=0, progress=False)
    assert (result.kernel_type, result.rank) == ("quadratic", 3)
    points = np.array(call(f"{address}/final/{number}", key, {})["points"])
    labels = (result.machine.predict(points) > 0).astype(int).tolist()
    reply = call(f"{address}/answer/{number}", key, {"labels": labels, "claim": "<i>quadratic"})
    assert reply["agreement"] > 0.999
    page = urlopen(address, timeout=30).read().decode()
    assert "team 7" in page and f"{spent + oracle.queries:,}" in page and "<i>" not in page
    said = subprocess.check_output([sys.executable, "-m", "course", "report", str(file)],
                                   text=True, cwd=ROOT)
    assert "quadratic, rank 3" in said and "team 7: agreement" in said
