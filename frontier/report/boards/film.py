"""Solutions as film strips, as SVG that moves, and as pages that one can step through."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from markupsafe import Markup

from frontier.answers.solution import Solution
from frontier.puzzles import Board, Puzzle
from frontier.puzzles.notation import width
from frontier.puzzles.picture import Picture, Piece, Point
from frontier.report.boards.svg import Scene, number, standalone, tag, text
from frontier.report.boards.terminal import can_say
from frontier.report.colours import GROUND, INK
from frontier.report.html import page
from frontier.text import counted

STRIP_WIDTH = 960
"""The greatest width of a strip in pixels, unless a single board is wider."""

STRIP_SIDE, ANIMATION_SIDE = 30, 48
"""The sides of a cell of a strip and of an animation, in pixels."""

STAGE_WIDTH, STAGE_SIDES = 460, (30, 84)
CAPTION, LARGE, GAP = 13, 16, 14
"""The letter sizes of the captions of a strip and of captions that change, and the room between
boards, in pixels."""

FIRST_PAUSE, MOVE_SECONDS, LAST_PAUSE = 1.0, 0.8, 2.5
"""The seconds for which the first position stands still, those of a move, and those for which the
last position stands still."""

SLIDING = 0.6
"""The part of a move's time in which its piece slides."""


def captions_of(puzzle: Puzzle, solution: Solution, encoding: str = "utf-8") -> list[str]:
    """The caption of each board: the move that leads to it, with its number.

    Where a piece is drawn with another label than moves call it by, and the encoding has that
    label, it stands first: 3. 羊 g↓.
    """
    pictures = map(puzzle.picture, solution.boards)
    captions = ["start"]
    for count, (move, (before, after)) in enumerate(
        zip(solution.moves, pairwise(pictures), strict=True), start=1
    ):
        was = {piece.code: piece.cells for piece in before.pieces}
        moved = [piece for piece in after.pieces if piece.cells != was[piece.code]]
        drawn = [piece.label for piece in moved if piece.label not in ("", piece.name)]
        labels = [label for label in drawn if can_say(label, encoding)]
        captions.append(" ".join([f"{count}.", *labels, move]))
    return captions


def boards_strip(puzzle: Puzzle, boards: Sequence[Board], captions: Sequence[str]) -> str:
    """Boards with their captions, in rows, as one SVG."""
    scenes = [Scene(puzzle.picture(board).alike(), STRIP_SIDE) for board in boards]
    return _strip(scenes, [scene.board() for scene in scenes], captions, captions[0])


def film_strip(puzzle: Puzzle, solution: Solution) -> str:
    """All positions of a solution as one SVG, in rows.

    Under each stands the move that leads to it. The piece that has moved has a strong line around
    it, and a broken one where it was.
    """
    film = _Film(puzzle, solution)
    scenes = [Scene(picture, STRIP_SIDE) for picture in film.pictures]
    drawn = [film.frame(i, scene) for i, scene in enumerate(scenes)]
    return _strip(scenes, drawn, film.captions, film.title)


def animation(puzzle: Puzzle, solution: Solution) -> str:
    """A solution as an SVG in which the pieces slide, again and again."""
    film = _Film(puzzle, solution)
    scene = Scene(film.pictures[0], ANIMATION_SIDE)
    end = FIRST_PAUSE + MOVE_SECONDS * solution.distance + LAST_PAUSE

    def begins(move: int) -> float:
        return (FIRST_PAUSE + MOVE_SECONDS * (move - 1)) / end if move else 0.0

    slide = SLIDING * MOVE_SECONDS / end
    pieces = []
    for piece in scene.picture.pieces:
        keys = [(0.0, (0.0, 0.0))]
        for move, ways in enumerate(film.ways[1:], start=1):
            if piece.code in ways:
                way = ways[piece.code]
                keys.append((begins(move), keys[-1][1]))
                steps = enumerate(way, start=1)
                keys += [(begins(move) + slide * n / len(way), offset) for n, offset in steps]
        keys.append((1.0, keys[-1][1]))
        moves = "" if len(keys) == 2 else tag(
            "animateTransform", attributeName="transform", type="translate", dur=f"{number(end)}s",
            repeatCount="indefinite", keyTimes=";".join(f"{time:.5f}" for time, _ in keys),
            values=";".join(
                f"{number(x * scene.side)} {number(y * scene.side)}" for _, (x, y) in keys
            ),
        )  # fmt: skip
        pieces.append(tag("g", scene.piece(piece), moves))
    broad = max(scene.width, _breadth(film.captions, LARGE))
    times = [*map(begins, range(solution.distance + 1)), 1.0]
    captions = "".join(
        text(
            broad / 2, scene.height + 1.3 * LARGE, caption, LARGE, INK,
            _shown(times[i], times[i + 1], end), visibility="hidden" if i else "visible",
        )
        for i, caption in enumerate(film.captions)
    )  # fmt: skip
    shift = f"translate({number((broad - scene.width) / 2)} 0)"
    high = scene.height + 2 * LARGE
    board = tag("g", scene.board(pieces), transform=shift)
    return standalone(_paper(broad, high) + board + captions, broad, high, film.title)


