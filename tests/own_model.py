"""A person's own model, as text of the file that would hold it: a trained bag of words without attention."""

from __future__ import annotations

NETWORK = '''
import torch
from torch import nn
from faithboard import Classifier, Output, model

class Sum(nn.Module):
    def forward(self, states, real):
        return states * real[:, :, None]

class BagOfWords(Classifier):
    """logits = bias + sum of the words' weights."""

    def __init__(self, words, specials, n_classes):
        super().__init__()
        self.table = nn.Embedding(words, n_classes)
        nn.init.zeros_(self.table.weight)
        self.bias = nn.Parameter(torch.zeros(n_classes))
        self.sum = Sum()
        self.n_classes, self.specials = n_classes, specials
        self.capabilities = frozenset({"gradients"} | ({"several-classes"} if n_classes > 2 else set()))

    def counted(self):
        return (self.sum,)

    def embed(self, batch):
        return self.table(batch.ids)

    def forward(self, batch, embedded=None, attention=None, detach_attention=False):
        states = self.sum(self.embed(batch) if embedded is None else embedded, batch.real)
        return Output(self.bias + states.sum(1))
'''

DEFINITION = (
    NETWORK
    + """
@model("bag-of-words", capabilities={"gradients"}, source="an example")
def bag_of_words(data):
    network = BagOfWords(len(data.words), data.specials, data.n_classes).to(data.device)
    if data.stored:
        return network
    adam = torch.optim.Adam(network.parameters(), lr=0.1)
    for epoch in range(3):
        for batch, labels in data.batches(32, epoch):
            adam.zero_grad()
            nn.functional.cross_entropy(network(batch).logits, labels).backward()
            adam.step()
    return network
"""
)
