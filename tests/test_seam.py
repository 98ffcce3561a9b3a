"""The seam for families: a toy family joins the registry, and nothing else has to change."""

import ast
import inspect
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh, deconstruct
from decon.extraction import strategy
from decon.extraction.diagnosis import name_without_machine
from decon.families.protocol import Candidate, Evidence, Family, Refuted
from decon.subspaces.symmetry import CYLINDER
from tests import toy_family
from tests.toy_family import Ball, Balls


@pytest.fixture
def with_balls(monkeypatch):
    """The registry with the toy family in front."""
    monkeypatch.setattr("decon.extraction.strategy.FAMILIES", (Balls(), *strategy.FAMILIES))


def ball_and_features(dimension, seed):
    """A ball that half of the features lie in, away from the origin."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((30, dimension))
    centre = rng.standard_normal(dimension) / 2
    radius = np.median(np.linalg.norm(features - centre, axis=1))
    return Ball(centre, radius), features


@pytest.mark.parametrize("dimension", [5, 20])
@pytest.mark.parametrize("seed", range(6))
def test_a_toy_family_is_named_recovered_and_tested(with_balls, dimension, seed):
    model, features = ball_and_features(dimension, seed)
    oracle = Oracle(model.predict, dimension)
    result = deconstruct(oracle, features, progress=False, surrogate=False)
    assert result.kernel_type == "ball" and result.agreement == {"far": 1.0, "close": 1.0}
    np.testing.assert_allclose(result.machine.centre, model.centre, atol=1e-9)
    assert result.machine.radius == pytest.approx(model.radius, abs=1e-9)
    assert result.rank == 1 and abs(result.subspace[:, 0] @ model.centre) == pytest.approx(
        np.linalg.norm(model.centre))
    assert result.n_support is None and not result.own_vectors and result.message == ""
    assert list(result.queries_by_stage) == ["features", "boundary", "ball", "agreement"]
    assert sum(result.queries_by_stage.values()) == oracle.queries
    assert Balls().parameters(Candidate(result.machine, result.subspace, 1)) == dimension + 1


def test_the_result_of_a_toy_family_is_shown_but_not_saved(with_balls, tmp_path):
    model, features = ball_and_features(5, 0)
    result = deconstruct(Oracle(model.predict, 5), features, progress=False, surrogate=False)
    assert repr(result).startswith("Deconstruction('ball', rank=1")
    assert "kernel        ball" in result.summary() and repr(result.machine) in result.summary()
    with pytest.raises(TypeError, match="a Ball cannot be saved"):
        result.save(tmp_path / "ball.npz")
    assert not list(tmp_path.iterdir())


def test_without_the_toy_family_a_ball_is_a_quadratic():
    model, features = ball_and_features(5, 0)
    result = deconstruct(Oracle(model.predict, 5), features, progress=False, surrogate=False)
    assert result.kernel_type == "quadratic"


@pytest.mark.parametrize("kernel, name", [
    (Linear(), "linear"), (Polynomial(2), "quadratic"), (Polynomial(3), "cubic"),
    (Tanh(0.5, 0.1), "tanh"), (Gaussian(3.0), "gaussian"),
])
@pytest.mark.parametrize("seed", range(3))
def test_other_models_come_out_as_themselves(with_balls, kernel, name, seed):
    model = KernelMachine.random(kernel, 10, 4, seed)
    features = np.random.default_rng(seed).standard_normal((200, 10))
    result = deconstruct(Oracle(model.predict, 10), features, progress=False, surrogate=False)
    assert result.kernel_type == name and isinstance(result.machine, KernelMachine)
    assert min(result.agreement.values()) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_a_wrong_candidate_fails_the_agreement_test(with_balls, seed):
    inside, features = ball_and_features(5, seed)  # its sphere is right, but not its side
    result = deconstruct(Oracle(lambda X: -inside.predict(X), 5), features, progress=False)
    assert result.kernel_type == "quadratic" and result.agreement == {"far": 1.0, "close": 1.0}


def test_a_refutation_is_a_reason_and_any_other_error_is_a_bug(monkeypatch):
    def cube(X):
        return np.where(np.abs(X).max(axis=1) < 1, 1, -1)

    features = np.random.default_rng(0).uniform(-1.5, 1.5, (30, 3))
    monkeypatch.setattr("decon.extraction.strategy.FAMILIES", (Balls(),))
    result = deconstruct(Oracle(cube, 3), features, progress=False, surrogate=False)
    assert result.kernel_type == "unknown" and "no ball: boundary points miss" in result.message

    for bug in (ZeroDivisionError, FloatingPointError, np.linalg.LinAlgError):
        def fit(self, evidence, bug=bug):
            raise bug("a bug")

        monkeypatch.setattr(Balls, "fit", fit)
        with pytest.raises(bug, match="a bug"):
            deconstruct(Oracle(cube, 3), features, progress=False, surrogate=False)


def test_the_toy_family_uses_the_seam_only():
    source = inspect.getsource(toy_family)
    assert len(source.splitlines()) <= 60
    used = {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name) and node.value.id == "evidence"}
    assert used <= set(Evidence.__annotations__) | set(vars(Evidence))
    wanted = {name for name in vars(Family) if not name.startswith("_")} | {"name"}
    assert wanted == {"name", "applies", "fit", "parameters"} <= set(dir(Balls))
    assert not issubclass(Refuted, ArithmeticError)


@pytest.mark.parametrize("file", ["decon/families/protocol.py", "tests/toy_family.py"])
def test_the_guide_for_contributors_includes_the_seam_literally(file):
    root = Path(__file__).parents[1]
    guide = (root / "CONTRIBUTING.md").read_text("utf-8")
    assert f"```python\n{(root / file).read_text('utf-8')}```" in guide


def test_a_cubic_too_large_to_fit_is_named_also_where_its_family_was_not_tried():
    evidence = SimpleNamespace(
        oracle=SimpleNamespace(dimension=99), survey=SimpleNamespace(flat=False), bounded=False,
        subspace=SimpleNamespace(symmetry=CYLINDER, rank=99), degree=3, refuted=False,
        insist_on_consistency=lambda again: None)
    assert name_without_machine(evidence, {}, {}).kernel_type == "cubic"
    assert name_without_machine(evidence, {"cubic": "too large"}, {}).message == "too large"
