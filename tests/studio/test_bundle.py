"""What a browser has to load first, and what is in the built files."""

from __future__ import annotations

import re
from pathlib import Path

FIRST_LOAD_BYTES = 300_000  # compressed; docs/decisions/0008-studio.md


def first_files(built: Path) -> list[str]:
    """Those that the page names, and the first page's own (Home), as it is loaded by the same visit."""
    named = re.findall(r'(?:src|href)="\./(assets/[^"]+)"', (built / "index.html").read_text())
    home = [f"assets/{path.name}" for path in (built / "assets").glob("Home-*") if path.suffix in (".js", ".css")]
    return [*named, *home]


class TestBundle:
    def test_first_load_is_within_its_budget(self, built):
        files = first_files(built)
        assert any(name.endswith(".js") for name in files)
        total = sum(
            min(path.stat().st_size for path in (built / f"{name}.gz", built / name) if path.exists()) for name in files
        )
        assert total <= FIRST_LOAD_BYTES, f"{total} bytes in {files}"

    def test_every_large_file_has_its_compressed_forms(self, built):
        for path in (built / "assets").iterdir():
            if path.suffix in (".js", ".css") and path.stat().st_size >= 1024:
                assert (path.parent / f"{path.name}.gz").exists()
                assert (path.parent / f"{path.name}.br").exists()

    def test_nothing_is_inline_and_nothing_is_from_elsewhere(self, built):
        page = (built / "index.html").read_text()
        assert "<style" not in page
        assert not re.search(r"<script(?![^>]*\bsrc=)", page)
        assert not re.search(r'(?:src|href)="(?!\./)', page)
