"""A plugin for pytest inside a copy: writes down which code was loaded and how each test ended."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from tests import EXAMPLES

REPORT = "PERRECORD_TWINS_REPORT"
PROFILE = "twins"

# A failing example need not be made small: that it fails is all we ask.
settings.register_profile(
    PROFILE,
    deadline=None,
    derandomize=True,
    max_examples=EXAMPLES,
    phases=[Phase.explicit, Phase.generate],
)


class Report:
    """How each test ended."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the outcome of a test; what goes wrong before or after it is no failure of it."""
        if report.when == "call":
            self.outcomes[report.nodeid] = report.outcome
        elif report.failed or report.skipped:
            ending = "error" if report.failed else "skipped"
            if self.outcomes.get(report.nodeid) != "failed":  # it failed before its end did
                self.outcomes[report.nodeid] = ending

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self) -> Iterator[None]:
        """Write everything down."""
        import perrecord

        noted = {"loaded": perrecord.__file__, "outcomes": self.outcomes}
        Path(os.environ[REPORT]).write_text(json.dumps(noted))
        return (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Take part in the run."""
    config.pluginmanager.register(Report(), "twins-report")
