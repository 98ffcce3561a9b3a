"""Where to cut: counts against the scores, by slider, by mouse and by keyboard."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

RNG = np.random.default_rng(0)
SCORES = [RNG.normal([-0.5, 2], 1, (60, 2)), RNG.normal([-1, 1], 1, (150, 2)),
          RNG.normal([-1, -2], 1, (1000, 2))]
NAMES, RIGHT = ["1s", "8s", "the rest"], [1, 1, -1]


def data():
    groups = []
    for name, right, scores in zip(NAMES, RIGHT, SCORES, strict=True):
        images = [{"pixels": "0f" * 200, "scores": row.tolist()} for row in scores[:20]]
        groups.append({"name": name, "right": right, "scores": scores.T.tolist(),
                       "images": images})
    return {"groups": groups, "machines": ["before", "after"]}


@pytest.fixture
def page(open_figure):
    page = open_figure("threshold", data())
    page.get_by_role("button", name="Just show me").click()
    return page


def hits(cut, machine=1):
    return [int(np.sum((s[:, machine] > cut) == (right > 0)))
            for s, right in zip(SCORES, RIGHT, strict=True)]


def says(page, cut, machine=1):
    right = hits(cut, machine)
    mean = 100 * np.mean([h / len(s) for h, s in zip(right, SCORES, strict=True)])
    counts = ", ".join(f"{name} {h:,} of {len(s):,}"
                       for name, h, s in zip(NAMES, right, SCORES, strict=True))
    expect(page.locator(".live-readout")).to_contain_text(
        f"{counts} right; mean of the three rates {mean:.1f}%")


@pytest.mark.parametrize("machine", [0, 1])
@pytest.mark.parametrize("cut", [-1.5, 0, 0.75])
def test_counts(page, cut, machine):
    page.get_by_label("Machine", exact=True).select_option(str(machine))
    page.get_by_role("slider").fill(str(cut))
    says(page, cut, machine)


def test_by_keyboard(page):
    page.get_by_role("button", name="Threshold").press("ArrowRight")
    cut = float(page.get_by_role("slider").input_value())
    assert cut > 0
    page.evaluate("new Promise((done) => setTimeout(done, 100))")  # after the pause of the read-out
    assert re.search(r"threshold ([\d.]+)", page.locator(".live-readout").inner_text())
    says(page, 0.02 * np.ptp(view()))


def view():
    values = np.concatenate([s.ravel() for s in SCORES])
    return np.floor(10 * values.min()) / 10, np.ceil(10 * values.max()) / 10


def test_by_mouse(page):
    handle = page.locator(".live-grip .live-reach").bounding_box()
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 120, y + 30, steps=3)
    page.mouse.up()
    width = page.locator(".live-plane").bounding_box()["width"]
    cut = float(page.get_by_role("slider").input_value())
    assert cut == pytest.approx(-120 * np.ptp(view()) / width, abs=0.05)


def test_images_on_the_right_side(page):
    """Nearest to the threshold, three on each side; a dashed frame is an error."""
    for row, (name, right, scores) in enumerate(zip(NAMES, RIGHT, SCORES, strict=True)):
        part = page.locator(".live-images > div").nth(row)
        expect(part.locator("p")).to_have_text(name)
        shown = scores[:20, 1]
        sides = [min(3, int(np.sum(shown <= 0))), min(3, int(np.sum(shown > 0)))]
        expect(part.locator("canvas")).to_have_count(sum(sides))
        expect(part.locator("canvas.live-error")).to_have_count(sides[0 if right > 0 else 1])


def test_pixels(page):
    canvas = page.locator("canvas").first
    ink = canvas.evaluate("c => Array.from(c.getContext('2d').getImageData(0, 0, 3, 1).data)")
    assert ink == [255, 255, 255, 255, 0, 0, 0, 255, 255, 255, 255, 255]


def test_the_question(open_figure):
    page = open_figure("threshold", data())
    page.get_by_role("button", name="About 5", exact=True).click()
    ordered = np.sort(SCORES[1][:, 1])
    at = ordered[len(ordered) // 100]
    alarms = np.mean(SCORES[2][:, 1] > at - 1e-9)
    expect(page.locator(".live-reply")).to_contain_text(
        f"it takes {100 * alarms:.1f}% of them")
