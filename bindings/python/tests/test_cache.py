"""The contract of a cache, in memory and on disk, and with each backing."""

from __future__ import annotations

import asyncio
import gc
import math
import os
import pickle
import signal
import threading
import time
import unittest

import hearth
from support import StoreTest, is_miss_soon

KEYS = ["text", "", "é\0", 0, -1, 2**63 - 1, -(2**63), b"", b"\0\xff", (), ("a", 1, b"b", ("c",))]


class Contract:
    """Each test of it runs with each kind of host."""

    cache: hearth.Cache

    def test_a_stored_entry_is_found_and_others_are_not(self) -> None:
        self.assertIsNone(self.cache.get("a"))
        self.assertIs(self.cache.insert("a", b"one"), True)
        self.assertEqual(self.cache.get("a"), b"one")
        self.assertIsNone(self.cache.get("b"))
        self.assertIn("a", self.cache)
        self.assertNotIn("b", self.cache)

    def test_an_insert_never_replaces(self) -> None:
        self.cache.insert("a", b"one")
        self.assertIs(self.cache.insert("a", b"two"), False)
        self.assertEqual(self.cache.get("a"), b"one")

    def test_a_put_replaces(self) -> None:
        self.cache.put("a", b"one")
        self.cache.put("a", b"two")
        self.assertEqual(self.cache.get("a"), b"two")

    def test_an_entry_with_a_time_to_live_ends_and_can_be_stored_anew(self) -> None:
        self.assertIs(self.cache.insert("a", b"one", ttl=3600), True)
        self.assertIs(self.cache.insert("a", b"two", ttl=0.0001), False)
        self.assertEqual(self.cache.get("a"), b"one")
        self.cache.put("a", b"three", ttl=0.0001)
        self.assertTrue(is_miss_soon(self.cache, "a"))
        self.assertIs(self.cache.insert("a", b"four", ttl=math.inf), True)
        self.assertEqual(self.cache.get("a"), b"four")

    def test_an_asynchronous_insert_and_put_and_a_lease_have_a_time_to_live(self) -> None:
        async def body() -> None:
            self.assertIs(await self.cache.ainsert("a", b"one", ttl=0.0001), True)
            self.assertTrue(is_miss_soon(self.cache, "a"))
            await self.cache.aput("a", b"two", ttl=3600)
            self.assertEqual(await self.cache.aget("a"), b"two")
            await self.cache.aput("a", b"three", ttl=0.0001)
            self.assertTrue(is_miss_soon(self.cache, "a"))

        asyncio.run(body())
        lease = self.cache.acquire("a")
        assert isinstance(lease, hearth.Lease)
        self.assertEqual(lease.fulfil(b"four", ttl=0.0001), b"four")
        self.assertTrue(is_miss_soon(self.cache, "a"))

    def test_a_compiled_entry_has_a_time_to_live(self) -> None:
        made = self.cache.get_or_compile("a", lambda: b"one", ttl=0.0001)
        self.assertEqual(made, b"one")
        self.assertTrue(is_miss_soon(self.cache, "a"))

        @self.cache.compiled(lambda: "b", ttl=0.0001)
        def compile_b() -> bytes:
            return b"two"

        self.assertEqual(compile_b(), b"two")
        self.assertTrue(is_miss_soon(self.cache, "b"))

        async def make() -> bytes:
            return b"three"

        @self.cache.compiled(lambda: "c", ttl=0.0001)
        async def compile_c() -> bytes:
            return b"four"

        async def body() -> None:
            for form in (make, lambda: b"three"):  # in the event loop, and on a thread
                got = await self.cache.aget_or_compile("d", form, ttl=0.0001)
                self.assertEqual(got, b"three")
                self.assertTrue(is_miss_soon(self.cache, "d"))
            self.assertEqual(await compile_c(), b"four")
            self.assertTrue(is_miss_soon(self.cache, "c"))

        asyncio.run(body())

    def test_a_time_to_live_is_above_zero(self) -> None:
        for ttl in (0, -1, -math.inf, math.nan):
            with self.assertRaisesRegex(ValueError, "time to live"):
                self.cache.insert("a", b"one", ttl=ttl)
            with self.assertRaisesRegex(ValueError, "time to live"):
                self.cache.put("a", b"one", ttl=ttl)
            with self.assertRaisesRegex(ValueError, "time to live"):
                asyncio.run(self.cache.ainsert("a", b"one", ttl=ttl))
            with self.assertRaisesRegex(ValueError, "time to live"):
                asyncio.run(self.cache.aput("a", b"one", ttl=ttl))
            with self.assertRaisesRegex(ValueError, "time to live"):
                self.cache.get_or_compile("a", self.fail, ttl=ttl)
            with self.assertRaisesRegex(ValueError, "time to live"):
                asyncio.run(self.cache.aget_or_compile("a", self.fail, ttl=ttl))
        self.assertIsNone(self.cache.get("a"))

    def test_erase_tells_whether_there_was_an_entry(self) -> None:
        self.cache.insert("a", b"one")
        self.assertIs(self.cache.erase("a"), True)
        self.assertIs(self.cache.erase("a"), False)
        self.assertIsNone(self.cache.get("a"))
        self.assertIs(self.cache.insert("a", b"two"), True)

    def test_each_kind_of_key_is_a_key_of_its_own(self) -> None:
        for place, key in enumerate(KEYS):
            self.assertIs(self.cache.insert(key, str(place).encode()), True, key)
        for place, key in enumerate(KEYS):
            self.assertEqual(self.cache.get(key), str(place).encode(), key)
        self.assertIsNone(self.cache.get("0"))
        self.assertIsNone(self.cache.get(b"text"))
        self.assertIsNone(self.cache.get(("text",)))

    def test_a_key_can_be_made_once(self) -> None:
        key = hearth.Key(("a", 1))
        self.cache.insert(key, b"one")
        self.assertEqual(self.cache.get(("a", 1)), b"one")
        self.assertEqual(hearth.Key.decode(key.encoded), key)
        self.assertEqual(pickle.loads(pickle.dumps(key)), key)
        self.assertEqual(len({key, hearth.Key(("a", 1)), hearth.Key(("a", 2))}), 2)
        self.cache.insert((key, "b"), b"two")
        self.assertEqual(self.cache.get((("a", 1), "b")), b"two")

    def test_values_of_every_size_and_kind_come_back_as_bytes(self) -> None:
        for size in (0, 1, 1000, 100_000, 5_000_000):
            data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
            self.cache.insert(size, data)
            self.assertEqual(self.cache.get(size), data)
        buffer = bytearray(b"0123456789")
        self.cache.put("bytearray", buffer)
        buffer[:] = b"changed..."
        buffer += b"and longer"
        self.assertEqual(self.cache.get("bytearray"), b"0123456789")
        self.cache.put("read-only", memoryview(b"abc"))
        self.assertEqual(self.cache.get("read-only"), b"abc")
        self.cache.put("strided", memoryview(bytearray(b"abcdef"))[::2])
        self.assertEqual(self.cache.get("strided"), b"ace")

    def test_many_keys_are_looked_up_together(self) -> None:
        for number in range(0, 100, 2):
            self.cache.insert(number, str(number).encode())
        found = self.cache.get_many(range(100))
        self.assertEqual(
            found, [None if number % 2 else str(number).encode() for number in range(100)]
        )
        self.assertEqual(self.cache.get_many([]), [])

    def test_a_view_keeps_its_entry(self) -> None:
        self.assertIsNone(self.cache.view("a"))
        data = bytes(range(256)) * 16
        self.cache.insert("a", data)
        view = self.cache.view("a")
        self.assertEqual(view.data, data)
        self.assertEqual(bytes(view), data)
        self.assertEqual(len(view), len(data))
        self.assertEqual(view[3], 3)
        self.assertTrue(view.data.readonly)
        self.assertIsInstance(view.metadata, bytes)
        self.assertGreaterEqual(view.time_taken, 0)
        part = view.data[256:512]
        self.cache.erase("a")
        self.cache.host.close()
        with view:
            pass
        del view
        gc.collect()
        self.assertEqual(part, bytes(range(256)))

    def test_an_empty_entry_is_a_hit(self) -> None:
        self.cache.insert("a", b"")
        self.assertEqual(self.cache.get("a"), b"")
        self.assertEqual(len(self.cache.view("a")), 0)
        self.assertEqual(self.cache.get_many(["a", "b"]), [b"", None])

    def test_names_and_versions_are_apart(self) -> None:
        self.cache.insert("a", b"one")
        host = self.cache.host
        self.assertIsNone(host.cache("other").get("a"))
        self.assertIsNone(host.cache("test", version="1").get("a"))
        self.assertIsNone(host.cache("test", version=1).get("a"))
        self.assertEqual(host.cache("test").get("a"), b"one")

    def test_one_caller_compiles(self) -> None:
        made = []

        def make() -> bytes:
            made.append(1)
            time.sleep(0.1)
            return b"code"

        results = []
        threads = [
            threading.Thread(
                target=lambda: results.append(self.cache.get_or_compile("k", make))
            )
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [b"code"] * 8)
        self.assertEqual(len(made), 1)
        self.assertEqual(self.cache.get_or_compile("k", make), b"code")
        self.assertEqual(len(made), 1)

    def test_a_failed_compile_raises_and_the_next_call_compiles(self) -> None:
        def fail() -> bytes:
            raise KeyError("no such kernel")

        with self.assertRaisesRegex(KeyError, "no such kernel"):
            self.cache.get_or_compile("k", fail)
        self.assertEqual(self.cache.get_or_compile("k", lambda: b"code"), b"code")

    def test_a_compile_must_return_bytes(self) -> None:
        with self.assertRaisesRegex(TypeError, "a value is bytes, not int"):
            self.cache.get_or_compile("k", lambda: 3)
        self.assertEqual(self.cache.get_or_compile("k", lambda: bytearray(b"code")), b"code")

    def test_a_compile_that_asks_for_its_own_entry_is_refused(self) -> None:
        def make() -> bytes:
            return self.cache.get_or_compile("k", lambda: b"")

        with self.assertRaises(hearth.LeaseCycleError):
            self.cache.get_or_compile("k", make)
        nested = self.cache.get_or_compile(
            "a", lambda: self.cache.get_or_compile("b", lambda: b"x") + b"y"
        )
        self.assertEqual(nested, b"xy")

    def test_a_lease_is_ended_in_one_of_three_ways(self) -> None:
        lease = self.cache.acquire("a")
        self.assertEqual(lease.fulfil(b"one"), b"one")
        with self.assertRaises(hearth.InvalidError):
            lease.fulfil(b"two")
        self.assertEqual(self.cache.acquire("a"), b"one")
        with self.cache.acquire("b") as lease:
            pass
        lease = self.cache.acquire("b", timeout=10)
        lease.abandon("gave\0up")
        lease = self.cache.acquire("b", timeout=10)
        del lease
        gc.collect()
        self.assertIsInstance(self.cache.acquire("b", timeout=10), hearth.Lease)

    def test_a_wait_ends_with_its_timeout(self) -> None:
        with self.cache.acquire("k"):
            begin = time.monotonic()
            with self.assertRaises(TimeoutError) as caught:
                self.cache.get_or_compile("k", lambda: b"", timeout=0.2)
            self.assertIsInstance(caught.exception, hearth.TimedOutError)
            self.assertEqual(caught.exception.code, "timeout")
            self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(self.cache.get_or_compile("k", lambda: b"code", timeout=10), b"code")

    def test_a_wait_of_the_main_thread_can_be_interrupted(self) -> None:
        lease = self.cache.acquire("k")
        timer = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGUSR1])

        def interrupt(*_: object) -> None:
            raise InterruptedError

        before = signal.signal(signal.SIGUSR1, interrupt)
        try:
            timer.start()
            with self.assertRaises(InterruptedError):
                self.cache.get_or_compile("k", lambda: b"")
        finally:
            timer.join()
            signal.signal(signal.SIGUSR1, before)
        lease.release()
        # The wait that was given up passes its lease on.
        self.assertEqual(self.cache.get_or_compile("k", lambda: b"code", timeout=10), b"code")

    def test_a_keyboard_interrupt_in_a_compile_lets_the_next_compile(self) -> None:
        def interrupted() -> bytes:
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.cache.get_or_compile("k", interrupted)
        self.assertEqual(self.cache.get_or_compile("k", lambda: b"code", timeout=10), b"code")

    def test_threads_use_one_cache(self) -> None:
        errors = []

        def work(number: int) -> None:
            try:
                for turn in range(200):
                    key = (turn % 20, number % 3)
                    self.cache.insert(key, repr(key).encode())
                    if self.cache.get(key) != repr(key).encode():
                        errors.append(key)
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])


