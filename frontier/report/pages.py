"""HTML pages: templates filled in, each page one file that needs nothing from outside."""

from functools import cache

from frontier import text


def across(number: int, most: int) -> int:
    """How many of a number of things stand side by side, at most so many: as many as leave the
    fewest places of the last row empty, but more than half of those that there is room for."""
    most = min(number, most)
    return min(range(most // 2 + 1, most + 1), key=lambda way: (-number % way, -way), default=1)


@cache
def _environment():
    from jinja2 import Environment, PackageLoader, StrictUndefined  # for most commands not needed

    environment = Environment(
        loader=PackageLoader("frontier.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        counted=text.counted,
        span=text.span,
        size=text.size,
        brief=text.brief,
        percent=text.percent,
        moment=text.moment,
        commas="{:,}".format,
        across=across,
    )
    return environment


def page(template: str, **values) -> str:
    """The page that a template of ``templates/`` makes of these values. Text in them is escaped;
    markup, such as a drawing, has to come as ``markupsafe.Markup``."""
    return _environment().get_template(template).render(**values)
