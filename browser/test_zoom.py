"""Zoom out: which degree fits the boundary at which scale."""

import re
from itertools import combinations

import numpy as np
import pytest
from playwright.sync_api import expect

from decon import Gaussian, KernelMachine, Oracle, Polynomial, Tanh
from decon.boundary.bracketing import boundary_points
from decon.boundary.curves import curve_points
from decon.boundary.pairs import pn_pairs
from decon.families.polynomial import misfit
from decon.teaching.live import HERE

Y = [[-2.1, 1.2], [0.6, 0.7], [1.2, 0.9], [-0.8, 2.8]]
KERNELS = {"Model 1": ("cubic", Polynomial(3), 5.8), "Model 2": ("Gaussian", Gaussian(1.0), 0.7),
           "Model 3": ("tanh", Tanh(1.0, 0.3), 0.5), "Model 4": ("quadratic", Polynomial(2), 3.0)}


@pytest.fixture
def page(open_figure):
    page = open_figure("zoom")
    page.get_by_role("button", name="Just show me").click()
    return page


def says(page, *texts):
    for text in texts:
        expect(page.locator(".live-readout")).to_contain_text(text)


def verdict(kernel, threshold, radius):
    """The lowest degree that fits, by the module, near a boundary point of its own choice."""
    machine = KernelMachine(kernel, Y, [0.5, 1, 1.8, -0.5], threshold)
    oracle = Oracle(machine.predict, 2)
    cloud = np.random.default_rng(0).standard_normal((400, 2))
    labels = oracle(cloud)
    (x,), _ = boundary_points(oracle, *pn_pairs(cloud[labels > 0], cloud[labels < 0], 1), 1e-12)
    Z = curve_points(oracle, x, np.eye(2), 20, radius, 1e-12 * radius)
    if not len(Z):
        return "no boundary, all 40 labels are alike"
    fits = [misfit(Z, degree, 1e-12 * radius) < 0.5 for degree in (1, 2, 3)]
    return f"degree {fits.index(True) + 1} fits" if any(fits) else "no degree up to 3 fits"


@pytest.mark.parametrize("log_radius", [-1, 0, 1, 3, 5])
def test_the_module_finds_the_same_degrees(page, log_radius):
    page.get_by_label("Window radius").fill(str(log_radius))
    for name, (_, kernel, threshold) in KERNELS.items():
        says(page, f"{name}: {verdict(kernel, threshold, 2**0.5 * 10**log_radius)}")


def test_by_keyboard(page):
    slider = page.get_by_label("Window radius")
    slider.press("End")
    says(page, "Model 1: degree 3 fits", "Model 2: no boundary")
    says(page, "Model 3: degree 2 fits; the best line")
    assert slider.get_attribute("aria-valuetext") == "100,000 R₀"
    slider.press("Home")
    says(page, "Model 2: degree 3 fits", "Model 4: degree 2 fits")
    page.get_by_label("Model 1", exact=True).press("c")
    expect(page.locator(".live-card").first).to_contain_text("Yes: cubic.")


def test_guesses(page):
    for name, (kind, _, _) in list(KERNELS.items())[:3]:
        page.get_by_label(name, exact=True).select_option(kind)
    says(page, "You have found 3 of 4")
    page.get_by_label("Model 4", exact=True).select_option("tanh")
    expect(page.locator(".live-card").last).to_contain_text("No, not tanh.")
    page.get_by_label("Model 4", exact=True).select_option("quadratic")
    says(page, "All four are found")


def test_the_slider_by_mouse(page):
    box = page.get_by_label("Window radius").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    says(page, "Model 2: no boundary")


def test_points_lie_on_the_boundary(page):
    page.get_by_label("Window radius").fill("1")
    far = page.evaluate("""() => [...document.querySelectorAll('.live-card')].map((card) => {
        const path = card.querySelector('path.live-boundary'), n = 4000;
        const length = path.getTotalLength();
        const curve = Array.from({length: n}, (_, i) => path.getPointAtLength(length * i / n));
        return [...card.querySelectorAll('circle.live-found')].map(c => Math.min(...curve.map(
            p => Math.hypot(p.x - c.cx.baseVal.value, p.y - c.cy.baseVal.value))));
    })""")
    assert [len(card) for card in far] == [20] * 4 and max(map(max, far)) < 1.5  # pixels


def test_the_question(open_figure):
    page = open_figure("zoom", width=360)
    page.get_by_role("button", name="In small ones only").press("Enter")
    expect(page.locator(".live-reply")).to_contain_text("No: In small and in large ones")
    boxes = [card.bounding_box() for card in page.locator(".live-card").all()]
    assert boxes[0]["y"] == boxes[1]["y"] < boxes[2]["y"] == boxes[3]["y"]  # two by two
    for a, b in combinations(boxes, 2):
        assert (a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
                or a["y"] + a["height"] <= b["y"])


@pytest.fixture
def mathematics(chromium):
    """A page with what the figure computes with."""
    numbers, zoom = ((HERE / name).read_text("utf-8") for name in ("numbers.js", "zoom.js"))
    fit = re.search(r"^function misfit.*?(?=^// )", zoom, re.M | re.S)[0]
    page = chromium.new_page()
    page.add_script_tag(content=f"""{numbers.replace('export ', '')}
        const WIDTH = 1e-12; {fit} Object.assign(window, {{ singular, misfit }});""")
    yield page
    page.close()


@pytest.mark.parametrize("shape", [(20, 10), (6, 6), (40, 3)])
def test_singular_values(mathematics, shape):
    random = np.random.default_rng(0).standard_normal(shape)
    left, _, right = np.linalg.svd(random, full_matrices=False)
    values = np.logspace(0, -14, shape[1])
    found = mathematics.evaluate("(A) => singular(A)", ((left * values) @ right).tolist())
    assert np.abs(np.array(found["values"]) - values).max() < 1e-15
    assert np.abs(np.array(found["vectors"])[0] @ right[0]) == pytest.approx(1)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_misfit(mathematics, degree):
    t = np.random.default_rng(1).uniform(0, 2, 20)
    points = np.column_stack([t, np.exp(t) / 4])
    found = mathematics.evaluate("([Z, D]) => misfit(Z, D)", [points.tolist(), degree])
    assert found == pytest.approx(misfit(points, degree, 1e-12), rel=1e-6)
