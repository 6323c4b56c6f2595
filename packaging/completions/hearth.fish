# Completion of hearth and hearth-cc for fish. Install it as
# /usr/share/fish/vendor_completions.d/hearth.fish.

complete -c hearth -f

# The command that was given, or nothing.
function __hearth_needs_command
    set -l words (commandline -opc)
    for word in $words[2..-1]
        contains -- $word compile run cc get insert put erase list stats verify evict clear \
            autotune bench serve guard graph script simulate key explain bundle help
        and return 1
    end
    return 0
end

function __hearth_command -a name about
    complete -c hearth -n __hearth_needs_command -a $name -d $about
end

# Those that take files by position.
function __hearth_files
    for name in $argv
        complete -c hearth -n "__fish_seen_subcommand_from $name" -F
    end
end

__hearth_command compile 'compile, tune and cache every kernel of a plan'
__hearth_command run 'run any command as a cached action'
__hearth_command cc 'compile, or find the result'
__hearth_command get 'print an entry'
__hearth_command insert 'store an entry that is not there yet'
__hearth_command put 'store an entry, replacing what is there'
__hearth_command erase 'drop an entry'
__hearth_command list "list a store's entries"
__hearth_command stats 'show what a store holds'
__hearth_command verify 'check every byte of a store'
__hearth_command evict 'drop the oldest entries until the store is small enough'
__hearth_command clear 'drop every entry'
__hearth_command autotune 'what tuning is known'
__hearth_command bench 'measure Hearth side by side with its peers'
__hearth_command serve 'serve the store to clients of Redis, of HTTP caches and of ccache'
__hearth_command guard 'whether a guard holds'
__hearth_command graph 'the normal text of a TorchScript graph'
__hearth_command script 'run scripted message tests'
__hearth_command simulate 'the whole runtime under random work and faults'
__hearth_command key 'the structural key of details in JSON'
__hearth_command explain 'the fields in which two keys differ'
__hearth_command bundle 'carry artifacts between machines in a file'
__hearth_command help 'a summary, a command, or a topic'

__hearth_files compile insert put serve graph script key explain bundle autotune run cc

complete -c hearth -n '__fish_seen_subcommand_from autotune' -a 'list show export import'
complete -c hearth -n '__fish_seen_subcommand_from bundle' -a 'export import list'
complete -c hearth -n '__fish_seen_subcommand_from help' \
    -a 'compile run cc get insert put erase list stats verify evict clear autotune bench serve guard graph script simulate key explain bundle exit-status environment store remote keys'

# Of every command.
complete -c hearth -s h -l help -d 'print the help'
complete -c hearth -l version -d 'print the version'
complete -c hearth -l store -x -a '(__fish_complete_directories)' -d 'the folder of the store'
complete -c hearth -l config -r -F -d 'settings from a TOML file'
complete -c hearth -l disk-budget -x -d 'size limit of the store'
complete -c hearth -l memory-budget -x -d 'size limit of the memory tier'
complete -c hearth -l patience -x -d 'how long to wait for another compile'
complete -c hearth -l keep-details -x -a 'yes no' -d 'keep what keys are made of'
complete -c hearth -l watch -x -a 'yes no' -d 'see which files a command reads'
complete -c hearth -l json -d 'print JSON'
complete -c hearth -l quiet -d 'show no progress'
complete -c hearth -l verbose -d 'log more'
complete -c hearth -l remote -x -d 'the server that hosts share'
complete -c hearth -l remote-password-file -r -F -d 'its first line is the password'
complete -c hearth -l remote-ca-file -r -F -d 'trusted certificates'
complete -c hearth -l remote-certificate-file -r -F -d 'the certificate of this host'
complete -c hearth -l remote-key-file -r -F -d 'the key of the certificate'
complete -c hearth -l remote-verify -x -a 'yes no' -d 'verify certificate and host name'
complete -c hearth -l remote-signing-keys -r -F -d 'keys that sign entries'
complete -c hearth -l remote-mode -x -a 'read-write read-only write-only' -d 'what it is used for'
complete -c hearth -l remote-caches -x -d 'the named caches that use it'
complete -c hearth -l remote-prefix -x -d 'of every name in the server'
complete -c hearth -l remote-ttl -x -d 'how long entries last'
complete -c hearth -l remote-deadline -x -d 'how long anything waits for it'
complete -c hearth -l remote-lease -x -d 'a compile lease without renewal'
complete -c hearth -l remote-drain -x -d 'time at the end for waiting writes'
complete -c hearth -l remote-value-limit -x -d 'larger values are not sent'
complete -c hearth -l remote-queue -x -d 'bound of waiting writes'
complete -c hearth -l remote-queue-entries -x -d 'the same in entries'

