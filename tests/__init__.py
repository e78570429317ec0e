"""Tests, and the helpers and campaigns that go with them."""
