"""Prints the seconds that a hit takes from Python: binding_gets.py WHICH KEYS BYTES GETS FOLDER."""

import sys
import time


def make_hearth(folder):
    import hearth

    cache = hearth.open(folder + "/store").cache("bench")
    return cache.get, cache.put


def make_lmdb(folder):
    import lmdb

    environment = lmdb.open(folder, map_size=1 << 30, sync=False)

    def get(key):
        with environment.begin() as transaction:
            return transaction.get(key.encode())

    def put(key, value):
        with environment.begin(write=True) as transaction:
            transaction.put(key.encode(), value)

    return get, put


def make_diskcache(folder):
    import diskcache

    cache = diskcache.Cache(folder)
    return cache.get, cache.set


def main():
    which, keys, size, gets, folder = sys.argv[1:]
    makers = {"hearth": make_hearth, "lmdb": make_lmdb, "diskcache": make_diskcache}
    get, put = makers[which](folder)
    names = [f"kernel {number}" for number in range(int(keys))]
    for name in names:
        put(name, b"x" * int(size))
    for name in names:
        if len(get(name)) != int(size):
            sys.exit(f"{name} was not found")
    count = int(gets)
    begin = time.perf_counter()
    for number in range(count):
        get(names[number % len(names)])
    print((time.perf_counter() - begin) / count)


if __name__ == "__main__":
    main()
