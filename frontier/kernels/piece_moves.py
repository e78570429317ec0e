"""The moves of sliding pieces, from the placements of all pieces."""

from frontier.jit import kernel


@kernel
def piece_moves(state, out, pieces, beyond, covers, straight, any_path, occupied, reached):
    """Write the neighbours of a state to the rows of `out`, and return their number.

    state: int64[pieces], the placement of each piece among those of its sort. pieces: int64[3,
    pieces], the first of these placements among all, and the first and the last of the pieces that
    are like it, whose placements ascend. beyond: int64[placements, ways], the placement one step
    away, or -1. covers: uint64[placements, words], a bit for each cell. straight, any_path: whether
    a piece may take several steps in one way, or any steps. occupied: uint64[words], scratch.
    reached: int64[placements of a sort], scratch.
    """
    words = covers.shape[1]
    for word in range(words):
        occupied[word] = 0
        for piece in range(state.size):
            occupied[word] |= covers[pieces[0, piece] + state[piece], word]
    count = 0
    for piece in range(state.size):
        first, at = pieces[0, piece], pieces[0, piece] + state[piece]
        reached[0] = at
        size, i = 1, 0
        while i < size and (i == 0 or any_path):
            for way in range(beyond.shape[1]):
                to = beyond[reached[i], way]
                while to >= 0 and _is_free(to, at, covers, occupied, reached, size):
                    reached[size] = to
                    size += 1
                    to = beyond[to, way] if straight else -1
            i += 1
        for j in range(1, size):
            _write(state, piece, reached[j] - first, pieces[1, piece], pieces[2, piece], out[count])
            count += 1
    return count


@kernel
def _is_free(to, at, covers, occupied, reached, size):
    """Return whether a piece that lies on placement `at` may lie on placement `to`, which is not
    among the first placements of `reached`."""
    for word in range(covers.shape[1]):
        if covers[to, word] & occupied[word] & ~covers[at, word]:
            return False
    new = True
    for j in range(size):
        new &= reached[j] != to
    return new


@kernel
def _write(state, piece, digit, low, high, row):
    """Write a state to a row with another digit for one piece, and sort the digits low .. high."""
    for i in range(state.size):
        row[i] = state[i]
    while piece > low and row[piece - 1] > digit:
        row[piece] = row[piece - 1]
        piece -= 1
    while piece < high and row[piece + 1] < digit:
        row[piece] = row[piece + 1]
        piece += 1
    row[piece] = digit
