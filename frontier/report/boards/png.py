"""Drawings of boards as PNG: what `frontier.report.boards.svg` writes, drawn by matplotlib.

Only the elements that these drawings have are known: groups with a shift, rectangles, paths of
straight lines, and lines of text.
"""

import io
import re
from xml.etree import ElementTree

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path
from matplotlib.text import Text

from frontier.report.boards.svg import TRAY

DOTS = 200
"""The dots per inch; a unit of a drawing is 1/96 inch."""

DOT = 0.1
"""The length of a line that stands for a dot, in units of a drawing."""

POINTS = 72 / 96
"""The points of a unit of a drawing."""

COMMAND = re.compile(r"([MLhvz])([^MLhvz]*)")


def png_of(svg: str) -> bytes:
    """Return a drawing as PNG."""
    root = ElementTree.fromstring(svg)
    wide, high = (float(root.attrib[name]) for name in ("width", "height"))
    figure = Figure((wide / 96, high / 96), facecolor="none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, wide), ylim=(high, 0))
    axes.axis("off")
    _draw(axes, root, 0.0, 0.0)
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=DOTS, metadata={"Software": None})
    return target.getvalue()


def _draw(axes, parent: ElementTree.Element, x: float, y: float) -> None:
    """Draw the elements of a group that is shifted by (x, y)."""
    for element in parent:
        name, of = element.tag.rpartition("}")[2], element.attrib
        number = {key: float(value) for key, value in of.items() if _is_number(value)}
        left, top = x + number.get("x", 0.0), y + number.get("y", 0.0)
        brush = {
            "facecolor": of.get("fill", "none"),
            "edgecolor": of.get("stroke", "none"),
            "linewidth": number.get("stroke-width", 0.0) * POINTS,
            "alpha": number.get("stroke-opacity"),
            "capstyle": "round",
            "joinstyle": "round",
        }
        if "opacity" in number:  # of fill and stroke together: a shadow on the tray
            shadow = _mixed(of["fill"], TRAY, number["opacity"])
            brush |= {"facecolor": shadow, "edgecolor": shadow}
        if name == "g":
            shift = re.findall(r"[-\d.]+", of.get("transform", "0 0"))
            _draw(axes, element, x + float(shift[0]), y + float(shift[1]))
        elif name == "rect":
            size, corner = (number["width"], number["height"]), number.get("rx", 0.0)
            form = f"round,pad=0,rounding_size={corner}"
            axes.add_artist(FancyBboxPatch((left, top), *size, boxstyle=form, **brush))
        elif name == "path":
            axes.add_artist(PathPatch(_path(of["d"], x, y), snap=False, **brush))
        elif name == "text":
            weight = "bold" if number["font-weight"] > 500 else "normal"
            said = Text(left, top, element.text or "", color=of["fill"], weight=weight)
            said.set(
                fontsize=number["font-size"] * POINTS, ha="center", va="baseline", parse_math=False
            )
            axes.add_artist(said)


def _mixed(colour: str, ground: str, opacity: float) -> tuple[float, ...]:
    """Return a colour as it looks on a ground of another colour."""
    pairs = zip(to_rgb(colour), to_rgb(ground), strict=True)
    return tuple(opacity * above + (1 - opacity) * below for above, below in pairs)


def _is_number(value: str) -> bool:
    return re.fullmatch(r"-?[\d.]+(e-?\d+)?", value) is not None


def _path(text: str, x: float, y: float) -> Path:
    """Return a path that is shifted by (x, y)."""
    places: list[tuple[float, float]] = []
    codes: list[int] = []
    for command, values in COMMAND.findall(text):
        if command in "ML":
            across, down = map(float, values.split(","))
            place = x + across, y + down
        elif command == "h":  # a line without length is a dot, which needs some length here
            place = places[-1][0] + (float(values) or DOT), places[-1][1]
        elif command == "v":
            place = places[-1][0], places[-1][1] + float(values)
        places.append(place)
        code = {"M": Path.MOVETO, "z": Path.CLOSEPOLY}.get(command, Path.LINETO)
        codes.append(int(code))
    path = Path(places, codes)
    path.should_simplify = False  # it would lose the dots
    return path
