"""Two Hessians show the vectors of a cubic machine."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

OWN, W = np.array([[1.6, 0.5], [-0.4, 1.4]]), np.array([1.0, 1.5])
A = np.array([0.9, -0.2])


@pytest.fixture
def page(open_figure):
    page = open_figure("hessians")
    page.get_by_role("button", name="Just show me").click()
    return page


def readout(page):
    page.evaluate("new Promise((done) => setTimeout(done, 100))")  # after the pause of the read-out
    return page.locator(".live-readout").inner_text().replace("\N{MINUS SIGN}", "-")


def hessian(x, degree=3):
    return (OWN.T * (W * (1 + OWN @ x) ** (degree - 2))) @ OWN


def angle(v):
    return np.degrees(np.arctan2(v[1], v[0])) % 180


@pytest.mark.parametrize("degrees", [0, 20, 77.7, 130, 180])
@pytest.mark.parametrize("kernel", [2, 3])
def test_where_the_hessians_send_a_direction(page, kernel, degrees):
    page.get_by_label("Kernel").select_option(str(kernel))
    page.get_by_role("slider").fill(str(degrees))
    v = [np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]
    shown = re.findall(r"to ([\d.]+)°", readout(page))
    for text, x in zip(shown, (np.zeros(2), A), strict=True):
        away = abs(float(text) - angle(hessian(x, kernel) @ v))
        assert min(away, 180 - away) < 0.6  # three digits are shown


def test_vectors_by_hand(page):
    """Each vector is read where the direction is perpendicular to the other one."""
    slider = page.get_by_role("slider")
    for y, other in (OWN, OWN[::-1]):
        slider.fill(str(round(angle([-other[1], other[0]]), 1)))
        found = re.search(r"gives y = \(([^)]+)\)", readout(page))[1]
        assert np.allclose([float(v) for v in found.split(", ")], y, atol=0.05)
    assert "The machine's vectors are (1.6, 0.5) and (-0.4, 1.4)." in readout(page)
    slider.fill("60")
    assert "Parallel" not in readout(page)
    expect(page.locator(".live-mark")).to_have_count(2)


def test_solved_at_another_point_by_keyboard(page):
    page.get_by_role("button", name="Point a").press("ArrowRight")
    page.get_by_role("button", name="Solve for both").click()
    text = re.search(r"Read so far: (.*?)\. The machine", readout(page))[1]
    assert text in ("(1.6, 0.5) and (-0.4, 1.4)", "(-0.4, 1.4) and (1.6, 0.5)")


def test_the_direction_by_mouse(page):
    handle = page.get_by_role("button", name="Direction v").locator(".live-reach").bounding_box()
    plane = page.locator(".live-plane").bounding_box()
    middle = [plane["x"] + plane["width"] / 2, plane["y"] + plane["height"] / 2]
    page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    page.mouse.down()
    page.mouse.move(middle[0] + 100, middle[1] - 100, steps=3)
    page.mouse.up()
    assert float(page.get_by_role("slider").input_value()) == pytest.approx(45, abs=1)


def test_a_quadratic_hides_its_vectors(page):
    page.get_by_label("Kernel").select_option("quadratic")
    assert "the same Hessian everywhere" in readout(page)
    expect(page.get_by_role("button", name="Solve for both")).to_be_disabled()
    expect(page.locator(".live-mark")).to_have_count(0)


def test_the_question(open_figure):
    page = open_figure("hessians")
    page.get_by_role("button", name="Two", exact=True).click()
    expect(page.locator(".live-reply")).to_contain_text("Yes. Where v is perpendicular")
