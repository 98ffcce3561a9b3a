"""The numbers of the written examinations, computed anew."""

from math import ceil, comb, log2, sqrt

import numpy as np
import pytest
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Polynomial
from tools.reading_time import ROOT

EXAMS = (ROOT / "course/exams.md").read_text(encoding="utf-8")


def test_each_paper_has_sixty_points():
    import re

    for letter in "AB":
        points = [int(n) for n in re.findall(rf"\*\*{letter}\d \((\d+) points\)", EXAMS)]
        assert sum(points) == 60
        schemes = re.findall(rf"\*\*{letter}\d \((\d+) points\).*?\*Scheme\.\* (.*?)\n\n", EXAMS,
                             re.S)
        for total, scheme in schemes:
            given = re.findall(r": (\d+)(?=[.,;]| points)", scheme)
            assert sum(map(int, given)) == int(total), (letter, total, scheme)


def test_paper_a():
    X, z = np.random.default_rng(0).standard_normal((2, 5, 2))
    features = [np.c_[p[:, 0]**2, sqrt(2) * p[:, 0] * p[:, 1], p[:, 1]**2] for p in (X, z)]
    np.testing.assert_allclose(features[0] @ features[1].T, (X @ z.T) ** 2)
    svc = SVC(kernel="linear", C=1e6).fit([[0, 0], [2, 0], [2, 2]], [-1, 1, 1])
    np.testing.assert_allclose([*svc.coef_[0], *svc.intercept_], [1, 0, -1], atol=1e-6)
    assert sorted(svc.support_) == [0, 1] and np.allclose(abs(svc.dual_coef_), 0.5)

    for C, multiplier in (1e6, 2.0), (1.0, 1.0):
        svc = SVC(kernel="linear", C=C).fit([[0], [1]], [-1, 1])
        assert np.allclose(abs(svc.dual_coef_), multiplier, atol=1e-3)
        assert svc.coef_[0, 0] == pytest.approx(multiplier, abs=1e-3)
    slacks = [max(0, 1 + b) + max(0, -b) for b in (-1.5, -1, -0.4, 0, 0.5)]
    assert slacks == pytest.approx([1.5, 1, 1, 1, 1.5])

    K = np.outer([1, 2], [1, 2]) + np.eye(2)
    a = np.linalg.solve(K, [1, 2])
    assert a == pytest.approx([1 / 6, 1 / 3]) and 3 * (a @ [1, 2]) == pytest.approx(2.5)
    assert a[0] / np.linalg.inv(K)[0, 0] == pytest.approx(1 - 4 / 5)

    points = np.array([[1.0, 2, 3], [1, 2, -3], [1, 2, 5]])
    for kernel, equal in (Polynomial(3), [True, True]), (Gaussian(1.0), [True, False]):
        machine = KernelMachine(kernel, np.eye(3)[:2], np.ones(2), 0.0)
        values = machine.decision_function(points)
        assert np.isclose(values[1:], values[0]).tolist() == equal


def test_paper_b():
    assert log2(1000) == pytest.approx(9.97, abs=0.005)
    assert [ceil(log2(8 * 10**k)) for k in (6, 12)] == [23, 43]
    for width, best in (1e-12, 1.4e-6), (1e-7, 4.5e-4):
        delta = sqrt(width / 0.5)
        assert delta == pytest.approx(best, rel=0.02)
        assert 2 * sqrt(0.5 * width) == pytest.approx(best, rel=0.02)
    assert comb(6, 3) == 20
    assert 1 - 0.05 ** (1 / 400) == pytest.approx(0.0075, abs=5e-5)
    assert min(n for n in range(1, 400) if 0.99**n <= 0.05) == 299
    assert 3 / (1 - 2 * 0.01) == pytest.approx(3.06, abs=0.005)
