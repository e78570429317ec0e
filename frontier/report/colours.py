"""The colours of pages, charts and pieces.

The colours of pieces also differ for people who cannot distinguish red from green. Kinds with an
order have colours from viridis (S. van der Walt and N. Smith, 2015); a few kinds without an order
have the colours of M. Okabe and K. Ito (Color Universal Design, 2008).
"""

import numpy as np

INK, QUIET, LINE, GROUND = "#1c2733", "#5b6875", "#d8dee5", "#ffffff"
ACCENT, SECOND = "#2166ac", "#d6604d"
"""The colours of a page (``templates/base.html``): letters, less prominent letters, lines, the
background, and two for bars and curves."""

VIRIDIS = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58",
    "#b5de2b", "#fde725",
)  # fmt: skip
OKABE_ITO = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8a8f98",
)  # fmt: skip
ENDS = (0.12, 0.97)
"""The part of the scale in use; the first colours of the scale are nearly black."""

PLAIN = "#f3f5f7"
"""The colour of a piece without a kind."""


def colour_of(kind: int | None, kinds: int, ordered: bool) -> str:
    """Return the colour, as #rrggbb, of one of `kinds` kinds."""
    if kind is None:
        return PLAIN
    if not ordered and kinds <= len(OKABE_ITO):
        return OKABE_ITO[kind]
    first, last = ENDS
    share = first + (last - first) * (kind / (kinds - 1) if kinds > 1 else 0.5)
    steps = zip(*map(_channels, VIRIDIS), strict=True)
    mixed = (np.interp(share * (len(VIRIDIS) - 1), range(len(VIRIDIS)), of) for of in steps)
    return "#" + "".join(f"{round(value):02x}" for value in mixed)


def ink_on(colour: str) -> str:
    """Return black or white, whichever has more contrast with a colour: 4.5 at least (WCAG 2)."""
    light = luminance(colour)
    return "#000000" if (light + 0.05) / 0.05 > 1.05 / (light + 0.05) else "#ffffff"


def luminance(colour: str) -> float:
    """Return the relative luminance of #rrggbb, 0..1, as WCAG 2 defines it."""
    shares = [value / 255 for value in _channels(colour)]
    red, green, blue = (
        share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))
