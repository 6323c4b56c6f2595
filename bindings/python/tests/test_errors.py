"""What goes wrong, and what is raised then."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import unittest

import hearth
from hearth.errors import Status, error_of
from support import StoreTest


class ErrorTest(StoreTest):
    def test_what_is_no_key_is_refused(self) -> None:
        cache = self.open_cache()
        for key in (None, True, 1.5, ["a"], {"a": 1}, ("a", None), (("a", False),)):
            with self.assertRaises(TypeError, msg=key):
                cache.get(key)
        for key in (2**63, -(2**63) - 1, "\ud800", (1, 2**64)):
            with self.assertRaises(ValueError, msg=key) as caught:
                cache.get(key)
            self.assertEqual(caught.exception.code, "invalid_key")

    def test_a_key_that_is_too_long_or_too_deep_is_refused(self) -> None:
        cache = self.open_cache()
        with self.assertRaises(ValueError) as caught:
            cache.get("k" * 10_000_000)
        self.assertGreater(caught.exception.status, 0)
        self.assertTrue(str(caught.exception))
        deep = ()
        for _ in range(1000):
            deep = (deep,)
        with self.assertRaises(ValueError):
            cache.get(deep)

    def test_one_bad_key_of_many_is_the_error_of_all(self) -> None:
        cache = self.open_cache()
        cache.insert("a", b"one")
        with self.assertRaises(ValueError):
            cache.get_many(["a", "k" * 10_000_000, "b"])
        self.assertEqual(cache.get_many(["a", "b"]), [b"one", None])

    def test_what_is_no_value_is_refused(self) -> None:
        cache = self.open_cache()
        for value in (None, "text", 3, ["a"]):
            for store in (cache.insert, cache.put):
                with self.assertRaises(TypeError, msg=value):
                    store("a", value)
        self.assertIsNone(cache.get("a"))

    def test_a_closed_host_answers_closed(self) -> None:
        host = self.open()
        cache = host.cache("test")
        host.close()
        host.close()
        self.assertTrue(host.closed)
        for call in (
            lambda: cache.get("a"),
            lambda: cache.insert("a", b""),
            lambda: cache.get_or_compile("a", lambda: b""),
            lambda: host.cache("other"),
            host.flush,
            host.stats,
        ):
            with self.assertRaises(hearth.ClosedError):
                call()

    def test_a_closed_cache_answers_closed(self) -> None:
        host = self.open()
        with host.cache("test") as cache:
            cache.insert("a", b"one")
        with self.assertRaises(hearth.ClosedError):
            cache.get("a")
        self.assertEqual(host.cache("test").get("a"), b"one")

    def test_bad_settings_are_refused(self) -> None:
        for options in (
            {"memory_budget": -1},
            {"threads": 2**40},
            {"remote": "redis://a\0b"},
        ):
            with self.assertRaises(ValueError, msg=options):
                self.open(**options)
        with self.assertRaises(TypeError):
            self.open(disk_budget="1 GiB")
        with self.assertRaises(TypeError):
            self.open(unknown=1)
        with self.assertRaises(ValueError):
            self.open().cache("name" * 1000)

    def test_a_store_that_cannot_be_used_is_a_warning(self) -> None:
        self.store.write_bytes(b"a file, not a directory")
        with self.assertLogs("hearth", "WARNING"):
            host = self.open()
        self.assertTrue(host.disk_problem)
        cache = host.cache("test")
        cache.insert("a", b"one")
        self.assertEqual(cache.get("a"), b"one")

    def test_all_is_well_is_no_text(self) -> None:
        host = self.open()
        self.assertEqual(host.disk_problem, "")
        self.assertEqual(host.remote_problem, "")

    def test_a_negative_timeout_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            self.open_cache().acquire("a", timeout=-1)

    def test_errors_are_those_of_python_too(self) -> None:
        for status, base in (
            (Status.TIMEOUT, TimeoutError),
            (Status.PERMISSION, PermissionError),
            (Status.NOT_FOUND, FileNotFoundError),
            (Status.NO_SPACE, OSError),
            (Status.READ_ONLY, OSError),
            (Status.REMOTE, ConnectionError),
            (Status.INVALID_VALUE, ValueError),
            (Status.TOO_LARGE, ValueError),
            (Status.UNSUPPORTED, NotImplementedError),
        ):
            error = error_of(status, "what, where, what to do")
            self.assertIsInstance(error, base)
            self.assertIsInstance(error, hearth.HearthError)
            self.assertEqual(str(error), "what, where, what to do")
            self.assertEqual(error.code, status.name.lower())
            if isinstance(error, OSError) and base is not ConnectionError:
                self.assertIsNotNone(error.errno)
            copy = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(copy), str(copy)), (type(error), str(error)))
            self.assertEqual(copy.status, status)

    def test_a_status_of_a_later_library_is_an_error(self) -> None:
        error = error_of(1000, "new")
        self.assertIs(type(error), hearth.HearthError)
        self.assertEqual((error.status, error.code), (1000, "unknown"))

    def test_the_names_of_statuses_are_those_of_the_library(self) -> None:
        import ctypes

        from hearth._library import library

        name_of = ctypes.CDLL(library().name).hearth_status_name
        name_of.restype = ctypes.c_char_p
        for status in Status:
            self.assertEqual(name_of(status.value).decode(), status.name.lower())

    def test_a_missing_library_is_named(self) -> None:
        environment = dict(os.environ, HEARTH_LIBRARY="/nowhere/libhearth.so.1")
        run = subprocess.run(
            [sys.executable, "-c", "import hearth; hearth.open()"],
            env=environment,
            capture_output=True,
            text=True,
        )
        self.assertEqual(run.returncode, 1)
        self.assertIn("HEARTH_LIBRARY", run.stderr)
        self.assertIn("/nowhere/libhearth.so.1", run.stderr)

    def test_the_version_is_known(self) -> None:
        self.assertRegex(hearth.version(), r"^\d+\.\d+\.\d+")


if __name__ == "__main__":
    unittest.main()
