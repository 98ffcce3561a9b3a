"""The journal: nothing is asked twice, whatever happens to the process or to the file."""

import signal
import subprocess
import sys
from textwrap import dedent

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import (
    BudgetExhausted,
    ClassOracle,
    KernelMachine,
    Oracle,
    OracleError,
    Polynomial,
    deconstruct,
    deconstruct_classes,
)
from decon.oracles.journal import HEADER, Journal
from decon.oracles.settings import OracleSettings

D = 10
BOX = KernelMachine.random(Polynomial(2), D, 4, 0)
FEATURES = np.random.default_rng(500).standard_normal((20, D))


def take_apart(oracle):
    return deconstruct(oracle, FEATURES, random_state=3, progress=False)


def same(first, second):
    assert first.summary() == second.summary()
    assert first.queries_by_stage == second.queries_by_stage
    np.testing.assert_array_equal(first.subspace, second.subspace)
    np.testing.assert_array_equal(first.machine.support_vectors, second.machine.support_vectors)
    return True


def never(X):
    raise AssertionError("this was asked before")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A complete run: its journal, its result, its calls and queries."""
    path = tmp_path_factory.mktemp("journal") / "answers"
    oracle = Oracle(BOX.predict, D, journal=path)
    return path, take_apart(oracle), oracle


def copy(path, tmp_path, size=None):
    target = tmp_path / "copy"
    target.write_bytes(path.read_bytes()[:size])
    return target


def test_a_journal_changes_nothing(whole):
    plain = Oracle(BOX.predict, D)
    assert same(take_apart(plain), whole[1])
    assert (plain.queries, plain.calls) == (whole[2].queries, whole[2].calls)


def test_a_whole_journal_asks_nothing(whole, tmp_path):
    again = Oracle(never, D, journal=copy(whole[0], tmp_path))
    assert same(take_apart(again), whole[1])
    assert (again.calls, again.queries) == (0, whole[2].queries)


@pytest.mark.parametrize("size", [0, 5, HEADER.size, HEADER.size + 3, 500, 1000, 3333])
def test_any_beginning_of_a_journal_will_do(whole, tmp_path, size):
    """Also one torn within a record, or within the header."""
    path = copy(whole[0], tmp_path, size)
    kept = len(Journal(copy(whole[0], tmp_path, size), D).records)
    oracle = Oracle(BOX.predict, D, journal=path)
    assert same(take_apart(oracle), whole[1])
    assert oracle.calls == whole[2].calls - kept
    assert path.read_bytes() == whole[0].read_bytes()


def test_every_tear_of_the_last_record_loses_that_record_alone(whole, tmp_path):
    journal = Journal(copy(whole[0], tmp_path), D)
    n = len(journal.records)
    last = 25 + 4 + len(journal.records[-1][2]) + 4
    for lost in range(1, last + 1):
        path = copy(whole[0], tmp_path, -lost)
        torn = Journal(path, D)
        assert len(torn.records) == n - 1
        assert path.stat().st_size == whole[0].stat().st_size - lost  # opened, nothing changes
        torn.append(np.eye(D), np.arange(D) % 2 == 0)
        assert len(Journal(path, D).records) == n


@pytest.mark.parametrize("byte", [HEADER.size + k for k in (0, 1, 4, 8, 9, 24, 27, 29)] + [700])
def test_a_wrong_byte_is_noticed_and_nothing_is_thrown_away(whole, tmp_path, byte):
    data = bytearray(whole[0].read_bytes())
    data[byte] ^= 0xFF
    path = tmp_path / "copy"
    path.write_bytes(data)
    with pytest.raises(OracleError, match="is damaged at byte"):
        Oracle(never, D, journal=path)
    assert path.read_bytes() == data


def test_places_where_no_journal_can_be_kept(tmp_path):
    for path in (tmp_path, tmp_path / "missing" / "answers"):
        with pytest.raises(OracleError, match="no journal can be kept in"):
            Oracle(never, D, journal=path)


def test_a_journal_that_goes_away_leaves_what_is_known(tmp_path):
    def predict(X):
        if path.stat().st_size > 1000:
            path.unlink()
        return BOX.predict(X)

    path = tmp_path / "answers"
    with pytest.raises(OracleError, match="cannot be written") as error:
        take_apart(Oracle(predict, D, journal=path))
    assert error.value.result is not None


def test_a_process_killed_half_way(whole, tmp_path):
    """SIGKILL, with the box called and not yet answering: that call alone is asked again."""
    path, calls = tmp_path / "answers", 20
    script = dedent(f"""
        import os, signal
        from tests.test_journal import BOX, D, take_apart, Oracle
        calls = 0
        def predict(X):
            global calls
            calls += 1
            if calls > {calls}:
                os.kill(os.getpid(), signal.SIGKILL)
            return BOX.predict(X)
        take_apart(Oracle(predict, D, journal={str(path)!r}))
    """)
    done = subprocess.run([sys.executable, "-c", script], timeout=120)
    assert done.returncode == -signal.SIGKILL
    oracle = Oracle(BOX.predict, D, journal=path)
    assert same(take_apart(oracle), whole[1])
    assert oracle.calls == whole[2].calls - calls and oracle.queries == whole[2].queries


def test_a_box_that_fails_half_way_is_taken_up_again(whole, tmp_path):
    def predict(X):
        nonlocal left
        left -= 1
        if left < 0:
            raise ConnectionError("gone")
        return BOX.predict(X)

    left, calls = 7, 0
    for _ in range(100):
        oracle = Oracle(predict, D, journal=tmp_path / "answers")
        try:
            result = take_apart(oracle)
        except OracleError as error:
            assert "gone" in str(error) and error.result is not None
            calls, left = calls + oracle.calls, 7
        else:
            break
    assert same(result, whole[1]) and calls + oracle.calls == whole[2].calls


def test_a_budget_raised_step_by_step_pays_nothing_twice(whole, tmp_path):
    calls = 0
    for budget in (100, 1000, 2000, 100_000):
        oracle = Oracle(BOX.predict, D, journal=tmp_path / "answers", budget=budget)
        try:
            result = take_apart(oracle)
        except BudgetExhausted:
            assert oracle.queries <= budget
        calls += oracle.calls
    assert same(result, whole[1]) and calls == whole[2].calls


def test_votes_are_journalled_as_well(tmp_path):
    rng = np.random.default_rng(0)

    def predict(X):
        nonlocal left
        left -= len(X)
        if left < 0:
            raise ConnectionError("gone")
        return BOX.predict(X) * np.where(rng.random(len(X)) < 0.01, -1, 1)

    left, path = 10_000, tmp_path / "answers"
    with pytest.raises(OracleError, match="gone"):
        take_apart(Oracle(predict, D, journal=path, noise=0.01))
    left = 10**9
    first = take_apart(Oracle(predict, D, journal=path, noise=0.01))
    assert same(take_apart(Oracle(never, D, journal=path, noise=0.01)), first)
    assert (first.kernel_type, first.rank) == ("quadratic", 4)


@pytest.mark.parametrize("labels, positive", [
    (("yes", "no"), None), ((True, False), None), ((1, 0), None), ((2, 3), 2), ((1.0, -1.0), None),
    (("yes", "no"), "no")])
def test_all_kinds_of_labels(tmp_path, labels, positive):
    def predict(X):
        return np.array(labels)[np.where(X[:, 0] > 0, 0, 1)]

    X = np.random.default_rng(0).standard_normal((100, 2))
    expected = Oracle(predict, 2, positive)(X)
    first = Oracle(predict, 2, positive, journal=tmp_path / "a")
    np.testing.assert_array_equal(first(X), expected)
    second = Oracle(predict, 2, positive, journal=tmp_path / "a")
    np.testing.assert_array_equal(second(X), expected)
    assert second.calls == 0
    one_label = np.ones((5, 2))  # alone, it would not tell which label is which
    np.testing.assert_array_equal(second(one_label), Oracle(predict, 2, positive)(
        np.concatenate([X, one_label]))[-5:])


def test_a_first_call_in_several_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("decon.oracles.oracle.SETTINGS", OracleSettings(block_megabytes=160e-6))
    X = np.sort(np.random.default_rng(0).random((37, 2)), axis=0)

    def predict(X):
        return np.where(X[:, 0] > 0.5, "b", "a")

    oracle = Oracle(predict, 2, journal=tmp_path / "a")  # no block but one shows both labels
    expected = oracle(X)
    assert oracle.calls == 4
    again = Oracle(never, 2, journal=tmp_path / "a")
    np.testing.assert_array_equal(again(X), expected)


def test_a_journal_of_another_run(whole, tmp_path):
    oracle = Oracle(never, D, journal=copy(whole[0], tmp_path))
    with pytest.raises(OracleError, match="another run: call 1 of .*random_state") as error:
        deconstruct(oracle, FEATURES[::-1], progress=False)
    assert error.value.result is not None


@pytest.mark.parametrize("content", [
    b"My diary, in which nothing is a record", HEADER.pack(b"decon journal 1\n", 3),
    HEADER.pack(b"decon journal 1\n", 3)[:18]])
def test_files_that_are_no_journals_are_left_alone(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(OracleError, match="is no journal of answers to points of dimension 10"):
        Oracle(never, D, journal=path)
    assert path.read_bytes() == content


def test_damage_before_the_end_is_said(whole, tmp_path):
    path = copy(whole[0], tmp_path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(OracleError, match="damaged at byte"):
        Oracle(never, D, journal=path)


def test_a_journal_says_how_far_it_is(whole, tmp_path):
    journal = Journal(copy(whole[0], tmp_path), D)
    assert repr(journal) == (
        f"Journal('{journal.path}', 0 of {len(journal.records)} calls replayed)")


def test_two_oracles_on_one_journal(tmp_path):
    first, second = (Oracle(BOX.predict, D, journal=tmp_path / "a") for _ in range(2))
    first(FEATURES)
    with pytest.raises(OracleError, match="another process"):
        second(FEATURES)


def test_another_positive_label_is_refused(tmp_path):
    Oracle(BOX.predict, D, journal=tmp_path / "a")(FEATURES)
    with pytest.raises(OracleError, match=r"counts 1 as \+1, but positive=-1"):
        Oracle(BOX.predict, D, positive=-1, journal=tmp_path / "a")


def test_labels_that_cannot_be_kept(tmp_path):
    kinds = np.array([frozenset("a"), frozenset("b")], dtype=object)
    oracle = Oracle(lambda X: kinds[(X[:, 0] > 0).astype(int)], D, positive=kinds[1],
                    journal=tmp_path / "a")
    with pytest.raises(OracleError, match="numbers, booleans or strings"):
        oracle(FEATURES)


# A model of several classes

X3, Y3 = load_wine(return_X_y=True)
VOTE = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(X3, Y3)


def classes_of(predict, path, budget=None):
    oracle = ClassOracle.from_examples(predict, X3, journal=path, budget=budget)
    return deconstruct_classes(oracle, random_state=1, progress=False), oracle


def test_a_journal_of_classes_changes_nothing_and_is_replayed(tmp_path):
    plain, asked = classes_of(VOTE.predict, None)
    first, oracle = classes_of(VOTE.predict, tmp_path / "answers")
    again, silent = classes_of(never, tmp_path / "answers")
    assert plain.summary() == first.summary() == again.summary()
    assert oracle.calls == asked.calls and silent.calls == 0
    assert silent.queries == oracle.queries == asked.queries
    assert silent.classes == oracle.classes == (0, 1, 2)


def test_a_search_for_classes_goes_on_where_the_budget_ended_it(tmp_path):
    path, paid = tmp_path / "answers", []

    def predict(X):
        paid.append(len(X))
        return np.array(["a", "b", "ccc"])[VOTE.predict(X)]

    with pytest.raises(BudgetExhausted):
        classes_of(predict, path, budget=5000)
    before = sum(paid)
    found, oracle = classes_of(predict, path)
    assert 0 < before <= 5000 and sum(paid) == oracle.queries
    assert found.classes == ("a", "b", "ccc") and found.agreement["around"] == 1


def test_journals_of_two_labels_and_of_classes_are_not_mixed_up(tmp_path):
    x = np.array([[1.0]])
    Oracle(lambda X: X[:, 0] > 0, 1, positive=True, journal=tmp_path / "two")(x)
    with pytest.raises(OracleError, match="another run"):
        ClassOracle(never, 1, journal=tmp_path / "two")(x)
    ClassOracle(lambda X: np.sign(X[:, 0]), 1, journal=tmp_path / "many")(x)
    with pytest.raises(OracleError, match="answers of a ClassOracle"):
        Oracle(never, 1, positive=True, journal=tmp_path / "many")


def test_a_journal_of_too_many_classes_says_so(tmp_path):
    with pytest.raises(OracleError, match="up to 256 classes"):
        ClassOracle(lambda X: X[:, 0].astype(int), 1,
                    journal=tmp_path / "answers")(np.arange(300.0)[:, None])
