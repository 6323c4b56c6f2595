#!/usr/bin/env python3
"""Opens an envelope by docs/remote-format.md alone and prints it as a JSON object.

Usage: envelope_reader.py FILE CACHE VERSION KEY_HEX [KEY_ID SECRET_HEX]
"""
import ctypes
import hashlib
import hmac
import json
import struct
import sys

zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]

class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_64bits_withSeed.restype = ctypes.c_uint64
xxhash.XXH3_64bits_withSeed.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
xxhash.XXH3_128bits.restype = Hash128
xxhash.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]

FIXED = {0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
SIZED = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xDC: ">H", 0xDD: ">I"}


def need(holds, what):
    if not holds:
        sys.exit("envelope_reader: " + what)


class Msgpack:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        need(self.at + count <= len(self.data), "cut short")
        part = self.data[self.at:self.at + count]
        self.at += count
        return part

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def item(self):
        tag = self.take(1)[0]
        if tag < 0x80:
            return tag
        if tag == 0xC0:
            return None
        if tag in FIXED:
            return self.number(FIXED[tag])
        if 0x90 <= tag <= 0x9F:
            return [self.item() for _ in range(tag & 15)]
        if 0xA0 <= tag <= 0xBF:
            return self.take(tag & 31).decode()
        need(tag in SIZED, "an unexpected type 0x%02x" % tag)
        size = self.number(SIZED[tag])
        if tag >= 0xDC:
            return [self.item() for _ in range(size)]
        return self.take(size) if tag <= 0xC6 else self.take(size).decode()


def xxh3(data, seed=0):
    return xxhash.XXH3_64bits_withSeed(data, len(data), seed)


def name_of(cache, version, key):
    made = xxhash.XXH3_128bits(key, len(key))
    return "hearth:%s:%s:%016x%016x" % (cache.decode(), version.decode(), made.high, made.low)


def checksum_of(cache, version, key, coding, size, metadata, stored):
    return xxh3(struct.pack("<4Q", coding, size, xxh3(metadata), xxh3(stored)), xxh3(key, xxh3(cache + b"\0" + version)))


def digest_of(parts):
    whole = hashlib.sha256()
    for part in parts:
        whole.update(struct.pack("<Q", len(part)) + part)
    return whole.digest()


def main():
    path, cache, version, key_hex = sys.argv[1:5]
    with open(path, "rb") as file:
        reader = Msgpack(file.read())
    items = reader.item()
    need(reader.at == len(reader.data), "bytes left over")
    need(len(items) == 9, "not nine items")
    magic, form, own_key, coding, size, metadata, checksum, signature, stored = items
    need(magic == "hearth" and form == 2, "another format")
    need(len(stored) == size if coding == 0 else coding == 1 and len(stored) < size, "an impossible size")
    cache, version, key = cache.encode(), version.encode(), bytes.fromhex(key_hex)
    need(own_key == key, "the entry of another key")
    need(checksum_of(cache, version, key, coding, size, metadata, stored) == checksum, "the checksum does not fit")
    payload = stored
    if coding == 1:
        room = ctypes.create_string_buffer(size)
        need(zstd.ZSTD_decompress(room, size, stored, len(stored)) == size, "does not unpack")
        payload = room.raw[:size]
    need(len(payload) == size, "another size")
    answer = {"name": name_of(cache, version, key), "coding": coding, "metadata": metadata.hex(), "payload": payload.hex()}
    if len(sys.argv) > 5:
        key_id, secret = sys.argv[5], bytes.fromhex(sys.argv[6])
        need(signature is not None, "not signed")
        need(signature[0] == 1 and signature[1] == key_id, "signed by " + str(signature[1]))
        digest = digest_of((b"hearth-entry-1", cache, version, key, str(coding).encode(), str(size).encode(),
                            metadata, stored))
        covered = b"hearth-signature-1" + bytes([1, len(key_id)]) + key_id.encode() + digest
        right = hmac.new(secret, covered, hashlib.sha256).digest()
        need(hmac.compare_digest(right, signature[2]), "the signature is wrong")
        answer["signed_by"] = key_id
    else:
        need(signature is None, "signed")
    print(json.dumps(answer))


main()
