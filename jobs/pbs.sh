#!/usr/bin/env bash
# The driver of a run as a PBS job, its workers as separate jobs (cluster.kind = "pbs").
#
#   qsub jobs/pbs.sh
#
# Submit it from the directory to which CONFIG and VENV are relative. The driver submits the jobs of
# the workers, replaces those that end, and cancels them when it ends. Where compute nodes may not
# submit jobs, run `frontier run` with these settings on a login node, under tmux.
#
#PBS -N frontier-driver
#PBS -j oe
#PBS -l select=1:ncpus=1:mem=2gb
# The walltime. SECONDS_TO_RUN is ten minutes less; then the run stops and is submitted again.
#PBS -l walltime=24:00:00
# Pass CONFIG, VENV and SETTINGS to the job, if they are set where you submit it.
#PBS -V
# Your site may require more, such as:
##PBS -q long
##PBS -A myproject

cd "$PBS_O_WORKDIR" || exit
SCRIPT=${SCRIPT:-jobs/pbs.sh}
SECONDS_TO_RUN=${SECONDS_TO_RUN:-85800}

CONFIG=${CONFIG:-configs/2x7.toml}  # the run; every node must see its directory
VENV=${VENV-.venv}                  # the virtual environment with frontier[jobqueue]; empty: none
SETTINGS=${SETTINGS:-"cluster.kind=pbs cluster.workers=32 cluster.options.interface=eth0
    cluster.options.walltime=04:00:00"}
export CONFIG VENV SETTINGS SCRIPT SECONDS_TO_RUN

[ -z "$VENV" ] || . "$VENV/bin/activate" || exit
# Only a job that restarts on another host takes over the lock that it held when it died.
command=(python -m frontier run "$CONFIG" --job "pbs-$PBS_JOBID")
for setting in $SETTINGS; do command+=(--set "$setting"); done

# PBS does not warn before the walltime, so timeout sends the TERM that stops the run, as qdel does.
trap 'kill -TERM "$child"' TERM
timeout --foreground --preserve-status --signal=TERM "$SECONDS_TO_RUN" "${command[@]}" &
child=$!
code=0
wait "$child" || code=$?
while kill -0 "$child" 2> /dev/null; do # a signal ended the wait, not the run
    code=0
    wait "$child" || code=$?
done
# Code 3: the run was stopped, and nothing is lost.
if [ "$code" = 3 ] && [ "$SECONDS" -ge "$SECONDS_TO_RUN" ]; then
    qsub "$SCRIPT"
fi
exit "$code"
