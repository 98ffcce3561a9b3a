"""Views of an oracle: other coordinates, another rate of wrong answers."""

import numpy as np
import pytest

from decon import KernelMachine, Oracle, Polynomial
from decon.boundary.bracketing import boundary_points
from decon.oracles.views import AffineView, SearchView


def half_plane(**options):
    return Oracle(lambda X: X[:, 0] > 0.3, 2, positive=True, **options)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shift, project, scale", [
    (True, False, 1.0), (False, True, 2.5), (False, False, 0.1), (True, True, 3.0)])
def test_a_view_asks_at_the_points_that_its_coordinates_stand_for(shift, project, scale, seed):
    rng, asked = np.random.default_rng(seed), []
    oracle = Oracle(lambda X: asked.append(X) or np.arange(len(X)) % 2, 4, positive=1)
    origin = rng.standard_normal(4) if shift else 0.0
    basis = rng.standard_normal((4, 2)) if project else None
    view = AffineView(oracle, origin, basis, scale)
    Z = rng.standard_normal((7, view.dimension))
    assert view(Z).tolist() == [-1, 1, -1, 1, -1, 1, -1] and oracle.queries == 7
    expected = np.array([origin + scale * (basis @ z if project else z)
                         for z in Z])
    np.testing.assert_allclose(asked[0], expected, atol=1e-12)
    np.testing.assert_array_equal(view.points(Z), asked[0])
    assert len(repr(view)) < 120 and view.bounds is None and view.inside(Z).all()


@pytest.mark.parametrize("scale", [1.0, 0.25, 4.0])
def test_bounds_are_seen_in_the_views_coordinates(scale):
    oracle = half_plane(bounds=(0, 1))
    view = AffineView(oracle, origin=np.array([0.5, 0.1]), scale=scale)
    expected = np.array([[-0.5, -0.1], [0.5, 0.9]]) / scale
    np.testing.assert_allclose(view.bounds, expected, atol=1e-9)
    assert view(np.array([[-0.1, 0.0], [-0.3, 0.0]]) / scale).tolist() == [1, -1]
    assert view.inside(np.array([[0.0, -0.2], [0.0, 0.8]]) / scale).tolist() == [False, True]
    corners = np.array(view.bounds)
    assert len(view(corners)) == 2 and oracle.queries == 4  # no rounding leads out


def test_a_view_with_another_rate_of_errors_leaves_the_oracle_as_it_is():
    oracle = half_plane(noise=0.2)
    view = SearchView(oracle, 0.01)
    assert oracle.votes_to_lead == 10
    assert view([[1.0, 0.0]]).tolist() == [1] and oracle.queries == 3
    assert SearchView(oracle, 0)([[1.0, 0.0]]).tolist() == [1] and oracle.queries == 4
    assert oracle([[1.0, 0.0]]).tolist() == [1] and oracle.queries == 14 and oracle.noise == 0.2


def test_votes_of_a_view_are_right():
    rng = np.random.default_rng(0)
    oracle = Oracle(lambda X: (X[:, 0] > 0) ^ (rng.random(len(X)) < 0.1), 1, positive=True)
    X = np.resize([[-1.0], [1.0]], (4000, 1))
    plain, voted = oracle(X), SearchView(oracle, 0.1)(X)
    assert 0.05 < (plain != np.sign(X[:, 0])).mean() < 0.15 and (voted == np.sign(X[:, 0])).all()


def test_brackets_of_a_function_are_those_of_an_oracle():
    machine = KernelMachine.random(Polynomial(2), 5, 3, 0)
    X = np.random.default_rng(0).standard_normal((200, 5))
    labels = machine.predict(X)
    P, N = X[labels > 0][:20], X[labels < 0][:20]
    found, _ = boundary_points(machine.predict, P, N, 1e-12)
    expected, _ = boundary_points(Oracle(machine.predict, 5), P, N, 1e-12)
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ZeroDivisionError):  # nothing is wrapped
        boundary_points(lambda X: 1 // 0, P, N, 1e-12)
