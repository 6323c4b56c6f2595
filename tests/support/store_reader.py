#!/usr/bin/env python3
"""Reads a store by docs/store-format.md alone and prints its live entries as a JSON array.

Everything is found twice, by the index and by going through the segments, and both must agree.
XXH3 and zstd come from their own libraries. Nobody may write to the store meanwhile.
Usage: store_reader.py STORE
"""
import base64
import ctypes
import json
import os
import struct
import sys
import time

xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_64bits_withSeed.restype = ctypes.c_uint64
xxhash.XXH3_64bits_withSeed.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]

M64 = (1 << 64) - 1
M48 = (1 << 48) - 1
GOLDEN = 0x9E3779B97F4A7C15
FIRST_RECORD = 64
RECORD = struct.Struct("<IBBBBBBHIQQQQQQQQQ")


def xxh3(data, seed=0):
    return xxhash.XXH3_64bits_withSeed(data, len(data), seed)


def mix64(x):
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & M64
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def need(holds, what):
    if not holds:
        sys.exit("store_reader: " + what)


def load(path):
    with open(path, "rb") as file:
        return file.read()


def description(v1):
    data = load(os.path.join(v1, "store"))
    need(len(data) == 4096, "the description is not a page")
    for at in (0, 1024, 2048, 3072):
        copy = data[at:at + 64]
        magic, form, shards, store_id, segment_bytes = struct.unpack_from("<QIIQQ", copy)
        if magic == 0x726F747374726148 and xxh3(copy[:56]) == struct.unpack_from("<Q", copy, 56)[0]:
            need(form == 1 and 1 <= shards <= 256, "an unknown format")
            return shards, store_id, segment_bytes
    need(False, "no copy of the description is right")


HEAD_WORDS = list(range(18)) + list(range(24, 30))
NAMES = {"magic": 0, "shard": 1, "store_low": 2, "store_high": 3, "generation": 4, "oldest": 5,
         "active": 8, "pending": 10, "next_segment": 12, "index_sum": 14, "index_stale": 15}


def head_of(folder, number, store_id):
    page = load(os.path.join(folder, "head"))
    words = {}
    for k in HEAD_WORDS:
        packed = struct.unpack_from("<Q", page, 8 * k)[0]
        value = packed >> 16
        check = mix64((value + (k + 1) * GOLDEN) & M64) >> 48
        need(packed & 0xFFFF == check, f"check bits of word {k} of the head are wrong")
        words[k] = value
    head = {name: words[k] for name, k in NAMES.items()}
    head["tail"] = (head["active"] >> 22, (head["active"] & (1 << 22) - 1) * 16)
    need(head["magic"] == 0x484541525448 and head["shard"] == number, "the head is of no shard here")
    need(head["store_high"] << 32 | head["store_low"] == store_id, "the head is of another store")
    need(0 < head["oldest"] <= head["tail"][0] < head["next_segment"], "the head does not count")
    need(head["pending"] == 0, "a writer was killed and nobody came after it")
    return head


