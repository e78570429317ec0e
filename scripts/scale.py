"""How many bytes codecs store, the basis of forecasts of disk space (docs/scale.md).

    python scripts/scale.py

Prints the bytes stored for each raw byte of real layers, by their share of ones, in growing and in
shrinking layers.
"""

import sys
from pathlib import Path

import numpy as np

from frontier.codec.codecs import SlabCodec
from frontier.config.loading import load_config
from frontier.layers.rates import sample_layers, try_codec
from frontier.space.words import SLAB_BYTES

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
CODECS = "bitmap", "zstd:1"
BOARDS = "2x6", "2x7", "3x4"
SHARES = 0.005, 0.01, 0.02, 0.05, 0.08


def main():
    print("| share of ones | codec |", " | ".join(f"{share:.1%}" for share in SHARES), "|")
    for name in BOARDS:
        found = {codec: [] for codec in CODECS}
        puzzle = load_config(CONFIGS / f"{name}.toml").make_puzzle()
        for density, slabs in sample_layers(puzzle, SLAB_BYTES):
            print(f"{name}: a layer of {density:.2%} ones", file=sys.stderr, flush=True)
            for codec, samples in found.items():
                samples.append((density, try_codec(SlabCodec(codec), slabs)[0]))
        for codec, samples in found.items():
            density, stored = np.array(samples).T
            peak = density.argmax()
            sides = slice(peak + 1), slice(None, peak - 1, -1)
            growing, shrinking = (
                np.interp(SHARES, density[side], stored[side], right=np.nan) for side in sides
            )
            pairs = zip(growing, shrinking, strict=True)
            print(f"| {name} | {codec} |", " | ".join(f"{a:.2f} / {b:.2f}" for a, b in pairs), "|")


if __name__ == "__main__":
    main()
