"""The colours of pages, charts and drawings; those of pieces are in `frontier.report.boards`."""

INK, QUIET, LINE, GROUND = "#1c2733", "#5b6875", "#d8dee5", "#ffffff"
ACCENT, SECOND = "#2166ac", "#d6604d"
