"""Parts whose record or index says nonsense, digests and all."""

import hashlib
import json
from dataclasses import asdict

import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.codec.slabs import CHECKSUM_BYTES
from frontier.errors import CorruptRunError
from frontier.layers.parts import (
    RECORD_BYTES,
    PartRecord,
    footer_bytes,
)
from tests.support.ledgers import edit
from tests.support.part_files import (
    SLABS,
    noticed,
    part_at,
    slabs_of,
    write,
)
from tests.support.sweeps import swept


def forge(path, thread, change=None, index=None):
    """Write a part whose record or index says something else, and seal it as if it were true."""
    record = write(path, thread, slabs_of(), "raw")
    data = path.read_bytes()
    slabs = data[: -footer_bytes(SLABS)]
    if index is None:
        index = data[-16 * SLABS - CHECKSUM_BYTES : -CHECKSUM_BYTES]
    value = asdict(record) | {"tally": record.tally.stored}
    for key, changed in (change or {}).items():
        edit(value, key, changed)
    value.pop("digest")
    sealed = json.dumps(value, sort_keys=True).encode() + index
    value["digest"] = hashlib.sha256(sealed).hexdigest()
    footer = json.dumps(value).ljust(RECORD_BYTES - 1).encode() + b"\n"
    footer += index + google_crc32c.value(index).to_bytes(4, "little")
    path.write_bytes(slabs + footer)


def test_a_forgery_that_changes_nothing_is_as_good_as_the_original(tmp_path, thread):
    forge(tmp_path / "c.0", thread)
    assert not noticed(tmp_path / "c.0")


HOSTILE = [0, 1, 5, 323, 324, 325, 1619, 1620, 1621, 2**31, 2**32, 2**62, 2**63 - 1, 2**63,
           2**63 + 1, 2**64 - 700, 2**64 - 2, 2**64 - 1]  # fmt: skip


@swept("offset", HOSTILE, few=HOSTILE[::4])
@swept("size", HOSTILE, few=HOSTILE[1::4])
def test_an_index_that_points_anywhere(tmp_path, thread, offset, size):
    """It is refused, or its slab is corrupt; nothing outside is read."""
    path = tmp_path / "c.0"
    index = np.full((SLABS, 2), 2**64 - 1, dtype="<u8")
    index[5] = offset, size
    forge(path, thread, index=index.tobytes())
    if offset == 2**64 - 1:
        part = part_at(path)
        assert part.slabs.size == 0
        return
    if offset + size > 1620 or size <= 4:
        with pytest.raises(CorruptRunError, match="its index points outside its slabs"):
            part_at(path)
        return
    part = part_at(path)
    with pytest.raises(CorruptRunError, match=r"c\.0"):
        part.check()


@given(data=st.binary(min_size=16 * SLABS, max_size=16 * SLABS))
def test_an_index_of_any_bytes(tmp_path_factory, thread, data):
    path = tmp_path_factory.mktemp("forged") / "c.0"
    forge(path, thread, index=data)
    assert noticed(path) or data == b"\xff" * 16 * SLABS


CHANGES = [
    {"states": "5"}, {"states": None}, {"states": 1.5}, {"bytes": "x"}, {"bytes": None},
    {"bytes": 10}, {"bytes": 10**30}, {"depth": "7"}, {"depth": None}, {"task": [3]}, {"run": 5},
    {"run": None}, {"content": 3}, {"content": "0"}, {"at_goal": "many"}, {"at_goal": 1.5},
    {"start": "no"}, {"start": None}, {"more": 1},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_record_that_says_nonsense(tmp_path, thread, change):
    forge(tmp_path / "c.0", thread, change)
    assert noticed(tmp_path / "c.0")


NONSENSE = [b"", b"null", b"[]", b"{}", b"1", b'"x"', b"\xff" * 9, b"[" * 511, b'{"run": ' * 60]
NONSENSE += [b'{"run": NaN}', b"9" * 511, b"\0" * 512]


@pytest.mark.parametrize("text", NONSENSE)
def test_a_record_that_is_none(tmp_path, thread, text):
    path = tmp_path / "c.0"
    write(path, thread, slabs_of())
    data, end = path.read_bytes(), footer_bytes(SLABS)
    path.write_bytes(data[:-end] + text.ljust(RECORD_BYTES) + data[RECORD_BYTES - end :])
    with pytest.raises(CorruptRunError, match="has no record at its end"):
        part_at(path)


@given(text=st.binary(max_size=RECORD_BYTES))
def test_a_record_of_any_bytes(text):
    with pytest.raises(ValueError, match=r".*"):
        PartRecord.from_bytes(text.ljust(RECORD_BYTES))
