"""ROAR, remove and retrain: what is lost when a model is trained without the words an explanation finds important?

A trained model that is asked about texts with holes is asked about something it never saw. So the words go from
training, dev and test texts alike, and a fresh model of the same settings and seed is trained on what is left. The
points are the accuracies without 10, 30, 50, 70 and 90 % of each text's words: midpoints of five equal parts, so their
mean is the area under accuracy over what is removed, by the midpoint rule. It is lower the more of what the task can be
solved by was found; the curve of `random` is what any loss of words costs.

Words are removed by the default operator of the erasure metrics, `delete`: query, begin and end stay, and no trace is
left of where a word stood, which would tell a model something. Vocabulary and vectors stay those of the whole texts.

The order is that of |score|, unlike that of the metrics that ask after one class. Taken as given, a signed method
deletes what speaks for the predicted class and leaves what speaks against it, and a model learns to read the class off
what is left: on SST, leave-one-out then leaves an accuracy of 0.60 without 10 % of the words and of 0.76 without 70 %;
by |score| it is 0.63 and 0.56 (one seed, four epochs, 300 examples).

Two things ROAR cannot tell. Removal itself can leak the class, by |score| less but still: a method that removes the
words of one class and not those of another leaves texts that say which it was (Rong et al. 2022). And accuracy that
stays high can mean redundancy, not an unfaithful method: words that say the same remain, and the model learns those.
`recursive-roar` answers the second in part: what is left is explained anew at each point, by the model trained on it,
so that redundant words are found when it is their turn.
"""

from __future__ import annotations

from faithboard.metric import RetrainMetric

SHARES = (10, 30, 50, 70, 90)
"""Per cent of the text removed."""

ROAR = RetrainMetric(
    name="roar",
    version=1,
    better="lower",
    source="Hooker et al. 2019 (ROAR): accuracy after retraining without the words of largest |score|, mean of shares",
    shares=SHARES,
    recursive=False,
)
RECURSIVE_ROAR = RetrainMetric(
    name="recursive-roar",
    version=1,
    better="lower",
    source="Madsen et al. 2022 (recursive ROAR): the same, what is left being explained anew by each retrained model",
    shares=SHARES,
    recursive=True,
)
