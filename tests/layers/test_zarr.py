"""What Zarr sees of a run: arrays that it opens without anything of ours."""

import dataclasses
import subprocess
import sys
from math import prod

import numpy as np
import pytest
import zarr
from zarr.codecs import BytesCodec, Crc32cCodec, ShardingCodec
from zarr.registry import get_codec_class

from frontier.api import runs as api
from frontier.codec import zarr_codec  # noqa: F401  (Zarr finds the codec of bitmaps)
from frontier.codec.codecs import SlabCodec
from frontier.codec.slabs import CHECKSUM_BYTES
from frontier.config.loading import Config
from frontier.layers.files import LIST_SLAB, LayerFiles
from frontier.layers.task import Workspace
from frontier.puzzles import tile_puzzle
from frontier.space import layout as layout_module
from frontier.space.layout import Layout
from frontier.storage.places import storage_at
from tests.support.run_files import read_json
from tests.support.sweeps import swept

CODECS = ["bitmap", "raw", "lz4", "zstd:1", "zstd:-5"]


def run_of(path, codec, digits, monkeypatch):
    """A run of 2×4 that keeps its layers, of lists and of parts of several slabs each."""
    monkeypatch.setattr(layout_module, "ROW_WORDS", 6)
    monkeypatch.setattr(layout_module, "SLAB_BYTES", 50)
    config = Config(
        name="test",
        puzzle={"kind": "tiles", "rows": 2, "columns": 4},
        search={"keep": "all", "in_memory": False},
        store={"path": str(path), "codec": codec, "fsync": "never"},
        cluster={"kind": "serial"},
    )
    plan = api.plan(config)
    layout = Layout(plan.space, digits, 2)
    assert layout.grid == ((2, 1, 7) if digits == 0 else (2, 7, 1))
    return api.run(dataclasses.replace(plan, list_states=500, layout=layout)).store


def words_of(store, depth):
    """The bitmap or the list of a layer, as Zarr is to see it, bit by bit from its states."""
    work = Workspace(store)
    numbers = work.layer(depth).numbers()
    if store.records[depth].form == "list":
        return numbers
    layout, code, side = work.layout, work.space.code, work.space.side_of(depth)
    nodes = layout.groups(side) * layout.task_nodes
    words = np.zeros((nodes, layout.prefixes, layout.strip_words), dtype=np.uint64)
    for number in numbers.tolist():
        node, index = divmod(number, code.half)
        word, bit = divmod(index, code.bits)
        prefix, word = divmod(word, layout.strip_words)
        words[node, prefix, word] |= np.uint64(1 << bit)
    return words


ALONE = """
import sys
import numpy as np
import zarr

group = zarr.open_group(sys.argv[1], mode="r")
assert not [name for name in sys.modules if name.split(".")[0] == "frontier"]
arrays = {name: array for name, array in group.arrays()}
parts = {}
for name, array in arrays.items():
    parts[name] = array[:]
    if array.ndim == 3:
        parts[name + " some"] = array[1:4, :, 3:35]
        parts[name + " one"] = array[2, -1, 5:6]
np.savez(sys.argv[2], **parts)
assert not [name for name in sys.modules if name.split(".")[0] == "frontier"]
"""


@swept(("codec", "digits"), [("zstd:1", 1), ("zstd:1", 0), ("raw", 1), ("lz4", 1)], few=1)
def test_zarr_alone_reads_every_layer(tmp_path, codec, digits, monkeypatch):
    """In a process that knows nothing of this package, whole arrays and some of their parts."""
    store = run_of(tmp_path / "run", codec, digits, monkeypatch)
    command = [sys.executable, "-c", ALONE, store.layer_path(0).parent, tmp_path / "found.npz"]
    subprocess.run(list(map(str, command)), check=True, cwd=tmp_path)
    found = np.load(tmp_path / "found.npz")
    assert {record.form for record in store.records} == {"list", "bits"}
    for record in store.records:
        name, words = f"{record.depth:04d}", words_of(store, record.depth)
        assert (found[name] == words).all()
        if record.form == "bits":
            assert np.bitwise_count(found[name]).sum() == record.states
            assert (found[name + " some"] == words[1:4, :, 3:35]).all()
            assert (found[name + " one"] == words[2, -1, 5:6]).all()


INSTALLED = """
import sys
import numpy as np
import zarr

assert "frontier.codec.zarr_codec" not in sys.modules
array = zarr.open_array(sys.argv[1], mode="r")
np.savez(sys.argv[2], whole=array[:], some=array[1:4, :, 3:35])
assert "frontier.codec.zarr_codec" in sys.modules
"""


