# Completion of hearth and hearth-cc for bash. Install it as
# /usr/share/bash-completion/completions/hearth, with a link hearth-cc to it; or source it.

_hearth_commands="compile run cc get insert put erase list stats verify evict clear autotune bench
  serve guard graph script simulate key explain bundle help"

_hearth_topics="exit-status environment store remote keys"

# Of every command but script and simulate.
_hearth_common="--help --version --store --config --disk-budget --memory-budget --patience
  --keep-details --watch   --json --quiet --verbose --remote --remote-password-file --remote-ca-file
  --remote-certificate-file --remote-key-file --remote-verify --remote-signing-keys --remote-mode
  --remote-caches --remote-prefix --remote-ttl --remote-deadline --remote-lease --remote-drain
  --remote-value-limit --remote-queue --remote-queue-entries"

_hearth_options() {
  case $1 in
    compile) echo --jobs --trace --metrics --tune --tuning-tag --explain --record --signing-keys ;;
    run) echo --in --out --env --toolchain --depfile --timeout --memory --cpu --trace --metrics \
      --keep-failures --no-cache --strict --explain --placeholders ;;
    cc) echo --explain ;;
    get) echo --cache --output ;;
    insert | put) echo --cache --details --ttl ;;
    erase | list) echo --cache ;;
    stats) echo --zero ;;
    verify) echo --repair ;;
    evict) echo --to ;;
    bench) echo --list --dir --rounds --only --cpu --smoke ;;
    serve) echo --listen --role --hold-misses --check --hash-password --new-token ;;
    script) echo --seeds --trace --json --help ;;
    simulate) echo --seeds --hosts --processes --minutes --cluster --remotes --trace --no-hash --json --help ;;
    key) echo --debug ;;
    explain) echo --stored --last --cache ;;
    "bundle export") echo --cache --signing-keys ;;
    "bundle import" | "bundle list") echo --signing-keys ;;
  esac
}

# What may follow an option: the kind of its value, or nothing when it has none.
_hearth_value_of() {
  case $1 in
    --store | --dir) echo folder ;;
    --config | --remote-password-file | --remote-ca-file | --remote-certificate-file | \
      --remote-key-file | --remote-signing-keys | --signing-keys | --details | --trace | \
      --metrics | --record | --depfile | --output | -o | --in | --out) echo file ;;
    --watch | --keep-details | --remote-verify) echo words yes no ;;
    --remote-mode) echo words read-write read-only write-only ;;
    --tune) echo words full descent cached-only off ;;
    --role) echo words reader writer admin ;;
    --env) echo variable ;;
    --toolchain) echo command ;;
    --disk-budget | --memory-budget | --patience | --remote | --remote-caches | --remote-prefix | \
      --remote-ttl | --remote-deadline | --remote-lease | --remote-drain | --remote-value-limit | \
      --remote-queue | --remote-queue-entries | --jobs | --tuning-tag | --ttl | --timeout | --memory | \
      --cpu | --cache | --to | --rounds | --only | --listen | --seeds | --hosts | --processes | \
      --minutes) echo any ;;
  esac
}

# The flags of script, simulate and bench that take a value elsewhere, or the other way round.
_hearth_is_flag() {
  case "$1 $2" in
    "script --trace" | "simulate --trace" | "bench --cpu") return 0 ;;
  esac
  return 1
}

_hearth_fill() { # KIND [WORD...]
  local kind=$1 word
  shift
  COMPREPLY=()
  [[ $kind == folder || $kind == file ]] && compopt -o filenames 2>/dev/null
  case $kind in
    folder) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    file) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    command) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
    variable) mapfile -t COMPREPLY < <(compgen -e -- "$cur") ;;
    words)
      for word in "$@"; do
        [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
      done
      ;;
  esac
}

# The words of a command line within the command line, which begin at this place.
_hearth_command_at() {
  if ((COMP_CWORD == $1)); then
    _hearth_fill command
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  else
    _hearth_fill file
  fi
}

_hearth_argument() { # COMMAND NUMBER: its positional arguments, counted from 1
  # shellcheck disable=SC2086
  case $1 in
    compile | graph | key | serve | script | explain | "bundle import" | "bundle list" | \
      "autotune import") _hearth_fill file ;;
    insert | put) (($2 == 2)) && _hearth_fill file ;;
    "bundle export") (($2 == 1)) && _hearth_fill file ;;
    "autotune export") (($2 == 1)) && _hearth_fill folder ;;
    autotune) _hearth_fill words list show export import ;;
    bundle) _hearth_fill words export import list ;;
    help) (($2 == 1)) && _hearth_fill words $_hearth_commands $_hearth_topics ;;
    "") _hearth_fill words $_hearth_commands ;;
  esac
}

_hearth() {
  local cur=${COMP_WORDS[COMP_CWORD]} command="" kind="" number=0 i word
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- && ($command == run || $command == explain) ]]; then
      _hearth_command_at $((i + 1))
      return
    fi
    if [[ $word == -* ]]; then
      kind=$(_hearth_value_of "$word")
      _hearth_is_flag "$command" "$word" && kind=""
      # These take several values, up to the next option.
      if [[ $word != --in && $word != --out && $word != --env && $word != --toolchain ]]; then
        [[ $kind ]] && ((i + 1 < COMP_CWORD)) && kind="" && ((++i))
      fi
    elif [[ $kind ]]; then
      continue
    elif [[ -z $command ]]; then
      command=$word
    elif [[ $command == cc ]]; then
      _hearth_command_at "$i"
      return
    elif [[ $command == autotune || $command == bundle ]]; then
      command="$command $word"
    else
      ((++number))
    fi
  done
  # shellcheck disable=SC2046,SC2086
  if [[ $kind && $cur != -* ]]; then
    _hearth_fill $kind
  elif [[ $cur == -* && ($command == script || $command == simulate) ]]; then
    _hearth_fill words $(_hearth_options "$command")
  elif [[ $cur == -* ]]; then
    _hearth_fill words $(_hearth_options "$command") $_hearth_common
  elif [[ $command == cc ]]; then
    _hearth_fill command
  else
    _hearth_argument "$command" $((number + 1))
  fi
}

_hearth_cc() { _hearth_command_at 1; }

complete -F _hearth hearth
complete -F _hearth_cc hearth-cc
