"""Two sets of vectors, one boundary: another pair for a quadratic machine, none for a cubic one."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect
from scipy.optimize import least_squares

from decon import KernelMachine, Polynomial

OWN, W, THRESHOLD = np.array([[1.6, 0.5], [-0.4, 1.4]]), [1.0, 1.5], {2: 3.0, 3: 1.0}
STEPS = 2.6 * ((2 * np.arange(100) + 1) / 100 - 1)
GRID = np.stack(np.meshgrid(STEPS, STEPS), axis=-1).reshape(-1, 2)


@pytest.fixture
def page(open_figure):
    page = open_figure("two_sets")
    page.get_by_role("button", name="Just show me").click()
    return page


def readout(page):
    """The vectors, the weights, how many labels differ, and the whole text."""
    page.evaluate("new Promise((done) => setTimeout(done, 100))")  # after the pause of the read-out
    text = page.locator(".live-readout").inner_text().replace("\N{MINUS SIGN}", "-")
    vectors = [[float(v) for v in pair.split(", ")] for pair in re.findall(r"\(([^)]+)\)", text)]
    weights = [float(w) for w in re.findall(r"weight (-?\d+(?:\.\d+)?)", text)]
    wrong = int(re.search(r"(\d+) of 10,000", text)[1])
    return np.array(vectors), weights, wrong, text


def wrong_labels(degree, Y, w, b):
    kernel = Polynomial(degree)
    target = KernelMachine(kernel, OWN, W, THRESHOLD[degree])
    return int(np.sum(target.predict(GRID) != KernelMachine(kernel, Y, w, b).predict(GRID)))


def test_every_pair_on_the_line_is_the_same_quadratic(page):
    first = page.locator(".live-grip").nth(0)
    for _ in range(8):
        first.press("ArrowLeft")
        Y, w, wrong, text = readout(page)
        assert wrong == 0 and "These are not the target's own vectors" in text
        assert np.linalg.norm(Y[0] - OWN[0]) > 0.3
        assert wrong_labels(2, Y, w, 3.0) < 30  # three digits are shown


def test_dragging_the_second_by_mouse(page):
    box = page.locator(".live-grip").nth(1).locator(".live-reach").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = readout(page)[0]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 90, y, steps=3)
    page.mouse.up()
    Y, w, wrong, _ = readout(page)
    assert Y[1, 0] > before[1, 0] + 0.3 and wrong == 0 and wrong_labels(2, Y, w, 3.0) < 30


def test_back_to_the_own_vectors(page):
    page.get_by_role("button", name="Back to the own vectors").click()
    Y, w, wrong, text = readout(page)
    assert np.allclose(Y, OWN) and np.allclose(w, W) and wrong == 0
    assert "These are the target's own vectors." in text


@pytest.mark.parametrize("keys", [[], ["ArrowUp"] * 5, ["ArrowLeft"] * 7 + ["ArrowDown"] * 3])
def test_another_pair_is_another_cubic(page, keys):
    """The weights and the threshold against a least-squares fit of the forms' coefficients."""
    page.get_by_label("Kernel").select_option("cubic")
    for key in keys:
        page.locator(".live-grip").nth(0).press(key)
    Y, w, wrong, text = readout(page)

    def form(Y, w, b):
        H = np.vstack([np.column_stack([Y, np.ones(2)]), [0, 0, 1]])
        return np.einsum("i,ia,ib,ic->abc", [*w, -b], H, H, H).ravel()

    truth = form(OWN, W, 1.0)
    best = least_squares(lambda p: form(Y, p[:2], p[2]) - truth, [1, 1, 1])
    assert np.allclose(w, best.x[:2], atol=0.02)
    miss = 100 * np.linalg.norm(best.fun) / np.linalg.norm(truth)
    assert float(re.search(r"by ([\d.]+)%", text)[1]) == pytest.approx(miss, rel=0.02)
    assert wrong > 0 and abs(wrong - wrong_labels(3, Y, best.x[:2], best.x[2])) < 30


def test_the_own_cubic(page):
    page.get_by_label("Kernel").select_option("cubic")
    page.get_by_role("button", name="Back to the own vectors").click()
    Y, w, wrong, text = readout(page)
    assert np.allclose(Y, OWN) and np.allclose(w, W) and wrong == 0
    assert float(re.search(r"by ([\d.e-]+)", text)[1]) < 1e-3 or "10⁻" in text


def test_the_question(open_figure):
    page = open_figure("two_sets")
    page.get_by_role("button", name="For all in the plane").click()
    expect(page.locator(".live-reply")).to_contain_text("No: For all on a line. Every vector")
