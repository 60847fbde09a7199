"""What notebooks show, opened in a real browser: its scripts run and draw. Needs chromium (or BUOY_BROWSER)."""

import os
import re
import shutil
import subprocess
from html import unescape

import pytest

import buoy
from conftest import PROMPT

BROWSER = os.environ.get("BUOY_BROWSER") or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs a browser: chromium in PATH or BUOY_BROWSER (tools/setup browser)")


@pytest.fixture
def opened(tmp_path):
    def open_page(html, width=1000):
        """The page of a frame after its scripts have run, as text."""
        page = tmp_path / "page.html"
        page.write_text(unescape(re.search(r'srcdoc="([^"]*)"', html)[1]), encoding="utf-8")
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={tmp_path / 'profile'}",
                               f"--window-size={width},900", "--virtual-time-budget=3000", "--enable-logging=stderr", "--dump-dom", page.as_uri()],
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr[-2000:]
        assert "CONSOLE" not in done.stderr, re.findall(".*CONSOLE.*", done.stderr)
        return unescape(done.stdout)
    return open_page


def drawn(page):
    """What the maps say of themselves."""
    return re.findall(r'<canvas[^>]*aria-label="([^"]*)"', page)


def test_a_run(diffusion, opened):
    page = opened(diffusion.generate(PROMPT, max_new_tokens=8, observe="received")._repr_html_())
    one, = drawn(page)
    assert one.startswith(f"layers \u00d7 positions of {diffusion.name}: layer ") and "minus" not in one
    assert "Most: " in page and ">Minus" not in page


def test_a_comparison_begins_with_the_difference(diffusion, autoregressive, opened):
    runs = [m.generate(PROMPT, max_new_tokens=8, observe="received") for m in (diffusion, autoregressive)]
    page = opened(buoy.compare(*runs, labels=("one", "other"))._repr_html_())
    one, other = drawn(page)
    assert one.startswith("layers \u00d7 positions of one: ") and one.endswith("minus other")
    assert other.startswith("layers \u00d7 positions of other: ") and "minus" not in other
    assert "Differ most: " in page and ">Minus" in page


def test_other_prompts_are_not_subtracted(diffusion, opened):
    runs = [diffusion.generate(prompt, max_new_tokens=8, observe="received") for prompt in (PROMPT, "Who?")]
    page = opened(buoy.compare(*runs)._repr_html_(), width=400)
    assert len(drawn(page)) == 2 and not any("minus" in one or "not compared" in one for one in drawn(page))


def test_runs_of_lists_are_compared_though_their_names_differ(diffusion, opened):
    runs = diffusion.generate([PROMPT, PROMPT], max_new_tokens=8, observe="received", temperature=1.0)
    assert drawn(opened(buoy.compare(*runs)._repr_html_()))[0].endswith(f"minus {diffusion.name} (2)")
