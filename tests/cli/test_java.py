"""What the doctor says of Java."""

import pytest

from perrecord.cli import environment


@pytest.mark.parametrize(
    ("version", "expected"),
    [('openjdk version "17.0.15"', "17.0.15"), ('java version "1.8.0_401"', "Spark needs 17")],
)
def test_java_is_found_by_its_version(tmp_path, monkeypatch, version, expected):
    """An old one is named as too old for Spark."""
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\necho '{version}' >&2\n", encoding="utf-8")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert expected in environment._java()


def test_java_is_optional(monkeypatch):
    """Only Spark needs it."""
    monkeypatch.setenv("PATH", "")
    assert "only Spark needs it" in environment._java()
