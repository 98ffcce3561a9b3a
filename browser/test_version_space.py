"""The version space: a polygon that every answer cuts, checked on a grid of machines."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

GRID = np.stack(np.meshgrid(*[(np.arange(1000) + 0.5) / 500 - 1] * 2), -1).reshape(-1, 2)


@pytest.fixture
def page(open_figure):
    page = open_figure("version_space")
    page.get_by_role("button", name="Nine tenths").click()
    expect(page.locator(".live-reply")).to_contain_text("No: One half at most.")
    return page


def says(page, text):
    expect(page.locator(".live-readout")).to_contain_text(text)


def press(page, name, times=1):
    for _ in range(times):
        page.get_by_role("button", name=name, exact=True).press("Enter")


def asked(page):
    """The inputs queried so far, in coordinates, with their labels, from the drawing."""
    plane = page.locator(".live-plane").first
    size = plane.evaluate("e => [e.viewBox.baseVal.width, e.viewBox.baseVal.height]")
    marks = plane.evaluate("""e => [...e.querySelectorAll(
        'circle.live-positive, rect.live-negative')].map(m => { const b = m.getBBox();
        return [b.x + b.width / 2, b.y + b.height / 2, m.tagName === 'circle' ? 1 : -1]; })""")
    marks = np.array(marks)
    return (2 * marks[:, :2] / size - 1) * [2.3, -3.3], marks[:, 2]


def share_left(inputs, labels):
    left = np.ones(len(GRID), bool)
    for (x, y), label in zip(inputs, labels, strict=True):
        left &= (y - GRID[:, 0] * x - GRID[:, 1] > 0) == (label > 0)
    return left.mean()


def shown(page):
    """Share, bits and bits of the last answer, as the read-out has them."""
    text = page.locator(".live-readout").inner_text()
    share = re.search(r"queries: (?:1 in ([\d,]+)|([\d.]+)%)", text)
    share = 1 / float(share[1].replace(",", "")) if share[1] else float(share[2]) / 100
    return share, *(float(re.search(p, text)[1])
                    for p in (r"That is ([\d.]+) bit", r"brought ([\d.]+) bit"))


def test_what_a_query_would_keep_is_seen_before_it_is_made(page):
    cross = page.get_by_role("button", name="Cross at")
    cross.focus()
    for key in ["ArrowRight", "ArrowRight", "ArrowUp"]:
        page.keyboard.press(key)
    # above a line of slope -x and height y, which crosses both sides of the square
    y = 0.04 * 6.6
    keeps = (1 + y) / 2
    says(page, f"+1 would keep {100 * keeps:.3g}%, −1 would keep {100 - 100 * keeps:.3g}%")
    bits = -keeps * np.log2(keeps) - (1 - keeps) * np.log2(1 - keeps)
    says(page, f"worth {bits:.2f} bits on average")
    page.keyboard.press("Enter")
    says(page, "1 query: ")
    label = asked(page)[1][0]
    says(page, f"{100 * (keeps if label > 0 else 1 - keeps):.3g}% of the machines are left")


def test_the_mouse_aims_and_asks(page):
    plane, machines = page.locator(".live-plane").all()
    plane.hover(position={"x": 200, "y": 100})
    says(page, "A query here")
    expect(machines.locator(".live-strong")).to_have_count(1)
    plane.click(position={"x": 200, "y": 160})
    says(page, "1 query: ")
    page.mouse.move(2, 2)
    expect(machines.locator(".live-strong")).to_have_count(0)
    expect(page.locator(".live-readout")).not_to_contain_text("A query here")


@pytest.mark.parametrize("who", ["hidden", "adversary"])
def test_the_share_is_that_of_a_grid_of_machines(page, who):
    page.get_by_label("Answers from").select_option(who)
    plane = page.locator(".live-plane").first
    rng, largest = np.random.default_rng(1), 0
    for n in range(1, 9):
        x, y = rng.uniform([20, 110], [300, 200])
        plane.click(position={"x": float(x), "y": float(y)})
        says(page, f"{n} quer")
        if n == 1:
            continue
        page.wait_for_function("n => document.querySelector('.live-readout').textContent"
                               ".startsWith(`${n} queries`)", arg=n)
        share, bits, last = shown(page)
        assert share == pytest.approx(share_left(*asked(page)), rel=0.06)
        assert bits == pytest.approx(-np.log2(share), abs=0.05)
        largest = max(largest, last)
    if who == "adversary":
        assert largest <= 1


def test_the_best_queries_bring_one_bit_each(page):
    for who in ["adversary", "hidden"]:
        page.get_by_label("Answers from").select_option(who)
        press(page, "Ask the best queries")
        says(page, "20 queries: 1 in 1,048,576 of the machines are left. "
             "That is 20 bits, 1 bit per query")
    press(page, "Show the hidden machine")
    says(page, "The hidden machine: u = ")
    expect(page.locator(".live-truth")).to_have_count(1)
    assert page.evaluate("""() => {
        const dot = document.querySelector('circle.live-found');
        const at = new DOMPoint(dot.cx.baseVal.value, dot.cy.baseVal.value);
        return document.querySelector('path.live-version').isPointInFill(at);
    }""")
    page.get_by_label("Answers from").select_option("adversary")
    press(page, "Show the hidden machine")
    says(page, "The adversary has chosen no machine")
    press(page, "Start again")
    says(page, "No query yet")


def test_one_best_query_at_a_time(page):
    press(page, "One best query", 3)
    says(page, "3 queries: 12.5% of the machines are left. That is 3 bits")
    assert share_left(*asked(page)) == pytest.approx(1 / 8, abs=0.01)


def test_the_film_runs_and_stops(open_figure):
    page = open_figure("version_space", motion="no-preference", width=360)
    page.get_by_role("button", name="Just show me").click()
    page.clock.install(time=0)
    page.clock.pause_at(1000)  # from here on only run_for lets time pass
    page.get_by_role("button", name="Ask the best queries").click()
    page.clock.run_for(2000)  # steps at 0, 900 and 1800 milliseconds
    says(page, "3 queries: 12.5%")
    page.get_by_role("button", name="Stop").click()
    page.clock.run_for(5000)
    says(page, "3 queries: 12.5%")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
