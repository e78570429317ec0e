"""Numbers as people read them."""


def counted(number: int, noun: str) -> str:
    """A number of things: 1 state, 2,000 states."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def span(seconds: float) -> str:
    """A duration: 3.2 s, 4 min 05 s, 7 h 12 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def size(count: float) -> str:
    """A number of bytes: 812 B, 3.4 MB, 1.2 TB."""
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if count < 1000 or unit == "PB":
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"


def rate(states: float, seconds: float) -> str:
    """States a second: 812/s, 45 M/s."""
    if seconds <= 0:
        return "–"
    value = states / seconds
    for unit in ("", " k", " M", " G"):
        if value < 1000 or unit == " G":
            break
        value /= 1000
    return f"{value:.0f}{unit}/s"
