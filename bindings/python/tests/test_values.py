"""Caches of Python values, codecs and the decorator."""

from __future__ import annotations

import asyncio
import math
import unittest
from typing import Any

import hearth
from hearth import _msgpack
from support import StoreTest, is_miss_soon

PLAIN = [
    None, True, False, 0, 1, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**64 - 1,
    -1, -32, -33, -128, -129, -32768, -32769, -(2**31), -(2**31) - 1, -(2**63),
    0.0, -1.5, 1e300, math.inf, "", "é", "x" * 31, "x" * 32, "x" * 255, "x" * 256, "x" * 65536,
    b"", b"\0", b"x" * 255, b"x" * 256, b"x" * 65536, [], list(range(15)), list(range(16)),
    list(range(70_000)), {}, {"a": [1, {"b": None}]}, {number: "x" for number in range(70_000)},
]  # fmt: skip


class MsgpackTest(unittest.TestCase):
    def test_plain_values_come_back(self) -> None:
        for value in PLAIN:
            self.assertEqual(_msgpack.decode(_msgpack.encode(value)), value)

    def test_the_form_is_the_shortest(self) -> None:
        for value, encoded in (
            (None, "c0"), (True, "c3"), (7, "07"), (-1, "ff"), (200, "ccc8"), (-200, "d1ff38"),
            (1.5, "cb3ff8000000000000"), ("add", "a3616464"), (b"\1", "c40101"),
            ((1, "a"), "9201a161"), ({"n": 3}, "81a16e03"),
        ):  # fmt: skip
            self.assertEqual(_msgpack.encode(value).hex(), encoded)

    def test_it_is_the_msgpack_of_keys(self) -> None:
        for value in ("text", 0, -1, 200, 2**40, -(2**63), b"bytes", ("a", 1, (b"b",))):
            self.assertEqual(_msgpack.encode(value), hearth.Key(value).encoded)

    def test_maps_have_keys_of_every_kind_in_one_order(self) -> None:
        members: dict = {
            7: "a", None: 2, "b": 1, b"x": 0, (1, "q", (2,)): 5, -0.5: 3, 1.5: 4, True: 9,
        }  # fmt: skip
        encoded = _msgpack.encode(members)
        # C++ has the same bytes for it: "a map with keys of every kind comes back".
        self.assertEqual(
            encoded.hex(),
            "88c002c30907a161cbbfe000000000000003cb3ff800000000000004a16201c40178009301a171910205",
        )
        self.assertEqual(_msgpack.decode(encoded), members)
        for first in range(len(members)):
            turned = list(members.items())[first:] + list(members.items())[:first]
            self.assertEqual(_msgpack.encode(dict(turned)), encoded)
        self.assertEqual(_msgpack.encode({"b": 1, "aa": 2}).hex(), "82a2616102a16201")
        ordered = [-math.inf, -1.0, -0.0, 1e-300, 1.0, math.inf]
        decoded = _msgpack.decode(_msgpack.encode({real: 0 for real in reversed(ordered)}))
        self.assertEqual(list(decoded), ordered)

    def test_keys_that_a_map_cannot_have_are_refused(self) -> None:
        with self.assertRaisesRegex(TypeError, "no frozenset: use None, bool"):
            _msgpack.encode({frozenset(): 1})
        for data, why in (
            ("820102c303", "two keys of a map are one in Python"),
            ("818001", "key is a map"),
            ("81918001", "key is a map"),
        ):
            with self.assertRaisesRegex(ValueError, why):
                _msgpack.decode(bytes.fromhex(data))

    def test_what_is_no_plain_value_is_refused(self) -> None:
        loop: list = []
        loop.append(loop)
        for value in (object(), {1, 2}, 2**64, -(2**63) - 1, loop, 1j):
            with self.assertRaises((TypeError, ValueError), msg=value):
                _msgpack.encode(value)

    def test_damaged_bytes_are_refused(self) -> None:
        for data in (
            "", "c1", "d9", "d905", "cb00", "a361", "ddffffffff", "dfffffffff01", "0101", "92c0",
            "a1ff", "818000", "c7", "d4", "91" * 200,
        ):  # fmt: skip
            with self.assertRaises(ValueError, msg=data):
                _msgpack.decode(bytes.fromhex(data))

    def test_every_cut_and_every_changed_byte_is_a_value_or_an_error(self) -> None:
        data = _msgpack.encode({"a": [1, 2.5, "text", b"bytes", None, {"b": -70000}]})
        for at in range(len(data)):
            with self.assertRaises(ValueError):
                _msgpack.decode(data[:at])
            for byte in range(256):
                try:
                    _msgpack.decode(data[:at] + bytes([byte]) + data[at + 1 :])
                except ValueError:
                    pass


