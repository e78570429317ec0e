#!/usr/bin/env bash
# A run inside one Slurm allocation (cluster.kind = "slurm-runner"): one task becomes the scheduler,
# one the driver, every other task a worker.
#
#   sbatch jobs/slurm-runner.sh
#   sbatch --nodes=4 --ntasks=66 jobs/slurm-runner.sh
#
# Submit it from the directory to which CONFIG and VENV are relative.
#
#SBATCH --job-name=frontier
#SBATCH --output=%x-%j.log
# Two more than the number of workers.
#SBATCH --ntasks=34
#SBATCH --cpus-per-task=1
# A little more than cluster.memory.
#SBATCH --mem-per-cpu=2G
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
SETTINGS=${SETTINGS:-"cluster.kind=slurm-runner cluster.memory=1.5GB
    cluster.options.interface=eth0"}

[ -z "$VENV" ] || . "$VENV/bin/activate" || exit
# Only a job that restarts on another host takes over the lock that it held when it died.
command=(python -m frontier run "$CONFIG" --job "slurm-$SLURM_JOB_ID")
for setting in $SETTINGS; do command+=(--set "$setting"); done

# srun passes a TERM to all tasks; the driver stops the run, which ends the other tasks.
# USR1: the walltime is near, so stop; the requeued job resumes.
# TERM: somebody ends the job, so stop.
again=
trap 'again=yes; kill -TERM "$child"' USR1
trap 'kill -TERM "$child"' TERM
(trap '' USR1 && exec srun --kill-on-bad-exit=0 "${command[@]}") &
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
