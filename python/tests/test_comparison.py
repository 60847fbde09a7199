"""Two runs beside each other, figures of analyses: pictures in a notebook."""

import json
import re
import xml.dom.minidom
from html import unescape

import numpy as np
import pytest

import buoy
from conftest import PROMPT

IDS = [5, 6, 7, 8]


@pytest.fixture(scope="module")
def pair(diffusion):
    plain = diffusion.generate(PROMPT, max_new_tokens=8, observe="received,entropy")
    with diffusion.changed(scale_heads={(5, 0): 0, (5, 2): 0}):
        changed = diffusion.generate(PROMPT, max_new_tokens=8, observe="received,entropy")
    return changed, plain


def page_of(html):
    """The page inside the frame."""
    frame = re.fullmatch(r'<iframe srcdoc="([^"]*)" style="[^"]*" sandbox="allow-scripts[^"]*"></iframe>', html)
    assert frame, html[:200]
    return unescape(frame[1])


def panels_of(page):
    return [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)]


def test_a_comparison_is_the_difference(pair):
    changed, plain = pair
    both = buoy.compare(changed, plain)
    np.testing.assert_array_equal(both["received"], changed["received"] - plain["received"])
    assert both["received"].dims == plain["received"].dims and both["received"].dtype == np.float32
    assert both["tokens"].dtype == np.int64
    assert both.same_prompt and "received" in both.keys() and "Comparison" in repr(both)
    assert np.abs(both["entropy"]).max() > 0


def test_it_shows_both_and_begins_with_the_difference(pair):
    page = page_of(buoy.compare(*pair, labels=("without <heads>", "as it is"))._repr_html_())
    panels = panels_of(page)
    assert [panel["trace"] for panel in panels] == ["without <heads>", "as it is"]
    assert '<body data-minus="1">' in page
    assert "prefers-color-scheme: dark" in page and "explorer-controls" in page
    assert not re.search(r"""(src|href)=["']?(http|//)|url\(|@import""", page), "it needs nothing else"
    assert "<heads>" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_they_are_called_by_their_models(pair, diffusion, autoregressive):
    names = [panel["trace"] for panel in panels_of(page_of(buoy.compare(*pair)._repr_html_()))]
    assert names == [diffusion.name, f"{diffusion.name} (2)"]
    other = autoregressive.generate(PROMPT, max_new_tokens=8, observe="received")
    page = page_of(buoy.compare(pair[1], other)._repr_html_())
    assert [panel["trace"] for panel in panels_of(page)] == [diffusion.name, autoregressive.name]
    assert "data-minus" in page
    with pytest.raises(buoy.UsageError, match="shape"):
        buoy.compare(pair[1], other)["received"]


def test_samples_of_traces_are_compared_like_runs(pair, tmp_path):
    for name, run in zip(("changed", "plain"), pair):
        run.save(tmp_path / name)
    with buoy.open(tmp_path / "changed") as a, buoy.open(tmp_path / "plain") as b:
        stored = buoy.compare(a[0], b[0], labels=("x", "y"))
        np.testing.assert_array_equal(stored["received"], buoy.compare(*pair)["received"])
        assert stored._repr_html_() == buoy.compare(*pair, labels=("x", "y"))._repr_html_()
        assert buoy.compare(a[0], pair[1], labels=("x", "y"))._repr_html_() == stored._repr_html_()


def test_other_prompts_are_shown_without_a_difference(diffusion, pair):
    other = diffusion.generate("Question: Where does Klados Hebwick live?\nAnswer:", max_new_tokens=8, observe="received")
    both = buoy.compare(other, pair[1])
    assert not both.same_prompt
    page = page_of(both._repr_html_())
    assert len(panels_of(page)) == 2 and "data-minus" not in page


def test_two_samples_of_one_trace(diffusion, tmp_path):
    trace = diffusion.trace([PROMPT, PROMPT], tmp_path / "trace", max_new_tokens=4, observe="received")
    page = page_of(buoy.compare(trace[0], trace[1])._repr_html_())
    assert [panel["sample"] for panel in panels_of(page)] == ["prompt-0", "prompt-1"]
    assert "data-minus" in page


def test_driven_runs_and_runs_of_every_family_have_pictures(tiny):
    loop = tiny.steps(IDS, max_new_tokens=4, observe="received")
    for _ in loop:
        pass
    page = page_of(buoy.compare(loop.run, tiny.generate(IDS, max_new_tokens=4, observe="received"))._repr_html_())
    one, other = panels_of(page)
    assert one["meanCodes"] == other["meanCodes"]
    assert page_of(loop.run._repr_html_())


def test_without_attention_the_texts_are_shown(diffusion):
    plain = diffusion.generate(PROMPT, max_new_tokens=4)
    html = buoy.compare(plain, plain, labels=("<a>", "b"))._repr_html_()
    assert html.count("<pre") == 2 and "&lt;a&gt;" in html and "<iframe" not in html


def test_what_cannot_be_compared(pair, diffusion):
    for wrong in ((pair[0], 5), (pair[0], None), ("a", "b"), (pair[0], buoy.Evaluation([]))):
        with pytest.raises(buoy.UsageError) as error:
            buoy.compare(*wrong)
        assert error.value.where == "compare" and error.value.found
    for labels in ("ab", ("a",), (1, 2)):
        with pytest.raises(buoy.UsageError, match="labels"):
            buoy.compare(*pair, labels=labels)
    with pytest.raises(KeyError, match="no array dense"):
        buoy.compare(*pair)["dense"]


def test_figures_are_svg(diffusion, autoregressive, program, tmp_path):
    prompts = [PROMPT, "Question: Where does Klados Hebwick live?\nAnswer:"]
    traces = {"a": diffusion.trace(prompts, tmp_path / "a", max_new_tokens=8, observe="received"),
              "b": autoregressive.trace(prompts, tmp_path / "b", max_new_tokens=8, observe="received")}
    tables = buoy.analyze.absorption(traces)
    program("analyze", "absorption", f"a={tmp_path / 'a'}", f"b={tmp_path / 'b'}", "--out", tmp_path / "theirs")
    assert len(tables.figures) > 0 and tables.readings[0].startswith("a: ")
    for figure in tables.figures:
        xml.dom.minidom.parseString(figure.svg), xml.dom.minidom.parseString(figure.dark_svg)
        assert figure.svg == (tmp_path / f"theirs/figures/{figure.name}.svg").read_text()
        assert figure.svg != figure.dark_svg and figure.caption and figure.told
        assert tables.figures[figure.name].svg == figure.svg
        html = figure._repr_html_()
        assert "prefers-color-scheme: dark" in html and "data:image/svg+xml;base64," in html and "http" not in html
    assert tables.figures._repr_html_().count("<figure") == len(tables.figures)
    tables.figures[0].save(tmp_path / "one.svg")
    assert (tmp_path / "one.svg").read_text() == tables.figures[0].svg
    with pytest.raises(KeyError, match="no figure other"):
        tables.figures["other"]
    # What could not be drawn is said.
    drift = buoy.analyze.drift(diffusion.trace(PROMPT, tmp_path / "one", max_new_tokens=8, observe="received"))
    assert drift.left_out and all(isinstance(one, str) for one in drift.left_out)
