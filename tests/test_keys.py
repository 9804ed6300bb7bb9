from __future__ import annotations

import dataclasses

from faithboard.config import ModelConfig, TrainingConfig
from faithboard.keys import digest, examples_key, explain_key, model_key, row_key, throughput_key
from faithboard.metric import Metric
from faithboard.task import Example, Source, Task, TextRules
from faithboard.training import SALIENCY_GUIDED, STANDARD, Training

TASK = Task(
    name="toy",
    version=1,
    source=Source("Toy", "nobody", "Apache-2.0", "nowhere"),
    labels=("no", "yes"),
    folder="toy",
)
METRIC = Metric("comprehensiveness", 1, "higher", "DeYoung et al. 2020", {"bins": [1, 5]})


def key(
    task: Task = TASK,
    fingerprint: str = "f",
    seed: int = 0,
    vectors: str = "random",
    one: Training = STANDARD,
    procedure: str = "",
    **config: object,
) -> str:
    model = {f.name: config[f.name] for f in dataclasses.fields(ModelConfig) if f.name in config}
    training = {f.name: config[f.name] for f in dataclasses.fields(TrainingConfig) if f.name in config}
    return model_key(
        task,
        fingerprint,
        dataclasses.replace(ModelConfig(), **model),  # type: ignore[arg-type]
        one.used(dataclasses.replace(TrainingConfig(), **training)),  # type: ignore[arg-type]
        seed,
        vectors,
        procedure,
    )


def test_the_format_of_keys_is_fixed() -> None:
    """Stored results are found by these keys. A change here must come with a new ENGINE_VERSION."""
    assert digest({"b": [1, 2.5, None], "a": "é"}) == "d764fee2563da33e3d573347"
    model = key()
    explanation = explain_key(model, "attention", "0" * 64, examples_key([Example("e1", ("a",), (), 0)]))
    assert (model, explanation, row_key(explanation, METRIC)) == (
        "dbe3f96d17b33ceb44a961f6",
        "09b35e5e159b7ca6221800b8",
        "fbfa9da1dc36045527e12dbf",
    )


def test_everything_a_model_is_made_of_changes_its_key() -> None:
    other_rules = dataclasses.replace(TASK, text=TextRules(min_document_frequency=2))
    keys = [
        key(),
        key(dataclasses.replace(TASK, version=2)),
        key(other_rules),
        key(dataclasses.replace(TASK, layout="sequence")),
        key(fingerprint="g"),
        key(seed=1),
        key(vectors="glove-6b-50d 1.0.0"),
        key(hidden=64),
        key(epochs=3),
        key(learning_rate=0.01),
    ]
    assert len(set(keys)) == len(keys)


def test_settings_count_where_they_are_used() -> None:
    masking = {"mask_share": 0.3, "mask_fill": "unk", "mask_weight": 2.0}
    for setting, value in masking.items():
        assert key(**{setting: value}) == key()  # type: ignore[arg-type]
        assert key(one=SALIENCY_GUIDED, **{setting: value}) != key(one=SALIENCY_GUIDED)  # type: ignore[arg-type]
    assert key(precision="bfloat16") != key() == key(precision="float32")
    assert key(train_examples=100) != key() == key(train_examples=None)
    assert key(init="some model") != key() == key(init=None)
    assert key(encoder="average", activation="tanh") != key(encoder="average")
    assert key(activation="tanh") == key()  # the BiLSTM has none to choose
    assert key(procedure="hash of a file") != key()


def test_what_only_people_read_changes_no_key() -> None:
    assert key(dataclasses.replace(TASK, description="other words", fingerprints={"published": "x"})) == key()


def test_an_explanation_depends_on_model_method_file_and_examples() -> None:
    one, two = Example("e1", ("a",), (), 0), Example("e2", ("b",), (), 1)
    keys = [
        explain_key("m", "attention", "file", examples_key([one, two])),
        explain_key("n", "attention", "file", examples_key([one, two])),
        explain_key("m", "random", "file", examples_key([one, two])),
        explain_key("m", "attention", "changed", examples_key([one, two])),
        explain_key("m", "attention", "file", examples_key([two, one])),
        explain_key("m", "attention", "file", examples_key([one, two]), dtype="float16"),
    ]
    assert len(set(keys)) == len(keys)


def test_a_row_depends_on_name_version_and_parameters_of_its_metric() -> None:
    changes = [METRIC, dataclasses.replace(METRIC, version=2), dataclasses.replace(METRIC, parameters={"bins": [1]})]
    assert len({row_key("e", metric) for metric in changes}) == 3
    assert row_key("e", dataclasses.replace(METRIC, better="lower", source="elsewhere")) == row_key("e", METRIC)


def test_speed_is_kept_per_device_and_not_per_time_of_day() -> None:
    machine = {"device": "cpu", "dtype": "float32", "torch": "2.0", "threads": 2}
    assert throughput_key("e", machine | {"time": "now"}) == throughput_key("e", machine | {"time": "later"})
    assert throughput_key("e", machine | {"device": "gpu"}) != throughput_key("e", machine)