@pytest.mark.sweep
def test_zarr_finds_the_codec_of_bitmaps_where_it_is_installed(tmp_path, monkeypatch):
    store = run_of(tmp_path / "run", "bitmap", 1, monkeypatch)
    depth = next(record.depth for record in store.records if record.form == "bits")
    command = [sys.executable, "-c", INSTALLED, store.layer_path(depth), tmp_path / "found.npz"]
    subprocess.run(list(map(str, command)), check=True, cwd=tmp_path)
    found, words = np.load(tmp_path / "found.npz"), words_of(store, depth)
    assert (found["whole"] == words).all()
    assert (found["some"] == words[1:4, :, 3:35]).all()


@pytest.mark.sweep
def test_zarr_reads_bitmaps_here(tmp_path, monkeypatch):
    store = run_of(tmp_path / "run", "bitmap", 0, monkeypatch)
    for record in store.records:
        array = zarr.open_array(store.layer_path(record.depth), mode="r")
        assert (array[:] == words_of(store, record.depth)).all()


def by_zarr(path, shape, part, slab, codec):
    """What Zarr writes for such an array."""
    named = SlabCodec(codec).zarr_codecs
    codecs = [get_codec_class(each["name"]).from_dict(dict(each)) for each in named]
    sharding = ShardingCodec(
        chunk_shape=slab,
        codecs=codecs,
        index_codecs=[BytesCodec(endian="little"), Crc32cCodec()],
        index_location="end",
    )
    zarr.create_array(
        path, shape=shape, dtype="uint64", chunks=part, serializer=sharding, compressors=None,
        filters=None, fill_value=0, zarr_format=3,
        chunk_key_encoding={"name": "default", "configuration": {"separator": "."}},
    )  # fmt: skip
    return read_json(path / "zarr.json")


@swept("codec", CODECS, few=["bitmap", "zstd:-5"])
@swept(("digits", "nodes"), [(0, 5), (1, 2), (2, 3), (1, 7)], few=2)
def test_metadata_are_those_that_zarr_writes(tmp_path, codec, digits, nodes, monkeypatch):
    monkeypatch.setattr(layout_module, "ROW_WORDS", 42)
    for slab_bytes in (1 << 18, 4000, 700):
        monkeypatch.setattr(layout_module, "SLAB_BYTES", slab_bytes)
        space = tile_puzzle(2, 5).model.space
        slab = Layout(space, digits, nodes).slab_nodes
        layout = Layout(space, digits, -(-nodes // slab) * slab)
        for side in range(2):
            whole = -(-space.nodes[side] // layout.task_nodes) * layout.task_nodes
            expected = by_zarr(
                tmp_path / f"{slab_bytes} {side}",
                (whole, layout.prefixes, layout.strip_words),
                (layout.task_nodes, layout.task_prefixes, layout.strip_words),
                (layout.slab_nodes, 1, layout.slab_words),
                codec,
            )
            files = LayerFiles(storage_at(tmp_path), "", "", codec, layout, depth=side)
            assert (files.side, files.metadata) == (side, expected)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("states", [1, 7, LIST_SLAB, LIST_SLAB + 1, 5 * LIST_SLAB])
def test_metadata_of_lists_are_those_that_zarr_writes(tmp_path, codec, states):
    whole = -(-states // LIST_SLAB) * LIST_SLAB
    expected = by_zarr(tmp_path / "list", (states,), (whole,), (LIST_SLAB,), codec)
    layout = Layout(tile_puzzle(2, 2).model.space, 0, 1)
    assert LayerFiles(storage_at(tmp_path), "", "", codec, layout, 0, states).metadata == expected


@swept("codec", CODECS, few=["bitmap"])
def test_what_zarr_writes_is_a_part_but_for_the_record(tmp_path, codec, monkeypatch):
    """Its slabs have the same bytes as ours, so ours are what Zarr's codecs make."""
    store = run_of(tmp_path / "run", codec, 0, monkeypatch)
    depth = max(store.records, key=lambda record: record.states).depth
    work = Workspace(store)
    files, words = work.files(depth), words_of(store, depth)
    (tmp_path / "zarr").mkdir()
    (tmp_path / "zarr" / "zarr.json").write_bytes((files.place / "zarr.json").read_bytes())
    zarr.open_array(tmp_path / "zarr", mode="r+")[:] = words
    for task in files.tasks:
        theirs = tmp_path / "zarr" / files.path(task).name
        part = files.part(task)
        if not part.slabs.size:
            assert not theirs.exists()
            continue
        slabs = prod(work.layout.grid)
        index = np.frombuffer(theirs.read_bytes()[-16 * slabs - 4 : -4], dtype="<u8")
        for slab, (begin, size) in enumerate(index.reshape(slabs, 2).tolist()):
            assert bool(part.has(slab)) == (begin != 2**64 - 1)
            if part.has(slab):
                stored = theirs.read_bytes()[begin : begin + size]
                data, first, last = part.read(np.array([slab]))
                assert data[first[0] : last[0] + CHECKSUM_BYTES].tobytes() == stored
