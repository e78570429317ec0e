"""The event of the start of a run, for displays."""

from frontier.runs.events import Started


def layers_started(name, title="", path="", states=1000, workers=1, dashboard=None, **request):
    """A run by layers begins."""
    return Started(
        "layers", name, title, path, False, workers, states, request=request, dashboard=dashboard
    )


def cosets_started(name, title="tiles", path="/no/run", workers=2, at_most=None, layers=1):
    """A run by cosets begins."""
    request = {"at_most": at_most, "layers": layers}
    return Started("cosets", name, title, path, False, workers, request=request)
