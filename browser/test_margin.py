"""The widest street: examples dragged and deleted, C on a slider, against scikit-learn."""

import numpy as np
import pytest
from playwright.sync_api import expect
from sklearn.svm import SVC

HARD = 1e6


def clouds(seed, n, spread, half_gap):
    t = np.repeat([1, -1], n)
    X = spread * np.random.default_rng(seed).standard_normal((2 * n, 2)) + np.outer(t, half_gap)
    return X.round(3), t


SEPARABLE = clouds(10, 10, 0.8, [1.2, 0.8])
OVERLAPPING = clouds(4, 10, 0.9, [1.0, 0.5])


def trained(X, t, C):
    svc = SVC(C=C, kernel="linear", tol=1e-8).fit(X, t)
    return svc, 1 / np.linalg.norm(svc.coef_)


def show(open_figure, data, soft=False, **options):
    points = np.column_stack(data).tolist()
    page = open_figure("margin", {"points": points, "soft": soft}, **options)
    page.get_by_role("button", name="Just show me").click()
    return page


def says(page, text):
    expect(page.locator(".live-readout")).to_contain_text(text)


def three(value):
    return f"{value:.3g}"


def test_the_question_is_answered_by_deleting_each_example(open_figure):
    X, t = SEPARABLE
    page = open_figure("margin", {"points": np.column_stack(SEPARABLE).tolist()})
    page.get_by_role("button", name="All 20").click()
    w = trained(X, t, HARD)[0].coef_
    moving = [i for i in range(20) if np.linalg.norm(
        trained(np.delete(X, i, 0), np.delete(t, i), HARD)[0].coef_ - w) > 1e-4]
    expect(page.locator(".live-reply")).to_contain_text(
        f"No: {len(moving)}. Only the {len(moving)} examples")
    grips = page.locator(".live-grip")
    for i in range(20):
        grips.nth(i).focus()
        page.keyboard.press("Delete")
        says(page, f"Without example {i} the boundary has turned" if i in moving
             else f"Without example {i} nothing moves")
        page.keyboard.press("Delete")


def test_margin_and_multipliers(open_figure):
    X, t = SEPARABLE
    page = show(open_figure, SEPARABLE)
    svc, margin = trained(X, t, HARD)
    says(page, f"Margin {three(margin)}.")
    for i, a in zip(svc.support_, np.abs(svc.dual_coef_[0]), strict=True):
        says(page, f"{i} ({three(a)})")
    expect(page.locator("path.live-support")).to_have_count(len(svc.support_))
    expect(page.locator("path.live-margin")).to_have_count(2)


def test_delete_by_mouse(open_figure):
    X, t = SEPARABLE
    page = show(open_figure, SEPARABLE)
    svc, margin = trained(X, t, HARD)
    i = int(svc.support_[0])
    page.locator(".live-grip").nth(i).click()
    page.get_by_role("button", name=f"Delete example {i}").click()
    left, wider = trained(np.delete(X, i, 0), np.delete(t, i), HARD)
    turn = np.degrees(abs(np.subtract(*(np.arctan2(*s.coef_[0][::-1]) for s in (svc, left)))))
    shift = abs(np.subtract(*((s.decision_function([X.mean(axis=0)]) / np.linalg.norm(s.coef_))[0]
                              for s in (svc, left))))
    says(page, f"turned by {turn:.2g}° and moved by {shift:.2g}")
    says(page, f"the margin was {three(margin)}")
    says(page, f"Margin {three(wider)}.")
    page.get_by_role("button", name=f"Put back example {i}").click()
    says(page, f"Margin {three(margin)}.")
    expect(page.locator(".live-before")).to_have_count(0)


def test_the_pointer_takes_the_nearest_of_a_crowd(open_figure):
    page = show(open_figure, SEPARABLE, width=360)
    for i in range(20):
        node = page.locator(".live-grip").nth(i)
        place = node.locator(".live-reach").bounding_box()
        page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
        expect(page.get_by_role("button", name=f"Delete example {i}", exact=True)).to_be_enabled()


