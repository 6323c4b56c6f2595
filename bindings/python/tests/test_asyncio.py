"""The calls for asyncio."""

from __future__ import annotations

import asyncio
import threading
import time
import unittest

import hearth
from support import StoreTest


class AsyncTest(StoreTest):
    def run_with(self, body: object, **options: object) -> None:
        cache = self.open_cache(**options)
        asyncio.run(asyncio.wait_for(body(cache), 60))

    def test_look_ups_and_inserts(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            self.assertIsNone(await cache.aget("a"))
            self.assertIs(await cache.ainsert("a", b"one"), True)
            self.assertIs(await cache.ainsert("a", b"two"), False)
            self.assertEqual(await cache.aget("a"), b"one")
            self.assertIs(await cache.ainsert("empty", b""), True)
            self.assertEqual(await cache.aget("empty"), b"")

        self.run_with(body)

    def test_a_thin_host_answers_too(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            self.assertIsNone(await cache.aget("a"))
            self.assertIs(await cache.ainsert("a", b"one"), True)
            self.assertEqual(await cache.aget("a"), b"one")
            self.assertEqual(await cache.aget_or_compile("b", lambda: b"two"), b"two")

        self.run_with(body, thin=True)

    def test_many_calls_at_once(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            keys = [("key", number) for number in range(500)]
            stored = await asyncio.gather(*(cache.ainsert(key, repr(key).encode()) for key in keys))
            self.assertTrue(all(stored))
            found = await asyncio.gather(*(cache.aget(key) for key in keys))
            self.assertEqual(found, [repr(key).encode() for key in keys])

        self.run_with(body)

    def test_errors_are_raised_where_they_are_awaited(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            with self.assertRaises(ValueError):
                await cache.aget("k" * 10_000_000)
            with self.assertRaises(TypeError):
                await cache.ainsert("a", "text")
            cache.host.close()
            with self.assertRaises(hearth.ClosedError):
                await cache.aget("a")

        self.run_with(body)

    def test_a_cancelled_look_up_harms_nobody(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            for number in range(100):
                task = asyncio.ensure_future(cache.ainsert(number, b"x"))
                await asyncio.sleep(0)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                    raise asyncio.CancelledError  # it was done already
            self.assertIsNone(await cache.aget("a"))

        self.run_with(body)

    def test_one_task_compiles_by_a_coroutine(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            made = []

            async def make() -> bytes:
                made.append(threading.current_thread())
                await asyncio.sleep(0.1)
                return b"code"

            found = await asyncio.gather(*(cache.aget_or_compile("k", make) for _ in range(200)))
            self.assertEqual(found, [b"code"] * 200)
            self.assertEqual(made, [threading.main_thread()])

        self.run_with(body)

    def test_one_task_compiles_by_a_function_on_a_thread(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            made, ticks = [], []

            def make() -> bytes:
                made.append(threading.current_thread())
                time.sleep(0.3)
                return b"code"

            async def tick() -> None:
                while True:
                    await asyncio.sleep(0.01)
                    ticks.append(1)

            ticking = asyncio.ensure_future(tick())
            found = await asyncio.gather(*(cache.aget_or_compile("k", make) for _ in range(20)))
            ticking.cancel()
            self.assertEqual(found, [b"code"] * 20)
            self.assertEqual(len(made), 1)
            self.assertIsNot(made[0], threading.main_thread())
            self.assertGreater(len(ticks), 3)

        self.run_with(body)

    def test_a_function_may_return_a_coroutine(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            async def make(data: bytes) -> bytes:
                await asyncio.sleep(0)
                return data

            self.assertEqual(await cache.aget_or_compile("k", lambda: make(b"code")), b"code")

        self.run_with(body)

    def test_tasks_and_threads_compile_once(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            made = []

            def make() -> bytes:
                made.append(1)
                time.sleep(0.2)
                return b"code"

            loop = asyncio.get_running_loop()
            calls = [loop.run_in_executor(None, cache.get_or_compile, "k", make) for _ in range(3)]
            calls += [asyncio.ensure_future(cache.aget_or_compile("k", make)) for _ in range(3)]
            self.assertEqual(await asyncio.gather(*calls), [b"code"] * 6)
            self.assertEqual(len(made), 1)

        self.run_with(body)

    def test_a_failed_compile_is_raised_once_and_told_to_those_who_wait(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            async def fail() -> bytes:
                await asyncio.sleep(0.1)
                raise KeyError("no such kernel")

            outcomes = await asyncio.gather(
                *(cache.aget_or_compile("k", fail) for _ in range(3)), return_exceptions=True
            )
            self.assertEqual([type(outcome) for outcome in outcomes],
                             [KeyError, hearth.CompileFailedError, hearth.CompileFailedError])
            self.assertIn("no such kernel", str(outcomes[1]))
            with self.assertRaises(KeyError):
                await cache.aget_or_compile("k", lambda: {}["k"])
            self.assertEqual(await cache.aget_or_compile("k", lambda: b"code"), b"code")

        self.run_with(body)

    def test_a_cancelled_coroutine_lets_the_next_task_compile(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            begun = asyncio.Event()

            async def forever() -> bytes:
                begun.set()
                await asyncio.sleep(1000)
                return b""

            first = asyncio.ensure_future(cache.aget_or_compile("k", forever))
            await begun.wait()
            second = asyncio.ensure_future(cache.aget_or_compile("k", lambda: b"second"))
            await asyncio.sleep(0.1)
            first.cancel()
            self.assertEqual(await asyncio.wait_for(second, 20), b"second")
            with self.assertRaises(asyncio.CancelledError):
                await first

        self.run_with(body)

    def test_a_cancelled_wait_gives_its_lease_back(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            lease = cache.acquire("k")
            waiting = asyncio.ensure_future(cache.aget_or_compile("k", lambda: b"first"))
            await asyncio.sleep(0.2)
            waiting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await waiting
            lease.release()
            self.assertIn(
                await cache.aget_or_compile("k", lambda: b"second", timeout=20),
                (b"first", b"second"),
            )

        self.run_with(body)

    def test_what_a_thread_makes_is_stored_though_its_task_is_cancelled(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            begun = threading.Event()

            def make() -> bytes:
                begun.set()
                time.sleep(0.3)
                return b"code"

            task = asyncio.ensure_future(cache.aget_or_compile("k", make))
            while not begun.is_set():
                await asyncio.sleep(0.01)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            found = await cache.aget_or_compile("k", lambda: b"other", timeout=20)
            self.assertEqual(found, b"code")

        self.run_with(body)

    def test_a_wait_ends_with_its_timeout(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            with cache.acquire("k"):
                with self.assertRaises(TimeoutError):
                    await cache.aget_or_compile("k", lambda: b"", timeout=0.2)

            async def slow() -> bytes:
                await asyncio.sleep(1)
                return b"slow"

            first = asyncio.ensure_future(cache.aget_or_compile("k", slow, timeout=0.5))
            await asyncio.sleep(0.1)
            with self.assertRaises(TimeoutError):
                await cache.aget_or_compile("k", slow, timeout=0.2)
            # The timeout is for waiting; one's own compile may take longer.
            self.assertEqual(await first, b"slow")

        self.run_with(body)

    def test_a_compile_that_asks_for_its_own_entry_is_refused(self) -> None:
        async def body(cache: hearth.Cache) -> None:
            async def make() -> bytes:
                return await cache.aget_or_compile("k", lambda: b"")

            def make_on_thread() -> bytes:
                return cache.get_or_compile("t", lambda: b"")

            with self.assertRaises(hearth.LeaseCycleError):
                await cache.aget_or_compile("k", make)
            with self.assertRaises(hearth.LeaseCycleError):
                await cache.aget_or_compile("t", make_on_thread)

        self.run_with(body)

    def test_a_loop_that_ends_early_harms_nobody(self) -> None:
        cache = self.open_cache()

        async def begin() -> None:
            for number in range(50):
                asyncio.ensure_future(cache.ainsert(number, b"x" * 10_000))
            await asyncio.sleep(0)

        for _ in range(5):
            asyncio.run(begin())
        time.sleep(0.2)
        self.assertIsNone(cache.get("a"))


if __name__ == "__main__":
    unittest.main()
