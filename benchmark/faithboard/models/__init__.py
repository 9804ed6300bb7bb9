"""The reference models. A name such as `bilstm-additive` is an encoder and an attention; `build` composes the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, cast, get_args

from torch import Tensor, nn

from faithboard.batch import Specials
from faithboard.config import ModelConfig
from faithboard.data.embeddings import check_embedding
from faithboard.errors import SuiteError, near
from faithboard.models.attention import Additive, Dot, Random, Uniform
from faithboard.models.encoders import CNN, Average, Encoder
from faithboard.models.readout import Dense, Linear, Pair, Readout
from faithboard.models.recurrent import BiLSTM
from faithboard.models.reference import AttentionClassifier, capabilities_of
from faithboard.models.seeding import seeded
from faithboard.task import Task

if TYPE_CHECKING:
    from jaxtyping import Float

__all__ = ["ATTENTIONS", "ENCODERS", "AttentionClassifier", "build", "capabilities", "check_combination", "names"]

Activation = Literal["relu", "tanh"]

ENCODERS: Mapping[str, Callable[[int, int, Activation], Encoder]] = {
    "bilstm": lambda dim, hidden, activation: BiLSTM(dim, hidden),
    "cnn": lambda dim, hidden, activation: CNN(dim, 2 * hidden // len(CNN.KERNELS)),
    "average": lambda dim, hidden, activation: Average(dim, 2 * hidden, activation),
}
"""name -> (embedding size, hidden, activation) -> encoder. All have states of 2 x hidden: 256 for the paper's 128."""

ATTENTIONS: Mapping[str, Callable[[int, bool, int], nn.Module | None]] = {
    "additive": lambda width, query, seed: Additive(width, query=query),
    "dot": lambda width, query, seed: Dot(width, query=query),
    "uniform": lambda width, query, seed: Uniform(),
    "random": lambda width, query, seed: Random(seed),
    "none": lambda width, query, seed: None,
}
"""name -> (width of the states, whether there is a query, seed) -> attention, None for the encoder's own summary.

The last three are the controls of the attention check (definitions, section 2): does attention matter here at all?
"""

READOUTS: Mapping[str, Callable[[int, int], Readout]] = {"single": Linear, "pair": Pair, "sequence": Dense}
"""layout of the task -> (width of the states, outputs) -> readout."""


def names() -> list[str]:
    """Every model that makes sense, as it is named in a suite."""
    return [
        f"{encoder}-{attention}"
        for encoder in ENCODERS
        for attention in ATTENTIONS
        if (encoder, attention) != ("average", "none")
    ]


def check_combination(config: ModelConfig, task: Task) -> None:
    """Raise SuiteError for a model that does not exist or makes no sense on `task`. Builds nothing."""
    if config.encoder not in ENCODERS:
        raise SuiteError(f"model {config.name}: unknown encoder {config.encoder!r}; {near(config.encoder, ENCODERS)}")
    if config.attention not in ATTENTIONS:
        raise SuiteError(
            f"model {config.name}: unknown attention {config.attention!r}; {near(config.attention, ATTENTIONS)}"
        )
    if config.name not in names():
        raise SuiteError(
            f"model {config.name}: the encoder {config.encoder} has no summary of its own to read out instead of "
            f"attention, only the mean of its states; that is {config.encoder}-uniform"
        )
    if config.hidden < 2:
        raise SuiteError(f"model {config.name}: hidden must be at least 2, got {config.hidden}")
    if config.activation not in get_args(Activation):
        known = ", ".join(get_args(Activation))
        raise SuiteError(f"model {config.name}: activation must be one of {known}, got {config.activation!r}")
    check_embedding(config.embedding_dim, config.missing)
    if task.layout == "pair" and task.explained != ("text",):
        raise SuiteError(
            f"model {config.name} on {task.name}: in the layout `pair` attention lies over the text alone, "
            f"but the task explains {' and '.join(task.explained)}; give the task the layout `sequence`"
        )


def capabilities(config: ModelConfig, task: Task) -> frozenset[str]:
    """What a model of `config` on `task` can do, before it is built (see `Classifier.capabilities`)."""
    return capabilities_of(config.attention != "none", len(task.labels))


def build(
    config: ModelConfig, task: Task, matrix: Float[Tensor, "word dim"], specials: Specials, *, seed: int
) -> AttentionClassifier:
    """A model with fresh weights drawn from `seed` (the global random state stays as it is), in eval mode on the CPU.

    `matrix` holds the first embedding of every word of the vocabulary; it is copied and trained further. Two classes
    have one output, the logit of class 1; more have one output each. Raises SuiteError as `check_combination` does.
    """
    check_combination(config, task)
    n_classes, pair = len(task.labels), task.layout == "pair"
    encoder = ENCODERS[config.encoder]
    dim, activation = matrix.shape[1], cast("Activation", config.activation)
    with seeded(seed, "weights"):
        explained = encoder(dim, config.hidden, activation)
        model = AttentionClassifier(
            embedding=nn.Embedding.from_pretrained(matrix.clone(), freeze=False),
            encoder=explained,
            attention=ATTENTIONS[config.attention](explained.width, pair, seed),
            readout=READOUTS[task.layout](explained.width, 1 if n_classes == 2 else n_classes),
            query_encoder=encoder(dim, config.hidden, activation) if pair else None,
            layout=task.layout,
            n_classes=n_classes,
            specials=specials,
        )
    model.eval()
    return model
