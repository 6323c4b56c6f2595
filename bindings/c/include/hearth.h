/* Hearth's C interface: a compile cache for programs in C, and for languages that call C.
 *
 * Handles are opaque. A function that can fail returns a status; `hearth_error` has the text of the
 * calling thread's last failure. Any thread may use a host, a cache or a key; a value, a lease or a
 * batch is used by one thread at a time. Nothing here throws or prints. HEARTH_BACKING_STORE
 * installs a handler of SIGBUS, which makes a miss of a file that was cut off while it was read. docs/c-api.md
 * describes each function by example.
 *
 *   hearth_host *host;
 *   hearth_cache *cache;
 *   hearth_value code;
 *   if (hearth_open("/var/cache/me", NULL, &host) || hearth_cache_open(host, "kernels", "1", &cache))
 *     return fail(hearth_error());
 *   hearth_key *key = hearth_key_text("matmul", 6);
 *   if (hearth_get(cache, key, &code) == HEARTH_OK) {
 *     use(code.data, code.size);
 *     hearth_value_release(&code);
 *   }
 */
#ifndef HEARTH_H
#define HEARTH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HEARTH_API __attribute__((visibility("default")))
#else
#define HEARTH_API
#endif

/* --- statuses ------------------------------------------------------------------------------- */

/* The answer of a call. Zero and below are answers, above zero are errors: the numbers of
 * hearth::errc, which are stable. */
typedef enum hearth_status {
  HEARTH_OK = 0,       /* done; a hit; inserted */
  HEARTH_MISS = -1,    /* there is no entry */
  HEARTH_EXISTS = -2,  /* an insert found an entry, which stays */
  HEARTH_COMPILE = -3, /* an acquire gave a lease: the caller compiles */

  HEARTH_INVALID_ARGUMENT = 1,
  HEARTH_INVALID_KEY,
  HEARTH_INVALID_VALUE,
  HEARTH_MALFORMED,
  HEARTH_TOO_LARGE,
  HEARTH_CORRUPT, /* stored bytes were damaged; reported once, then a miss */
  HEARTH_NOT_FOUND,
  HEARTH_IO,
  HEARTH_NO_SPACE,
  HEARTH_TOO_MANY_FILES,
  HEARTH_PERMISSION,
  HEARTH_READ_ONLY,
  HEARTH_UNSUPPORTED,
  HEARTH_BUSY,
  HEARTH_OVERLOADED,
  HEARTH_TIMEOUT,
  HEARTH_CANCELLED,
  HEARTH_CLOSED,
  HEARTH_FORKED, /* in the child of a fork: open a host of its own */
  HEARTH_LEASE_CYCLE,
  HEARTH_LEASE_LOST,
  HEARTH_COMPILE_FAILED,
  HEARTH_PROCESS_FAILED,
  HEARTH_OVERFLOW = 25, /* 24 is no status */
  HEARTH_DIVISION_BY_ZERO,
  HEARTH_UNKNOWN_NAME,
  HEARTH_REMOTE,
  HEARTH_INTERNAL,
  HEARTH_PROGRAM_NOT_FOUND,
  HEARTH_PROGRAM_REFUSED
} hearth_status;

/* The name of a status: "ok", "miss", "no_space"; "unknown" for another number. Never null. */
HEARTH_API const char *hearth_status_name(int status);

/* The text of the calling thread's last error, one line; "" before the first. It stays until the
 * thread's next failure. */
HEARTH_API const char *hearth_error(void);

/* The version of the library: "0.1.0". */
HEARTH_API const char *hearth_version(void);

/* --- hosts ---------------------------------------------------------------------------------- */

/* An open store with what answers for it. */
typedef struct hearth_host hearth_host;

/* What answers. */
typedef enum hearth_backing {
  /* A runtime in this process: memory, disk and remote tier, threads of its own. */
  HEARTH_BACKING_RUNTIME = 0,
  /* The store alone, in this process, without a thread: no memory tier, no remote tier, no
   * asynchronous calls. For programs that fork, that end soon, or that want no threads. A child of a
   * fork goes on with it. */
  HEARTH_BACKING_STORE = 1
} hearth_backing;

/* Options of a host. `HEARTH_OPTIONS_INIT` sets each to its default; later versions add members at
 * the end, and `size` tells which of them the caller knows. */
typedef struct hearth_options {
  size_t size;
  int backing;                  /* a hearth_backing */
  uint64_t memory_budget_bytes; /* 0: 256 MiB */
  uint64_t disk_budget_bytes;   /* 0: 10 GiB, at most a tenth of the free disk */
  /* NULL or "": no remote tier; several, nearest first, with blanks between them; see
   * docs/remote.md */
  const char *remote_url;
  unsigned threads;             /* of the runtime; 0: one a core, at least 2 */
} hearth_options;

