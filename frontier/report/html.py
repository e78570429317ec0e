"""Documents from templates; an HTML page is one self-contained file."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from html import escape

from frontier.report.colours import ACCENT
from frontier.text import counted, facts_html, moment


@cache
def templates():
    """Return the templates of ``templates/``.

    HTML templates escape text; markup, such as a drawing, has to be ``markupsafe.Markup``. In
    Markdown the filter ``text`` escapes HTML.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader("frontier.report"),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "counted": counted, "moment": moment, "commas": "{:,}".format,
        "text": partial(escape, quote=False),
    }  # fmt: skip
    return environment


def page(template: str, **values) -> str:
    """Return the document that a template makes from these values."""
    return templates().get_template(template).render(**values)


def run_html(title: str, facts: Mapping[str, str], counts: Sequence[int]) -> str:
    """Return a run as HTML for a notebook: a table of facts, and the sizes of its layers as
    bars."""
    table = facts_html(title, facts)
    return page("notebook/run.html", table=table, counts=counts, accent=ACCENT)
