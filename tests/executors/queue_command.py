"""A batch queue of one machine, as a test needs it: each command of each queue is a link to this.

Submitting starts a job at once as a group of processes, whose number is the job's; cancelling ends
it. What was submitted is kept, one file a job, in QUEUE_LOG.
"""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

SAID = {
    "sbatch": "Submitted batch job {}",
    "qsub": "{}.server",
    "bsub": "Job <{}> is submitted to default queue.",
    "oarsub": "OAR_JOB_ID={}",
    "condor_submit": "1 job(s) submitted to cluster {}.",
}


def script_of(command: str, arguments: list[str]) -> tuple[str, str]:
    """(what was submitted, what the shell is to run)"""
    if command == "oarsub":  # the script itself, behind the options
        return "\n".join(arguments), arguments[-1]
    text = sys.stdin.read() if command == "bsub" else Path(arguments[-1]).read_text()
    if command != "condor_submit":
        return text, text
    quoted = re.search(r'^Arguments = "(.*)"$', text, re.MULTILINE)[1].replace('""', '"')
    # HTCondor's quotes are doubled inside quotes
    return text, re.fullmatch(r"-c '(.*)'", quoted, re.DOTALL)[1].replace("''", "'")


def main(command: str, arguments: list[str]) -> None:
    if command in SAID:
        text, script = script_of(command, arguments)
        job = subprocess.Popen(
            ["bash", "-c", script],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        Path(os.environ["QUEUE_LOG"], str(job.pid)).write_text(text)
        print(SAID[command].format(job.pid))
    else:
        number = arguments[-1].split(".")[0]
        with suppress(ProcessLookupError):
            os.killpg(int(number), signal.SIGTERM)


if __name__ == "__main__":
    main(Path(sys.argv[0]).name, sys.argv[1:])
