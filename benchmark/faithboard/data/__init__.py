"""From published files to batches: found, read, tokenised, filtered, counted, fingerprinted, cached and collated."""

from __future__ import annotations

from faithboard.data.examples import SplitCounts
from faithboard.data.loading import TaskData, load, sample

__all__ = ["SplitCounts", "TaskData", "load", "sample"]
