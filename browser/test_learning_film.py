"""Learning as a film, with the data of its page: against machines trained with cvxpy."""

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from decon.learning.svm import train_svm

PAGE = Path(__file__).parents[1] / "book/upgrade/learning-and-unlearning.ipynb"


@pytest.fixture(scope="module")
def data():
    """What the page hands to the figure."""
    cells = json.loads(PAGE.read_text("utf-8"))["cells"]
    places = ["".join(output["data"]["text/html"]) for cell in cells
              for output in cell.get("outputs", []) if "text/html" in output.get("data", {})]
    place, = [p for p in places if 'data-figure="learning_film"' in p]
    return json.loads(unescape(re.search('data-data="([^"]*)"', place)[1]))


@pytest.fixture
def page(open_figure, data):
    page = open_figure("learning_film", data)
    page.get_by_role("button", name="Just show me").click()
    return page


def says(page, *texts):
    for text in texts:
        expect(page.locator(".live-readout")).to_contain_text(text)


def test_the_path_begins_and_ends_at_machines_that_are_trained(data):
    points, C = np.array(data["points"]), data["C"]
    X, t = points[:, :2], points[:, 2]
    before, after = train_svm(X[:-1], t[:-1], C=C), train_svm(X, t, C=C)
    np.testing.assert_allclose(data["multipliers"][0], np.append(before.multipliers, 0), atol=1e-9)
    np.testing.assert_allclose(data["multipliers"][-1], after.multipliers, atol=1e-9)


def test_the_question_counts_the_multipliers_that_change(open_figure, data):
    first, last = np.array(data["multipliers"])[[0, -1], :-1]
    changed = int((abs(first - last) > 1e-9).sum())
    page = open_figure("learning_film", data)
    page.get_by_role("button", name="None", exact=True).click()
    expect(page.locator(".live-reply")).to_contain_text(f"No: {changed}.")


def test_by_mouse_all_at_once_for_readers_who_want_no_motion(page, data):
    says(page, "No event yet")
    page.get_by_role("button", name="Learn it", exact=True).click()
    says(page, f"The new example has the multiplier {data['multipliers'][-1][-1]:g}.",
         "Done: its multiplier has reached C.", "the same multipliers, to nine digits")
    page.get_by_role("button", name="Unlearn it").click()
    says(page, "It is forgotten: the machine is as it was before.")


def test_by_keyboard_the_old_examples_keep_their_conditions_all_the_way(page, data):
    path = page.get_by_role("slider", name="Path")
    path.focus()
    events = len(data["multipliers"]) - 1
    seen = set()
    for _ in range(20 * events):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".live-readout")).to_contain_text(
            f"multiplier {path.get_attribute('aria-valuetext').split(' = ')[1]}.")
        text = page.locator(".live-readout").inner_text()
        worst = re.search(r"old examples: ([^;]*);", text)[1]
        assert worst == "0" or re.search("× 10⁻(⁹|¹.)$", worst), text
        seen |= set(re.findall(r"Event (\d)", text))
    assert seen == {str(k) for k in range(1, events)}
    says(page, "Done")


def test_the_film_waits_at_an_event_and_stops(open_figure, data):
    page = open_figure("learning_film", data, motion="no-preference")
    page.get_by_role("button", name="Just show me").click()
    page.clock.install(time=0)
    page.clock.pause_at(1000)  # from here on only run_for lets time pass
    page.get_by_role("button", name="Learn it", exact=True).click()
    page.clock.run_for(80 * 22)  # twenty frames to the first event, then it waits
    says(page, "Event 1 of 5")
    value = page.get_by_role("slider", name="Path").input_value()
    page.clock.run_for(80 * 2)
    assert page.get_by_role("slider", name="Path").input_value() == value == "20"
    page.get_by_role("button", name="Stop").click()
    page.clock.run_for(5000)
    assert page.get_by_role("slider", name="Path").input_value() == value