class Segment:
    """One segment file: its header, and its records one after another."""

    def __init__(self, folder, number, store_id, shard, end):
        self.data = load(os.path.join(folder, f"{number:06}.seg"))
        self.number = number
        self.store_id = store_id
        front = self.data[:64]
        magic, form, of_shard, of_store, self.sealed_as, self.large = struct.unpack_from("<QIIQQQ", front)
        need(magic == 0x6765537472616548 and form == 1 and of_shard == shard and of_store == store_id,
             f"segment {number} has no header")
        need(xxh3(front[:56]) == struct.unpack_from("<Q", front, 56)[0], f"header of segment {number}")
        need(self.sealed_as == number or (self.large and self.sealed_as < number), f"number of {number}")
        self.end = len(self.data) if end is None else end

    def record(self, offset):
        """The record at this place, or None."""
        if offset + 88 > self.end:
            return None
        header = self.data[offset:offset + 88]
        (magic, form, kind, coding, name_bytes, version_bytes, _, key_bytes, metadata_bytes, payload_bytes,
         stored_bytes, sequence, key_hash, expires, identity_sum, metadata_sum, payload_sum,
         header_sum) = RECORD.unpack(header)
        location = self.sealed_as << 22 | offset // 16
        if magic != 0x63655248 or form != 1 or xxh3(header[:80], mix64(self.store_id ^ location * GOLDEN & M64)) != header_sum:
            return None
        at = offset + 88
        parts = []
        for size in (name_bytes, version_bytes, key_bytes, metadata_bytes, stored_bytes):
            parts.append(self.data[at:at + size])
            at += size
        name, version, key, metadata, payload = parts
        need(xxh3(name + version + key) == identity_sum and xxh3(metadata) == metadata_sum
             and xxh3(payload) == payload_sum, f"sums of the record at {offset} of segment {self.number}")
        size = (at - offset + 15) // 16 * 16
        return {"kind": kind, "coding": coding, "name": name, "version": version, "key": key, "hash": key_hash,
                "metadata": metadata, "stored": payload, "payload_bytes": payload_bytes, "sequence": sequence,
                "expires": expires, "size": size, "segment": self.number, "offset": offset}

    def records(self):
        offset = FIRST_RECORD
        while offset + 88 <= self.end:
            found = self.record(offset)
            offset += found["size"] if found else 16
            if found:
                yield found

    def check_table(self, entries):
        """A table lists exactly the values and tombstones in front of it."""
        if len(self.data) < 16:
            return False
        magic, at = struct.unpack("<QQ", self.data[-16:])
        if magic != 0x6C62615474726548:
            return False
        table = self.record(at)
        need(table and table["kind"] == 3, f"the table of segment {self.number}")
        lines = [struct.unpack_from("<QQQ", table["stored"], i) for i in range(0, len(table["stored"]), 24)]
        wanted = [(e["hash"], e["sequence"], e["offset"] // 16 | (e["size"] // 16) << 32 | e["kind"] << 56)
                  for e in entries]
        need(lines == wanted, f"the table of segment {self.number} is another than its records")
        return True


def payload_of(record):
    if record["coding"] == 0:
        return record["stored"]
    need(record["coding"] == 1, "an unknown coding")
    out = ctypes.create_string_buffer(record["payload_bytes"] or 1)
    got = zstd.ZSTD_decompress(out, record["payload_bytes"], record["stored"], len(record["stored"]))
    need(got == record["payload_bytes"], "a zstd frame")
    return out.raw[:record["payload_bytes"]]


def by_segments(segments):
    """The rule: of each key the record with the highest sequence, in the highest segment."""
    newest = {}
    tables = 0
    for segment in segments.values():
        entries = [r for r in segment.records() if r["kind"] in (1, 2)]
        tables += segment.check_table(entries)
        for record in entries:
            identity = (record["name"], record["version"], record["key"])
            rank = (record["sequence"], record["segment"])
            if identity not in newest or rank > newest[identity][0]:
                newest[identity] = (rank, record)
    return {(r["segment"], r["offset"]) for _, r in newest.values() if r["kind"] == 1}, tables


def by_index(folder, head, store_id, shards, number, segments):
    data = load(os.path.join(folder, f"index.{head['generation']}"))
    magic, of_store, generation, buckets = struct.unpack_from("<QQQQ", data)
    need(magic == 0x786469742D726548 and of_store == store_id and generation == head["generation"]
         and xxh3(data[:56]) == struct.unpack_from("<Q", data, 56)[0], "the header of the index")
    total = 0
    found = []
    for position in range(8 * buckets):
        slot = struct.unpack_from("<Q", data, 64 + 8 * position)[0]
        bare = slot & (1 << 63) - 1
        if bare:
            total += mix64(bare ^ (position + 1) * GOLDEN & M64)
        segment = bare >> 22 & (1 << 24) - 1
        if bare == 0 or segment < head["oldest"]:
            continue
        record = segments[segment].record((bare & (1 << 22) - 1) * 16)
        need(record and record["kind"] == 1, f"slot {position} points at no value")
        key_hash = xxh3(record["key"], xxh3(record["name"] + b"\0" + record["version"]))
        need(key_hash == record["hash"] and bare >> 46 == key_hash & 0x1FFFF, f"tag of slot {position}")
        need((key_hash >> 17 & 0xFFFF) % shards == number, f"slot {position} is of another shard")
        need(position // 8 in (key_hash * buckets >> 64, (key_hash << 24 & M64) * buckets >> 64),
             f"slot {position} is in none of its buckets")
        found.append(record)
    need(head["index_stale"] or total & M48 == head["index_sum"], "the checksum of the index")
    return found


def main(store):
    v1 = os.path.join(store, "v1")
    shards, store_id, _ = description(v1)
    now = time.time() * 1000
    entries = []
    tables = 0
    large_kept = 0
    for number in range(shards):
        folder = os.path.join(v1, "shards", f"{number:02x}")
        head = head_of(folder, number, store_id)
        segments = {}
        for name in sorted(os.listdir(folder)):
            segment = int(name[:-4]) if name.endswith(".seg") else 0
            if segment >= head["oldest"]:
                end = head["tail"][1] if segment == head["tail"][0] else None
                segments[segment] = Segment(folder, segment, store_id, number, end)
        large_kept += sum(s.sealed_as != s.number for s in segments.values())
        records = by_index(folder, head, store_id, shards, number, segments)
        live, some = by_segments(segments)
        tables += some
        need(live == {(r["segment"], r["offset"]) for r in records}, "index and segments differ")
        for r in records:
            if r["expires"] and r["expires"] <= now:
                continue
            entries.append({"cache": r["name"].decode(), "version": r["version"].decode(),
                            "key_base64": base64.b64encode(r["key"]).decode(),
                            "metadata_bytes": len(r["metadata"]), "payload_bytes": r["payload_bytes"],
                            "stored_bytes": r["size"], "sequence": r["sequence"], "shard": number,
                            "expires_unix_ms": r["expires"] or None,
                            "payload_xxh3": f"{xxh3(payload_of(r)):016x}"})
    json.dump({"entries": entries, "tables": tables, "large_kept": large_kept}, sys.stdout)


main(sys.argv[1])
