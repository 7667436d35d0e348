# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Arrow's C data interface -> plain values of Python, and capsules for other libraries."""
import ctypes
import struct

from . import _c

_NUMBERS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q",
            "f": "f", "g": "d"}


class Field:
    """A column's name and type, out of an ArrowSchema."""

    def __init__(self, schema):
        self.format = schema.format.decode()
        self.name = (schema.name or b"").decode(errors="replace")
        self.children = [Field(schema.children[i].contents) for i in range(schema.n_children)]
        self.dictionary = Field(schema.dictionary.contents) if schema.dictionary else None


def _view(address, n, letter):
    size = n * struct.calcsize(letter)
    if not size:
        return memoryview(b"").cast(letter)
    return memoryview((ctypes.c_char * size).from_address(address)).cast("B").cast(letter)


def _bits(address, start, n):
    view = _view(address, (start + n + 7) // 8, "B")
    return [bool(view[i >> 3] >> (i & 7) & 1) for i in range(start, start + n)]


def _values(field, array):
    """All places of the array, also those that are NULL."""
    start, n, form = array.offset, array.length, field.format
    buffers = array.buffers
    if field.dictionary:
        texts = values(field.dictionary, array.dictionary.contents)
        numbers = _view(buffers[1], start + n, _NUMBERS[form])[start:]
        return [texts[i] if 0 <= i < len(texts) else None for i in numbers]
    if form in _NUMBERS:
        return _view(buffers[1], start + n, _NUMBERS[form])[start:].tolist()
    if form == "n":
        return [None] * n
    if form == "b":
        return _bits(buffers[1], start, n)
    if form in "uzUZ":
        offsets = _view(buffers[1], start + n + 1, "i" if form in "uz" else "q")[start:].tolist()
        whole = _view(buffers[2], offsets[-1] if n else 0, "B")
        pieces = [bytes(whole[a:b]) for a, b in zip(offsets, offsets[1:])]
        return [piece.decode() for piece in pieces] if form in "uU" else pieces
    if form[0] == "w":
        size = int(form[2:])
        whole = _view(buffers[1], (start + n) * size, "B")
        return [bytes(whole[i * size:(i + 1) * size]) for i in range(start, start + n)]
    if form[0] == "d":
        whole = _view(buffers[1], (start + n) * 16, "B")
        return [int.from_bytes(whole[i * 16:(i + 1) * 16], "little", signed=True)
                for i in range(start, start + n)]
    if form[:2] in ("ts", "tD"):
        return _view(buffers[1], start + n, "q")[start:].tolist()
    if form == "+s":
        columns = [values(child, array.children[i].contents)[start:]
                   for i, child in enumerate(field.children)]
        names = [child.name for child in field.children]
        return [dict(zip(names, row)) for row in zip(*columns)]
    if form == "+l":
        offsets = _view(buffers[1], start + n + 1, "i")[start:].tolist()
        items = values(field.children[0], array.children[0].contents)
        return [items[a:b] for a, b in zip(offsets, offsets[1:])]
    raise TypeError("Arrow's type %r is not known" % form)


def values(field, array):
    """A column as a list: int, float, bool, str, bytes, list, dict; None where it is NULL."""
    there = _values(field, array)
    if array.null_count and field.format != "n" and array.n_buffers and array.buffers[0]:
        valid = _bits(array.buffers[0], array.offset, array.length)
        return [value if is_valid else None for value, is_valid in zip(there, valid)]
    return there


# --- Capsules ---

# Functions of our own: others may have set other types for those of ctypes.pythonapi.
def _python(name, result, *arguments):
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_new = _python("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p,
               ctypes.c_void_p)
# The capsule is as good as gone when its destructor is called: its address, and no reference.
_pointer = _python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_name = _python("PyCapsule_GetName", ctypes.c_char_p, ctypes.c_void_p)

_NAMES = {_c.ArrowSchema: b"arrow_schema", _c.ArrowArray: b"arrow_array",
          _c.ArrowArrayStream: b"arrow_array_stream"}
_within = {}  # structures that capsules hold, by address


def release(structure):
    """What nobody has taken over."""
    if structure.release:
        _c.RELEASE(structure.release)(ctypes.addressof(structure))


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy(capsule):
    structure = _within.pop(_pointer(capsule, _name(capsule)), None)
    if structure is not None:
        release(structure)


def capsule(structure):
    """A capsule that owns the structure, as the PyCapsule interface of Arrow has it."""
    address = ctypes.addressof(structure)
    _within[address] = structure
    return _new(address, _NAMES[type(structure)], ctypes.cast(_destroy, ctypes.c_void_p))
