#!/usr/bin/env bash
# The driver of a run as an LSF job, its workers as separate jobs (cluster.kind = "lsf").
#
#   bsub < jobs/lsf.sh
#
# Submit it from the directory to which CONFIG and VENV are relative. The driver submits the jobs of
# the workers, replaces those that end, and cancels them when it ends. Where compute nodes may not
# submit jobs, run `frontier run` with these settings on a login node, under tmux.
#
#BSUB -J frontier-driver
#BSUB -o frontier-driver-%J.log
#BSUB -n 1
#BSUB -M 2GB
# The walltime. LSF sends USR1 ten minutes before: time to finish the tasks under way.
#BSUB -W 24:00
#BSUB -wa USR1
#BSUB -wt 10
# On this exit code LSF requeues the job, which resumes the run.
#BSUB -Q 99
#BSUB -r
# Your site may require more, such as:
##BSUB -q long
##BSUB -P myproject

CONFIG=${CONFIG:-configs/2x7.toml}  # the run; every node must see its directory
VENV=${VENV-.venv}                  # the virtual environment with frontier[jobqueue]; empty: none
SETTINGS=${SETTINGS:-"cluster.kind=lsf cluster.workers=32 cluster.options.interface=eth0
    cluster.options.walltime=04:00"}

[ -z "$VENV" ] || . "$VENV/bin/activate" || exit
# Only a job that restarts on another host takes over the lock that it held when it died.
command=(python -m frontier run "$CONFIG" --job "lsf-$LSB_JOBID")
for setting in $SETTINGS; do command+=(--set "$setting"); done

# USR1: the walltime is near, so stop; the requeued job resumes.
# TERM: somebody ends the job, so stop.
again=
trap 'again=yes; kill -TERM "$child"' USR1
trap 'kill -TERM "$child"' TERM
(trap '' USR1 && exec "${command[@]}") &
child=$!
code=0
wait "$child" || code=$?
while kill -0 "$child" 2> /dev/null; do # a signal ended the wait, not the run
    code=0
    wait "$child" || code=$?
done
# Code 3: the run was stopped, and nothing is lost.
if [ "$code" = 3 ] && [ "$again" ]; then
    exit 99
fi
exit "$code"