def film_page(puzzle: Puzzle, solution: Solution, title: str) -> str:
    """A page on which one can step through a solution; without script and on paper, a strip."""
    film = _Film(puzzle, solution)
    least, most = STAGE_SIDES
    left, _, right, _ = film.pictures[0].bounds
    scene = Scene(film.pictures[0], max(least, min(most, STAGE_WIDTH / (right - left))))
    pieces = (
        tag("g", scene.piece(piece), data_code=str(piece.code)) for piece in scene.picture.pieces
    )
    lines = list(map(puzzle.line, solution.boards))
    frames = []
    for position, picture in enumerate(film.pictures):
        frame = Scene(picture, STRIP_SIDE * 0.8)
        frames.append(Markup(frame.standalone(film.frame(position, frame), lines[position])))

    def in_pixels(way: list[Point]) -> list[list[float]]:
        return [[round(v * scene.side, 2) for v in place] for place in way]

    ways = [{code: in_pixels(way) for code, way in moved.items()} for moved in film.ways]
    return page(
        "film.html",
        title=title,
        puzzle=puzzle.title,
        start=lines[0],
        captions=film.captions,
        frames=frames,
        stage=Markup(scene.standalone(scene.board(pieces), lines[0])),
        ways=Markup(json.dumps(ways)),
    )


class _Film:
    """The positions of a solution as pictures, and what moves between them."""

    def __init__(self, puzzle: Puzzle, solution: Solution):
        self.solution, self.captions = solution, captions_of(puzzle, solution)
        last = puzzle.picture(solution.boards[0])
        self._passed = [[last]]  # for each position, the pictures of the move to it
        for before, after in pairwise(solution.boards):
            self._passed.append([])
            for board in puzzle.steps(before, after):
                last = _with_lasting_codes(last, puzzle.picture(board))
                self._passed[-1].append(last)
        self.pictures: list[Picture] = [passed[-1] for passed in self._passed]

    @property
    def title(self) -> str:
        return f"{counted(self.solution.distance, 'move')}: {' '.join(self.solution.moves)}"

    @cached_property
    def ways(self) -> list[dict[int, list[Point]]]:
        """For each position, the ways of the pieces that the move to it brings elsewhere, by code.

        A way is where the piece is after each step of the move, seen from where it began.
        """
        homes = before = _places(self.pictures[0])
        ways = []
        for passed in self._passed:
            steps = [_places(picture) for picture in passed]
            ways.append({})
            for code, (x, y) in homes.items():
                way = [step[code] for step in steps]
                if any(place != before[code] for place in way):
                    ways[-1][code] = [(to_x - x, to_y - y) for to_x, to_y in way]
            before = steps[-1]
        return ways

    def frame(self, position: int, scene: Scene) -> str:
        """A position, with the piece that has just moved marked, and a trace where it was."""
        moved = self._seen(position)
        was = [p for p in self.pictures[position - 1].pieces if p.code in moved] if moved else []
        still = [scene.piece(piece) for piece in scene.picture.pieces if piece.code not in moved]
        ahead = [scene.piece(piece, True) for piece in scene.picture.pieces if piece.code in moved]
        return scene.board([*still, *map(scene.trace, was), *ahead])

    def _seen(self, position: int) -> set[int]:
        """The pieces that a move is about: those with a label or a kind, if any of them move."""
        moved = [p for p in self.pictures[position].pieces if p.code in self.ways[position]]
        return {p.code for p in moved if not _unmarked(p)} or {p.code for p in moved}


def _unmarked(piece: Piece) -> bool:
    """Whether a piece has neither a label nor a kind, so that it looks like all others."""
    return not piece.label and piece.kind is None


def _with_lasting_codes(before: Picture, after: Picture) -> Picture:
    """The picture after a step, with like pieces numbered so that as few as possible have moved."""
    old = {piece.cells: piece.code for piece in before.pieces if _unmarked(piece)}
    new = [piece for piece in after.pieces if _unmarked(piece)]
    gone = sorted(set(old) - {piece.cells for piece in new})
    codes = {p.code: old[p.cells] if p.cells in old else old[gone.pop(0)] for p in new}
    pieces = [replace(piece, code=codes.get(piece.code, piece.code)) for piece in after.pieces]
    return replace(after, pieces=tuple(sorted(pieces, key=lambda piece: piece.code)))


def _places(picture: Picture) -> dict[int, Point]:
    return {piece.code: picture.places[piece.cells[0]] for piece in picture.pieces}


def _strip(
    scenes: Sequence[Scene], drawn: Sequence[str], captions: Sequence[str], title: str
) -> str:
    """Boards as they are drawn, with their captions, as one SVG."""
    broad = max(scenes[0].width, _breadth(captions, CAPTION))
    across, down = broad + GAP, scenes[0].height + 1.6 * CAPTION + GAP
    columns = min(max(1, int((STRIP_WIDTH - GAP) // across)), len(scenes))
    elements = []
    for i, (scene, board, caption) in enumerate(zip(scenes, drawn, captions, strict=True)):
        x, y = GAP + i % columns * across, GAP + i // columns * down
        inset = (broad - scene.width) / 2
        elements.append(tag("g", board, transform=f"translate({number(x + inset)} {number(y)})"))
        foot = y + scene.height + 1.3 * CAPTION
        elements.append(text(x + broad / 2, foot, caption, CAPTION, INK))
    wide, high = GAP + columns * across, GAP + -(-len(scenes) // columns) * down
    return standalone(_paper(wide, high) + "".join(elements), wide, high, title)


def _breadth(captions: Sequence[str], size: float) -> float:
    """About the width in pixels of the longest caption."""
    return 0.62 * size * max(map(width, captions))


def _paper(wide: float, high: float) -> str:
    return tag("rect", width=wide, height=high, rx=6, fill=GROUND)


def _shown(first: float, last: float, end: float) -> str:
    """Shows an element from one time to another, both as parts of the whole, 0 to 1."""
    return tag(
        "animate", attributeName="visibility", calcMode="discrete", dur=f"{number(end)}s",
        repeatCount="indefinite", values="hidden;visible;hidden",
        keyTimes=f"0;{first:.5f};{last:.5f}",
    )  # fmt: skip
