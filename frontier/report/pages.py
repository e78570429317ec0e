"""HTML pages: templates filled in, each page one file that needs nothing from outside."""

from functools import cache

from frontier import text


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
    )
    return environment


def page(template: str, **values) -> str:
    """The page that a template of ``templates/`` makes of these values. Text in them is escaped;
    markup, such as a drawing, has to come as ``markupsafe.Markup``."""
    return _environment().get_template(template).render(**values)
