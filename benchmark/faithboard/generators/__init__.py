"""Generators of data that needs no download. They write what a reader reads, and are seeded."""
