"""The program. Until it is loaded, which takes a while, Ctrl-C ends it there and then."""

from frontier.signals import leaving_at_once


def main() -> None:
    with leaving_at_once():
        from frontier.cli import main as command

    command()


if __name__ == "__main__":
    main()