function __hearth_option -a commands
    complete -c hearth -n "__fish_seen_subcommand_from $commands" $argv[2..-1]
end

__hearth_option compile -l jobs -x -d 'compilers at once'
__hearth_option 'compile run' -l trace -r -F -d 'write a Chrome trace'
__hearth_option 'script simulate' -l trace -d 'print every message'
__hearth_option 'compile run' -l metrics -r -F -d 'write counters for Prometheus'
__hearth_option compile -l tune -x -a 'full descent cached-only off' -d 'how to choose'
__hearth_option compile -l tuning-tag -x -d 'another database of tunings'
__hearth_option compile -l explain -d 'say why a request is not found'
__hearth_option compile -l record -r -F -d 'write a bundle that makes another host as warm'
__hearth_option run -l in -r -F -d 'what it reads'
__hearth_option run -l out -r -F -d 'files that it makes'
__hearth_option run -l env -x -a '(set -nx)' -d 'variables that it gets'
__hearth_option run -l toolchain -x -a '(__fish_complete_command)' -d 'compilers that it starts'
__hearth_option run -l depfile -r -F -d 'it lists there what it read'
__hearth_option run -l timeout -x -d 'kill it then'
__hearth_option run -l memory -x -d 'address space of each process'
__hearth_option run -l cpu -x -d 'processor time of each process'
__hearth_option run -l keep-failures -d 'keep a failure, too'
__hearth_option run -l no-cache -d 'keep nothing'
__hearth_option run -l strict -d 'declared inputs alone'
__hearth_option run -l explain -d 'say why it is not found'
__hearth_option run -l placeholders -d 'expand {in:F} and {out:F}'
__hearth_option cc -l explain -d 'say whether the result would be found'
__hearth_option 'get insert put erase list explain export' -l cache -x -d 'the named cache'
__hearth_option get -s o -l output -r -F -d 'write to a file'
__hearth_option 'insert put' -l ttl -x -d 'how long it lasts'
__hearth_option 'insert put' -l details -r -F -d 'keep these details of the key'
__hearth_option stats -l zero -d 'set the counts of compiles to zero'
__hearth_option verify -l repair -d 'drop what is damaged'
__hearth_option evict -l to -x -d 'what the store may take'
__hearth_option bench -l list -d 'list the rows'
__hearth_option bench -l dir -x -a '(__fish_complete_directories)' -d 'work below it'
__hearth_option bench -l rounds -x -d 'turns of each contender'
__hearth_option bench -l only -x -d 'this contender alone'
__hearth_option bench -l cpu -d 'measure processor time'
__hearth_option bench -l smoke -d 'tiny data, one round'
__hearth_option serve -l listen -x -d 'PROTOCOL=ADDRESS'
__hearth_option serve -l role -x -a 'reader writer admin' -d 'what clients may do'
__hearth_option serve -l hold-misses -d 'let one client compile'
__hearth_option serve -l check -d 'check the settings alone'
__hearth_option serve -l hash-password -d 'print the hash of a password'
__hearth_option serve -l new-token -d 'print a new token'
__hearth_option 'script simulate' -l seeds -x -d 'A..B'
__hearth_option simulate -l hosts -x
__hearth_option simulate -l processes -x -d 'of a host'
__hearth_option simulate -l minutes -x -d 'of virtual time'
__hearth_option simulate -l cluster -d 'every world has a Redis Cluster'
__hearth_option simulate -l remotes -d 'every world has two servers'
__hearth_option simulate -l no-hash -d 'do not hash the trace'
__hearth_option key -l debug -d 'a line for each field'
__hearth_option explain -l stored -d 'the nearest stored key'
__hearth_option explain -l last -d 'why the last run missed'
__hearth_option 'bundle compile' -l signing-keys -r -F -d 'keys that sign or verify'

complete -c hearth-cc -x -a '(__fish_complete_subcommand)'
