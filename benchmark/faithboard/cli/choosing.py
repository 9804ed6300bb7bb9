"""The command that chooses how many words saliency-guided training masks: choose-share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithboard.cli import options
from faithboard.config import ModelConfig
from faithboard.errors import SuiteError

if TYPE_CHECKING:
    import torch

    from faithboard.cli.progress import TerminalProgress
    from faithboard.plan import PlannedJob
    from faithboard.training.share import Choice


def choose_share(
    tasks: Annotated[str, typer.Option(help="Tasks, separated by commas.")],
    models: options.Models = "",
    training: Annotated[str, typer.Option(help="saliency-guided, random-masking or file.py:attribute.")] = (
        "saliency-guided"
    ),
    suite: options.SuiteName = "standard",
    seeds: options.Seeds = "",
    settings: options.Settings = [],  # noqa: B006  typer copies it
    data: options.Data = None,
    origin: options.Origin = "auto",
    results: options.Results = Path("results"),
    device: options.Device = "auto",
    threads: options.Threads = 1,
) -> None:
    """Choose k, the share of words that saliency-guided training masks, by dev accuracy alone: the largest that costs
    at most a point. Five trainings per seed, which are not kept."""
    from faithboard import suites
    from faithboard.cli.progress import TerminalProgress
    from faithboard.session import Place, chosen_device, chosen_origin, plan_suite
    from faithboard.store import Store

    progress = TerminalProgress()
    if len(options.separated(training)) != 1:
        raise SuiteError(f"--training {training!r}: k is chosen for one training at a time")
    chosen = suites.models_only(
        suites.changed(
            suites.load(suite),
            tasks=options.separated(tasks),
            models=options.separated(models),
            trainings=options.separated(training),
            seeds=options.whole_numbers(seeds),
            settings=options.settings(settings),
        )
    )
    place = Place(Store(results), chosen_device(device, threads), data, chosen_origin(origin))
    plan = plan_suite(chosen, place, progress, skip_missing=False)
    firsts = [job for job in plan.jobs if job.seed == plan.suite.seeds[0]]
    for at, job in enumerate(firsts):
        _refuse_without_share(job)
        found = _choice(job, plan.suite.seeds, place.device, progress)
        typer.echo(("\n" if at else "") + described(job, plan.suite.seeds, found))


def described(job: PlannedJob, seeds: tuple[int, ...], found: Choice) -> str:
    """What was tried and what the rule chooses, for a terminal."""
    from tabulate import tabulate

    from faithboard.report.markdown import number
    from faithboard.training.share import MARGIN

    rows = [("standard", "-", number(found.standard), "-")]
    rows += [
        (job.procedure.name, f"{share:g}", number(reached), number(found.standard - reached))
        for share, reached in found.accuracy.items()
    ]
    of = f"mean over seed {', '.join(map(str, seeds))}"
    title = f"{job.prepared.task.name}, {job.model.name}: accuracy on the dev split, {of}"
    body = tabulate(rows, ("training", "k", "accuracy", "lost"), tablefmt="simple", disable_numparse=True)
    if found.share is None:
        said = f"no k costs at most {MARGIN:g}: by this rule the training is not for this task"
    else:
        said = f"k = {found.share:g}, the largest that costs at most {MARGIN:g} (--set mask_share={found.share:g})"
    return f"{title}\n{body}\n{said}"


def _choice(job: PlannedJob, seeds: tuple[int, ...], device: torch.device, progress: TerminalProgress) -> Choice:
    from faithboard.running.fitting import fresh_model
    from faithboard.training.share import choose_share as choose

    data, config = job.prepared.data, job.model
    assert isinstance(config, ModelConfig)  # a person's own model has no trainings to choose for
    return choose(
        lambda seed: fresh_model(config, data, seed)[0].to(device),
        data,
        job.training,
        seeds,
        job.procedure,
        progress=lambda title, accuracy: progress.say(f"{job.prepared.task.name}, {title}: {accuracy:.3f}"),
    )


def _refuse_without_share(job: PlannedJob) -> None:
    if not isinstance(job.model, ModelConfig):
        raise SuiteError(f"{job.model.name} is trained by its own file: there is no k to choose")
    if job.start is not None:
        raise SuiteError(
            f"k is chosen for models trained from fresh weights, and init = {job.training.init!r} goes on from others; "
            "choose it without --set init"
        )
    if "mask_share" not in job.procedure.used(job.training):
        raise SuiteError(f"{job.procedure.name} masks no share of the words: there is no k to choose")