class MemoryTest(Contract, unittest.TestCase):
    def setUp(self) -> None:
        self.host = hearth.Host()
        self.cache = self.host.cache("test")

    def tearDown(self) -> None:
        self.host.close()

    def test_a_result_that_cannot_be_stored_is_returned_all_the_same(self) -> None:
        def make() -> bytes:
            self.cache.host.close()
            return b"code"

        with self.assertLogs("hearth", "WARNING") as logged:
            self.assertEqual(self.cache.get_or_compile("k", make), b"code")
        self.assertIn("'test' is not stored", logged.output[0])

    def test_two_hosts_of_memory_share_nothing(self) -> None:
        self.cache.insert("a", b"one")
        with hearth.open() as other:
            self.assertIsNone(other.cache("test").get("a"))


class DiskTest(Contract, StoreTest):
    def setUp(self) -> None:
        super().setUp()
        self.cache = self.open_cache()

    def test_those_who_wait_get_the_text_of_a_failed_compile(self) -> None:
        begun, go_on = threading.Event(), threading.Event()
        outcomes = []

        def fail() -> bytes:
            begun.set()
            go_on.wait(10)
            raise ValueError("no such kernel")

        def compile_by(make: object) -> None:
            try:
                outcomes.append(self.cache.get_or_compile("k", make))
            except Exception as error:
                outcomes.append(error)

        threads = [threading.Thread(target=compile_by, args=[fail])]
        threads[0].start()
        begun.wait(10)
        threads.append(threading.Thread(target=compile_by, args=[lambda: b"other"]))
        threads[1].start()
        time.sleep(0.2)
        go_on.set()
        for thread in threads:
            thread.join()
        kinds = {type(outcome): str(outcome) for outcome in outcomes}
        self.assertIn("no such kernel", kinds[ValueError])
        self.assertIn("ValueError: no such kernel", kinds[hearth.CompileFailedError])

    def test_a_compiled_entry_tells_how_long_it_took(self) -> None:
        def make() -> bytes:
            time.sleep(0.05)
            return b"code"

        self.cache.get_or_compile("k", make)
        self.assertGreaterEqual(self.cache.view("k").time_taken, 0.05)
        self.assertGreaterEqual(self.cache.host.stats().time_saved, 0.05)

    def test_entries_survive_their_host(self) -> None:
        self.cache.insert("a", b"one")
        self.cache.host.flush()
        self.cache.host.close()
        self.assertEqual(self.open_cache().get("a"), b"one")

    def test_stats_count(self) -> None:
        self.cache.insert("a", b"one")
        self.cache.get("a")
        self.cache.get("b")
        stats = self.cache.host.stats()
        self.assertGreaterEqual(stats.memory_hits + stats.disk_hits, 1)
        self.assertGreaterEqual(stats.memory_misses + stats.disk_misses, 1)
        self.assertGreaterEqual(stats.time_saved, 0)

    def test_stats_of_a_cache_are_its_own(self) -> None:
        other = self.cache.host.cache("other")
        self.cache.insert("a", b"one")
        self.cache.insert("a", b"two")
        self.cache.put("a", b"three")
        self.cache.get("a")
        self.cache.get("b")
        self.cache.get_or_compile("c", lambda: b"code")
        self.cache.get_or_compile("c", lambda: b"never")
        asyncio.run(self.cache.aget_or_compile("d", lambda: b"code"))
        asyncio.run(self.cache.aget_or_compile("d", lambda: b"never"))
        self.cache.erase("a")
        stats = self.cache.stats()
        self.assertEqual(stats.memory_hits + stats.disk_hits, 3)
        self.assertEqual((stats.remote_hits, stats.misses, stats.waits), (0, 3, 0))
        self.assertEqual((stats.compiles, stats.failures), (2, 0))
        self.assertEqual((stats.inserted, stats.existed), (3, 1))
        self.assertEqual((stats.put, stats.erased), (1, 1))
        self.assertGreaterEqual(stats.time_saved, 0)
        nothing = dict.fromkeys(stats.__dict__, 0)
        self.assertEqual(other.stats().__dict__, nothing)

    def test_a_pickled_cache_is_opened_again(self) -> None:
        self.cache.insert("a", b"one")
        first, second = (pickle.loads(pickle.dumps(self.cache)) for _ in range(2))
        self.assertEqual(first.get("a"), b"one")
        self.assertIs(first.host, second.host)
        first.host.close()


class ThinTest(Contract, StoreTest):
    def setUp(self) -> None:
        super().setUp()
        self.cache = self.open_cache(thin=True)

    def test_a_thin_host_sees_what_a_runtime_stores(self) -> None:
        other = self.open_cache()
        other.insert("a", b"one")
        self.assertEqual(self.cache.get("a"), b"one")
        self.cache.insert("b", b"two")
        self.assertEqual(other.get("b"), b"two")


if __name__ == "__main__":
    unittest.main()
