"""Two stores that share a server."""

from __future__ import annotations

import shutil
import subprocess
import time
import unittest

import hearth
from support import StoreTest


@unittest.skipUnless(shutil.which("redis-server"), "redis-server is missing")
class RemoteTest(StoreTest):
    def setUp(self) -> None:
        super().setUp()
        self.socket = self.directory / "redis.sock"
        self.server = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", str(self.socket), "--save", ""],
            cwd=self.directory,
            stdout=subprocess.DEVNULL,
        )
        self.addCleanup(self.stop)
        end = time.monotonic() + 10
        while not self.socket.exists():
            self.assertLess(time.monotonic(), end, "redis-server does not start")
            time.sleep(0.01)
        self.remote = f"redis+unix://{self.socket}"

    def stop(self) -> None:
        self.server.kill()
        self.server.wait()

    def cache_of(self, name: str) -> hearth.Cache:
        host = hearth.Host(self.directory / name, remote=self.remote)
        self.addCleanup(host.close)
        self.assertEqual(host.remote_problem, "")
        return host.cache("test")

    def test_hosts_share_entries(self) -> None:
        first, second = self.cache_of("first"), self.cache_of("second")
        self.assertEqual(first.get_or_compile("a", lambda: b"one"), b"one")
        found = self.wait_for(second, "a")
        self.assertEqual(found, b"one")
        self.assertEqual(second.get_many(["a", "b"]), [b"one", None])

    def test_a_server_that_is_gone_fails_no_compile(self) -> None:
        cache = self.cache_of("first")
        self.stop()
        self.assertEqual(cache.get_or_compile("a", lambda: b"one"), b"one")
        self.assertEqual(cache.get("a"), b"one")

    def test_a_bad_address_is_a_problem_and_no_error(self) -> None:
        with self.assertLogs("hearth", "WARNING"):
            host = hearth.Host(self.store, remote="nothing://here")
        self.addCleanup(host.close)
        self.assertTrue(host.remote_problem)
        self.assertIs(host.cache("test").insert("a", b"one"), True)

    def wait_for(self, cache: hearth.Cache, key: str) -> object:
        """The entry, once the first host has sent it."""
        end = time.monotonic() + 10
        while True:
            found = cache.get(key)
            if found is not None or time.monotonic() > end:
                return found
            time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
