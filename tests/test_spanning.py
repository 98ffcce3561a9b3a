"""S_Y from normals: as few as needed, of both types, and no larger subspace than needed."""

from contextlib import nullcontext

import numpy as np
import pytest

from decon import Gaussian, KernelMachine, Oracle, Polynomial, Tanh
from decon.bracketing import boundary_points
from decon.pool import Pool
from decon.spanning import Spanning
from decon.subspace import principal_cosines


def spanning(kernel, d, m, seed):
    box = KernelMachine.random(kernel, d, m, seed)
    oracle = Oracle(box.predict, d, positive=1)
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((60, d))
    pool = Pool(oracle, points, oracle(points), rng)
    R = np.sqrt(d)
    ahead = boundary_points(oracle, *pool.pairs(10), 1e-12 * R)
    return box, Spanning(oracle, pool, ahead, R, rng, lambda name: nullcontext())


def until_found(normals, test, limit):
    while len(normals.N) < limit and normals.grow(2):
        basis = getattr(normals, test)()
        if basis is not None:
            return basis


@pytest.mark.parametrize("kernel, test", [(Polynomial(3), "straight"), (Tanh(2.0, 0.1), "straight"),
                                          (Gaussian(1.0), "turning"), (Gaussian(3.0), "turning")],
                         ids=str)
@pytest.mark.parametrize("d, m", [(15, 6), (12, 8), (40, 5)])
@pytest.mark.parametrize("seed", range(2))
def test_s_y_is_found_and_no_more(kernel, test, d, m, seed):
    box, normals = spanning(kernel, d, m, seed)
    basis = until_found(normals, test, 6 * m + 30)
    assert basis.shape == (d, m)
    assert principal_cosines(basis, box.support_vectors.T).min() > 1 - 1e-7
    np.testing.assert_allclose(basis.T @ basis, np.eye(m), atol=1e-12)


@pytest.mark.parametrize("kernel, test", [(Gaussian(2.0), "straight"), (Polynomial(3), "straight")])
def test_with_as_many_support_vectors_as_dimensions_there_is_none(kernel, test):
    _, normals = spanning(kernel, 6, 8, 0)
    assert until_found(normals, test, 20) is None


@pytest.mark.parametrize("kernel, passes, sharpen, seed", [
    (Tanh(1.0, 0.2), "_crosses", "_straighten", 0), (Gaussian(2.0), "_turns", "_turn", 1)], ids=str)
def test_a_larger_subspace_is_cut_down(kernel, passes, sharpen, seed):
    box, normals = spanning(kernel, 12, 4, seed)
    normals.grow(16)
    rng = np.random.default_rng(seed)
    larger = np.linalg.qr(np.c_[box.support_vectors.T, rng.standard_normal((12, 3))])[0]
    across = larger @ np.linalg.qr(rng.standard_normal((7, 7)))[0]
    vectors = box.gradient(normals.X)  # n - gamma x, exactly
    if kernel.name == "gaussian":
        W = np.linalg.svd(box.support_vectors)[2][4:].T
        gamma = ((vectors @ W) * (normals.X @ W)).sum(1) / ((normals.X @ W) ** 2).sum(1)
        vectors = vectors - gamma[:, None] * normals.X
    vectors += 1e-6 * np.abs(vectors).max() * rng.standard_normal(vectors.shape)
    basis = normals._smallest(across, vectors, getattr(normals, passes), getattr(normals, sharpen))
    assert basis.shape == (12, 4)
    assert principal_cosines(basis, box.support_vectors.T).min() > 1 - 1e-7


def test_normals_end_when_the_pairs_do():
    _, normals = spanning(Polynomial(2), 5, 2, 0)
    normals.pairs = [a[:3] for a in normals.pairs]
    assert normals.grow(4) and not normals.grow(100)