def test_dragging_until_no_line_separates(open_figure):
    page = show(open_figure, SEPARABLE)
    grips = page.locator(".live-grip")
    boxes = [grips.nth(i).locator(".live-reach").bounding_box() for i in range(20)]
    centres = np.array([[box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
                        for box in boxes])
    page.mouse.move(*centres[0])
    page.mouse.down()
    page.mouse.move(*centres[10:].mean(axis=0), steps=4)
    page.mouse.up()
    says(page, "No line separates these examples")
    expect(page.locator(".live-boundary")).to_have_count(0)
    page.keyboard.press("Delete")
    says(page, "Without example 0 a line separates the others.")
    page.get_by_role("button", name="Start again").click()
    says(page, f"Margin {three(trained(*SEPARABLE, HARD)[1])}.")


def place(grip):
    at = grip.get_attribute("aria-label").split("at ")[1].split(";")[0].replace("−", "-")
    return np.array(at.split(", "), float)


def test_moving_by_keyboard(open_figure):
    X, t = (array.copy() for array in SEPARABLE)
    page = show(open_figure, SEPARABLE)
    grip, readout = page.locator(".live-grip").nth(0), page.locator(".live-readout")
    grip.focus()
    page.keyboard.press("ArrowLeft")
    expect(readout).not_to_contain_text(f"Margin {three(trained(X, t, HARD)[1])}.")
    X[0], before = place(grip), X[0].copy()
    assert X[0, 0] < before[0] - 0.05 and X[0, 1] == pytest.approx(before[1], abs=0.001)
    page.evaluate("new Promise((done) => setTimeout(done, 100))")  # after the pause of the read-out
    shown = float(readout.inner_text().split()[1].rstrip("."))
    assert shown == pytest.approx(trained(X, t, HARD)[1], abs=0.005)
    page.keyboard.press("Shift+ArrowDown")
    assert 0 < X[0, 1] - place(grip)[1] < 0.05


def test_one_label_alone(open_figure):
    page = show(open_figure, ([[0.0, 0.0], [2.0, 0.0]], [1, -1]))
    says(page, "Margin 1.")
    page.locator(".live-grip").nth(1).focus()
    page.keyboard.press("Backspace")
    says(page, "Examples of one label alone")


@pytest.mark.parametrize("keys", [0, -30, 40])
def test_the_price_of_slack(open_figure, keys):
    X, t = OVERLAPPING
    page = show(open_figure, OVERLAPPING, soft=True)
    slide = page.get_by_role("slider", name="C")
    slide.focus()
    for _ in range(abs(keys)):
        page.keyboard.press("ArrowRight" if keys > 0 else "ArrowLeft")
    C = 10 ** (0.05 * keys)
    svc, margin = trained(X, t, C)
    tf = t * svc.decision_function(X)
    full = int(np.sum(np.abs(svc.dual_coef_[0]) > C * (1 - 1e-6)))
    says(page, f"margin {three(margin)}; {np.sum(tf < 1 - 1e-5)} examples inside the margin, "
         f"{np.sum(tf <= 0)} of them on the wrong side. {full} multipliers at C")
    expect(page.locator("circle.live-support")).to_have_count(full)
    page.get_by_role("button", name="Start again").click()
    says(page, "C = 1:")


def test_a_larger_price_narrows_the_margin(open_figure):
    page = open_figure("margin", {"points": np.column_stack(OVERLAPPING).tolist(), "soft": True})
    page.get_by_role("button", name="It becomes narrower").click()
    wide, narrow = (three(trained(*OVERLAPPING, C)[1]) for C in (1, 100))
    expect(page.locator(".live-reply")).to_contain_text("Yes. To avoid slack")
    expect(page.locator(".live-reply")).to_contain_text(f"from {wide} to {narrow}")
