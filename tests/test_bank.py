"""The bank of questions: all that pages ask in passing, with answers, and nothing of the book."""

import re
from xml.etree import ElementTree

import pytest

from course import bank
from course.readable import References
from tools.reading_time import ROOT, cells_of, pages


@pytest.fixture(scope="module")
def found():
    return bank.questions()


def test_every_check_and_every_exercise_with_one_star_is_there(found):
    checks = exercises = 0
    for _, _, path in pages():
        if path.is_relative_to(ROOT / "book"):
            text = "\n".join(source for kind, source, _ in cells_of(path) if kind == "markdown")
            checks += len(re.findall(r"\{admonition\} Check yourself", text))
            exercises += len(re.findall(r"\{exercise(?:-start)?\}[ \t]*★[^★]", text))
    assert [sum(q.difficulty == level for q in found) for level in (1, 2)] == [checks, exercises]
    assert len(found) >= 150


def test_questions_and_answers_stand_alone(found):
    for question in found:
        for text in (question.text, question.answer):
            assert len(text) > 10 and not re.search(r"\{[a-z:]+\}`|^:\w+:|`{3,}\{", text, re.M)
            assert ".ipynb" not in text and len(re.findall("^```", text, re.M)) % 2 == 0
        assert question.answer not in question.text


def test_moodle_gets_formulas_code_and_tags(found):
    quiz = ElementTree.fromstring(bank.moodle(found))
    assert len(quiz.findall("question[@type='essay']")) == len(found)
    for node, question in zip(quiz, found, strict=True):
        assert node.findtext("name/text") == f"{question.page}: {question.title}"
        tags = [tag.text for tag in node.findall("tags/tag/text")]
        assert tags == [question.page, question.part, f"difficulty {question.difficulty}"]
        for part in ("questiontext/text", "generalfeedback/text"):
            html = node.findtext(part)
            assert html.strip() and bank.MARK not in html and "$" not in re.sub(
                r"<pre.*?</pre>|<code.*?</code>", "", html, flags=re.S)
    text = ElementTree.tostring(quiz, encoding="unicode")
    assert r"\(" in text and "math display" in text


def test_directives_inside_a_solution_are_unwrapped_and_roles_replaced():
    text = ("By {prf:ref}`thm-a` and {eq}`eq-b` [here](x.ipynb):\n\n"
            "```{admonition} Explanation\n:class: dropdown\nTwo.\n```\n\n"
            "```python\nprint(2)\n```\n\n$$\nx\n$$ (eq-c)\n")
    known = References({"thm-a": ("“One bit”", "book/a")}, {"eq-b": "5.3"}, {"book/a": "A"}, {})
    plain = re.sub("\n+", "\n", bank._plain(text, known, "b"))
    assert plain == ("By “One bit” in “A” and (5.3) here:\nTwo.\n"
                     "```python\nprint(2)\n```\n$$\nx\n$$")


def test_a_question_without_an_answer_is_named(monkeypatch):
    page = "````{admonition} Check yourself 1\nWhy?\n````"
    monkeypatch.setattr(bank, "_text", lambda path: page)
    with pytest.raises(ValueError, match="Check yourself 1 has no answer"):
        bank.questions()
