"""Tiles on disk: whole or not at all, for their owner only, and taken away when a wider one is there."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from app.errors import StoreError
from app.proofs.tiles import Tile
from app.store.directory import DataDirectory
from app.store.files import Files
from app.store.scripted import ScriptedFiles
from app.store.tile_files import TileFiles

TILE, PARTIAL = Tile(0, 0, 256), Tile(0, 1, 3)


def tile_files(tmp_path: Path, files: Files | None = None) -> TileFiles:
    device = files or Files()
    return TileFiles(DataDirectory(str(tmp_path), device), device, "p", "claims")


def test_a_tile_is_read_as_it_was_written(tmp_path: Path) -> None:
    tiles = tile_files(tmp_path)
    before = (tiles.exist(), tiles.read(TILE))
    tiles.write(TILE, b"h" * 8192)
    tiles.write(PARTIAL, b"h" * 96)

    assert before == (False, None)
    assert (tiles.exist(), tiles.read(TILE), tiles.read(PARTIAL)) == (True, b"h" * 8192, b"h" * 96)
    assert (tmp_path / tiles.place(PARTIAL)).name == "3"


def test_tiles_are_for_their_owner_only(tmp_path: Path) -> None:
    tiles = tile_files(tmp_path)
    tiles.write(TILE, b"h")

    modes = {
        stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "projects").rglob("*") if path.is_dir()
    }
    assert (modes, stat.S_IMODE((tmp_path / tiles.place(TILE)).stat().st_mode)) == ({0o700}, 0o600)


def test_a_tile_that_was_replaced_goes(tmp_path: Path) -> None:
    tiles = tile_files(tmp_path)
    tiles.write(PARTIAL, b"h")
    tiles.remove(PARTIAL)
    tiles.remove(PARTIAL)

    assert tiles.read(PARTIAL) is None


def test_a_tile_that_is_not_there_is_taken_away_without_a_word(tmp_path: Path) -> None:
    tile_files(tmp_path).remove(PARTIAL)

    assert list(tmp_path.iterdir()) == []


def test_a_piece_of_a_tile_is_never_in_its_place(tmp_path: Path) -> None:
    files = ScriptedFiles(write=[3])
    tiles = tile_files(tmp_path, files)

    with pytest.raises(StoreError, match="could not be written whole"):
        tiles.write(TILE, b"h" * 96)
    assert tiles.read(TILE) is None
    tiles.write(TILE, b"h" * 96)  # over what the first attempt left
    assert tiles.read(TILE) == b"h" * 96


def test_a_symbolic_link_is_not_followed(tmp_path: Path) -> None:
    tiles = tile_files(tmp_path)
    tiles.write(TILE, b"h")
    place = tmp_path / tiles.place(TILE)
    place.unlink()
    place.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StoreError) as refused:
        tiles.read(TILE)
    assert refused.value.reason == "symlink"
