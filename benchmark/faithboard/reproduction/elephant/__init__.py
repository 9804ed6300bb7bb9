"""Bastings & Filippova (2020), "The elephant in the interpretability room": its questions, answered with our numbers.

The paper argues and measures nothing, so no number of its own stands beside ours. Nothing is run either: the page is
made of the leaderboards that are there.
"""
