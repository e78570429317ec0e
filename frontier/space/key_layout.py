"""How tasks divide a layer of keys into parts.

A part is a range of keys. The borders between parts follow from the layer before, so a layout fixes
only how large parts are.
"""

from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar

from frontier.errors import InputError
from frontier.space.keys import KeySpace
from frontier.space.layout import Layout
from frontier.space.tower_space import AnySpace
from frontier.space.words import SLAB_BYTES, WORD_BYTES

MOST_SLABS = 30_000
"""The most words of the first keys of all slabs of a part. They must fit in one slab."""

LARGEST_PART = 1 << 21
"""The most neighbours that belong to a part, so that a layer of some million states has a part for
each worker."""


@dataclass(frozen=True)
class KeyLayout:
    """The parts of layers of keys.

    part_keys: about how many neighbours of the layer before belong to a part. part_slabs: the
    slabs of a part's file, stored or not. slab_nodes, slab_words: a slab is one row of so many
    words.
    """

    space: KeySpace
    part_keys: int
    part_slabs: int
    slab_words: int = SLAB_BYTES // WORD_BYTES
    slab_nodes: ClassVar = 1

    @classmethod
    def within(cls, space: KeySpace, memory: int) -> "KeyLayout":
        """Return the layout whose tasks take at most `memory` bytes."""
        # Half of the memory is for neighbours that are not yet compared with others. The rest
        # holds the states three times and the kept neighbours twice.
        fit = int(memory / 2 / (WORD_BYTES * space.words * (3 + 2 * space.most)))
        slabs_a_key = 2 * (1 + space.most) / (SLAB_BYTES // WORD_BYTES // space.words)
        keys = max(1, min(fit, LARGEST_PART, int(MOST_SLABS / space.words / slabs_a_key)))
        return cls(space, keys, 3 + ceil(keys * slabs_a_key))

    @property
    def slab_keys(self) -> int:
        """The number of keys in a slab."""
        return self.slab_words // self.space.words

    @property
    def settings(self) -> dict[str, int]:
        """The settings from which `layout_of` makes the same layout."""
        return {key: getattr(self, key) for key in ("part_keys", "part_slabs", "slab_words")}

    @property
    def part_bytes(self) -> int:
        """The most bytes that a part is expected to have."""
        return self.part_slabs * self.slab_words * WORD_BYTES // 2


AnyLayout = Any
"""A `Layout` or a `KeyLayout`. What concerns layers of bits alone takes a `Layout`."""


def layout_of(space: AnySpace, settings: dict[str, int]) -> AnyLayout:
    """Return the layout of an existing run; raises InputError if it does not fit the space."""
    if isinstance(space, KeySpace) != ("part_keys" in settings):
        raise InputError(
            "this run was begun by an earlier version, which stored its layers differently; read "
            "it with that version, or begin a run in another directory"
        )
    if not isinstance(space, KeySpace):
        return Layout.from_settings(space, settings)
    layout = KeyLayout(space, **settings)
    if 3 + space.words * layout.part_slabs > layout.slab_words:
        raise InputError(
            f"layers of this puzzle cannot be cut by layout = {settings}; put back the run.json "
            "that was written"
        )
    return layout
