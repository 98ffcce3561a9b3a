"""Bracket width and step: the error of a measured normal is a V."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

SLOPE = -0.7  # of x2 = (10 - x1 - x1^2) / 4 at x1 = 0.9
UP = 1 / np.hypot(1, SLOPE)
A, B = UP**2 / 4, UP / 2


@pytest.fixture
def page(open_figure):
    page = open_figure("step")
    page.get_by_role("button", name="Just show me").click()
    return page


def step(page):
    return page.get_by_label("Step δ", exact=True)


def width(page):
    return page.get_by_label("Width ε", exact=True)


def error(page, text=""):
    """The error in the read-out, once this shows a text."""
    readout = page.locator(".live-readout")
    expect(readout).to_contain_text(text)
    page.evaluate("new Promise((done) => setTimeout(done, 100))")  # after the pause of the read-out
    found = re.search(r"off by ([\d.]+)(?: × 10⁻([⁰¹²³⁴⁵⁶⁷⁸⁹]+))? rad", readout.inner_text())
    power = (found[2] or "⁰").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))
    return float(f"{found[1]}e-{power}")


def vee(page):
    """The drawn V: steps and errors, as powers of ten."""
    path = page.locator("path.live-vee")
    points = np.array(re.findall(r"([\d.-]+) ([\d.-]+)", path.get_attribute("d")), float)
    width, height = page.locator(".live-plane").last.get_attribute("viewBox").split()[2:]
    return -15 + 15.5 * points[:, 0] / float(width), 1.7 - 11.2 * points[:, 1] / float(height)


def test_the_question(open_figure):
    page = open_figure("step", width=360)
    page.get_by_role("button", name="10⁻³", exact=True).press("Enter")
    expect(page.locator(".live-reply")).to_contain_text("No: 10⁻⁶")


@pytest.mark.parametrize("log_step", [-4, -2, -1, 0])
def test_long_steps_err_by_curvature(page, log_step):
    step(page).fill(str(log_step))
    turned = np.arctan(0.7 + 10**log_step / 4) - np.arctan(0.7)
    text = {-4: "1.7 × 10⁻⁵ from", -2: "0.00168 from", -1: "0.0168 from", 0: "0.168 from"}[log_step]
    rounding = 0.06 if log_step == -4 else 0.01
    assert error(page, text) == pytest.approx(2 * np.sin(turned / 2), rel=rounding)


@pytest.mark.parametrize(("log_width", "label"), [
    (-6, "1.0 × 10⁻⁶"), (-8, "1.0 × 10⁻⁸"), (-12, "1.0 × 10⁻¹²")])
def test_the_bound_and_its_best_step(page, log_width, label):
    width(page).fill(str(log_width))
    assert width(page).get_attribute("aria-valuetext") == label
    steps, errors = vee(page)
    bound = A * 10**steps + B * 10**(log_width - steps)
    below = errors < np.log10(bound) + 0.06  # a pixel or two
    assert below[steps > log_width + 0.7].all()
    best, star = steps[np.argmin(errors)], np.log10(B / A) / 2 + log_width / 2
    assert abs(best - star) < 1  # errors may cancel beside it
    assert errors.min() < np.log10(2 * np.sqrt(A * B)) + log_width / 2
    # both arms: a tenth of the step, or ten times it, costs up to a digit
    for arm in (steps < star - 2, steps > star + 2):
        assert errors[arm & (steps > log_width + 0.7)].min() > errors.min() + 0.8


def test_by_keyboard(page):
    step(page).press("Home")
    assert error(page, "after 0 labels") == pytest.approx(np.hypot(0.7 * UP, 1 - UP), rel=0.01)
    step(page).press("End")
    error(page, "0.168 from curvature")
    point = page.get_by_role("button", name="Your step")
    for _ in range(3):
        point.press("ArrowLeft")
    assert step(page).input_value() == "-0.9"  # a step is 0.31, rounded to the slider's 0.05
    width(page).press("Home")
    error(page, "Double precision stops the bracket")


def test_the_point_by_mouse(page):
    point = page.get_by_role("button", name="Your step").bounding_box()
    x, y = point["x"] + point["width"] / 2, point["y"] + point["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y + 10, steps=4)
    page.mouse.up()
    plane = page.locator(".live-plane").last.bounding_box()
    moved = float(step(page).input_value()) + 1
    assert moved == pytest.approx(-60 * 15.5 / plane["width"], abs=0.1)
    expect(page.locator(".live-readout")).not_to_contain_text("0.0168 from curvature")
    assert error(page) < 1e-4


def test_what_is_drawn_near_the_point(page):
    step(page).fill("0")
    error(page, "0.168 from")
    true, measured = page.locator("path.live-arrow").all()
    for arrow, slope in ((true, 0.7), (measured, 0.95)):
        shaft = re.match(r"M(\S+) (\S+)L(\S+) ([\d.-]+)", arrow.get_attribute("d")).groups()
        x0, y0, x1, y1 = map(float, shaft)
        assert np.arctan2(y0 - y1, x1 - x0) == pytest.approx(np.arctan2(1, slope), abs=0.01)
