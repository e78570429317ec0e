# What is done often; CONTRIBUTING.md says how long each takes.
.PHONY: test sweep gate docs bench lint types

test: ; python -m pytest
sweep: ; python -m pytest -m ""
gate: ; .ci/run
docs: ; mkdocs build -f scripts/site/mkdocs.yml
bench: ; python scripts/bench.py
lint: ; ruff check . && ruff format --check .
types: ; mypy
