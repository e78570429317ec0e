"""Reports as HTML pages, each one file that needs nothing from outside."""

from markupsafe import Markup

from frontier.puzzles import Board
from frontier.report.boards import board_svg
from frontier.report.charts import report_charts
from frontier.report.html import page
from frontier.report.report import Report
from frontier.report.statistics import RunStatistics
from frontier.report.tables import config_text, origin, tables_of


def report_page(report: Report) -> str:
    """The report of one run or of several."""
    numbers = {"tables": tables_of(report), "charts": report_charts(report)}
    look = {"draw": _draw, "origin": origin, "config": config_text}
    return page("report.html", report=report, **numbers, **look)


def _draw(run: RunStatistics, board: Board) -> Markup:
    return Markup(board_svg(run.puzzle, board))
