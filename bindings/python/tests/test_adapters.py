"""The adapters, against stand-ins with the originals' interfaces (or the originals)."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import hearth
import hearth.adapters.jax
import hearth.adapters.torch_remote
import hearth.adapters.triton
import stubs
from hearth.adapters import _store, inductor_cache
from support import StoreTest

stubs.install()


class AdapterTest(StoreTest):
    """A test with the store that the variables name."""

    def setUp(self) -> None:
        super().setUp()
        variables = {
            "HEARTH_STORE": str(self.store),
            "TRITON_CACHE_DIR": str(self.directory / "triton"),
            "TRITON_DUMP_DIR": str(self.directory / "dump"),
            "TRITON_OVERRIDE_DIR": str(self.directory / "override"),
            "TRITON_CACHE_MANAGER": "hearth.adapters.triton:HearthCacheManager",
            "TRITON_REMOTE_CACHE_BACKEND": "hearth.adapters.triton:HearthRemoteCacheBackend",
        }
        patch = mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)
        os.environ.pop("HEARTH_REMOTE", None)
        self.addCleanup(lambda: _store.shared_host(self.store).close())


class StoreNameTest(unittest.TestCase):
    def test_the_store_is_that_of_the_program(self) -> None:
        for variables, store in (
            ({"HEARTH_STORE": "/a", "XDG_CACHE_HOME": "/b"}, "/a"),
            ({"XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/hearth"),
            ({"HOME": "/c"}, "/c/.cache/hearth"),
        ):
            with mock.patch.dict(os.environ, variables, clear=True):
                self.assertEqual(_store.default_store(), store)

    def test_no_adapter_imports_its_project(self) -> None:
        program = (
            "import sys\n"
            "import hearth.adapters.inductor_cache, hearth.adapters.jax\n"
            "import hearth.adapters.torch_remote, hearth.adapters.triton\n"
            "assert not {'torch', 'triton', 'jax'} & set(sys.modules)\n"
        )
        self.assertEqual(subprocess.run([sys.executable, "-c", program]).returncode, 0)


class InductorCacheTest(AdapterTest):
    def caches(self) -> list:
        return [
            inductor_cache.InMemoryCache(),
            inductor_cache.OnDiskCache(),
            inductor_cache.OnDiskCache("other"),
            inductor_cache.InductorOnDiskCache(),
            inductor_cache.InductorOnDiskCache(host=self.open()),
        ][:4]

    def test_an_insert_never_replaces(self) -> None:
        for cache in self.caches():
            self.assertIsInstance(cache, inductor_cache.Cache)
            for key in ("text", 3, ("a", 1, ("b",)), ()):
                self.assertIsNone(cache.get(key))
                self.assertIs(cache.insert(key, {"v": [1, b"2", ("3",)]}), True)
                self.assertIs(cache.insert(key, "other"), False)
                self.assertEqual(cache.get(key), {"v": [1, b"2", ("3",)]})

    def test_an_executor_runs_the_calls(self) -> None:
        cache = inductor_cache.OnDiskCache()
        with ThreadPoolExecutor(2) as executor:
            self.assertIs(cache.insert_async("a", 1, executor).result(), True)
            self.assertEqual(cache.get_async("a", executor).result(), 1)
            inserts = [cache.insert_async("b", number, executor) for number in range(20)]
            self.assertEqual(sum(insert.result() for insert in inserts), 1)

    def test_equal_keys_are_one_key(self) -> None:
        cache = inductor_cache.OnDiskCache()
        text = "text"
        cache.insert((text, text), 1)
        self.assertEqual(cache.get((text, "".join(["te", "xt"]))), 1)

    def test_other_processes_see_the_entries(self) -> None:
        inductor_cache.InductorOnDiskCache().insert(("a", 1), [2])
        program = (
            "from hearth.adapters.inductor_cache import InductorOnDiskCache\n"
            "cache = InductorOnDiskCache()\n"
            "assert cache.get(('a', 1)) == [2]\n"
            "assert cache.insert(('a', 1), 3) is False\n"
        )
        self.assertEqual(subprocess.run([sys.executable, "-c", program]).returncode, 0)

    def test_another_version_is_a_miss_that_can_be_inserted(self) -> None:
        class Later(inductor_cache.OnDiskCache):
            version = 1

        first, second = inductor_cache.OnDiskCache(), Later()
        first.insert("a", 1)
        self.assertIsNone(second.get("a"))
        self.assertIs(second.insert("a", 2), True)
        self.assertEqual((first.get("a"), second.get("a")), (1, 2))

    def test_what_cannot_be_pickled_is_a_cache_error(self) -> None:
        cache = inductor_cache.OnDiskCache()
        with self.assertRaises(inductor_cache.CacheError):
            cache.get(lambda: 1)
        with self.assertRaises(inductor_cache.CacheError):
            cache.insert("a", lambda: 1)
        # A failed insert blocks no later one.
        self.assertIs(cache.insert("a", 1), True)

    def test_a_damaged_entry_is_a_cache_error(self) -> None:
        cache = inductor_cache.OnDiskCache()
        for number, data in enumerate((b"", b"no pickle", pickle.dumps([1, 2])[:-3])):
            digest = inductor_cache._digest(number)
            _store.shared_host().cache("on_disk_cache").insert(digest, data)
            with self.assertRaises(inductor_cache.CacheError, msg=data):
                cache.get(number)

    def test_a_memory_cache_is_filled_from_a_variable(self) -> None:
        def pair(key: object, value: object) -> str:
            return f"{pickle.dumps(key)!r},{pickle.dumps(value)!r}"

        good = {
            "": {},
            " ; ": {},
            pair("a", 1): {"a": 1},
            f" {pair('a;,', b';,')} ; {pair(('b', 1), None)};": {"a;,": b";,", ("b", 1): None},
            f"{pair('a', 1)};{pair('a', 1)}": {"a": 1},
        }
        bad = [
            "x", "b'x'", f"{pair('a', 1)};{pair('a', 2)}", "b'x',b'y'", f"{pair('a', 1)},",
            f"'a',{pickle.dumps(1)!r}",
        ]  # fmt: skip
        for text, wanted in good.items():
            with mock.patch.dict(os.environ, {"PAIRS": text}):
                cache = inductor_cache.InMemoryCache.from_env_var("PAIRS")
                self.assertEqual({key: cache.get(key) for key in wanted}, wanted)
        for text in bad:
            with mock.patch.dict(os.environ, {"PAIRS": text}):
                with self.assertRaises(inductor_cache.CacheError, msg=text):
                    inductor_cache.InMemoryCache.from_env_var("PAIRS")
        self.assertIsNone(inductor_cache.InMemoryCache.from_env_var("NOT_SET").get("a"))

    def test_a_memory_cache_is_filled_from_a_file(self) -> None:
        path = self.directory / "pairs"
        self.assertIsNone(inductor_cache.InMemoryCache.from_file_path(path).get("a"))
        path.write_bytes(pickle.dumps({"a": 1}))
        self.assertEqual(inductor_cache.InMemoryCache.from_file_path(path).get("a"), 1)
        for data in (b"", b"no pickle", pickle.dumps([1])):
            path.write_bytes(data)
            with self.assertRaises(inductor_cache.CacheError):
                inductor_cache.InMemoryCache.from_file_path(path)


class TorchTest(AdapterTest):
    def setUp(self) -> None:
        super().setUp()
        self.module = importlib.import_module("torch._inductor.remote_cache")
        self.addCleanup(hearth.adapters.torch_remote.uninstall)

    def create(self, cache_id: str, name: str) -> object:
        return self.module.create_cache(cache_id, False, "Fb" + name, name)

    def test_the_remote_caches_are_in_the_store(self) -> None:
        host = hearth.adapters.torch_remote.install(store=self.store)
        graphs = self.create("fx-graph-v1", "RemoteFxGraphCache")
        self.assertIsNone(graphs.get("fkey"))
        graphs.put("fkey", {"data": "code", "time_taken_ms": 3})
        self.assertEqual(graphs.get("fkey"), {"data": "code", "time_taken_ms": 3})
        self.assertEqual(
            self.create("fx-graph-v1", "RemoteFxGraphCache").get("fkey"), graphs.get("fkey")
        )
        autograd = self.create("autograd-experimental", "RemoteAOTAutogradCache")
        self.assertIsNone(autograd.get("fkey"))
        autograd.put("fkey", {"data": "more"})
        self.assertEqual(graphs.get("fkey")["data"], "code")
        self.assertTrue(any(host.stats().__dict__.values()))
        self.assertIsInstance(graphs.backend, self.module.RemoteCacheBackend)
        self.assertIsInstance(
            graphs.backend, hearth.adapters.torch_remote.HearthRemoteCacheBackend
        )

    def test_the_caches_are_switched_on_and_off_again(self) -> None:
        inductor = importlib.import_module("torch._inductor.config")
        autograd = importlib.import_module("torch._functorch.config")
        hearth.adapters.torch_remote.install(store=self.store)
        self.assertIs(inductor.fx_graph_remote_cache, True)
        self.assertIsNone(inductor.autotune_remote_cache)
        self.assertIs(autograd.enable_remote_autograd_cache, True)
        hearth.adapters.torch_remote.install(store=self.store)
        hearth.adapters.torch_remote.uninstall()
        self.assertIsNone(inductor.fx_graph_remote_cache)
        self.assertIsNone(autograd.enable_remote_autograd_cache)
        self.assertIsNone(self.module.RemoteFxGraphCache.backend_override_cls)
        self.assertNotIn("backend_override_cls", vars(self.module.RemoteFxGraphCache))
        hearth.adapters.torch_remote.install(
            store=self.store, caches=["RemoteFxGraphCache"], enable=False
        )
        self.assertIsNone(inductor.fx_graph_remote_cache)
        self.assertIsNone(self.module.RemoteAOTAutogradCache.backend_override_cls)

    def test_tunings_are_kept_where_they_are_asked_for(self) -> None:
        remote = hearth.adapters.torch_remote
        remote.install(store=self.store, caches=remote.TUNING_CACHES)
        self.assertIs(importlib.import_module("torch._inductor.config").autotune_remote_cache, True)
        tunings = self.create("autotune", "RemoteAutotuneCache")
        tunings.put("kernel", {"num_warps": 4})
        self.assertEqual(tunings.get("kernel"), {"num_warps": 4})

    def test_a_cache_that_fails_is_a_miss(self) -> None:
        host = self.open()
        hearth.adapters.torch_remote.install(host=host)
        graphs = self.create("fx-graph-v1", "RemoteFxGraphCache")
        host.close()
        with self.assertLogs("hearth", "WARNING"):
            graphs.put("fkey", 1)
            self.assertIsNone(graphs.get("fkey"))


class TritonTest(AdapterTest):
    def setUp(self) -> None:
        super().setUp()
        self.cache = importlib.import_module("triton.runtime.cache")

    def forget_files(self) -> None:
        os.rename(self.directory / "triton", self.directory / f"gone-{os.urandom(4).hex()}")

    def read(self, path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def test_files_come_back_without_the_folder(self) -> None:
        manager = self.cache.get_cache_manager("ab12")
        self.assertIsNone(manager.get_file("add.cubin"))
        self.assertEqual(self.read(manager.put(b"\0code", "add.cubin")), b"\0code")
        manager.put("text", "add.ptx", binary=False)
        self.forget_files()
        manager = self.cache.get_cache_manager("ab12")
        self.assertEqual(self.read(manager.get_file("add.cubin")), b"\0code")
        self.assertEqual(self.read(manager.get_file("add.ptx")), b"text")
        self.assertTrue(manager.has_file("add.ptx"))
        self.assertFalse(manager.has_file("none"))
        self.assertIsNone(self.cache.get_cache_manager("cd34").get_file("add.cubin"))

    def test_groups_come_back_without_the_folder(self) -> None:
        manager = self.cache.get_cache_manager("ab12")
        self.assertIsNone(manager.get_group("add.json"))
        names = ("add.cubin", "add.ptx", "add.json")
        manager.put_group("add.json", {name: manager.put(name.encode(), name) for name in names})
        self.forget_files()
        group = self.cache.get_cache_manager("ab12").get_group("add.json")
        self.assertEqual(set(group), set(names))
        for name, path in group.items():
            self.assertEqual(self.read(path), name.encode())

    def test_a_group_with_a_missing_file_is_a_miss(self) -> None:
        manager = self.cache.get_cache_manager("ab12")
        manager.put_group("add.json", {"add.json": manager.put(b"{}", "add.json"), "gone": "/x"})
        self.assertIsNone(manager.get_group("add.json"))

    def test_no_name_leads_out_of_the_folder(self) -> None:
        manager = self.cache.get_cache_manager("ab12")
        outside = self.directory / "outside"
        _store.shared_host().cache("triton").put(("ab12", str(outside)), b"x")
        manager.put_group("bad", {str(outside): str(outside)})
        self.assertIsNone(manager.get_group("bad"))
        self.assertFalse(outside.exists())

    def test_dumps_are_left_to_triton(self) -> None:
        manager = self.cache.get_dump_manager("ab12")
        path = manager.put(b"dump", "add.ttir")
        self.assertTrue(path.startswith(str(self.directory / "dump")))
        self.assertEqual(manager.get_file("add.ttir"), path)
        self.assertIsNone(manager.get_group("add.ttir"))
        manager.put_group("add.ttir", {"add.ttir": path})
        self.assertEqual(manager.get_group("add.ttir"), {"add.ttir": path})
        self.assertIsNone(self.cache.get_cache_manager("ab12").get_file("add.ttir"))

    def test_the_remote_backend(self) -> None:
        if not hasattr(self.cache, "get_remote_backend"):
            self.skipTest("Triton is installed")
        backend = self.cache.get_remote_backend("ab12")
        self.assertEqual(backend.get(["a", "b"]), {})
        backend.put("a", b"one")
        self.assertEqual(backend.get(["a", "b"]), {"a": b"one"})
        self.assertEqual(self.cache.get_remote_backend("cd34").get(["a"]), {})

    def test_there_is_nothing_else(self) -> None:
        with self.assertRaises(AttributeError):
            hearth.adapters.triton.Nothing


class JaxTest(AdapterTest):
    def setUp(self) -> None:
        super().setUp()
        self.module = importlib.import_module("jax._src.compilation_cache")
        self.interface = importlib.import_module("jax._src.compilation_cache_interface")
        self.addCleanup(hearth.adapters.jax.uninstall)

    def test_jax_gets_the_store(self) -> None:
        hearth.adapters.jax.install(store=self.store, min_compile_time=0.5)
        cache = self.module._get_cache(mock.Mock())
        self.assertIsInstance(cache, self.interface.CacheInterface)
        self.assertIsInstance(cache, hearth.adapters.jax.HearthCache)
        self.assertIsNone(cache.get("jit_f-1"))
        cache.put("jit_f-1", b"one")
        cache.put("jit_f-1", b"two")
        self.assertEqual(cache.get("jit_f-1"), b"one")
        self.assertEqual(str(cache._path), str(self.store))
        self.module.reset_cache()
        self.assertEqual(self.module._get_cache(mock.Mock()).get("jit_f-1"), b"one")

    def test_its_own_cache_is_put_back(self) -> None:
        own = self.module.get_file_cache
        hearth.adapters.jax.install(store=self.store)
        hearth.adapters.jax.install(store=self.store)
        hearth.adapters.jax.uninstall()
        hearth.adapters.jax.uninstall()
        self.assertIs(self.module.get_file_cache, own)

    def test_a_cache_that_fails_is_a_miss(self) -> None:
        host = self.open()
        cache = hearth.adapters.jax.HearthCache(host)
        host.close()
        with self.assertLogs("hearth", "WARNING"):
            cache.put("a", b"one")
            self.assertIsNone(cache.get("a"))


if __name__ == "__main__":
    unittest.main()
