# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Streaming SQL over the Linux kernel.

    import ebql

    with ebql.connect() as session:
        query = session.run("SELECT comm, count(*) AS n FROM raw_tracepoint:sys_enter "
                            "WHERE pid <> :own GROUP BY comm WINDOW TUMBLING 1s", {"own": 42})
        for window in query:
            for row in window:
                print(row["comm"], row["n"])

Rows are dicts of int, float, bool, str, bytes, lists and dicts; times and durations are whole
nanoseconds, times since 1970.  Libraries that speak Arrow's PyCapsule interface take a query
(__arrow_c_stream__) or a batch (__arrow_c_array__) as it is.

A session and its queries are used by one thread at a time; interrupt() alone by any.
"""
import ctypes
import datetime
import threading
import weakref

from . import _arrow, _c
from ._c import lib

__all__ = ["connect", "version", "Session", "Query", "Batch", "Diagnostic", "Error"]
__version__ = "0.1.0"


def version():
    """The library's."""
    return lib.ebql_version().decode()


class Diagnostic:
    """What is wrong with a query, or is to be known of it: tag, message, hint (or None), severity
    ("error", "warning", "failure"), line and column (from 1; 0: it has no place in the text)."""

    def __init__(self, given):
        self.tag = given.tag.decode()
        self.message = given.message.decode(errors="replace")
        self.hint = given.hint.decode(errors="replace") if given.hint else None
        self.severity = ("error", "warning", "failure")[given.severity]
        self.line, self.column = given.line, given.column

    def __repr__(self):
        return "<%s %s: %s>" % (self.severity, self.tag, self.message)


class Error(Exception):
    """A query was refused, or failed.  `diagnostics` say why, `tag` is the first error's, or None."""

    def __init__(self, status, message="", diagnostics=()):
        super().__init__(message or lib.ebql_status_text(status).decode())
        self.status = status
        self.diagnostics = list(diagnostics)
        self.tag = next((d.tag for d in self.diagnostics if d.severity != "warning"), None)


class Account:
    """Events, those that WHERE let through, and what was lost, by cause (only what is not 0)."""

    def __init__(self, given):
        self.events, self.matched = given.events, given.matched
        self.lost = {name: given.lost[i] for i, name in enumerate(_c.LOSS_NAMES) if given.lost[i]}


class Batch(Account):
    """The rows of one window, of a snapshot, or a piece of a stream of rows."""

    def __init__(self, field, schema, array, given):
        super().__init__(given)
        self._field, self._schema, self._array = field, schema, array
        self._columns = None
        self.is_windowed, self.is_last = bool(given.is_windowed), bool(given.is_last)
        self.is_partial = bool(given.is_partial)
        self.start_ns, self.end_ns = given.window_start_ns, given.window_end_ns
        self.late_ns, self.merged = given.late_ns, given.merged
        self.other_row = None if given.other_row < 0 else given.other_row
        self._rows = given.rows

    def __del__(self):
        if self._array is not None:
            _arrow.release(self._array)
            _arrow.release(self._schema)

    def __len__(self):
        return self._rows

    @property
    def names(self):
        return [child.name for child in self._field.children if child.name != "_other"]

    @property
    def columns(self):
        """Name -> list of values."""
        if self._columns is None:
            if self._array is None:
                raise ValueError("the batch was handed on as an Arrow array")
            self._columns = {
                child.name: _arrow.values(child, self._array.children[i].contents)
                for i, child in enumerate(self._field.children) if child.name != "_other"}
        return self._columns

    def tuples(self):
        columns = list(self.columns.values())
        return list(zip(*columns)) if columns else [()] * len(self)

    def __iter__(self):
        names = self.names
        return (dict(zip(names, row)) for row in self.tuples())

    def __arrow_c_array__(self, requested_schema=None):
        """Once: the array is handed over."""
        if self._array is None:
            raise ValueError("the batch was handed on as an Arrow array")
        array, self._array = self._array, None
        return _arrow.capsule(self._schema), _arrow.capsule(array)


def _ns(name, value):
    ns = (value.days * 86400 + value.seconds) * 10**9 + value.microseconds * 1000
    if not 0 <= ns < 2**64:
        raise OverflowError("%s: a duration has 0 to 2^64 - 1 ns" % name)
    return ns


