"""The program. Until it is loaded, which takes a while, Ctrl-C ends it there and then."""

import os
import signal


def main() -> None:
    asked = signal.getsignal(signal.SIGINT)
    if asked is signal.default_int_handler:  # else somebody wants it ignored
        signal.signal(signal.SIGINT, _leave)
    from frontier.cli import main as command

    signal.signal(signal.SIGINT, asked)
    command()


def _leave(number, frame) -> None:
    """Without an exception, which libraries half loaded may swallow or take for another."""
    os.write(2, b"frontier: interrupted\n")
    os._exit(3)  # as for frontier.errors.Stopped, which may not be loaded yet


if __name__ == "__main__":
    main()
