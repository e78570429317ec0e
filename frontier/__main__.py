"""The program. Loading it takes a while, and until it is loaded Ctrl-C ends it at once."""

from frontier.signals import leaving_at_once


def main() -> None:
    with leaving_at_once():
        from frontier.cli import main as command

    command()


if __name__ == "__main__":
    main()
