"""Turn the boundary: normals gathered at the origin, or extended to lines."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

ARROW = re.compile(r"M([\d.-]+) ([\d.-]+)L([\d.-]+) ([\d.-]+)")
# Half a width and half a height of what is seen, and the length of an arrow at the origin
HALF = {"cylinder": (4.1, 3.3, 2.2), "revolution": (2.5, 1.9, 1.5)}


@pytest.fixture(params=HALF)
def symmetry(request):
    return request.param


@pytest.fixture
def page(open_figure, symmetry):
    page = open_figure("turn", {"symmetry": symmetry})
    page.get_by_role("button", name="Just show me").click()
    return page


def grip(page):
    return page.get_by_role("button", name="The boundary in space")


def angles(page):
    """How far the drawing is turned and tilted, in radians."""
    label = grip(page).get_attribute("aria-label").replace("\N{MINUS SIGN}", "-")
    return np.radians([float(angle) for angle in re.findall(r"(-?[\d.]+)°", label)])


def numbers(text):
    """The numbers of a text as the book prints them."""
    digits = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻\N{MINUS SIGN}", "0123456789--")
    text = re.sub(r" × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda m: "e" + m[1].translate(digits), text)
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text.translate(digits))]


def readout(page, text):
    expect(page.locator(".live-readout")).to_contain_text(text)
    return page.locator(".live-readout").inner_text()


def segments(page, kind):
    """The first line of every path of a class, as arrays (n, 2) of its ends in pixels."""
    found = [ARROW.match(path.get_attribute("d")).groups() for path in page.locator(kind).all()]
    return np.array(found, float).reshape(-1, 2, 2)


def gram(page, symmetry):
    """The 3 x 3 matrix N N' of the normals, from the arrows as they are seen from four sides."""
    u, v, length = HALF[symmetry]
    box = [float(n) for n in page.locator(".live-plane").get_attribute("viewBox").split()[2:]]
    unit = max(2 * u / box[0], 2 * v / box[1]) / length
    equations, values = [], []
    for _ in range(4):
        grip(page).press("ArrowRight")
        turn, tilt = angles(page)
        shown = segments(page, "path.live-arrow")
        tips = (shown[:, 1] - shown[:, 0]) * [unit, -unit]
        rows = [[np.cos(turn), 0, np.sin(turn)],
                [np.sin(tilt) * np.sin(turn), np.cos(tilt), -np.sin(tilt) * np.cos(turn)]]
        for i, j in [(0, 0), (0, 1), (1, 1)]:
            equations.append(np.outer(rows[i], rows[j]).ravel())
            values.append(tips[:, i] @ tips[:, j])
        for _ in range(5):
            grip(page).press("ArrowRight")
        grip(page).press("ArrowUp")
    pairs = np.array([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0],
                      [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0],
                      [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]])
    a = np.linalg.lstsq(np.array(equations) @ pairs, np.array(values), rcond=None)[0]
    return np.array([[a[0], a[1], a[2]], [a[1], a[3], a[4]], [a[2], a[4], a[5]]])


def test_gathered_normals(page, symmetry):
    page.get_by_role("button", name="Gather").press("Enter")
    said = numbers(readout(page, "singular values"))
    assert said[0] == 40 and sum(s**2 for s in said[1:4]) == pytest.approx(40, rel=0.01)
    seen = gram(page, symmetry)
    values = np.sqrt(np.maximum(np.linalg.eigvalsh(seen)[::-1], 0))
    assert values[:2] == pytest.approx(said[1:3], rel=0.02)
    if symmetry == "cylinder":
        assert said[3] < 1e-4 and values[2] < 0.2
        assert seen[0, 0] < 0.05  # along the axis, (1, 0, -1)
    else:
        assert said[3] > 1 and values[2] == pytest.approx(said[3], rel=0.03)


def test_turned_by_mouse(page):
    before = angles(page)
    box = page.locator(".live-plane").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 260, box["y"] + 90, steps=3)
    page.mouse.up()
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    assert np.degrees(angles(page) - before) == pytest.approx([30, -5], abs=0.1)


def test_the_fan_from_its_edge(open_figure):
    page = open_figure("turn", {"symmetry": "cylinder"})
    page.get_by_role("button", name="A flat fan").press("Enter")
    expect(page.locator(".live-reply")).to_contain_text("Yes")
    page.get_by_role("button", name="Gather").press("Enter")
    readout(page, "33° with this plane")
    for _ in range(7):
        grip(page).press("ArrowRight")
    readout(page, "from its edge")
    ends = segments(page, "path.live-arrow")
    assert np.ptp(ends[:, :, 0]) < 1  # a vertical line of arrows
    page.get_by_role("button", name="Put them back").press("Enter")
    readout(page, "40 boundary points")


def test_lines_meet_the_axis(open_figure):
    page = open_figure("turn", {"symmetry": "revolution"})
    page.get_by_role("button", name="Nothing").click()
    expect(page.locator(".live-reply")).to_contain_text("No: Their lines all meet one line")
    page.get_by_role("button", name="Extend").click()
    said = numbers(readout(page, "All 40 lines meet"))
    assert said[1] < 1e-4 and said[2] > 0.1
    for _ in range(3):  # the drawn lines, from three sides: they end a fifth beyond the axis
        rays, (axis,) = segments(page, "path.live-ray"), segments(page, "path.live-axis")
        meeting = rays[:, 0] + (rays[:, 1] - rays[:, 0]) / 1.2
        along = (axis[1] - axis[0]) / np.linalg.norm(axis[1] - axis[0])
        assert len(rays) == 40
        assert np.abs((meeting - axis[0]) @ [-along[1], along[0]]).max() < 0.5  # pixels
        for _ in range(4):
            grip(page).press("ArrowLeft")
        grip(page).press("Shift+ArrowUp")


def test_the_films(open_figure):
    page = open_figure("turn", {"symmetry": "revolution"}, motion="no-preference")
    page.get_by_role("button", name="Just show me").click()
    page.clock.install(time="2024-01-01T00:00")
    page.clock.pause_at("2024-01-01T01:00")
    page.get_by_role("button", name="Gather").click()
    page.clock.run_for(200)  # a step at the click and every 40 milliseconds, sixteen in all
    page.get_by_role("button", name="Stop").click()
    page.clock.run_for(5000)
    face = page.locator("path.live-face").first
    assert float(face.get_attribute("opacity")) == 1 - 6 / 16
    page.get_by_role("button", name="Extend").click()
    page.clock.run_for(1000)
    readout(page, "All 40 lines meet")
    page.get_by_role("button", name="Gather").click()
    page.clock.run_for(1000)
    readout(page, "singular values")
