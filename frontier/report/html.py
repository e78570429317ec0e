"""HTML pages from templates: each page is one file that needs nothing from outside."""

from functools import cache

from frontier.text import counted, moment


def across(number: int, most: int) -> int:
    """How many of `number` things stand side by side, where there is room for `most`: as many as
    leave the fewest places of the last row empty, but more than half of `most`."""
    most = min(number, most)
    return min(range(most // 2 + 1, most + 1), key=lambda way: (-number % way, -way), default=1)


@cache
def templates():
    """The templates of ``templates/``. Text in them is escaped; markup, such as a drawing, has to
    come as ``markupsafe.Markup``."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # few commands need it

    environment = Environment(
        loader=PackageLoader("frontier.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = {"counted": counted, "moment": moment, "commas": "{:,}".format, "across": across}
    environment.filters.update(filters)
    return environment


def page(template: str, **values) -> str:
    """The page that a template makes of these values."""
    return templates().get_template(template).render(**values)
