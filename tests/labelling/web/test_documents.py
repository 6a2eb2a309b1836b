"""Documents as pages of frames: inert, readable, in their own direction."""

import time

import pytest

from ranksift.labelling.records import Item
from ranksift.labelling.web.documents import inert, page


@pytest.mark.parametrize(
    "html",
    [
        "<script>x</script>",
        "<SCRIPT src=//e>",
        "<scr<script></script>ipt>x",
        "<li<script>a</script>nk rel=preconnect href=//e>",
        "<li<script>a</script>nk<script>b</script> rel=x>",
        "<meta\nhttp-equiv=refresh>",
        "<META/http-equiv=refresh>",
        "<!-- <link> -->",
        "<svg><script/href=x /></svg>",
        "<me\0ta>",
        "<iframe srcdoc='<script>'>",
        "<object data=x><embed src=x>",
    ],
)
def test_nothing_that_acts_keeps_its_name(html):
    text = inert(html).lower()
    for name in ("script", "link", "meta", "base", "iframe", "object", "embed"):
        assert f"<{name}" not in text


def test_what_only_looks_like_it_stays():
    html = "<p>1 < 2 <links> <metal> <b>bold</b> &lt;script&gt; <blink></p><style>p{color:red}</style>"
    assert inert(html) == html


def test_text_is_shown_as_it_stands():
    made = page(Item("d", "<b>x</b> & y\n\tz"))
    assert "<pre>&lt;b&gt;x&lt;/b&gt; &amp; y\n\tz</pre>" in made


@pytest.mark.parametrize(
    ("item", "language", "expected"),
    [
        (Item("d", "سلام", language="fa"), "en", '<html lang="fa" dir="rtl"'),
        (Item("d", "سلام"), "fa", '<html lang="fa" dir="rtl"'),
        (Item("d", "<style>p{color:red}</style><p title='x'>سلام", media="html"), "", '<html dir="rtl"'),
        (Item("d", "1. <hello> سلام"), "fa", '<html lang="fa" dir="rtl"'),
        (Item("d", "hello"), "", '<html dir="ltr"'),
        (Item("d", "<html lang=ar dir=rtl><p>x", media="html"), "fa", '<html data-kind="plain"'),
        (Item("d", "<p style='color:red'>x", media="html", language='"><script>'), "", 'data-kind="styled"'),
    ],
)
def test_language_and_direction(item, language, expected):
    made = page(item, language)
    assert expected in made
    assert "<script" not in made


@pytest.mark.parametrize(
    "piece", ["<script", "<", "<html ", "<script></script", "</script", "<li<script>", "<style>", "</style"]
)
def test_hostile_repetition_takes_no_time(piece):
    start = time.process_time()
    page(Item("d", "<script>" + piece * (1_000_000 // len(piece)), media="html"))
    page(Item("d", piece * (1_000_000 // len(piece)), media="html"))
    assert time.process_time() - start < 20  # quadratic would take hours
