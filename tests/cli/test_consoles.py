"""Output to consoles of any encoding."""

import io

import pytest

from langdiff.cli.output import EscapedStream


@pytest.mark.parametrize(("encoding", "shown"), [("cp1252", b"-1.5 \xb1 \\u0100"), ("utf-8", "−1.5 ± Ā".encode())])
def test_consoles_that_lack_characters_get_signs_or_escapes(encoding, shown):
    console = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    stream = EscapedStream(console)
    stream.write("−1.5 ± Ā")
    stream.flush()
    assert console.buffer.getvalue() == shown