class ValueTest(StoreTest):
    def test_values_come_back(self) -> None:
        cache = self.open_cache()
        for codec, value in (
            (hearth.MSGPACK, {"warps": 4, "code": b"\0", "names": ["a", None, 1.5]}),
            (hearth.JSON, {"warps": 4, "names": ["a", None, 1.5, "é"]}),
            (hearth.PICKLE, {"warps": (4, {5}), "at": complex(1, 2)}),
        ):
            values = cache.values(codec)
            self.assertIs(values.insert(codec.name, value), True)
            self.assertIs(values.insert(codec.name, None), False)
            self.assertEqual(values.get(codec.name), value)
            values.put(codec.name, None)
            self.assertIsNone(values.get(codec.name, default=1))
            self.assertEqual(values.get_many([codec.name, "none"], default=1), [None, 1])
            self.assertIn(codec.name, values)
            self.assertIs(values.erase(codec.name), True)
            self.assertEqual(values.get(codec.name, default=1), 1)

    def test_values_may_end(self) -> None:
        values = self.open_cache().values(hearth.MSGPACK)
        self.assertIs(values.insert("k", {1: 2}, ttl=3600), True)
        self.assertEqual(values.get("k"), {1: 2})
        values.put("k", {1: 3}, ttl=0.0001)
        self.assertTrue(is_miss_soon(values, "k"))

        async def body() -> None:
            self.assertIs(await values.ainsert("k", {1: 4}, ttl=3600), True)
            await values.aput("k", {1: 5}, ttl=0.0001)

            self.assertTrue(is_miss_soon(values, "k"))
            self.assertEqual(await values.aget_or_compile("k", lambda: 6, ttl=0.0001), 6)

        asyncio.run(body())
        self.assertTrue(is_miss_soon(values, "k"))
        self.assertEqual(values.get_or_compile("k", lambda: 7, ttl=0.0001), 7)
        self.assertTrue(is_miss_soon(values, "k"))
        self.assertEqual(values.compiled(lambda: "k", ttl=0.0001)(lambda: 8)(), 8)
        self.assertTrue(is_miss_soon(values, "k"))

    def test_a_pickled_cache_keeps_objects(self) -> None:
        values = hearth.PickledCache(self.open_cache())
        self.assertEqual(values.get_or_compile("k", lambda: {1, 2}), {1, 2})
        self.assertEqual(values.get("k"), {1, 2})

    def test_an_entry_of_another_codec_is_an_error_that_names_it(self) -> None:
        cache = self.open_cache()
        cache.insert("k", b"{not JSON")
        with self.assertRaisesRegex(hearth.InvalidError, "'k'.*'test'.*JSON") as caught:
            cache.values(hearth.JSON).get("k")
        self.assertEqual(caught.exception.code, "malformed")

    def test_asyncio(self) -> None:
        values = self.open_cache().values(hearth.JSON)

        async def make() -> Any:
            return [1]

        async def body() -> None:
            self.assertEqual(await values.aget("a", 7), 7)
            self.assertIs(await values.ainsert("a", {"b": 1}), True)
            self.assertEqual(await values.aget("a"), {"b": 1})
            self.assertEqual(await values.aget_or_compile("c", make), [1])
            self.assertEqual(await values.aget_or_compile("d", lambda: make()), [1])
            self.assertEqual(await values.aget_or_compile("e", lambda: 2), 2)
            self.assertEqual(values.get("e"), 2)

        asyncio.run(body())


class CompiledTest(StoreTest):
    def setUp(self) -> None:
        super().setUp()
        self.cache = self.open_cache()
        self.calls: list = []

    def test_a_function_runs_once_for_its_arguments(self) -> None:
        @self.cache.compiled()
        def build(source: str, level: int = 2, *, debug: int = 0) -> bytes:
            """Builds."""
            self.calls.append(source)
            return f"{source} {level} {debug}".encode()

        for _ in range(2):
            self.assertEqual(build("a"), b"a 2 0")
            self.assertEqual(build("a", 2, debug=0), b"a 2 0")
            self.assertEqual(build(level=2, source="a"), b"a 2 0")
            self.assertEqual(build("a", 3), b"a 3 0")
            self.assertEqual(build("a", debug=1), b"a 2 1")
        self.assertEqual(self.calls, ["a", "a", "a"])
        self.assertEqual(build.__name__, "build")
        self.assertEqual(build.__doc__, "Builds.")
        self.assertIs(build.cache, self.cache)
        self.assertEqual(self.cache.get(build.key_of("a")), b"a 2 0")

    def test_a_key_may_be_given(self) -> None:
        @self.cache.compiled(key=lambda graph, **_: ("graph", graph["name"]))
        def lower(graph: dict, verbose: bool = False) -> bytes:
            self.calls.append(graph)
            return graph["name"].encode()

        @self.cache.compiled(key="prefix")
        def build(source: str) -> bytes:
            return source.encode()

        self.assertEqual(lower({"name": "a"}), b"a")
        self.assertEqual(lower({"name": "a", "more": object()}, verbose=True), b"a")
        self.assertEqual(len(self.calls), 1)
        self.assertEqual(self.cache.get(("graph", "a")), b"a")
        build("x")
        self.assertEqual(self.cache.get(("prefix", ("x",), ())), b"x")

    def test_arguments_that_are_no_keys_are_refused(self) -> None:
        @self.cache.compiled()
        def build(source: Any) -> bytes:
            return b""

        with self.assertRaisesRegex(TypeError, "not list"):
            build(["a"])

    def test_errors_of_the_function_are_raised(self) -> None:
        @self.cache.compiled()
        def build() -> bytes:
            self.calls.append(1)
            raise OSError("no compiler")

        for _ in range(2):
            with self.assertRaisesRegex(OSError, "no compiler"):
                build()
        self.assertEqual(len(self.calls), 2)

    def test_a_coroutine_function_stays_one(self) -> None:
        @self.cache.compiled()
        async def build(source: str) -> bytes:
            self.calls.append(source)
            await asyncio.sleep(0.05)
            return source.encode()

        async def body() -> None:
            self.assertEqual(await asyncio.gather(*(build("a") for _ in range(5))), [b"a"] * 5)

        asyncio.run(body())
        self.assertEqual(self.calls, ["a"])

    def test_values_have_it_too(self) -> None:
        @self.cache.values(hearth.JSON).compiled()
        def tune(size: int) -> dict:
            self.calls.append(size)
            return {"size": size}

        self.assertEqual([tune(1), tune(1), tune(2)], [{"size": 1}, {"size": 1}, {"size": 2}])
        self.assertEqual(self.calls, [1, 2])


if __name__ == "__main__":
    unittest.main()
