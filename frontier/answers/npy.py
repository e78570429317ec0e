"""The header of a NumPy file, so that its array can be written piece by piece."""

import io

import numpy as np
from numpy.lib import format as npy


def head_of(kind: np.dtype, shape: tuple[int, ...]) -> bytes:
    """Return the header of a file whose values follow row by row."""
    head = io.BytesIO()
    value = {"descr": npy.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    npy.write_array_header_1_0(head, value)
    return head.getvalue()