class Query:
    """A query that runs; iterate over its batches, or take them with next().  It ends when it is
    closed, or when nothing refers to it any more."""

    _handle = None

    def __init__(self, session, text):
        self._session = session
        self._streams = 0
        self._is_closed = False
        self._field = None
        handle = ctypes.c_void_p()
        text = text.encode()
        status = lib.ebql_prepare(session._handle, text, len(text), ctypes.byref(handle))
        self._handle = handle.value
        if not self._handle:
            raise Error(status)
        session._queries.add(self)
        try:
            self._check(status)
        except Error:
            self.close()
            raise

    def _check(self, status):
        if status >= 0:
            return status
        message = lib.ebql_message(self._handle).decode(errors="replace")
        raise Error(status, message.rstrip("\n"), self.diagnostics)

    def _open(self):
        if self._is_closed:
            raise ValueError("the query is closed")
        self._session._used()
        return self._handle

    def _bind(self, name, value):
        handle, key = self._open(), name.encode()
        if value is None:
            return lib.ebql_bind_null(handle, key)
        if isinstance(value, bool):
            return lib.ebql_bind_bool(handle, key, value)
        if isinstance(value, int):
            if -2**63 <= value < 2**63:
                return lib.ebql_bind_int(handle, key, value)
            if value < 2**64:
                return lib.ebql_bind_uint(handle, key, value)
            raise OverflowError("%s: integers have 64 bits" % name)
        if isinstance(value, float):
            return lib.ebql_bind_real(handle, key, value)
        if isinstance(value, str):
            value = value.encode()
            return lib.ebql_bind_text(handle, key, value, len(value))
        if isinstance(value, datetime.timedelta):
            return lib.ebql_bind_duration(handle, key, _ns(name, value))
        raise TypeError("%s: %s is no value of SQL" % (name, type(value).__name__))

    def _run(self, parameters, every, rows):
        for name, value in parameters.items():
            self._check(self._bind(name, value))
        options = _c.Options()
        options.every_ns = _ns("every", every) if every else 0
        options.rows = rows or 0
        options.on_signal = ctypes.cast(_go_on, ctypes.c_void_p)
        self._check(lib.ebql_run(self._open(), ctypes.byref(options)))

    def _schema(self):
        schema = _c.ArrowSchema()
        self._check(lib.ebql_schema(self._open(), ctypes.byref(schema)))
        return schema

    def _columns(self):
        if self._field is None:
            schema = self._schema()
            self._field = _arrow.Field(schema)
            _arrow.release(schema)
        return self._field

    @property
    def names(self):
        """Of the columns."""
        return [child.name for child in self._columns().children if child.name != "_other"]

    @property
    def diagnostics(self):
        found, given = [], _c.Diagnostic()
        while lib.ebql_diagnostic(self._open(), len(found), ctypes.byref(given)) == _c.OK:
            found.append(Diagnostic(given))
        return found

    def next(self, timeout=None):
        """The next batch.  None: there is none within `timeout` seconds (None: however long), or,
        where `is_over`, no more."""
        field, array = self._columns(), _c.ArrowArray()
        given = _c.Batch()
        ms = -1 if timeout is None else min(max(0, int(timeout * 1000)), 2**31 - 1)
        while True:
            status = self._check(lib.ebql_next(self._open(), ms, ctypes.byref(array)))
            # A signal came: its handler, and so KeyboardInterrupt, had its turn by now.
            if status != _c.NOTHING or timeout is not None or self._session._is_interrupted:
                break
        # One that came while there was a batch is told behind it.
        if status != _c.BATCH:
            self._session._is_interrupted = False
            return None
        lib.ebql_batch(self._handle, ctypes.byref(given))
        return Batch(field, self._schema(), array, given)

    def __iter__(self):
        while True:
            batch = self.next()
            if batch is None:
                return
            yield batch

    def stop(self):
        """Ends it now; what was counted so far is the last batch, which is still to be taken."""
        self._check(lib.ebql_stop(self._open()))

    def stats(self):
        """Account of the run, batches and rows that were given, times in ns, is_over."""
        given = _c.Stats()
        self._check(lib.ebql_stats(self._open(), ctypes.byref(given)))
        account = Account(given)
        for name in ("batches", "rows", "compile_ns", "verify_ns", "attach_ns", "programs",
                     "instructions", "segment", "segment_queries", "counted_with"):
            setattr(account, name, getattr(given, name))
        account.is_over, account.is_partial = bool(given.is_over), bool(given.is_partial)
        return account

    def close(self):
        """Ends it, without a last batch.  Streams of it that are open give an error from then on."""
        if self._is_closed:
            return
        self._is_closed = True
        self._session._queries.discard(self)
        if self._streams:
            lib.ebql_reset(self._handle)
        else:
            self._free()

    def _free(self):
        handle, self._handle = self._handle, None
        lib.ebql_query_close(handle)

    def __del__(self):
        if self._handle and not self._is_closed:
            self._session._drop(self._handle)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    # --- Arrow ---

    def __arrow_c_schema__(self):
        return _arrow.capsule(self._schema())

    def __arrow_c_stream__(self, requested_schema=None):
        """All batches that are still to come.  A wait in which a signal's handler raises (^C) ends with
        EINTR: whoever reads the stream makes an error of that; the exception itself is printed."""
        stream = _c.ArrowArrayStream()
        self._check(lib.ebql_stream(self._open(), ctypes.byref(stream)))
        # Whoever has it keeps the query, and the session.
        self._streams += 1
        self._session._lent += 1
        _streams.setdefault(stream.private_data, []).append(self)
        stream.release = ctypes.cast(_release_stream, ctypes.c_void_p).value
        return _arrow.capsule(stream)


