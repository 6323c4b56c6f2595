"""Several processes that share a store, and forks."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
import traceback
import unittest
from typing import Any, Callable

import hearth
from hearth import _threads
from support import StoreTest

COMPILE = """
import sys, time, hearth
store, count = sys.argv[1:]
def make():
    with open(count, "a") as file:
        file.write("x")
    time.sleep(0.5)
    return b"code"
with hearth.open(store) as host:
    sys.stdin.readline()
    assert host.cache("test").get_or_compile("k", make) == b"code"
"""


def in_child(function: Callable[[], None]) -> int:
    """Forks, calls the function in the child, and returns the child's exit status."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function()
            status = 0
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(status)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")


def expect(value: Any, wanted: Any) -> None:
    if value != wanted:
        raise AssertionError(f"{value!r} is not {wanted!r}")


def use_in_worker(work: Any) -> bytes:
    cache, number = work
    return cache.get_or_compile(number % 4, lambda: b"%d" % (number % 4))


class ProcessTest(StoreTest):
    def test_one_process_compiles(self) -> None:
        count = self.directory / "count"
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", COMPILE, str(self.store), str(count)],
                stdin=subprocess.PIPE,
            )
            for _ in range(4)
        ]
        time.sleep(1)
        for process in processes:
            process.stdin.write(b"\n")
            process.stdin.close()
        self.assertEqual([process.wait(60) for process in processes], [0] * 4)
        self.assertEqual(count.read_text(), "x")

    def test_the_next_process_compiles_when_one_is_killed(self) -> None:
        program = (
            "import sys, time, hearth\n"
            "lease = hearth.open(sys.argv[1]).cache('test').acquire('k')\n"
            "print('held', flush=True)\n"
            "time.sleep(60)\n"
        )
        holder = subprocess.Popen(
            [sys.executable, "-c", program, str(self.store)], stdout=subprocess.PIPE
        )
        self.assertEqual(holder.stdout.readline(), b"held\n")
        cache = self.open_cache()
        threading.Timer(0.3, holder.kill).start()
        self.assertEqual(cache.get_or_compile("k", lambda: b"code", timeout=30), b"code")
        holder.wait()
        holder.stdout.close()

    def test_an_end_of_the_program_waits_for_nobody(self) -> None:
        program = (
            "import sys, threading, time, hearth\n"
            "cache = hearth.open(sys.argv[1]).cache('test')\n"
            "lease = cache.acquire('k')\n"
            "threading.Thread(target=cache.acquire, args=['k'], daemon=True).start()\n"
            "time.sleep(0.2)\n"
        )
        begin = time.monotonic()
        run = subprocess.run(
            [sys.executable, "-c", program, str(self.store)], capture_output=True, timeout=60
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertLess(time.monotonic() - begin, 20)


    def test_a_long_compile_of_a_thin_host_is_waited_for(self) -> None:
        program = (
            "import sys, time, hearth\n"
            "cache = hearth.open(sys.argv[1], thin=True).cache('test')\n"
            "def make():\n"
            "    print('begun', flush=True)\n"
            "    time.sleep(5)\n"
            "    return b'first'\n"
            "cache.get_or_compile('k', make)\n"
        )
        holder = subprocess.Popen(
            [sys.executable, "-c", program, str(self.store)], stdout=subprocess.PIPE
        )
        self.assertEqual(holder.stdout.readline(), b"begun\n")
        cache = self.open_cache(thin=True)
        self.assertEqual(cache.get_or_compile("k", lambda: b"second", timeout=30), b"first")
        self.assertEqual(holder.wait(), 0)
        holder.stdout.close()


class ForkTest(StoreTest):
    def test_a_child_uses_the_cache_of_its_parent(self) -> None:
        cache = self.open_cache()
        cache.insert("a", b"one")

        def child() -> None:
            expect(cache.get("a"), b"one")
            expect(cache.insert("b", b"two"), True)
            expect(cache.get_or_compile("c", lambda: b"three"), b"three")
            expect(cache.host.cache("other").get("a"), None)
            cache.host.flush()

        self.assertEqual(in_child(child), 0)
        self.assertEqual(cache.get("b"), b"two")
        self.assertEqual(cache.get("c"), b"three")

    def test_a_grandchild_does_too(self) -> None:
        cache = self.open_cache()

        def grandchild() -> None:
            expect(cache.get("a"), b"one")

        def child() -> None:
            cache.insert("a", b"one")
            expect(in_child(grandchild), 0)
            expect(cache.get("a"), b"one")

        self.assertEqual(in_child(child), 0)

    def test_a_host_of_memory_begins_empty_in_the_child(self) -> None:
        with hearth.open() as host:
            cache = host.cache("test")
            cache.insert("a", b"one")

            def child() -> None:
                expect(cache.get("a"), None)
                expect(cache.insert("a", b"two"), True)

            self.assertEqual(in_child(child), 0)
            self.assertEqual(cache.get("a"), b"one")

    def test_a_thin_host_works_in_the_child(self) -> None:
        cache = self.open_cache(thin=True)
        cache.insert("a", b"one")
        self.assertEqual(in_child(lambda: expect(cache.get("a"), b"one")), 0)

    def test_a_closed_host_stays_closed_in_the_child(self) -> None:
        cache = self.open_cache()
        cache.host.close()

        def child() -> None:
            try:
                cache.get("a")
            except hearth.ClosedError:
                return
            raise AssertionError("open")

        self.assertEqual(in_child(child), 0)

    def test_a_view_is_readable_in_the_child(self) -> None:
        cache = self.open_cache()
        cache.insert("a", b"one" * 1000)
        view = cache.view("a")

        def child() -> None:
            expect(bytes(view), b"one" * 1000)
            view.release()

        self.assertEqual(in_child(child), 0)
        self.assertEqual(bytes(view), b"one" * 1000)

    def test_a_lease_stays_with_the_parent(self) -> None:
        cache = self.open_cache()
        lease = cache.acquire("k")

        def child() -> None:
            lease.release()
            try:
                lease.fulfil(b"child")
            except hearth.ForkedError:
                pass
            else:
                raise AssertionError("fulfilled")
            try:
                cache.get_or_compile("k", lambda: b"child", timeout=0.3)
            except TimeoutError:
                return
            raise AssertionError("compiled under the parent's lease")

        self.assertEqual(in_child(child), 0)
        self.assertEqual(lease.fulfil(b"parent"), b"parent")

    def test_a_fork_while_threads_work_leaves_no_lock_behind(self) -> None:
        cache = self.open_cache()
        stop = threading.Event()

        def work() -> None:
            number = 0
            while not stop.is_set():
                cache.host.stats()
                cache.put(number % 50, b"x")
                cache.get(number % 50)
                number += 1

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for turn in range(5):
                self.assertEqual(
                    in_child(lambda: expect(cache.insert(("child", turn), b"x"), True)), 0
                )
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_the_threads_that_wait_are_started_again_in_the_child(self) -> None:
        expect(_threads.submit(lambda: 1).result(10), 1)
        self.assertEqual(in_child(lambda: expect(_threads.submit(lambda: 2).result(10), 2)), 0)

    def test_pools_of_processes_use_a_cache(self) -> None:
        cache = self.open_cache()
        for method in ("fork", "spawn"):
            with self.subTest(method):
                with multiprocessing.get_context(method).Pool(3) as pool:
                    found = pool.map(use_in_worker, [(cache, number) for number in range(16)])
                self.assertEqual(found, [b"%d" % (number % 4) for number in range(16)])


if __name__ == "__main__":
    unittest.main()
