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
"""The most slabs of a part whose keys have one word, so that the first keys of all slabs fit in a
slab."""

COPIES = 8
"""A task holds its states, and the neighbours that lead to them, at most so many times."""


@dataclass(frozen=True)
class KeyLayout:
    """The parts of layers of keys.

    part_keys: about so many neighbours of the layer before lead to a part. part_slabs: the slabs of
    a part's file, stored or not. slab_words: the words of a slab.
    """

    slab_words: ClassVar[int] = SLAB_BYTES // WORD_BYTES

    space: KeySpace
    part_keys: int
    part_slabs: int

    @classmethod
    def within(cls, space: KeySpace, memory: int) -> "KeyLayout":
        """Return the layout whose tasks take about `memory` bytes."""
        slabs_a_key = 2 * (1 + space.most) / (cls.slab_words // space.words)
        fit = int(memory / (WORD_BYTES * space.words * (COPIES + space.most)))
        keys = max(1, min(fit, int(MOST_SLABS / space.words / slabs_a_key)))
        return cls(space, keys, 3 + ceil(keys * slabs_a_key))

    @property
    def slab_keys(self) -> int:
        """The number of keys in a slab."""
        return self.slab_words // self.space.words

    @property
    def settings(self) -> dict[str, int]:
        """The settings from which `layout_of` makes the same layout."""
        return {"part_keys": self.part_keys, "part_slabs": self.part_slabs}

    @property
    def part_bytes(self) -> int:
        """The most bytes of a part that need be expected."""
        return self.part_slabs * self.slab_words * WORD_BYTES // 2


AnyLayout = Any
"""A `Layout` or a `KeyLayout`. What concerns layers of bits alone takes a `Layout`."""


def layout_of(space: AnySpace, settings: dict[str, int]) -> AnyLayout:
    """Return the layout of an existing run; raises InputError if it does not fit the space."""
    if not isinstance(space, KeySpace):
        return Layout.from_settings(space, settings)
    layout = KeyLayout(space, settings["part_keys"], settings["part_slabs"])
    if layout.part_slabs > MOST_SLABS + 3:
        raise InputError(
            f"layers of this puzzle cannot be cut by layout = {settings}; put back the run.json "
            "that was written"
        )
    return layout
