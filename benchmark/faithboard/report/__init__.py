"""From a board to what people read: Markdown pages, and a table for the terminal. Only `files` touches the disk."""

from __future__ import annotations

from faithboard.report.console import console_table
from faithboard.report.files import pages, read, readme_block, render, with_pages, write
from faithboard.report.models import models_page

__all__ = ["console_table", "models_page", "pages", "read", "readme_block", "render", "with_pages", "write"]
