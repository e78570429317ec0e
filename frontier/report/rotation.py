"""A solution by rotations as JSON and as text."""

from frontier.answers.rotation import FIFTEEN, Rotation, Turn, moved
from frontier.report.boards import draw_boards
from frontier.text import counted


def command(turn: Turn) -> str:
    loop, number = turn
    return f"({loop} {number})"


def tiles_of(rotation: Rotation, way: list[int]) -> list[int]:
    """The tiles that move when the blank goes through these cells."""
    tiles, board = [], rotation.start
    for cell in way:
        tiles.append(board[cell])
        board = moved(board, [cell])
    return tiles


def rotation_value(rotation: Rotation) -> dict:
    """The solution as JSON."""
    return {
        "board": FIFTEEN.write(rotation.start),
        "slides_before": tiles_of(rotation, rotation.slide),
        "stages": [[stage.tile, list(map(command, stage.turns))] for stage in rotation.stages],
        "commands": len(rotation.turns),
        "unit_rotations": rotation.units,
        "tile_moves": len(rotation.blank_way),
        "tile_moves_without_backtracks": len(rotation.short_way),
        "tiles": tiles_of(rotation, rotation.short_way),
    }


def describe_rotation(rotation: Rotation, boards: bool) -> str:
    """The same as text; boards: with a drawing of the board after each tile."""
    lines = [f"{FIFTEEN.line(rotation.start)}:"]
    if rotation.slide:
        slid = " ".join(map(str, tiles_of(rotation, rotation.slide)))
        lines.append(f"  blank to the corner: {slid}")
    for stage in rotation.stages:
        commands = " ".join(map(command, stage.turns)) or "is there"
        lines.append(f"  {stage.tile:>2}: {commands}")
        if boards:
            lines += ["", draw_boards(FIFTEEN, [stage.board]), ""]
    turns = rotation.turns
    short = rotation.short_way
    lines += [
        f"  {counted(len(turns), 'command')}, {counted(rotation.units, 'unit rotation')}, "
        + counted(len(rotation.blank_way), "tile move"),
        f"  without backtracks {counted(len(short), 'tile move')}:",
    ]
    tiles = tiles_of(rotation, short)
    for first in range(0, len(tiles), 25):
        lines.append("    " + " ".join(f"{tile:>2}" for tile in tiles[first : first + 25]))
    return "\n".join(lines)
