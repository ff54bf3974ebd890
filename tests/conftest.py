"""What every test shares: Hypothesis settings, and skips that say what to install."""

import gc
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from functools import cache
from typing import Any

import pytest
import vl_convert
from hypothesis import is_hypothesis_test, settings

from perrecord.lab.audit.doors import server
from tests import EXAMPLES
from tests.public_files import public_file

__all__ = ["public_file"]

# Hundreds of tests start Python; without bytecode each start would compile everything anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Who starts the tests in the background (nohup, &) has these ignored; tests tell processes to end.
for ending in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(ending) is signal.SIG_IGN:
        signal.signal(
            ending, signal.default_int_handler if ending is signal.SIGINT else signal.SIG_DFL
        )

QUICK, LONG = "perrecord", "perrecord-long"
"""Profiles of Hypothesis: two fifths of the examples, and all."""

for profile in (QUICK, LONG):
    settings.register_profile(profile, deadline=None, derandomize=True, max_examples=EXAMPLES)
settings.load_profile(QUICK)

REQUIRED = "PERRECORD_REQUIRE_SYSTEM_PACKAGES"


@cache
def java_is_missing() -> str | None:
    """Return why Spark cannot run here, or None."""
    java = shutil.which("java")
    if java is None:
        return "no Java found; install it: sudo apt-get install openjdk-17-jre-headless"
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', shown)
    if version is None or int(version[1]) < 17:
        return "Java is older than 17; sudo apt-get install openjdk-17-jre-headless"
    return None


@cache
def chromium_is_missing() -> str | None:
    """Return why pages cannot be tested here, or None."""
    if shutil.which("chromium") is None:
        return "no Chromium found; install it: sudo apt-get install chromium"
    return None


@cache
def strace_is_missing() -> str | None:
    """Return why calls to the operating system cannot be traced here, or None."""
    strace = shutil.which("strace")
    if strace is None:
        return "no strace found; install it: sudo apt-get install strace"
    tried = subprocess.run([strace, "-q", "true"], capture_output=True, check=False)
    return "strace may not trace processes here" if tried.returncode else None


@cache
def postgres_is_missing() -> str | None:
    """Return why a PostgreSQL server cannot be started here, or None."""
    if server.programs() is None:
        return "no PostgreSQL found; install it: sudo apt-get install postgresql"
    return None


@cache
def npm_is_missing() -> str | None:
    """Return why packages of npm cannot be fetched here, or None."""
    if shutil.which("npm") is None:
        return "no npm found; install it: sudo apt-get install npm"
    return None


@cache
def r_is_missing() -> str | None:
    """Return why the R package cannot be tried here, or None."""
    if shutil.which("Rscript") is None:
        return "no R found; install it: sudo apt-get install r-base-core r-cran-jsonlite"
    asked = ["Rscript", "-e", "library(jsonlite)"]
    if subprocess.run(asked, capture_output=True, check=False).returncode:
        return "R lacks jsonlite; install it: sudo apt-get install r-cran-jsonlite"
    return None


CHECKS = {
    "spark": java_is_missing,
    "browser": chromium_is_missing,
    "strace": strace_is_missing,
    "postgres": postgres_is_missing,
    "npm": npm_is_missing,
    "r": r_is_missing,
}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many workers `-n auto` starts."""
    from tests.workers import workers

    return workers()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give every worker whole files, the longest first."""
    from tests.workers import WholeFiles

    return WholeFiles(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in the documents and the library alone: tests have none."""
    found = yield
    return [each for each in found if type(each) is pytest.Module]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have Hypothesis try two fifths of the examples, unless a profile asks for all."""
    if settings.get_current_profile_name() != QUICK:
        return
    for test in {item.obj for item in items if isinstance(item, pytest.Function)}:
        if is_hypothesis_test(test):
            asked = test._hypothesis_internal_use_settings
            few = settings(asked, max_examples=-(-asked.max_examples * 2 // 5))
            test._hypothesis_internal_use_settings = few


def pytest_collection_finish() -> None:
    """Have the garbage collector pass over what was collected: it stays until the end."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let the garbage collector have everything again."""
    gc.unfreeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs a missing system package; under CI fail it instead."""
    for marker, check in CHECKS.items():
        reason = check() if item.get_closest_marker(marker) else None
        if reason and os.environ.get(REQUIRED):
            pytest.fail(f"{REQUIRED} is set and {reason}")
        if reason:
            pytest.skip(reason)


@pytest.fixture(scope="session", autouse=True)
def drawn_once() -> Iterator[None]:
    """Have a picture that was drawn before given again: many commands draw the same ones."""

    def once(draw: Callable[..., Any]) -> Callable[..., Any]:
        drawn: dict[str, Any] = {}

        def draw_once(given: Any, **options: Any) -> Any:
            key = json.dumps([given, options])
            if key not in drawn:
                drawn[key] = draw(given, **options)
            return drawn[key]

        return draw_once

    with pytest.MonkeyPatch.context() as patch:
        for name in ("vegalite_to_svg", "svg_to_png"):
            patch.setattr(vl_convert, name, once(getattr(vl_convert, name)))
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Give the address of a PostgreSQL server of our own, reached by a socket in its folder."""
    with server.running(server.programs()) as address:
        yield address
