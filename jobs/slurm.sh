#!/usr/bin/env bash
# The driver of a run as a Slurm job, its workers as separate jobs (cluster.kind = "slurm").
#
#   sbatch jobs/slurm.sh
#
# Submit it from the directory to which CONFIG and VENV are relative. The driver submits the jobs of
# the workers, replaces those that end, and cancels them when it ends. Where compute nodes may not
# submit jobs, run `frontier run` with these settings on a login node, under tmux.
#
#SBATCH --job-name=frontier-driver
#SBATCH --output=%x-%j.log
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
# The walltime. When it is near, the run stops, and the requeued job resumes it.
#SBATCH --time=24:00:00
#SBATCH --requeue
# Slurm sends USR1 to this script ten minutes before: time to finish the tasks under way.
#SBATCH --signal=B:USR1@600
# One log, however often the job starts.
#SBATCH --open-mode=append
# Your site may require more, such as:
##SBATCH --partition=long
##SBATCH --account=myproject

CONFIG=${CONFIG:-configs/2x7.toml}  # the run; every node must see its directory
VENV=${VENV-.venv}                  # the virtual environment with frontier[jobqueue]; empty: none
SETTINGS=${SETTINGS:-"cluster.kind=slurm cluster.workers=32 cluster.options.interface=eth0
    cluster.options.walltime=04:00:00"}

[ -z "$VENV" ] || . "$VENV/bin/activate" || exit
# Only a job that restarts on another host takes over the lock that it held when it died.
command=(python -m frontier run "$CONFIG" --job "slurm-$SLURM_JOB_ID")
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
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
