# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""ebql.h for ctypes: structures, statuses, and the functions of the library."""
import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t,
                    c_uint, c_uint32, c_uint64, c_void_p)

OK, BATCH, NOTHING, END = 0, 1, 2, 3
REFUSED, FAILED, NO_MEMORY, MISUSE, CANCELLED, LOSSES = -1, -2, -3, -4, -5, -6
LOSS_MAX = 16


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


class ArrowArrayStream(ctypes.Structure):
    pass


# As plain addresses: a function of ctypes would be made anew whenever a field is read.
ArrowSchema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64),
    ("n_children", c_int64), ("children", POINTER(POINTER(ArrowSchema))),
    ("dictionary", POINTER(ArrowSchema)), ("release", c_void_p), ("private_data", c_void_p)]
ArrowArray._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
    ("n_children", c_int64), ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))), ("dictionary", POINTER(ArrowArray)),
    ("release", c_void_p), ("private_data", c_void_p)]
ArrowArrayStream._fields_ = [
    ("get_schema", c_void_p), ("get_next", c_void_p), ("get_last_error", c_void_p),
    ("release", c_void_p), ("private_data", c_void_p)]

RELEASE = CFUNCTYPE(None, c_void_p)
ON_SIGNAL = CFUNCTYPE(None, c_void_p, POINTER(c_int))


class Sized(ctypes.Structure):
    """A structure that says its own size first."""

    def __init__(self):
        super().__init__(ctypes.sizeof(self))


class Options(Sized):
    _fields_ = [("size", c_size_t), ("every_ns", c_uint64), ("rows", c_uint64),
                ("batch", c_void_p), ("context", c_void_p), ("on_signal", c_void_p)]


class Batch(Sized):
    _fields_ = [("size", c_size_t), ("rows", c_uint64), ("other_row", c_int64),
                ("window_start_ns", c_uint64), ("window_end_ns", c_uint64), ("late_ns", c_uint64),
                ("merged", c_uint64), ("events", c_uint64), ("matched", c_uint64),
                ("lost", c_uint64 * LOSS_MAX), ("is_windowed", c_int32), ("is_last", c_int32),
                ("is_partial", c_int32)]


class Stats(Sized):
    _fields_ = [("size", c_size_t), ("batches", c_uint64), ("rows", c_uint64),
                ("events", c_uint64), ("matched", c_uint64), ("lost", c_uint64 * LOSS_MAX),
                ("compile_ns", c_uint64), ("verify_ns", c_uint64), ("attach_ns", c_uint64),
                ("programs", c_uint64), ("instructions", c_uint64), ("is_over", c_int32),
                ("is_partial", c_int32), ("segment", c_uint32), ("segment_queries", c_uint32),
                ("counted_with", c_uint32)]


class Diagnostic(Sized):
    _fields_ = [("size", c_size_t), ("tag", c_char_p), ("message", c_char_p), ("hint", c_char_p),
                ("severity", c_int32), ("line", c_uint32), ("column", c_uint32),
                ("start", c_uint32), ("end", c_uint32)]


def _load():
    """EBQL_LIBRARY names another one than the system's."""
    try:
        lib = ctypes.CDLL(os.environ.get("EBQL_LIBRARY") or "libebql.so.0")
    except OSError as error:
        raise OSError("%s: install ebql's library ('make install', as root, and 'ldconfig'), or "
                      "let EBQL_LIBRARY name the file libebql.so" % error) from None
    for name, result, *arguments in (
            ("status_text", c_char_p, c_int),
            ("version", c_char_p),
            ("session_open", c_int, POINTER(c_void_p)),
            ("session_close", None, c_void_p),
            ("session_fd", c_int, c_void_p),
            ("session_step", c_int, c_void_p),
            ("interrupt", None, c_void_p),
            ("prepare", c_int, c_void_p, c_char_p, c_size_t, POINTER(c_void_p)),
            ("bind_int", c_int, c_void_p, c_char_p, c_int64),
            ("bind_uint", c_int, c_void_p, c_char_p, c_uint64),
            ("bind_real", c_int, c_void_p, c_char_p, c_double),
            ("bind_text", c_int, c_void_p, c_char_p, c_char_p, c_size_t),
            ("bind_duration", c_int, c_void_p, c_char_p, c_uint64),
            ("bind_bool", c_int, c_void_p, c_char_p, c_int),
            ("bind_null", c_int, c_void_p, c_char_p),
            ("schema", c_int, c_void_p, POINTER(ArrowSchema)),
            ("run", c_int, c_void_p, POINTER(Options)),
            ("next", c_int, c_void_p, c_int, POINTER(ArrowArray)),
            ("stream", c_int, c_void_p, POINTER(ArrowArrayStream)),
            ("stop", c_int, c_void_p),
            ("reset", c_int, c_void_p),
            ("query_close", None, c_void_p),
            ("loss_name", c_char_p, c_uint),
            ("batch", c_int, c_void_p, POINTER(Batch)),
            ("stats", c_int, c_void_p, POINTER(Stats)),
            ("diagnostic", c_int, c_void_p, c_uint, POINTER(Diagnostic)),
            ("message", c_char_p, c_void_p)):
        function = getattr(lib, "ebql_" + name)
        function.restype = result
        function.argtypes = arguments
    return lib


lib = _load()
LOSS_NAMES = [name.decode() for name in map(lib.ebql_loss_name, range(LOSS_MAX)) if name]
