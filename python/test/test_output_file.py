"""What a command writes is there whole, or what was there before is."""

import gzip
import os

import pytest

from lpn.output_file import written


@pytest.mark.parametrize("before", [None, "old"])
def test_a_file_that_fails_midway_leaves_what_was_there(tmp_path, before):
    path = tmp_path / "out.txt"
    if before is not None:
        path.write_text(before)
    with pytest.raises(ZeroDivisionError):
        with written(path) as file:
            file.write("half")
            file.flush()
            raise ZeroDivisionError
    assert (path.read_text() if path.exists() else None) == before
    assert os.listdir(tmp_path) == (["out.txt"] if before else [])


def test_it_replaces_what_a_link_leads_to_and_keeps_its_mode(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "real.txt").chmod(0o640)
    (tmp_path / "link").symlink_to("real.txt")
    with written(tmp_path / "link") as file:
        file.write("naïve")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real.txt").read_text(encoding="utf-8") == "naïve"
    assert (tmp_path / "real.txt").stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["link", "real.txt"]


def test_bytes_are_compressed_by_their_ending(tmp_path):
    for name, data in (("a.json", b"{}"), ("a.json.GZ", b"[]")):
        with written(tmp_path / name, binary=True) as file:
            file.write(data)
        found = (tmp_path / name).read_bytes()
        assert (gzip.decompress(found) if name.endswith("GZ") else found) == data


def test_a_name_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("n" * 255)
    with written(path) as file:
        file.write("x")
    assert path.read_text() == "x"


def test_a_pipe_is_written_in_place(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    end = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with written(tmp_path / "pipe") as file:
        file.write("through")
    assert os.read(end, 100) == b"through"
    os.close(end)


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(OSError) as raised:
        with written(tmp_path / "nowhere" / "x"):
            pass
    assert raised.value.filename == str(tmp_path / "nowhere" / "x")