_streams = {}  # the queries of open streams, by handle


@_c.ON_SIGNAL
def _go_on(context, stops):
    """While a stream waits a signal came: its handler runs first, and where it raises, as for ^C,
    what is told here stays untold."""
    stops[0] = 0


@_c.RELEASE
def _release_stream(address):
    stream = _c.ArrowArrayStream.from_address(address)
    queries = _streams[stream.private_data]
    query = queries.pop()
    if not queries:
        del _streams[stream.private_data]
    stream.release = None
    query._streams -= 1
    if query._is_closed and not query._streams:
        query._free()
    query._session._lent -= 1
    query._session._end()


class Session:
    """An engine with its queries: windows that end together end at one instant."""

    def __init__(self):
        handle = ctypes.c_void_p()
        status = lib.ebql_session_open(ctypes.byref(handle))
        self._handle = handle.value
        self._queries = weakref.WeakSet()
        self._dropped = []  # handles of queries that nothing refers to
        self._lent = 0  # streams that are open
        self._is_closed = self._is_interrupted = False
        if status:
            raise Error(status)
        self._used()

    def run(self, text, parameters=None, *, every=None, rows=None):
        """Runs a text with the values of its :parameters, as sqlite3 takes them: a dict of int,
        float, str, bool, None, or datetime.timedelta.  every: a timedelta, how often a query without
        a WINDOW gives a snapshot; rows: streamed rows to end after.  What SET, ATTACH and CREATE
        VIEW do without a query holds for the session."""
        self._used()
        query = Query(self, text)
        try:
            query._run(parameters or {}, every, rows)
        except BaseException:
            query.close()
            raise
        return query

    def fileno(self):
        """For select() and its like: readable when step() has something to do."""
        self._used()
        return lib.ebql_session_fd(self._handle)

    def step(self):
        """Does what is due; never waits."""
        self._used()
        status = lib.ebql_session_step(self._handle)
        if status < 0:
            raise Error(status)

    def interrupt(self):
        """From any thread: who waits in next() is given None."""
        self._is_interrupted = True
        lib.ebql_interrupt(self._handle)

    def _used(self):
        """By this thread, from now on."""
        if self._is_closed:
            raise ValueError("the session is closed")
        self._thread = threading.get_ident()
        while self._dropped:
            lib.ebql_query_close(self._dropped.pop())

    def _drop(self, handle):
        """Of a query that nothing refers to.  The garbage collector may be another thread; and of a
        circle it may have closed the session before, and all of its queries with it."""
        if not self._handle:
            return
        if self._thread == threading.get_ident():
            lib.ebql_query_close(handle)
        else:
            self._dropped.append(handle)

    def close(self):
        """Ends its queries, as Query.close() does."""
        if self._is_closed:
            return
        self._used()
        for query in list(self._queries):
            query.close()
        self._is_closed = True
        self._end()

    def _end(self):
        """The library's session is closed, unless streams of its queries are open."""
        if self._is_closed and not self._lent:
            handle, self._handle = self._handle, None
            lib.ebql_session_close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()


def connect():
    """A session."""
    return Session()
