"""For the tests of web pages."""

import browser
import pytest


@pytest.fixture(scope="module")
def chromium():
    """A page in a browser, for all tests of a module."""
    program = browser.find_chromium()
    if not program:
        pytest.skip("no Chromium here: no page is opened")
    with browser.chromium(program) as page:
        yield page
