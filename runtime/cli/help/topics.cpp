#include "runtime/cli/help/topics.hpp"

namespace hearth::cli {
namespace {

constexpr std::string_view exit_status_text = R"(Exit statuses of hearth

  0    done, or the answer is yes
  1    the answer is no: a miss, an entry that exists, a guard that does not
       hold, keys that differ, a damaged store, a kernel without a good
       configuration
  2    bad usage or bad input
  3    the store, the server or the system failed
  141  the reader of the output has ended, as in 'hearth list | head'

'hearth run' and 'hearth cc' end with the status of the command, or with

  124    the command was killed at --timeout
  125    Hearth itself failed
  126    the program cannot be executed
  127    there is no such program
  128+n  signal n ended the command, or ended Hearth and with it the command

An error is one line on standard error. Standard output has the result alone.
)";

constexpr std::string_view environment_text = R"(Variables that hearth reads

  HEARTH_STORE          the folder of the store
  HEARTH_CONFIG         a TOML file with settings
  HEARTH_DISK_BUDGET    size limit of the store: 10GiB
  HEARTH_MEMORY_BUDGET  size limit of the memory tier: 256MiB
  HEARTH_JOBS           programs that run at once
  HEARTH_PATIENCE       how long to wait for another process's compile: 5min
  HEARTH_WATCH          yes or no: see which files a command reads
  HEARTH_KEEP_DETAILS   yes or no: keep what keys are made of, for --explain
  HEARTH_REMOTE         the server that hosts share: redis://HOST; several,
                        nearest first, with blanks between them
  HEARTH_REMOTE_...     its settings, as HEARTH_REMOTE_DEADLINE=200ms
  HEARTH_TUNING_TAG     another tag is another database of tunings
  HEARTH_WORKER         the program hearth-worker, which starts other programs
  HEARTH_BASEDIR        names below this checkout become relative (hearth cc)
  HEARTH_DISABLE        1: compilers run as they are (hearth cc)
  COLUMNS               the width of tables; else the terminal's, else 80

An option overrides a variable, and a variable overrides the file of --config.
The keys of that file are the names above without HEARTH_, in small letters:
store, disk_budget, memory_budget, jobs, patience, watch, keep_details,
tuning_tag, remote, remote_...
)";

constexpr std::string_view store_text = R"(The store

The store is a folder: --store DIR, else $HEARTH_STORE, else
$XDG_CACHE_HOME/hearth, else ~/.cache/hearth. Any number of processes of one
user and one machine use it at once, without a daemon. It cannot be on a
network file system.

It takes at most 10 GiB, and at most a tenth of the free disk, or what
--disk-budget says. The oldest entries are dropped first; those that were hit
stay longer.

  hearth list               its entries
  hearth stats              its size, and what each named cache takes
  hearth verify [--repair]  check every byte; drop what is damaged
  hearth evict --to SIZE    make it smaller
  hearth clear              drop everything

A damaged entry is never served: it is a miss. Removing the folder while no
process uses it loses cached results and nothing else.
)";

constexpr std::string_view remote_text = R"(The remote tier

Hosts share their results by a server of Redis's protocol, and compile each
key once:

  hearth compile plan.toml --remote redis://cache.example
  export HEARTH_REMOTE=rediss://user:@cache.example:6380

redis:// is plain, rediss:// is TLS, redis+unix:///PATH is a socket of this
host. The server is Redis or Valkey. To a 'hearth serve' say hearth://,
hearths:// or hearth+unix://. A cluster is redis+cluster://HOST:PORT,HOST:PORT
with some of its nodes, and what sentinels watch is
redis+sentinel://HOST:PORT,HOST:PORT/MASTER; with TLS both begin with rediss.
Keep a password in a file (--remote-password-file).

A server that stalls, returns wrong data or vanishes costs one deadline
(--remote-deadline, 100ms) and fails no build; what is made meanwhile is kept
in the store.

With --remote given several times, nearest first, what one lacks is asked of the
next; the options behind a --remote belong to it.

  --remote-mode read-only   take results, send none
  --remote-caches NAME,...  these named caches alone
  --remote-signing-keys F   take only what a key of this file signed

'hearth stats' says whether the server answers. 'hearth --help' has all options.
)";

constexpr std::string_view keys_text = R"(Keys

An entry is found by its named cache (--cache NAME) and its key: a text, a
number, bytes, or a tuple of these. 'hearth get KEY' and the like take a text.

Results of compiles and commands have structural keys: the SHA-256 of all that
can change the result (source and what it includes, flags, compiler, machine).
A changed detail is another key, so nothing stale is found.

  hearth key DETAILS.json            the key of details
  hearth key DETAILS.json --debug    and a line for each of its fields
  hearth explain A.json B.json       the fields in which two keys differ
  hearth explain DETAILS.json --stored
                                     ... from the nearest key that was stored
  hearth explain [OPTIONS] -- COMMAND
                                     why a command would run again
  hearth cc --explain gcc -c a.c     why a compile would
)";

constexpr help_topic all_topics[] = {
    {"exit-status", "what each exit status means", exit_status_text},
    {"environment", "the variables that are read", environment_text},
    {"store", "where results are kept, and how to look after it", store_text},
    {"remote", "the server that hosts share", remote_text},
    {"keys", "how an entry is found", keys_text},
};

constexpr std::string_view summary_text = R"(Hearth: a compile cache of actors

usage: hearth COMMAND [OPTIONS]

Compile, or find the result
  compile PLAN          compile, tune and cache every kernel of a plan
  run -- COMMAND        run any command as a cached action
  cc COMPILER ...       compile C and C++; also as the program hearth-cc
  explain               why keys differ, or why a command would run again

One entry
  get KEY               print it
  insert KEY FILE       store it, unless there is one
  put KEY FILE          store it, or replace the existing one
  erase KEY             drop it

The store
  list                  its entries
  stats                 its size, its caches, and the compiles of hearth cc
  verify [--repair]     check every byte
  evict --to SIZE       drop the oldest entries
  clear                 drop everything
  bundle                carry artifacts between machines in a file
  autotune              show and move known tunings

The fleet
  serve FILE            serve clients of Redis, of HTTP caches and of ccache

Keys, guards and graphs
  key DETAILS.json      the structural key of details
  guard EXPR            whether a guard holds
  graph FILE            the normal text of a TorchScript graph

Tests and measurements
  bench                 measure Hearth and its peers
  script FILE           run scripted message tests
  simulate --seeds A..B run the whole runtime under random work and faults

  help                  this text; 'hearth help COMMAND' has a command's options

Topics: 'hearth help TOPIC'
)";

} // namespace

std::span<const help_topic> help_topics() noexcept { return all_topics; }

std::string_view help_summary() noexcept { return summary_text; }

} // namespace hearth::cli
