"""Be the bisector: labels on demand, brackets that halve."""

import pytest
from playwright.sync_api import expect


@pytest.fixture
def page(open_figure):
    page = open_figure("bisector")
    page.get_by_role("button", name="1,000", exact=True).click()
    return page


def says(page, text):
    expect(page.locator(".live-readout")).to_contain_text(text)


def test_the_guess_opens_the_figure(open_figure):
    page = open_figure("bisector")
    assert page.locator(".live-stage").get_attribute("inert") == ""
    page.get_by_role("button", name="20", exact=True).click()
    expect(page.locator(".live-reply")).to_contain_text("Yes")
    assert page.locator(".live-stage").get_attribute("inert") is None


def test_by_mouse(page):
    square, bar = page.locator(".live-plane").all()
    square.click(position={"x": 340, "y": 210})
    says(page, "1 label asked")
    square.click(position={"x": 20, "y": 20})
    says(page, "the bracket is 1 of it")
    page.get_by_role("button", name="Ask in the middle").click()
    says(page, "1 label on the segment; the bracket is 0.5")
    bar.click(position={"x": 350, "y": 30})
    says(page, "2 labels on the segment")


def test_by_keyboard(page):
    cross = page.get_by_role("button", name="Cross at").first
    cross.focus()
    page.keyboard.press("Enter")  # in the middle: inside
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press(" ")
    says(page, "the bracket is 1 of it")
    page.get_by_role("button", name="Let the algorithm halve").press("Enter")
    says(page, "20 labels on the segment")
    page.get_by_role("button", name="Show the boundary").press("Enter")
    expect(page.locator("path.live-boundary")).to_have_count(1)
    page.get_by_role("button", name="Start again").press("Enter")
    says(page, "0 labels asked")


def test_boundary_points_lie_on_the_boundary(page):
    page.get_by_role("button", name="Bracket 50 pairs").click()
    page.get_by_role("button", name="Show the boundary").click()
    far = page.evaluate("""() => {
        const path = document.querySelector('path.live-boundary'), n = 4000;
        const length = path.getTotalLength();
        const curve = Array.from({length: n}, (_, i) => path.getPointAtLength(length * i / n));
        return [...document.querySelectorAll('circle.live-found')].map(c => Math.min(...curve.map(
            p => Math.hypot(p.x - c.cx.baseVal.value, p.y - c.cy.baseVal.value))));
    }""")
    assert len(far) == 50 and max(far) < 1.5  # pixels


def test_the_film_runs_and_stops(open_figure):
    page = open_figure("bisector", motion="no-preference")
    page.get_by_role("button", name="Just show me").click()
    page.clock.install(time=0)
    page.clock.pause_at(1000)  # from here on only run_for lets time pass, on slow machines too
    page.get_by_role("button", name="Let the algorithm halve").click()
    page.clock.run_for(600)  # steps at 0, 250 and 500 milliseconds
    says(page, "3 labels on the segment")
    page.get_by_role("button", name="Stop").click()
    page.clock.run_for(5000)
    says(page, "3 labels on the segment")
    expect(page.get_by_role("button", name="Let the algorithm halve")).to_be_visible()
