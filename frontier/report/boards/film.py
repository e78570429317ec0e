"""Solutions as film strips, and as pages that move and that one can step through."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from markupsafe import Markup

from frontier.answers.solution import Solution
from frontier.puzzles import Board, Puzzle
from frontier.puzzles.board_text import width
from frontier.puzzles.picture import Picture, Piece
from frontier.report.boards.svg import Scene, number, standalone, tag, text
from frontier.report.boards.terminal import can_say
from frontier.report.colours import GROUND, INK
from frontier.report.html import page
from frontier.text import counted

STRIP_WIDTH = 960
"""The greatest width of a strip in pixels, unless a single board is wider."""

STRIP_SIDE, SIDE = 30, 48
"""The side of a cell in a strip, and on a page that moves, in pixels."""

CAPTION, GAP = 13, 14
"""The letter size of the captions of a strip, and the room between boards, in pixels."""


def captions_of(puzzle: Puzzle, solution: Solution, encoding: str = "utf-8") -> list[str]:
    """The caption of each board: the move that leads to it, with its number.

    Where a piece is drawn with another label than moves call it by, and the encoding has that
    label, it stands first: 3. 羊 g↓. A move with a name of its own, such as F', calls no piece.
    """
    if puzzle.notation.names_moves:
        return ["start", *(f"{n}. {move}" for n, move in enumerate(solution.moves, start=1))]
    captions, pictures = ["start"], map(puzzle.notation.picture, solution.boards)
    for move, (before, after) in zip(solution.moves, pairwise(pictures), strict=True):
        was = {piece.code: piece.cells for piece in before.pieces}
        moved = [piece for piece in after.pieces if piece.cells != was[piece.code]]
        drawn = [piece.label for piece in moved if piece.label not in ("", piece.name)]
        labels = [label for label in drawn if can_say(label, encoding)]
        captions.append(" ".join([f"{len(captions)}.", *labels, move]))
    return captions


def boards_strip(puzzle: Puzzle, boards: Sequence[Board], captions: Sequence[str]) -> str:
    """Boards with their captions, in rows, as one SVG."""
    scenes = [Scene(puzzle.notation.picture(board).alike(), STRIP_SIDE) for board in boards]
    return _strip([(scene, scene.board()) for scene in scenes], captions, captions[0])


def film_strip(puzzle: Puzzle, solution: Solution) -> str:
    """All positions of a solution as one SVG, in rows.

    Under each stands the move that leads to it. The pieces that it moves or turns have a strong
    line around them, and those that it moves a shadow where they were.
    """
    film = _Film(puzzle, solution)
    return _strip(film.frames(), film.captions, film.title)


def film_page(puzzle: Puzzle, solution: Solution, title: str) -> str:
    """A page on which one can step through a solution; on paper and without scripts, a strip."""
    film = _Film(puzzle, solution)
    scene = Scene(film.pictures[0], SIDE)
    pieces = [
        tag("g", *film.faces(scene, piece), data_code=str(piece.code))
        for piece in scene.picture.pieces
    ]
    lines = list(map(puzzle.line, solution.boards))
    frames = zip(film.frames(), lines, strict=True)
    ways = [
        {code: [[at.real * SIDE, at.imag * SIDE] for at in way] for code, way in moved.items()}
        for moved in film.ways
    ]
    return page(
        "film.html",
        title=title,
        puzzle=puzzle.title,
        start=lines[0],
        captions=film.captions,
        frames=[Markup(frame.standalone(drawn, line)) for (frame, drawn), line in frames],
        stage=Markup(scene.standalone(scene.board(pieces), lines[0])),
        ways=ways,
        faces={code: shown for code, shown in film.shown.items() if any(shown)},
    )


class _Film:
    """The positions of a solution as pictures, and what moves between them.

    steps: for each position, the number of steps of the move to it. ways: for each, the ways of the
    pieces that this move brings elsewhere, by code. A way is where the piece is after each step,
    relative to its place in the first position. labels: the labels of each piece on the way, by
    code, each once: a piece that turns has several. shown: which of them it bears in each position,
    counted from 0.
    """

    def __init__(self, puzzle: Puzzle, solution: Solution):
        self.captions = captions_of(puzzle, solution)
        self.title = f"{counted(solution.distance, 'move')}: {' '.join(solution.moves)}"
        last = puzzle.notation.picture(solution.boards[0])
        self.pictures, self.steps, self.ways = [last], [0], [{}]
        homes = _places(last)
        for before, after in pairwise(solution.boards):
            was, passed = _places(last), []
            for board in puzzle.notation.steps(before, after):
                last = _with_lasting_codes(last, puzzle.notation.picture(board))
                passed.append(_places(last))
            ways = {code: [places[code] - homes[code] for places in passed] for code in homes}
            moved = [code for code in homes if any(places[code] != was[code] for places in passed)]
            self.pictures.append(last)
            self.steps.append(len(passed))
            self.ways.append({code: ways[code] for code in moved})
        borne = {code: [_labels(picture)[code] for picture in self.pictures] for code in homes}
        self.labels = {code: list(dict.fromkeys(labels)) for code, labels in borne.items()}
        self.shown = {code: list(map(self.labels[code].index, borne[code])) for code in homes}

    def faces(self, scene: Scene, piece: Piece) -> list[str]:
        """Return a piece of the first position as it is drawn with each of its labels, the first
        visible."""
        labels, first = self.labels[piece.code], self.shown[piece.code][0]
        if len(labels) == 1:
            return [scene.piece(piece)]
        drawn = [scene.piece(replace(piece, label=label)) for label in labels]
        return [
            tag("g", one, visibility="visible" if face == first else "hidden")
            for face, one in enumerate(drawn)
        ]

    def frames(self) -> list[tuple[Scene, str]]:
        """The positions of a strip; in each the pieces that have just moved or turned are marked,
        and a shadow is where one was that has moved."""
        frames, before = [], self.pictures[0]
        for picture, ways in zip(self.pictures, self.ways, strict=True):
            scene, was = Scene(picture, STRIP_SIDE), _labels(before)
            moved = [of for of in picture.pieces if of.code in ways or of.label != was[of.code]]
            # A move is about pieces with a label or a kind, if any of them move.
            seen = {of.code for of in moved if not _unmarked(of)} or {of.code for of in moved}
            still = [scene.piece(of) for of in picture.pieces if of.code not in seen]
            traces = [scene.trace(of) for of in before.pieces if of.code in seen & ways.keys()]
            ahead = [scene.piece(of, moved=True) for of in picture.pieces if of.code in seen]
            frames.append((scene, scene.board([*still, *traces, *ahead])))
            before = picture
        return frames


def _labels(picture: Picture) -> dict[int, str]:
    """What stands on each piece, by its code."""
    return {piece.code: piece.label for piece in picture.pieces}


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


def _places(picture: Picture) -> dict[int, complex]:
    """Where each piece is, by its code, as x + iy."""
    return {piece.code: complex(*picture.places[piece.cells[0]]) for piece in picture.pieces}


def _strip(frames: Sequence[tuple[Scene, str]], captions: Sequence[str], title: str) -> str:
    """Boards as they are drawn, with their captions, as one SVG."""
    (scene, _), *_ = frames
    broad, high = max(scene.width, 0.62 * CAPTION * max(map(width, captions))), scene.height
    across, down = broad + GAP, high + 1.6 * CAPTION + GAP
    columns = min(max(1, int((STRIP_WIDTH - GAP) // across)), len(frames))
    elements = ""
    for i, ((_, board), caption) in enumerate(zip(frames, captions, strict=True)):
        x, y = GAP + i % columns * across, GAP + i // columns * down
        shift = f"translate({number(x + (broad - scene.width) / 2)} {number(y)})"
        elements += tag("g", board, transform=shift)
        elements += text(x + broad / 2, y + high + 1.3 * CAPTION, caption, CAPTION, INK)
    wide, high = GAP + columns * across, GAP + -(-len(frames) // columns) * down
    paper = tag("rect", width=wide, height=high, rx=6, fill=GROUND)
    return standalone(paper + elements, wide, high, title)
