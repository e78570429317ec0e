"""The claims of the thesis: R. Sato, A study of variants of the 15-puzzle and their greatest
shortest numbers of moves (in Japanese), master's thesis, Japan Advanced Institute of Science and
Technology, 2021, http://hdl.handle.net/10119/17100.

The module has only the numbers, as printed, including slips.
"""

DIAMETERS = {  # table 1.1: rows, then columns from 1 on
    1: (0, 1, 2, 3, 4, 5, 6, 7, 8),
    2: (1, 6, 21, 36, 55, 80, 108, 140),
    3: (2, 21, 31, 53, 84),
    4: (3, 36, 53, 80),
}

MANHATTAN = {1: 1, 2: 6, 3: 12, 4: 21, 5: 31, 6: 44}  # table 3.1
ATTAINING = {5: 40, 6: 216}  # section 3.3

ONE_COLUMN = {1: 1, 2: 6, 3: 20, 4: 27, 5: 36, 6: 45, 7: 54, 100: 891}  # table 4.1
SEQUENCES = {1: 1, 2: 2, 3: 8, 4: 12, 5: 24, 6: 40, 7: 60, 100: 19404}  # table 4.2

MOVES = {  # section 4.2: the steps of the blank, in the parts A, B, C, D, E
    4: ("DLLLU", "RRDLLU", "", "RRDRULDLURDRU", "LLL"),
    5: ("DLLLLU", "RRDLLU", "RRRDLLU", "RRDRULDLURDRU", "LLLL"),
    6: ("DLLLLLU", "RRDLLU", "RRRDLLU" * 2, "RRDRULDLURDRU", "LLLLL"),
    7: ("DLLLLLLU", "RRDLLU", "RRRDLLU" * 3, "RRDRULDLURDRU", "LLLLLL"),
}

FIGURES = (  # figure 4.3: the boards of 2×5 after the parts A, B, C, D, E
    "0 x x x x/4 9 x x x",
    "0 x x x x/x 4 9 x x",
    "4 0 x x x/9 x x x x",
    "x x x 4 0/x x x x 9",
    "0 x x x 4/x x x x 9",
)

LOWER = {4: 21, 5: 31, 6: 44, 7: 58, 8: 75, 9: 93, 10: 144}  # table 5.1
UPPER = {4: 58, 5: 84, 6: 129, 7: 183, 8: 246, 9: 318, 10: 399}

REMARKS = (
    "Section 4.2 calls the fifth part of the moves D again; it should be E.",
    "The parts have 9(n - 1) moves together only if part A has n + 1.",
)
"""Slips of the pen, with no number to compare."""

COLUMNS = {  # table 5.2: k, then n
    1: {2: 6, 3: 20, 4: 27, 5: 36, 6: 45, 7: 54},
    2: {2: 6, 3: 21, 4: 35, 5: 48, 6: 61, 7: 74},
    3: {3: 21, 4: 36, 5: 54, 6: 71, 7: 88},
}

FORMULAS = {1: (9, -9, 4), 2: (13, -17, 4), 3: (17, -31, 5)}  # k: (a, b, first n)
