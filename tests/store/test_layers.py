import numpy as np
import pytest
import zarr

from frontier.errors import CorruptRunError, InputError
from frontier.puzzles import Tiles
from frontier.space.layout import Layout
from frontier.store.layers import (
    LIST_CHUNK,
    ChunkWriter,
    Manifest,
    StoredLayer,
    bits_key,
    block_and_prefix,
    create_bits,
    write_list,
)

CODECS = ["raw", "lz4", "zstd:1", "zstd:-5"]


@pytest.fixture
def layout():
    return Layout(Tiles(2, 5).space, prefix_digits=1, block_nodes=2, task_blocks=1)


def write_bits(path, layout, codec, seed=0):
    """A bits layer with some chunks: (reader, what each chunk holds)."""
    create_bits(path, layout, 0, codec)
    writer, rng = ChunkWriter(path, codec), np.random.default_rng(seed)
    chunks, manifest = {}, Manifest(3, "bits", 0)
    for block, prefix in [(0, 0), (0, 5), (1, 3), (2, 8)]:
        chunk = rng.integers(0, 1 << 60, (2, layout.strip_words), dtype=np.uint64)
        chunk[rng.random(chunk.shape) < 0.7] = 0
        states = int(np.bitwise_count(chunk).sum())
        key = bits_key(block, prefix)
        manifest.chunks[key] = writer.write(key, chunk, states)
        manifest.states += states
        chunks[key] = chunk
    return StoredLayer(path, manifest, codec), chunks


def read(layer, key):
    out = np.empty((2, 336), dtype=np.uint64)
    layer.read_chunk(key, out)
    return out


@pytest.mark.parametrize("codec", CODECS)
def test_chunks_come_back_and_zarr_reads_the_same(tmp_path, layout, codec):
    layer, chunks = write_bits(tmp_path / "3", layout, codec)
    array = zarr.open_array(tmp_path / "3", mode="r")
    assert array.shape == (6, 9, 336)
    everything = array[:]
    for key, chunk in chunks.items():
        assert layer.has_chunk(key)
        assert (read(layer, key) == chunk).all()
        block, prefix = block_and_prefix(key)
        assert (everything[2 * block : 2 * block + 2, prefix] == chunk).all()
    assert np.bitwise_count(everything).sum() == layer.manifest.states
    assert not layer.has_chunk(bits_key(1, 1))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("size", [1, 7, LIST_CHUNK, LIST_CHUNK + 1])
def test_lists_come_back_and_zarr_reads_the_same(tmp_path, codec, size):
    numbers = np.sort(np.random.default_rng(size).integers(0, 1 << 62, size, dtype=np.uint64))
    manifest = write_list(tmp_path / "5", 5, numbers, codec)
    assert (manifest.states, manifest.form) == (size, "list")
    assert (StoredLayer(tmp_path / "5", manifest, codec).read_list() == numbers).all()
    assert (zarr.open_array(tmp_path / "5", mode="r")[:] == numbers).all()


@pytest.mark.parametrize("codec", CODECS)
def test_damage_is_named(tmp_path, layout, codec):
    path = tmp_path / "3"
    layer, chunks = write_bits(path, layout, codec)
    key, other = list(chunks)[:2]
    good = (path / key).read_bytes()

    (path / key).unlink()
    with pytest.raises(CorruptRunError, match=f"layer 3.*{key} is missing"):
        read(layer, key)

    rng = np.random.default_rng(1)
    for at in rng.integers(0, len(good), 20):
        flipped = bytearray(good)
        flipped[at] ^= 1 << int(rng.integers(8))
        (path / key).write_bytes(flipped)
        with pytest.raises(CorruptRunError, match=key):
            read(layer, key)

    for wrong in (good[:-8], good + b"\0", b"", (path / other).read_bytes()):
        (path / key).write_bytes(wrong)
        with pytest.raises(CorruptRunError, match=key):
            read(layer, key)

    (path / key).write_bytes(good)
    assert (read(layer, key) == chunks[key]).all()


def test_a_chunk_of_another_layer_is_refused(tmp_path, layout):
    layer, chunks = write_bits(tmp_path / "3", layout, "raw")
    write_bits(tmp_path / "4", layout, "raw", seed=9)
    key = next(iter(chunks))
    (tmp_path / "4" / key).replace(tmp_path / "3" / key)
    with pytest.raises(CorruptRunError, match="not the one its manifest lists"):
        read(layer, key)


def test_manifest_that_does_not_add_up(tmp_path, layout):
    layer, _ = write_bits(tmp_path / "3", layout, "lz4")
    layer.manifest.write(tmp_path / "3.json")
    assert Manifest.read(tmp_path / "3.json") == layer.manifest
    layer.manifest.states += 1
    layer.manifest.write(tmp_path / "3.json")
    with pytest.raises(CorruptRunError, match="does not add up"):
        Manifest.read(tmp_path / "3.json")
    (tmp_path / "3.json").write_text('{"depth": 3')
    with pytest.raises(CorruptRunError, match=r"3\.json"):
        Manifest.read(tmp_path / "3.json")


@pytest.mark.parametrize("codec", ["gzip", "zstd", "zstd:99", "zstd:x", "lz4:1"])
def test_unknown_codec(tmp_path, layout, codec):
    with pytest.raises(InputError, match=codec):
        create_bits(tmp_path / "3", layout, 0, codec)
    assert not (tmp_path / "3").exists()


def test_forgotten_chunks_are_written_over(tmp_path, layout):
    _, old = write_bits(tmp_path / "1", layout, "raw", seed=1)
    key = next(iter(old))
    inode = (tmp_path / "1" / key).stat().st_ino
    create_bits(tmp_path / "3", layout, 0, "lz4")
    writer = ChunkWriter(tmp_path / "3", "lz4", recycled=tmp_path / "1")
    manifest = Manifest(3, "bits", 2)
    chunk = np.zeros((2, layout.strip_words), dtype=np.uint64)
    chunk[1, 7] = 5
    for name in (key, "c.2.2.0"):  # a chunk that the old layer had, and one it had not
        manifest.chunks[name] = writer.write(name, chunk, 1)
    layer = StoredLayer(tmp_path / "3", manifest, "lz4")
    assert (tmp_path / "3" / key).stat().st_ino == inode
    assert (tmp_path / "3" / key).stat().st_size == manifest.chunks[key][1]
    for name in manifest.chunks:
        assert (read(layer, name) == chunk).all()
