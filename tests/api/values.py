# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Values of all types as plain rows, errors, and the capsules, read by C's structures alone."""
import ctypes
import datetime
import errno
import gc
import os
import signal
import sys
import tempfile
import threading
import unittest

import ebql

ROWS = "time,x,who\n1000000000,1,a\n1500000000,2,b\n2000000000,3,a\n3000000000,4,\u00e4\n"


def second(n):
    return datetime.timedelta(seconds=n)


class Rows(unittest.TestCase):
    def setUp(self):
        file = tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8", delete=False)
        with file:
            file.write(ROWS)
        self.path = file.name
        self.session = ebql.connect()

    def tearDown(self):
        self.session.close()
        os.unlink(self.path)

    def run_over(self, text, parameters=None):
        return self.session.run(text.replace("FILE", "'%s'" % self.path), parameters)

    def test_rows(self):
        query = self.run_over("SELECT who, x, x * 1.5 AS r, x > 2 AS b, NULL AS no, time, "
                              "x * 1ms AS d, nullif(x, 3) AS m FROM FILE")
        rows = [row for batch in query for row in batch.tuples()]
        self.assertEqual(rows, [
            ("a", 1, 1.5, False, None, 1000000000, 1000000, 1),
            ("b", 2, 3.0, False, None, 1500000000, 2000000, 2),
            ("a", 3, 4.5, True, None, 2000000000, 3000000, None),
            ("\u00e4", 4, 6.0, True, None, 3000000000, 4000000, 4)])

    def test_aggregates(self):
        query = self.run_over(
            "SELECT count(*) AS n, sum(x * 4611686018427387904) AS s, histogram(x) AS h, "
            "quantile(x, 0.5) AS p, quantiles(x, 0.5, 0.9) AS ps, top_k(who, 2) AS t, avg(x) AS a "
            "FROM FILE WHERE x <> :no WINDOW TUMBLING :every", {"no": -2, "every": second(2)})
        first, last = list(query)
        self.assertEqual((first.start_ns, first.end_ns, last.end_ns), (0, 2 * 10**9, 4 * 10**9))
        counted = self.run_over("SELECT count(*) FROM FILE WINDOW COUNT 3")
        self.assertEqual([batch.is_partial for batch in counted], [False, True])
        self.assertEqual(list(last), [{
            "n": 2, "s": None if last.lost else 7 * 2**62,
            "h": [{"lo": 2, "hi": 4, "count": 1}, {"lo": 4, "hi": 8, "count": 1}],
            "p": {"est": 3, "lo": 3, "hi": 3},
            "ps": [{"q": 0.5, "est": 3, "lo": 3, "hi": 3}, {"q": 0.9, "est": 4, "lo": 3, "hi": 4}],
            "t": [{"value": "a", "weight": 1, "error": 0},
                  {"value": "\u00e4", "weight": 1, "error": 0}],
            "a": 3.5}])
        self.assertEqual(first.columns["n"], [2])
        self.assertEqual((query.stats().batches, query.stats().events), (2, 4))

    def test_parameters(self):
        for value, expected in ((1, 1), (2**64 - 1, 2**64 - 1), (-2**63, -2**63), (1.25, 1.25),
                                (True, True), (None, None), ("it's", "it's"), (second(1), 10**9)):
            with self.run_over("SELECT :value AS v FROM FILE LIMIT 1", {"value": value}) as query:
                self.assertEqual(list(query.next())[0]["v"], expected)
        for value, error in ((2**64, OverflowError), ([], TypeError), (float("nan"), ebql.Error),
                             ("a\0b", ebql.Error)):
            with self.assertRaises(error):
                self.run_over("SELECT :value AS v FROM FILE", {"value": value})

    def test_errors(self):
        with self.assertRaises(ebql.Error) as caught:
            self.run_over("SELECT x,\n  z + :y FROM FILE", {"y": 1})
        error = caught.exception
        self.assertEqual((error.tag, error.diagnostics[0].line, error.diagnostics[0].column),
                         ("unknown-column", 2, 3))
        self.assertIn("error[unknown-column]", str(error))
        for text, tag in (("SELECT :y FROM FILE", "unbound-parameter"), ("SELEC", "unknown-keyword")):
            with self.assertRaises(ebql.Error) as caught:
                self.run_over(text)
            self.assertEqual(caught.exception.tag, tag)
        query = self.run_over("SELECT x FROM FILE")
        query.close()
        with self.assertRaises(ValueError):
            query.next()

    def test_views(self):
        self.run_over("CREATE VIEW big AS SELECT x FROM FILE WHERE x > :n", {"n": 2})
        self.assertEqual([row["x"] for batch in self.run_over("SELECT x FROM big") for row in batch],
                         [3, 4])

    def test_interrupt(self):
        done = threading.Event()

        def interrupt():
            while not done.wait(0.05):
                self.session.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.run_over("SELECT count(*) FROM FILE AS a, FILE AS b, FILE AS c, FILE AS d, "
                           "FILE AS e, FILE AS f, FILE AS g, FILE AS h, FILE AS i, FILE AS j, "
                           "FILE AS k, FILE AS l, FILE AS m, FILE AS n") as query:
            with self.assertRaises(ebql.Error):
                while True:
                    query.next()
            done.set()
            thread.join()
            self.assertEqual(query.diagnostics[-1].tag, "interrupted")

    def test_interrupt_before(self):
        """It came while a batch waited: behind that one it is told."""
        query = self.run_over("SELECT count(*) AS n FROM FILE WINDOW TUMBLING 1s")
        while not query.stats().batches:
            self.session.step()
        self.session.interrupt()
        seen = [batch and batch.columns["n"] for batch in (query.next(), query.next())]
        self.assertEqual(seen, [[2], None])
        self.assertEqual([batch.columns["n"] for batch in query], [[1], [1]])

    # --- Capsules: structures of the specification, and no word of ours ---

    def pointer(self, capsule, name):
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        return get(capsule, name)

    def test_stream(self):
        query = self.run_over("SELECT x, who FROM FILE")
        capsule = query.__arrow_c_stream__()
        del query
        gc.collect()
        stream = Stream.from_address(self.pointer(capsule, b"arrow_array_stream"))
        at = ctypes.addressof(stream)
        schema, seen = Schema(), []
        self.assertEqual(stream.get_schema(at, ctypes.byref(schema)), 0)
        self.assertEqual((schema.format, schema.children[0].contents.name), (b"+s", b"x"))
        self.assertEqual(schema.children[0].contents.format, b"l")
        schema.release(ctypes.addressof(schema))
        self.assertFalse(schema.release)
        while True:
            array = Array()
            self.assertEqual(stream.get_next(at, ctypes.byref(array)), 0)
            if not array.release:
                break
            column = array.children[0].contents
            values = ctypes.cast(column.buffers[1], ctypes.POINTER(ctypes.c_int64))
            seen += [values[column.offset + i] for i in range(array.length)]
            array.release(ctypes.addressof(array))
        self.assertEqual(seen, [1, 2, 3, 4])
        stream.release(at)
        self.assertFalse(stream.release)
        del capsule

    @unittest.skipIf(os.geteuid(), "needs root")
    def test_interrupted_stream(self):
        """Where a signal's handler raises, the wait for a row that never comes ends; others go on."""
        query = self.session.run("SELECT pid FROM raw_tracepoint:sched_switch WHERE pid < 0")
        capsule = query.__arrow_c_stream__()
        stream = Stream.from_address(self.pointer(capsule, b"arrow_array_stream"))
        at, array, seen = ctypes.addressof(stream), Array(), []

        def alarm(number, frame):
            seen.append(number)
            if len(seen) == 3:
                signal.setitimer(signal.ITIMER_REAL, 0)
                raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, alarm)
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        told, sys.unraisablehook = sys.unraisablehook, lambda told: seen.append(told.exc_type)
        self.addCleanup(setattr, sys, "unraisablehook", told)
        self.assertEqual(stream.get_next(at, ctypes.byref(array)), errno.EINTR)
        self.assertEqual(seen, [signal.SIGALRM] * 3 + [KeyboardInterrupt])
        self.assertIn(b"interrupted", stream.get_last_error(at))
        # It goes on: here to the query's end.
        query.stop()
        self.assertEqual(stream.get_next(at, ctypes.byref(array)), 0)

    def test_open_stream(self):
        """Query and session are closed for all but the stream, which gives an error, and ends."""
        closed = self.count_closed()
        for what in (ebql.Query.close, lambda query: query._session.close()):
            query = ebql.connect().run("SELECT x FROM '%s'" % self.path)
            capsules = [query.__arrow_c_stream__(), query.__arrow_c_stream__()]
            stream = Stream.from_address(self.pointer(capsules[0], b"arrow_array_stream"))
            what(query)
            what(query)
            with self.assertRaises(ValueError):
                query.next()
            array = Array()
            self.assertEqual(stream.get_next(ctypes.addressof(stream), ctypes.byref(array)),
                             errno.EINVAL)
            del capsules[0]
            self.assertEqual(closed, [])
            del capsules[0]
            self.assertEqual(len(closed), 1)
            closed.clear()

    def count_closed(self):
        closed, close = [], ebql.lib.ebql_query_close
        self.addCleanup(setattr, ebql.lib, "ebql_query_close", close)
        ebql.lib.ebql_query_close = lambda handle: (closed.append(handle), close(handle))
        return closed

    def test_dropped(self):
        """What nobody refers to any more ends; where another thread finds that, with what the
        session does next."""
        closed = self.count_closed()
        query = self.run_over("SELECT x FROM FILE")
        batch = query.next()
        del query
        self.assertEqual(len(closed), 1)
        self.assertEqual(len(batch.tuples()), 4)
        queries = [self.run_over("SELECT x FROM FILE")]
        thread = threading.Thread(target=queries.clear)
        thread.start()
        thread.join()
        self.assertEqual(len(closed), 1)
        self.session.step()
        self.assertEqual(len(closed), 2)
        self.assertEqual([row["x"] for batch in self.run_over("SELECT x FROM FILE LIMIT 1")
                          for row in batch], [1])

    def test_circle(self):
        """Of objects in a circle any may be first: what the session closed is not closed again."""
        calls = []
        for name in ("ebql_query_close", "ebql_session_close"):
            call = getattr(ebql.lib, name)
            self.addCleanup(setattr, ebql.lib, name, call)
            setattr(ebql.lib, name, lambda handle, name=name, call=call: (calls.append(name),
                                                                          call(handle)))
        for is_session_first in (True, False):
            calls.clear()
            circle = [ebql.connect()]
            circle.append(circle[0].run("SELECT x FROM '%s'" % self.path))
            circle[0].circle = circle[1].circle = circle
            if not is_session_first:
                circle.reverse()
            del circle
            gc.collect()
            self.assertEqual(calls[-1], "ebql_session_close")

    def test_every(self):
        given = []
        run = ebql.lib.ebql_run
        self.addCleanup(setattr, ebql.lib, "ebql_run", run)
        ebql.lib.ebql_run = lambda handle, options: given.append(options._obj.every_ns) or 0
        for us in (1, 3, 100000, 1000001):
            self.session.run("SELECT x FROM '%s'" % self.path,
                             every=datetime.timedelta(microseconds=us))
            self.assertEqual(given[-1], us * 1000)

    def test_array(self):
        batch = self.run_over("SELECT x FROM FILE").next()
        schema, array = batch.__arrow_c_array__()
        self.assertEqual(Schema.from_address(self.pointer(schema, b"arrow_schema")).format, b"+s")
        self.assertEqual(Array.from_address(self.pointer(array, b"arrow_array")).length, 4)
        with self.assertRaises(ValueError):
            batch.tuples()
        del schema, array, batch
        gc.collect()

    def test_array_alone(self):
        query = self.run_over("SELECT x FROM FILE")
        batch = query.next()
        query.close()
        schema, array = batch.__arrow_c_array__()
        self.assertEqual(Schema.from_address(self.pointer(schema, b"arrow_schema")).format, b"+s")
        self.assertEqual(Array.from_address(self.pointer(array, b"arrow_array")).length, 4)


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)),
    ("release", RELEASE), ("private_data", ctypes.c_void_p)]
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.POINTER(Array)),
    ("release", RELEASE), ("private_data", ctypes.c_void_p)]
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
    ("release", RELEASE), ("private_data", ctypes.c_void_p)]

if __name__ == "__main__":
    unittest.main()
