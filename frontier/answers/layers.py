"""The layers of a run: their sizes, and their positions as numbers and as boards."""

import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from frontier.answers.sampling import GREATEST_SEED, sample
from frontier.errors import InputError
from frontier.layers.reader import RunReader
from frontier.layers.record import LayerRecord
from frontier.layers.run import LayerRun
from frontier.layers.stored import StoredLayer
from frontier.puzzles import Board
from frontier.text import counted
from frontier.values import check_whole

if TYPE_CHECKING:
    import zarr

MOST_NUMBERS = 100_000_000
"""The most state numbers that a call returns: 800 MB."""

BATCH = 10_000


class Layer:
    """One layer: the positions at one distance from the goal.

    Its size is known even if the run did not keep the layer.
    """

    def __init__(self, layers: "Layers", record: LayerRecord):
        self._layers, self._record = layers, record

    def __repr__(self) -> str:
        state = "kept" if self.kept else "not kept"
        return f"<Layer {self.depth}: {counted(self.states, 'state')}, {state}>"

    @property
    def depth(self) -> int:
        return self._record.depth

    @property
    def states(self) -> int:
        """The number of positions."""
        return self._record.states

    @property
    def seconds(self) -> float:
        """The seconds that it took to make the layer."""
        return self._record.seconds

    @property
    def kept(self) -> bool:
        """True if the layer is stored, not only its size."""
        return self._record.stored

    @property
    def array(self) -> "zarr.Array[Any]":
        """The stored layer, read-only; see `frontier.layers.files` for its forms.

        Zarr reads a lost part as zeros; `verify` checks that all parts exist. Raises InputError if
        the run did not keep the layer.
        """
        import zarr
        from zarr.errors import ZarrUserWarning

        from frontier.codec import zarr_codec  # noqa: F401  (Zarr finds the codec of bitmaps)

        self._check_kept()
        store = self._layers.store
        folder = store.storage.zarr(store.layer_name(self.depth))
        with warnings.catch_warnings():  # Zarr warns that other programs may lack the codec lz4
            warnings.simplefilter("ignore", ZarrUserWarning)
            return zarr.open_array(folder, mode="r", zarr_format=3)

    def numbers(self) -> np.ndarray:
        """Return the sorted state numbers.

        Returns
        -------
        uint64[states]
            A number for each position, for `boards_of`.

        Raises
        ------
        InputError
            If the layer was not kept, or has more than `MOST_NUMBERS` states.
        """
        if self.states > MOST_NUMBERS:
            raise InputError(
                f"layer {self.depth} has {counted(self.states, 'state')}: numbers() returns at "
                f"most {MOST_NUMBERS:,}; read the layer in parts, with batches()"
            )
        return self._open().numbers()

    def number_batches(self, size: int = BATCH) -> Iterator[np.ndarray]:
        """Return an iterator over all state numbers.

        The order is that of the stored slabs; the numbers of a list are sorted.

        Parameters
        ----------
        size
            The most state numbers in a batch.

        Returns
        -------
        iterator of uint64[N]
            State numbers, for `boards_of`.

        Raises
        ------
        InputError
            At once, if the layer was not kept.
        """
        check_whole("size", size, 1)
        layer = self._open()
        return (
            part[first : first + size]
            for part in layer.numbers_by_slab()
            for first in range(0, part.size, size)
        )

    def boards_of(self, numbers: np.ndarray) -> np.ndarray:
        """Return the positions of state numbers of this layer.

        Parameters
        ----------
        numbers
            uint64[N].

        Returns
        -------
        int64[N, cells]
            The codes of each position.
        """
        reader = self._layers.reader
        model, space = reader.puzzle.model, reader.space
        return model.boards_of(*space.states_of(space.side_of(self.depth), numbers))

    def batches(self, size: int = BATCH) -> Iterator[np.ndarray]:
        """Return an iterator over all positions, in the order of `number_batches`.

        Parameters
        ----------
        size
            The most positions in a batch.

        Returns
        -------
        iterator of int64[N, cells]
            The codes of positions.

        Raises
        ------
        InputError
            At once, if the layer was not kept.
        """
        return map(self.boards_of, self.number_batches(size))

    def sample(self, count: int, seed: int = 0) -> np.ndarray:
        """Return the state numbers of positions drawn at random, in one pass over the layer.

        Parameters
        ----------
        count
            The number of positions to draw; all if the layer has fewer.
        seed
            The seed; the sample depends only on it and on the layer.

        Returns
        -------
        uint64[N]
            Sorted state numbers, for `boards_of`.

        Raises
        ------
        InputError
            If the layer was not kept, or `count` is greater than `MOST_NUMBERS`.
        """
        check_whole("count", count, 0)
        check_whole("seed", seed, 0)
        if count > MOST_NUMBERS or seed > GREATEST_SEED:
            raise InputError(
                f"a sample of {counted(count, 'position')} by seed {seed}: at most "
                f"{MOST_NUMBERS:,} are drawn at once, by a seed below 2^64"
            )
        return sample(self._open().numbers_by_slab(), count, seed)

    def __iter__(self) -> Iterator[Board]:
        return (tuple(board) for batch in self.batches() for board in batch.tolist())

    def boards(self, limit: int = 100) -> list[Board]:
        """Return the first positions in the order of `number_batches`.

        Parameters
        ----------
        limit
            The most positions to return.

        Raises
        ------
        InputError
            If the layer was not kept.
        """
        check_whole("limit", limit, 0)
        boards: list[Board] = []
        for batch in self.batches(max(1, min(limit, BATCH))):
            boards += map(tuple, batch[: limit - len(boards)].tolist())
            if len(boards) >= limit:
                break
        return boards

    def _open(self) -> StoredLayer:
        self._check_kept()
        return self._layers.reader.layer(self.depth)

    def _check_kept(self) -> None:
        if not self.kept:
            kept = " and ".join(f"layer {layer.depth}" for layer in self._layers if layer.kept)
            raise InputError(
                f"{self._layers.store.path} did not keep layer {self.depth}, only its size; "
                f'it kept {kept or "no layer"}. Run its config with search.keep = "all" in another '
                "directory (store.path)"
            )


class Layers(Sequence[Layer]):
    """The known layers of a run, by depth."""

    def __init__(self, store: LayerRun):
        self.store = store
        self._layers = [Layer(self, record) for record in store.records]

    def __reduce__(self) -> tuple[Any, ...]:
        return Layers, (self.store,)  # without the reader, whose layers are open

    @cached_property
    def reader(self) -> RunReader:
        """The tables of the run's puzzle, made once for all layers."""
        return RunReader(self.store)

    def __repr__(self) -> str:
        kept = sum(layer.kept for layer in self._layers)
        return f"<{counted(len(self), 'layer')}, {kept} kept>"

    def __len__(self) -> int:
        return len(self._layers)

    @overload
    def __getitem__(self, depth: int) -> Layer: ...
    @overload
    def __getitem__(self, depth: slice) -> list[Layer]: ...
    def __getitem__(self, depth: int | slice) -> Layer | list[Layer]:
        try:
            return self._layers[depth]
        except IndexError:
            raise IndexError(
                f"layer {depth}: layers are known to depth {len(self._layers) - 1}"
            ) from None