#define HEARTH_OPTIONS_INIT                                                                        \
  { sizeof(hearth_options), HEARTH_BACKING_RUNTIME, 0, 0, NULL, 0 }

/* Opens the store in the directory `store`; NULL or "": memory alone, of this process. `options`
 * may be NULL. A store that cannot be used is no error: `hearth_disk_problem` tells why.
 * HEARTH_BACKING_STORE needs a directory, opens it when it is first used, and makes it with the
 * first write. */
HEARTH_API hearth_status hearth_open(const char *store, const hearth_options *options,
                                     hearth_host **host);

/* Why there is no disk tier, or no remote tier, although one was asked for; "" otherwise. */
HEARTH_API const char *hearth_disk_problem(const hearth_host *host);
HEARTH_API const char *hearth_remote_problem(const hearth_host *host);

/* Makes what was acknowledged survive a power loss. */
HEARTH_API hearth_status hearth_flush(hearth_host *host);

/* Ends the host: earlier calls are answered, its threads end. NULL is allowed. Its caches answer
 * HEARTH_CLOSED from then on, but for look-ups, which a runtime still answers from what it has
 * mapped; they are still to be closed. */
HEARTH_API void hearth_close(hearth_host *host);

/* --- caches --------------------------------------------------------------------------------- */

/* A named cache of a host. */
typedef struct hearth_cache hearth_cache;

/* Opens the named cache. `version` may be NULL ("0"): another version is another cache. */
HEARTH_API hearth_status hearth_cache_open(hearth_host *host, const char *name,
                                           const char *version, hearth_cache **cache);
/* NULL is allowed. */
HEARTH_API void hearth_cache_close(hearth_cache *cache);

/* --- keys ----------------------------------------------------------------------------------- */

/* A key: a text, a number, bytes, or a tuple of keys. Make it once for many calls. */
typedef struct hearth_key hearth_key;

/* Null when memory is short, or for an argument that is NULL where there are bytes. A key that is too
 * long is an error of the call that uses it. */
HEARTH_API hearth_key *hearth_key_text(const char *text, size_t size);
HEARTH_API hearth_key *hearth_key_bytes(const void *bytes, size_t size);
HEARTH_API hearth_key *hearth_key_integer(int64_t number);
/* Copies the keys. */
HEARTH_API hearth_key *hearth_key_tuple(const hearth_key *const *keys, size_t count);
/* The key whose canonical msgpack these bytes are (docs/keys.md). */
HEARTH_API hearth_status hearth_key_decode(const void *msgpack, size_t size, hearth_key **key);
/* The canonical msgpack of the key; it lives as long as the key. */
HEARTH_API const void *hearth_key_encoded(const hearth_key *key, size_t *size);
/* NULL is allowed. */
HEARTH_API void hearth_key_free(hearth_key *key);

/* --- values --------------------------------------------------------------------------------- */

/* The bytes of an entry, shared with the cache and never copied; read-only. */
typedef struct hearth_value {
  const void *data;
  size_t size;
  const void *metadata; /* msgpack map; size 0: none */
  size_t metadata_size;
  void *held[2]; /* of the library */
} hearth_value;

/* Gives the bytes back, and makes the value empty. Once for each value that a call filled in. */
HEARTH_API void hearth_value_release(hearth_value *value);

/* The time that making the entry took, in nanoseconds; 0: unknown. */
HEARTH_API int64_t hearth_value_time_taken_ns(const hearth_value *value);

/* --- calls ---------------------------------------------------------------------------------- */

/* HEARTH_OK fills in the value; HEARTH_MISS and errors make it empty. */
HEARTH_API hearth_status hearth_get(hearth_cache *cache, const hearth_key *key,
                                    hearth_value *value);

/* The same in the memory and on the disk of this host alone; a miss is not counted. For callers that
 * acquire the key next. */
HEARTH_API hearth_status hearth_look(hearth_cache *cache, const hearth_key *key,
                                     hearth_value *value);

/* Looks up many keys together, which costs less. `values` and `statuses` have `count` places. */
HEARTH_API void hearth_get_many(hearth_cache *cache, const hearth_key *const *keys, size_t count,
                                hearth_value *values, hearth_status *statuses);

/* Stores the entry unless there is one: HEARTH_OK or HEARTH_EXISTS. The bytes are copied. */
HEARTH_API hearth_status hearth_insert(hearth_cache *cache, const hearth_key *key,
                                       const void *data, size_t size);
/* Stores the entry, or replaces it. */
HEARTH_API hearth_status hearth_put(hearth_cache *cache, const hearth_key *key, const void *data,
                                    size_t size);
/* The same for an entry that ends `ttl_ms` from now: from then on it is a miss, in every tier and
 * every process, and can be stored anew. 0: it never ends; below that HEARTH_INVALID_ARGUMENT. More than a
 * hundred years count as a hundred. */
