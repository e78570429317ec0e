#!/usr/bin/env bash
# A run on hosts that ssh reaches, without any queue.
#
#   HOSTS="node1 node2 node3" jobs/ssh.sh
#
# The scheduler and the driver run here, the workers on the hosts. All hosts must see this directory
# under the same path, and ssh must not ask for a password. Ctrl-C, or TERM, stops the run; the same
# command resumes it.

HOSTS=${HOSTS:-localhost}
SSH=${SSH:-ssh}                     # with options, such as "ssh -p 2222 -i KEY"
WORKERS=${WORKERS:-4}               # on each host
MEMORY=${MEMORY:-2GB}               # of a worker; a third more than cluster.memory
INTERFACE=${INTERFACE:-eth0}        # the network that the hosts share; all must use this name
PORT=${PORT:-8786}
PROTOCOL=${PROTOCOL:-tcp}           # or tls (docs/reference/clusters.md, Encryption)
CONFIG=${CONFIG:-configs/2x7.toml}  # the run; every host must see its directory
VENV=${VENV-.venv}                  # the virtual environment with frontier; empty: none
SETTINGS=${SETTINGS:-cluster.memory=1.5GB}

activate=:
[ -z "$VENV" ] || activate=". '$VENV/bin/activate'"
eval "$activate" || exit
file=$PWD/.scheduler-$$.json
trap 'kill $(jobs -p) 2> /dev/null; rm -f "$file"' EXIT

python -m dask scheduler --protocol "$PROTOCOL" --interface "$INTERFACE" --port "$PORT" \
    --dashboard-address 127.0.0.1:0 --scheduler-file "$file" &
for host in $HOSTS; do
    # A worker ends some time after it loses its scheduler, so the loop restarts it.
    # The loop ends with the connection (-tt).
    $SSH -tt "$host" "cd '$PWD' && $activate && while true; do
        python -m dask worker --scheduler-file '$file' --protocol $PROTOCOL --interface $INTERFACE \
            --nthreads 2 --nworkers $WORKERS --memory-limit $MEMORY --death-timeout 60
        sleep 5
    done" < /dev/null &
done

command=(python -m frontier run "$CONFIG" --set cluster.kind=scheduler-file
    --set cluster.scheduler_file="$file" --set cluster.workers=$((WORKERS * $(wc -w <<< "$HOSTS"))))
for setting in $SETTINGS; do command+=(--set "$setting"); done
trap 'kill -TERM "$child"' INT TERM
"${command[@]}" &
child=$!
code=0
wait "$child" || code=$?
while kill -0 "$child" 2> /dev/null; do # a signal ended the wait, not the run
    code=0
    wait "$child" || code=$?
done
exit "$code"
