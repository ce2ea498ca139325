"""Bytes to text: encodings, what is replaced, and where lines end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.core.page.decode import count_lines, decode_page, line_offsets


@pytest.mark.parametrize(
    "data, text",
    [
        (b"", ""),
        (b"plain", "plain"),
        ("é\r\n".encode(), "é\r\n"),
        (b"\xef\xbb\xbf# A", "# A"),
        (b"\xff\xfe#\x00 \x00A\x00", "# A"),
        (b"\xfe\xff\x00#\x00 \x00A", "# A"),
        (b"\xef\xbb\xbf\xef\xbb\xbfx", "\ufeffx"),
    ],
)
def test_a_byte_order_mark_chooses_the_encoding_and_is_dropped(data: bytes, text: str) -> None:
    decoded = decode_page(data)
    assert (decoded.text, decoded.diagnostics) == (text, ())


@pytest.mark.parametrize(
    "data, text, kind, line",
    [
        (b"a\r\nb\xffc", "a\r\nb\ufffdc", "invalid_utf8", 2),
        (b"\xc3", "\ufffd", "invalid_utf8", 1),
        (b"a\rb\rc\xe2\x82", "a\rb\rc\ufffd", "invalid_utf8", 3),
        (b"\xff\xfea\x00\n\x00\x00\xd8", "a\n\ufffd", "invalid_utf8", 2),
        (b"a\nb\x00c\x00", "a\nb\ufffdc\ufffd", "nul_character", 2),
    ],
)
def test_what_is_no_text_is_replaced_and_said(data: bytes, text: str, kind: str, line: int) -> None:
    decoded = decode_page(data)
    assert decoded.text == text
    assert [(each.kind, each.line) for each in decoded.diagnostics] == [(kind, line)]


def test_lines_end_at_line_feed_and_carriage_return_only() -> None:
    text = "a\nb\r\nc\rd\fe\vf\x85g\u2028h\x1ci\n\r"
    assert count_lines(text) == 5
    assert [text[offset] for offset in line_offsets(text)] == ["a", "b", "c", "d", "\r"]


@given(st.text(st.sampled_from("a \n\r\f\u2028")))
def test_a_text_is_cut_into_its_lines_without_loss(text: str) -> None:
    offsets = line_offsets(text)
    lines = [text[start:end] for start, end in zip(offsets, [*offsets[1:], len(text)], strict=True)]
    assert "".join(lines) == text
    assert len(lines) == max(1, count_lines(text) + (not text.endswith(("\n", "\r"))))


@given(st.binary())
def test_any_bytes_decode_to_text_that_can_be_stored(data: bytes) -> None:
    text = decode_page(data).text
    assert "\0" not in text
    assert text.encode("utf-8").decode("utf-8") == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_told_by_its_nuls(encoding: str) -> None:
    decoded = decode_page("# Title\r\ntext\n".encode(encoding))
    assert (decoded.text, decoded.diagnostics) == ("# Title\r\ntext\n", ())
