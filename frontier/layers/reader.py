"""Reading a run by layers: its committed layers, and the layer under way.

The last few layers stay open, with the indices of their parts and the states of their lists,
because they are often reread.
"""

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

from frontier.layers.files import ZARR_GROUP, LayerFiles
from frontier.layers.run import LayerRun
from frontier.layers.stored import StoredLayer
from frontier.space.key_layout import AnyLayout, layout_of
from frontier.storage.sealed import holds_json


class RunReader:
    """A run with the tables of its puzzle, for reading its layers.

    least_open: the number of layers that always stay open. most_held: further layers stay open
    while the lists among all open layers together have fewer states than this.
    """

    def __init__(self, run: LayerRun, least_open: int = 3, most_held: int = 0):
        self.run, self.puzzle = run, run.puzzle
        self._least_open, self._most_held = least_open, most_held
        self.space = self.puzzle.model.space
        self.layout: AnyLayout = layout_of(self.space, run.identity["layout"])
        self._layers: OrderedDict[int, StoredLayer] = OrderedDict()
        self._opening = Lock()

    def files(self, depth: int) -> LayerFiles:
        """Return the files of a layer, committed or not, as tasks make them."""
        return self.run.files(depth, self.layout)

    def wrong_descriptions(self, depths: Iterable[int]) -> dict[str, dict]:
        """Return what each ``zarr.json`` that is missing or wrong should hold, by the file's name.

        The files describe the layers to other programs; the search does not read them. depths: the
        layers to describe.
        """
        described = {f"{self.run.layers_name}/zarr.json": ZARR_GROUP}
        for depth in depths:
            files = self.open_layer(depth).files
            described[f"{files.folder}/zarr.json"] = files.metadata
        storage = self.run.storage
        return {name: of for name, of in described.items() if not holds_json(storage, name, of)}

    def open_layer(self, depth: int) -> StoredLayer:
        """Return a committed layer that is stored, or the layer under way as tasks make it. The
        layer at depth -1 is empty."""
        return self.run.open_layer(depth, self.layout)

    def layer(self, depth: int) -> StoredLayer:
        """Return the layer of `open_layer`, and keep it open; the least recently read ones are
        closed."""
        with self._opening:
            layer = self._layers.get(depth)
            if layer is None or not layer.committed:
                if depth >= len(self.run.records):
                    self.run.read_ledger()  # the layer may be committed by now
                if layer is None or depth < len(self.run.records):
                    self._layers[depth] = self.open_layer(depth)
                held = sum(layer.held for layer in self._layers.values())
                while len(self._layers) > self._least_open and held >= self._most_held:
                    held -= self._layers.popitem(last=False)[1].held
            self._layers.move_to_end(depth)
            return self._layers[depth]