HEARTH_API hearth_status hearth_insert_ttl(hearth_cache *cache, const hearth_key *key,
                                           const void *data, size_t size, int64_t ttl_ms);
HEARTH_API hearth_status hearth_put_ttl(hearth_cache *cache, const hearth_key *key,
                                        const void *data, size_t size, int64_t ttl_ms);
/* Drops the entry: HEARTH_OK, or HEARTH_MISS when there was none. */
HEARTH_API hearth_status hearth_erase(hearth_cache *cache, const hearth_key *key);

/* --- one compile for all who ask ------------------------------------------------------------ */

/* The right and the duty to make one entry. */
typedef struct hearth_lease hearth_lease;

/* The entry (HEARTH_OK), or the lease to make it (HEARTH_COMPILE): exactly one of `value` and `lease`
 * is filled in. While another caller, thread, process or host makes the entry, the call waits, at
 * most `timeout_ms` (HEARTH_TIMEOUT). When that is negative, it waits at most five minutes, and then
 * gives a lease although there is another: twice is better than never. */
HEARTH_API hearth_status hearth_acquire(hearth_cache *cache, const hearth_key *key,
                                        int64_t timeout_ms, hearth_value *value,
                                        hearth_lease **lease);

/* Each of these ends the lease and frees it. Stores the entry, and gives it to all who wait.
 * `value`, which may be NULL, is filled in with what is stored now. */
HEARTH_API hearth_status hearth_fulfil(hearth_lease *lease, const void *data, size_t size,
                                       hearth_value *value);
/* The same for an entry that ends `ttl_ms` from now, as in `hearth_insert_ttl`. */
HEARTH_API hearth_status hearth_fulfil_ttl(hearth_lease *lease, const void *data, size_t size,
                                           int64_t ttl_ms, hearth_value *value);
/* The compile failed: those who wait in this process get `text` as an error; the next who asks, and
 * the next who waits in another process, compiles. */
HEARTH_API void hearth_abandon(hearth_lease *lease, const char *text);
/* Says that the compile goes on. HEARTH_BACKING_RUNTIME says so by itself; with HEARTH_BACKING_STORE, others compile,
 * too, after three seconds without it. */
HEARTH_API void hearth_beat(hearth_lease *lease);
/* The caller gave up: the next who waits compiles. */
HEARTH_API void hearth_release(hearth_lease *lease);

/* --- asynchronous forms --------------------------------------------------------------------- */

/* Called once with the answer, on a thread of the runtime, or on the calling thread when the answer
 * is known. It owns the value, and must not block. `error` is the text of an error, else "". */
typedef void (*hearth_answer)(void *context, hearth_status status, hearth_value *value,
                              const char *error);

/* For HEARTH_BACKING_RUNTIME alone; HEARTH_UNSUPPORTED otherwise, and then `answer` is not called. */
HEARTH_API hearth_status hearth_get_async(hearth_cache *cache, const hearth_key *key,
                                          hearth_answer answer, void *context);
HEARTH_API hearth_status hearth_insert_async(hearth_cache *cache, const hearth_key *key,
                                             const void *data, size_t size, hearth_answer answer,
                                             void *context);
/* The same for an entry that ends `ttl_ms` from now, as in `hearth_insert_ttl`. */
HEARTH_API hearth_status hearth_insert_ttl_async(hearth_cache *cache, const hearth_key *key,
                                                 const void *data, size_t size, int64_t ttl_ms,
                                                 hearth_answer answer, void *context);

/* --- statistics ----------------------------------------------------------------------------- */

typedef struct hearth_stats {
  size_t size; /* set by the caller: sizeof(hearth_stats) */
  uint64_t memory_hits, memory_misses, disk_hits, disk_misses;
  uint64_t entries, bytes_used; /* of the memory tier */
  int64_t time_saved_ns;        /* by hits through this interface */
} hearth_stats;

HEARTH_API hearth_status hearth_get_stats(hearth_host *host, hearth_stats *stats);

/* What this process did in one named cache, since its host opened it first. */
typedef struct hearth_cache_stats {
  size_t size; /* set by the caller: sizeof(hearth_cache_stats) */
  uint64_t memory_hits, disk_hits, remote_hits; /* look-ups, by the tier that answered */
  uint64_t misses;                              /* look-ups that found nothing, and leases */
  uint64_t waits;                               /* got what another caller compiled meanwhile */
  uint64_t compiles, failures;                  /* leases that were fulfilled, and abandoned */
  uint64_t inserted, existed, put, erased;      /* writes; `inserted` counts compiles, too */
  int64_t time_saved_ns;                        /* by hits through this interface */
} hearth_cache_stats;

HEARTH_API hearth_status hearth_get_cache_stats(const hearth_cache *cache,
                                                hearth_cache_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
