"""Solutions as film strips, and as animated pages."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from markupsafe import Markup

from frontier.puzzles import Board, Puzzle
from frontier.puzzles.picture import Picture, Piece
from frontier.report.boards.svg import Scene, number, standalone, tag, text
from frontier.report.boards.terminal import can_say
from frontier.report.colours import GROUND, INK
from frontier.report.html import page
from frontier.solving.solution import Solution
from frontier.text import counted, width

STRIP_WIDTH = 960
"""The greatest width of a strip in pixels, unless a single board is wider or the strip would be too
high for a page."""

PAGE = 2**0.5
"""The greatest height of a strip, in widths of the strip: a page of paper has this form."""

STRIP_SIDE, SIDE = 30, 48
"""The side of a cell in a strip, and on an animated page, in pixels."""

CAPTION, GAP = 13, 14
"""The letter size of the captions of a strip, and the gap between boards, in pixels."""


def captions_of(puzzle: Puzzle, solution: Solution, encoding: str = "utf-8") -> list[str]:
    """Return the caption of each board: the move that leads to it, with its number.

    If the drawn label of a piece differs from its name in moves, the label comes first, provided
    that the encoding has it: 1. ─ h↓. A move with its own name, such as F', names no piece.
    """
    if puzzle.notation.names_moves:
        return ["start", *(f"{n}. {move}" for n, move in enumerate(solution.moves, start=1))]
    captions, pictures = ["start"], map(puzzle.notation.picture, solution.boards)
    for move, (before, after) in zip(solution.moves, pairwise(pictures), strict=True):
        cells_before = {piece.code: piece.cells for piece in before.pieces}
        moved = [piece for piece in after.pieces if piece.cells != cells_before[piece.code]]
        drawn = [piece.label for piece in moved if piece.label not in ("", piece.name)]
        labels = [label for label in drawn if can_say(label, encoding)]
        captions.append(" ".join([f"{len(captions)}.", *labels, move]))
    return captions


def boards_strip(puzzle: Puzzle, boards: Sequence[Board], captions: Sequence[str]) -> str:
    """Return boards with their captions, in rows, as one SVG."""
    scenes = [Scene(puzzle.notation.picture(board).alike(), STRIP_SIDE) for board in boards]
    return _strip([(scene, scene.board()) for scene in scenes], captions, captions[0])


def film_strip(puzzle: Puzzle, solution: Solution) -> str:
    """Return all positions of a solution as one SVG, in rows.

    Below each position is the move that leads to it. Pieces that have just moved or turned have a
    strong outline, and a shadow marks the former place of a moved piece.
    """
    film = _Film(puzzle, solution)
    return _strip(film.frames(), film.captions, film.title)


def film_page(puzzle: Puzzle, solution: Solution, title: str) -> str:
    """Return a page that steps through a solution; on paper, or without scripts, it shows a strip.
    title: the title of the page."""
    film = _Film(puzzle, solution)
    scene = Scene(film.pictures[0], SIDE)
    pieces = [
        tag("g", *film.faces(scene, piece), data_code=str(piece.code))
        for piece in scene.picture.pieces
    ]
    lines = list(map(puzzle.line, solution.boards))
    frames = zip(film.frames(), lines, strict=True)
    paths = [
        {code: [[at.real * SIDE, at.imag * SIDE] for at in path] for code, path in moved.items()}
        for moved in film.paths
    ]
    return page(
        "film.html",
        title=title,
        puzzle=puzzle.title,
        start=lines[0],
        captions=film.captions,
        frames=[Markup(frame.standalone(drawn, line)) for (frame, drawn), line in frames],
        stage=Markup(scene.standalone(scene.board(pieces), lines[0])),
        ways=paths,
        legend=puzzle.notation.legend[0],
        meanings=puzzle.notation.meanings(solution.moves),
        faces={code: shown for code, shown in film.shown.items() if any(shown)},
    )


class _Film:
    """The positions of a solution as pictures, and the pieces that move between them.

    steps: for each position, the number of steps of the move to it. paths: for each position, the
    paths of the pieces that this move displaces, by code. A path has the places of the piece after
    each step, relative to its place in the first position. labels: the different labels of each
    piece in the solution, by code; a piece that turns has several. shown: the index of its label in
    each position.
    """

    def __init__(self, puzzle: Puzzle, solution: Solution):
        self.captions = captions_of(puzzle, solution)
        self.title = f"{counted(solution.distance, 'move')}: {' '.join(solution.moves)}"
        last = puzzle.notation.picture(solution.boards[0])
        self.pictures, self.steps = [last], [0]
        self.paths: list[dict] = [{}]
        first_places = _places(last)
        for before, after in pairwise(solution.boards):
            places_before, passed = _places(last), []
            for board in puzzle.notation.steps(before, after):
                last = _with_lasting_codes(last, puzzle.notation.picture(board))
                passed.append(_places(last))
            paths = {
                code: [places[code] - first_places[code] for places in passed]
                for code in first_places
            }
            moved = [
                code
                for code in first_places
                if any(places[code] != places_before[code] for places in passed)
            ]
            self.pictures.append(last)
            self.steps.append(len(passed))
            self.paths.append({code: paths[code] for code in moved})
        borne = {
            code: [_labels(picture)[code] for picture in self.pictures] for code in first_places
        }
        self.labels = {code: list(dict.fromkeys(labels)) for code, labels in borne.items()}
        self.shown = {
            code: list(map(self.labels[code].index, borne[code])) for code in first_places
        }

    def faces(self, scene: Scene, piece: Piece) -> list[str]:
        """Return the drawings of a piece of the first position with each of its labels; the first
        drawing is visible."""
        labels, first = self.labels[piece.code], self.shown[piece.code][0]
        if len(labels) == 1:
            return [scene.piece(piece)]
        drawn = [scene.piece(replace(piece, label=label)) for label in labels]
        return [
            tag("g", drawing, visibility="visible" if face == first else "hidden")
            for face, drawing in enumerate(drawn)
        ]

    def frames(self) -> list[tuple[Scene, str]]:
        """Return the positions of a strip. In each, the pieces that have just moved or turned are
        marked, and a shadow marks the former place of a moved piece."""
        frames, before = [], self.pictures[0]
        for picture, paths in zip(self.pictures, self.paths, strict=True):
            scene, labels_before = Scene(picture, STRIP_SIDE), _labels(before)
            moved = [
                piece
                for piece in picture.pieces
                if piece.code in paths or piece.label != labels_before[piece.code]
            ]
            # If any pieces with a label or a kind move, mark only these pieces.
            marked = {piece.code for piece in moved if not _unmarked(piece)} or {
                piece.code for piece in moved
            }
            still = [scene.piece(piece) for piece in picture.pieces if piece.code not in marked]
            traces = [
                scene.trace(piece) for piece in before.pieces if piece.code in marked & paths.keys()
            ]
            ahead = [
                scene.piece(piece, moved=True) for piece in picture.pieces if piece.code in marked
            ]
            frames.append((scene, scene.board([*still, *traces, *ahead])))
            before = picture
        return frames


def _labels(picture: Picture) -> dict[int, str]:
    """Return the label of each piece by code."""
    return {piece.code: piece.label for piece in picture.pieces}


def _unmarked(piece: Piece) -> bool:
    """Return whether a piece has neither a label nor a kind, and so looks like all others."""
    return not piece.label and piece.kind is None


def _with_lasting_codes(before: Picture, after: Picture) -> Picture:
    """Return the picture after a step, with like pieces numbered so that as few as possible seem to
    move."""
    old = {piece.cells: piece.code for piece in before.pieces if _unmarked(piece)}
    new = [piece for piece in after.pieces if _unmarked(piece)]
    free_places = sorted(set(old) - {piece.cells for piece in new})
    codes = {p.code: old[p.cells] if p.cells in old else old[free_places.pop(0)] for p in new}
    pieces = [replace(piece, code=codes.get(piece.code, piece.code)) for piece in after.pieces]
    return replace(after, pieces=tuple(sorted(pieces, key=lambda piece: piece.code)))


def _places(picture: Picture) -> dict[int, complex]:
    """Return the place of each piece by code, as x + iy."""
    return {piece.code: complex(*picture.places[piece.cells[0]]) for piece in picture.pieces}


def _strip(frames: Sequence[tuple[Scene, str]], captions: Sequence[str], title: str) -> str:
    """Return drawn boards with their captions as one SVG."""
    (scene, _), *_ = frames
    broad, high = max(scene.width, 0.62 * CAPTION * max(map(width, captions))), scene.height
    across, down = broad + GAP, high + 1.6 * CAPTION + GAP
    columns = max(1, int((STRIP_WIDTH - GAP) // across))
    while -(-len(frames) // columns) * down > PAGE * columns * across:
        columns += 1
    columns = min(columns, len(frames))
    elements = ""
    for i, ((_, board), caption) in enumerate(zip(frames, captions, strict=True)):
        x, y = GAP + i % columns * across, GAP + i // columns * down
        shift = f"translate({number(x + (broad - scene.width) / 2)} {number(y)})"
        elements += tag("g", board, transform=shift)
        elements += text(x + broad / 2, y + high + 1.3 * CAPTION, caption, CAPTION, INK)
    wide, high = GAP + columns * across, GAP + -(-len(frames) // columns) * down
    paper = tag("rect", width=wide, height=high, rx=6, fill=GROUND)
    return standalone(paper + elements, wide, high, title)
