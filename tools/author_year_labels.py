"""A Sphinx extension: the bibliography labels entries as the text cites them, by author and year.

The style is used as `bibtex_default_style: author_year`.
"""

from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as UnsrtStyle
from pybtex.style.labels import BaseLabelStyle


class AuthorYearLabels(BaseLabelStyle):
    """Labels such as "Ali et al., 2014"; what has three authors or more is shortened."""

    def format_labels(self, sorted_entries):
        """One label per entry."""
        for entry in sorted_entries:
            people = entry.persons.get("author") or entry.persons.get("editor") or []
            names = [" ".join(map(str, person.rich_prelast_names + person.rich_last_names))
                     for person in people]
            who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
            yield f"{who or entry.key}, {entry.fields.get('year', 'no year')}"


class AuthorYearStyle(UnsrtStyle):
    """The plain style, sorted by authors, with these labels."""

    default_sorting_style = "author_year_title"
    default_label_style = AuthorYearLabels


def setup(app):
    register_plugin("pybtex.style.formatting", "author_year", AuthorYearStyle)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
