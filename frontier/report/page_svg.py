"""A chart of matplotlib's as an element of a page.

The chart takes the page's colours, so that it follows the page into dark mode and onto paper, and
its names and styles must not reach other elements.
"""

import re
from xml.etree import ElementTree

from markupsafe import Markup

from frontier.report.colours import ACCENT, INK, LINE, QUIET, SECOND

THEME = {INK: "--ink", QUIET: "--quiet", LINE: "--line", ACCENT: "--accent", SECOND: "--second"}
"""The colours of a drawing, and the variables of the page that replace them (``base.html``)."""

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
COORDINATES = {"d", "x", "y", "transform"}
METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
"""The metadata for `savefig`, without what matplotlib writes about itself, with links."""


def for_a_page(svg: bytes, kind: str, label: str, tips: dict[str, str]) -> Markup:
    """A chart as an element of a page.

    svg: a file of matplotlib's with texts kept as texts, and with a salt of its own, so that no
    other chart of the page refers to the same names. kind: "large" or "small", a class of the
    element. label: the text that a screen reader reads. tips: the tooltips of the parts that have
    such a gid.
    """
    root = ElementTree.fromstring(svg)
    _tidy(root, "small-" if kind == "small" else "", tips)
    root.attrib |= {"role": "img", "aria-label": label, "class": f"chart {kind}"}
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return Markup(_in_the_pages_colours(ElementTree.tostring(root, encoding="unicode")))


def _tidy(root: ElementTree.Element, prefix: str, tips: dict[str, str]) -> None:
    """Make matplotlib's SVG fit for a page.

    It gets no size of its own and no style that would reach other elements of the page. Ids are
    kept where something refers to them, and, behind the prefix, where a part has a tip.
    """
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.attrib |= {"stroke-linejoin": "round", "stroke-linecap": "butt"}
    text = ElementTree.tostring(root, encoding="unicode")
    referred = set(re.findall(r"#([\w-]+)[\")]", text))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}style", f"{{{SVG}}}metadata"):
                parent.remove(child)
        for key in COORDINATES & parent.attrib.keys():
            parent.set(key, _rounded(parent.get(key)))
        key = parent.attrib.pop("id", None)
        if key in referred:
            parent.set("id", key)
        elif key in tips:
            parent.set("id", prefix + key)
            tip = ElementTree.Element(f"{{{SVG}}}title")
            tip.text = tips[key]
            parent.insert(0, tip)


def _in_the_pages_colours(svg: str) -> str:
    for colour, variable in THEME.items():
        svg = svg.replace(f": {colour}", f": var({variable})")
    svg = svg.replace("'DejaVu Sans'", "'DejaVu Sans', sans-serif")
    return re.sub(r">\s+<", "><", svg)


def _rounded(coordinates: str) -> str:
    """Coordinates rounded to a tenth of a pixel, with no more spaces than needed."""
    numbers = re.sub(
        r"-?\d+\.\d+", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), coordinates
    )
    return re.sub(r"\s*([MLCQz])\s*", r"\1", numbers)
