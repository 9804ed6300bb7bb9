"""Readers of published data formats, one module per format. They know no task and apply no text rule."""
