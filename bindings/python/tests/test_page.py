"""Each block of Python in docs/python.md runs, in the order of the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import List, Tuple

import hearth
from support import StoreTest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "python.md"


def blocks_of(text: str) -> List[Tuple[int, str]]:
    """The blocks, each with the line of the page on which its code begins."""
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [(text.count("\n", 0, block.start(1)) + 1, block.group(1)) for block in found]


def run_page() -> None:
    """Runs all blocks as one module."""
    import stubs

    stubs.install()
    names: dict = {"__name__": "page"}
    for line, code in blocks_of(PAGE.read_text()):
        # Empty lines before the code: a traceback names the page's line.
        exec(compile("\n" * (line - 1) + code, str(PAGE), "exec"), names)


class PageTest(StoreTest):
    def test_the_blocks_run(self) -> None:
        self.assertGreater(len(blocks_of(PAGE.read_text())), 5)
        paths = [str(Path(__file__).parent), str(Path(hearth.__file__).parents[1])]
        home = self.directory / "home"
        home.mkdir()
        run = subprocess.run(
            [sys.executable, "-c", "import test_page; test_page.run_page()"],
            cwd=self.directory,
            env=dict(os.environ, PYTHONPATH=os.pathsep.join(paths), HOME=str(home),
                     TRITON_CACHE_DIR=str(home / "triton"), XDG_CACHE_HOME=str(home / "cache")),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.assertEqual(run.returncode, 0, run.stdout)


if __name__ == "__main__":
    unittest.main()
