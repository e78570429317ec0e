"""Boards and solutions as drawings: in a terminal, as SVG, and as animated pages."""

from frontier.report.boards.film import boards_strip, captions_of, film_page, film_strip
from frontier.report.boards.svg import board_svg, boards_html
from frontier.report.boards.terminal import draw_boards

__all__ = [
    "board_svg", "boards_html", "boards_strip", "captions_of", "draw_boards",
    "film_page", "film_strip",
]  # fmt: skip
