"""docs/notebook.md: its cells print what stands below them, and draw the figures that it shows."""

import contextlib
import io
import re

import matplotlib
import pytest
from matplotlib import pyplot

from tests.support.commands import invoke
from tests.support.page_blocks import ROOT, arguments_of, blocks_of

PAGE = ROOT / "docs" / "notebook.md"
FIGURES = re.findall(r"!\[[^]]+\]\((figures/[^)]+)\)", PAGE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What each cell prints, and what the page says that it prints, after all have been run; where
    that was; and the figures that a notebook shows, which are those that pyplot has open."""
    found, names, folder = [], {}, tmp_path_factory.mktemp("notebook")
    with contextlib.chdir(folder), matplotlib.rc_context():
        for block in blocks_of(PAGE):
            said = io.StringIO()
            if block.language == "text":
                found[-1][1] = block.text
            elif block.language == "sh":
                invoke(*arguments_of(block.text))
            else:
                with contextlib.redirect_stdout(said):
                    exec(compile(block.text, str(PAGE), "exec"), names)
                found.append([said.getvalue(), ""])
    shown = list(map(pyplot.figure, pyplot.get_fignums()))
    pyplot.close("all")
    return found, folder, [figure for figure in shown if figure is names["figure"]]


@pytest.mark.sweep
def test_cells_print_what_stands_below_them(printed):
    cells, _, _ = printed
    assert sum(bool(said) for said, _ in cells) == 3
    for said, expected in cells:
        assert said == expected


def curves(figure):
    """The points of the named curves of a figure by matplotlib."""
    found = re.findall(r'<g id="(layers-\w+|means)">\s*<path d="([^"]*)"', figure)
    return {name: [float(of) for of in re.findall(r"-?[\d.]+", path)] for name, path in found}


@pytest.mark.sweep
def test_the_figures_are_those_of_the_page(printed):
    """Drawings by frontier to the letter; of those by matplotlib the curves, as versions differ."""
    _, folder, _ = printed
    assert FIGURES == ["figures/farthest.svg", "figures/doors.svg"]
    for name in FIGURES:
        made, shown = ((at / name).read_text("utf-8") for at in (folder, PAGE.parent))
        if curves(shown):
            assert set(curves(shown)) == {
                "layers-plain",
                "layers-cylinder",
                "layers-torus",
                "means",
            }
            for curve, points in curves(shown).items():
                assert curves(made)[curve] == pytest.approx(points, abs=0.5), curve
        else:
            assert made == shown


@pytest.mark.sweep
def test_a_notebook_shows_the_figure(printed):
    assert len(printed[2]) == 1


@pytest.mark.sweep
def test_the_files_for_the_paper(printed):
    _, folder, _ = printed
    assert (folder / "figures" / "doors.pdf").read_bytes().startswith(b"%PDF")
    table = (folder / "doors.csv").read_text(encoding="utf-8").splitlines()
    assert table[0].startswith("run,depth,states,")
    assert {row.split(",")[0] for row in table[1:]} == {"plain", "cylinder", "torus"}
