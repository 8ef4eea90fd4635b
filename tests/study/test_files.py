"""Text is read whatever its line ends, and output is written whole or not at all."""

import logging
import os
from pathlib import Path

import pytest

from gardenpath import study


@pytest.mark.parametrize("raw", [b"a\nb\n", b"a\r\nb\r\n", b"a\rb\r", b"\xef\xbb\xbfa\nb\n"], ids=["LF", "CRLF", "CR", "BOM"])
def test_line_ends_and_byte_order_marks_do_not_matter(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(raw)
    assert study.files.read_text(path) == "a\nb\n"


@pytest.mark.parametrize(("raw", "said"), [(b"a\rb\r", "CR only"), (b"\xef\xbb\xbfa", "byte-order mark")])
def test_odd_files_are_read_and_reported(tmp_path: Path, raw: bytes, said: str, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(raw)
    with caplog.at_level(logging.DEBUG, "gardenpath"):
        study.files.read_text(path)
    assert said in caplog.text


def test_latin_1_is_refused_with_line_byte_and_remedy(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes("one\ncafé\n".encode("latin-1"))
    with pytest.raises(study.DataError, match=r"line 2: byte 0xe9 is not UTF-8 \(in Latin-1 it would be 'é'\).*iconv"):
        study.files.read_text(path)


def test_utf_16_is_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes("a,b".encode("utf-16"))
    with pytest.raises(study.DataError, match="UTF-16, expected UTF-8"):
        study.files.read_text(path)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")

    def fail_half_way() -> None:
        with study.files.write_atomically(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert [p.name for p in tmp_path.iterdir()] == ["x.txt"]
    assert path.read_text() == "old"


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")
    with pytest.raises(FileExistsError, match="give --force"):
        study.files.refuse_overwrite([path], force=False)
    study.files.refuse_overwrite([path], force=True)


def test_an_absent_extra_is_one_line_that_names_it() -> None:
    with pytest.raises(study.MissingExtra, match=r"pip install 'gardenpath\[lm\]'") as caught:
        study.errors.require("no_such_module", "lm")
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_device_or_a_pipe_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ValueError, match="a device or a pipe"):
        study.files.write_text(pipe, "text")
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
