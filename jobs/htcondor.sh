#!/usr/bin/env bash
# What jobs/htcondor.sub runs.

CONFIG=${CONFIG:-configs/2x7.toml}  # the run; every node must see its directory
VENV=${VENV-.venv}                  # the virtual environment with frontier[jobqueue]; empty: none
SETTINGS=${SETTINGS:-"cluster.kind=htcondor cluster.workers=32 cluster.options.interface=eth0"}

[ -z "$VENV" ] || . "$VENV/bin/activate" || exit
command=(python -m frontier run "$CONFIG")
for setting in $SETTINGS; do command+=(--set "$setting"); done

exec "${command[@]}"
