# What slurm-here and sge-here share: a queue of one machine alone, below the directory $state.
#
# Whoever reads this in defines packages, commands (which those packages bring), start_here,
# stop_here and print_env.

here=$(cd "$(dirname "$0")" && pwd)
name=$(basename "$0")
mark=$state/made-by-$name

skip() {
    echo "$name: skipped: $*"
    exit 77
}

fail() {
    echo "$name: $*" >&2
    exit 1
}

install_packages() {
    local missing
    command -v apt-get > /dev/null || skip "this is no Debian: there is no apt-get"
    missing=$(for command in "${commands[@]}"; do
        command -v "$command" > /dev/null || echo "$command"
    done)
    [ -n "$missing" ] || return 0
    export DEBIAN_FRONTEND=noninteractive
    local -a patience=(-o Acquire::http::Timeout=20 -o Acquire::Retries=1)
    { flock 9 # one at a time
        apt-get "${patience[@]}" update &&
        apt-get "${patience[@]}" install --yes --no-install-recommends "${packages[@]}"; } \
        9> /run/lock/frontier-apt > "$state/apt.log" 2>&1 ||
        skip "apt-get cannot install ${packages[*]}: $(tail -1 "$state/apt.log")"
}

start() {
    [ "$(id -u)" = 0 ] || skip "only root can install and start it"
    stop
    [ ! -e "$state" ] || fail "$state exists, and was not made here; choose another one"
    mkdir -p "$state"
    chmod 755 "$state"
    touch "$mark"
    install_packages
    start_here
}

stop() {
    [ -e "$mark" ] || return 0 # not made here
    stop_here
    rm -rf "$state"
    echo "$name: stopped"
}

# Wait for a command to succeed, for half a minute.
await() {
    for _ in $(seq 60); do
        if "$@" 2> /dev/null; then return 0; fi
        sleep 0.5
    done
    return 1
}

# End the processes whose numbers are in files.
end() {
    local file pid
    for file in "$@"; do
        [ -e "$file" ] || continue
        pid=$(cat "$file")
        kill "$pid" 2> /dev/null || continue
        for _ in $(seq 40); do
            kill -0 "$pid" 2> /dev/null || continue 2
            sleep 0.25
        done
        kill -KILL "$pid" 2> /dev/null || true
    done
}

main() {
    case ${1:-} in
        start) start ;;
        stop) stop ;;
        env) print_env ;;
        test)
            trap stop EXIT
            start
            eval "$(print_env)"
            python3 "$here/real_queues.py" "${name%-here}"
            ;;
        *)
            sed -n '2,12s/^# \{0,1\}//p' "$0"
            exit 2
            ;;
    esac
}
