from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import sys
from pathlib import Path

import pytest

from faithboard import resolve
from faithboard.errors import ResolveError

METHOD = """
from faithboard import TOKEN, method

@method("{name}", kind="reference", signed=False, source="a test", stochastic=True)
def mine(model, batch, rng):
    return rng.uniform(TOKEN)
"""


def write(folder: Path, name: str = "mine", file: str = "my_method.py") -> Path:
    path = folder / file
    path.write_text(METHOD.format(name=name), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["task", "method", "metric", "training"])
def test_every_built_in_resolves_by_its_name(kind: resolve.Kind) -> None:
    known = resolve.builtin(kind)
    assert known
    for name, one in known.items():
        assert resolve.resolve(kind, name) == one
        assert one.value.name == name
        assert len(one.sha256) == 64


def test_a_file_and_attribute_resolve(tmp_path: Path) -> None:
    found = resolve.resolve("method", f"{write(tmp_path)}:mine")
    assert found.name == "mine"
    assert found.origin == str(tmp_path / "my_method.py")


def test_changing_a_file_changes_its_hash_and_is_seen(tmp_path: Path) -> None:
    before = resolve.resolve("method", f"{write(tmp_path)}:mine")
    after = resolve.resolve("method", f"{write(tmp_path, name='other')}:mine")
    assert before.sha256 != after.sha256
    assert after.name == "other"


def test_a_module_and_attribute_resolve() -> None:
    found = resolve.resolve("metric", "faithboard.metrics:COMPREHENSIVENESS")
    assert found.name == "comprehensiveness"


def test_unknown_names_get_near_ones() -> None:
    with pytest.raises(ResolveError, match="unknown method 'gradient-l3': did you mean gradient-l2"):
        resolve.resolve("method", "gradient-l3")


@pytest.mark.parametrize(
    ("content", "attribute", "message"),
    [
        (METHOD.format(name="m"), "min", "has no attribute 'min'; did you mean mine"),
        ("x = 3", "x", "is a int, not a method; decorate the function with @method"),
        ("x = 3", "y", "the file defines no method"),
        ("import nothing_of_this_name", "x", "does not import"),
        ("def broken(:", "x", "does not import"),
    ],
)
def test_a_bad_file_is_named_with_the_reason(tmp_path: Path, content: str, attribute: str, message: str) -> None:
    path = tmp_path / "bad.py"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ResolveError, match=message) as caught:
        resolve.resolve("method", f"{path}:{attribute}")
    assert "bad.py" in str(caught.value)


def test_a_failing_import_shows_its_own_line_and_not_ours(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("x = 1\ny = x / 0\n", encoding="utf-8")
    with pytest.raises(ResolveError) as caught:
        resolve.resolve("method", f"{path}:y")
    assert "bad.py:2" in str(caught.value)
    assert "ZeroDivisionError" in str(caught.value)
    assert "importlib" not in str(caught.value)


def test_missing_files_and_modules_are_named(tmp_path: Path) -> None:
    with pytest.raises(ResolveError, match="there is no file"):
        resolve.resolve("method", f"{tmp_path}/none.py:x")
    with pytest.raises(ResolveError, match="cannot import module"):
        resolve.resolve("method", "no_such_package.module:x")


def test_one_name_from_two_places_names_both(tmp_path: Path) -> None:
    one, two = write(tmp_path, file="one.py"), write(tmp_path, file="two.py")
    with pytest.raises(ResolveError, match=r"one\.py.*two\.py"):
        resolve.resolve_all("method", [f"{one}:mine", f"{two}:mine"])


def test_a_submission_cannot_take_the_name_of_a_built_in(tmp_path: Path) -> None:
    with pytest.raises(ResolveError, match="like the built-in"):
        resolve.resolve_all("method", [f"{write(tmp_path, name='attention')}:mine"])


def test_the_same_thing_twice_is_one() -> None:
    assert len(resolve.resolve_all("method", ["attention", "attention"])) == 1


def test_two_built_ins_of_one_name_name_both_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, file="one.py")
    write(tmp_path, file="two.py")
    monkeypatch.setattr(resolve, "definitions_folder", lambda kind: tmp_path)
    with pytest.raises(ResolveError, match=r"one\.py and .*two\.py"):
        resolve.builtin("method")


def test_entry_points_are_found_and_loaded_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        importlib.metadata.EntryPoint("theirs", "faithboard.metrics:COMPREHENSIVENESS", "faithboard.metrics"),
        importlib.metadata.EntryPoint("broken", "no_such_package:x", "faithboard.metrics"),
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points)
    assert resolve.resolve("metric", "theirs").name == "comprehensiveness"
    with pytest.raises(ResolveError, match="cannot import module 'no_such_package'"):
        resolve.resolve("metric", "broken")


def test_two_packages_of_one_name_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [importlib.metadata.EntryPoint("m", f"package_{i}:x", "faithboard.metrics") for i in (1, 2)]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points)
    with pytest.raises(ResolveError, match="package_1:x and package_2:x"):
        resolve.resolve("metric", "m")


def test_a_variant_borrows_its_base_and_changes_its_training(tmp_path: Path) -> None:
    path = tmp_path / "variants.py"
    path.write_text('from faithboard import variant\nguided = variant("attention", training="guided")\n')
    found = resolve.resolve("method", f"{path}:guided")
    base = resolve.resolve("method", "attention")
    assert found.name == "attention-guided"
    assert found.value.explain is base.value.explain
    assert found.value.training == "guided"
    assert found.sha256 not in (base.sha256,)


def test_built_in_variants_are_listed_as_what_they_borrow() -> None:
    known = resolve.builtin("method")
    guided, base = known["gradient-l2-saliency-guided"].value, known["gradient-l2"].value
    assert (guided.explain, guided.kind, guided.source) == (base.explain, base.kind, base.source)
    assert (guided.training, guided.base) == ("saliency-guided", "gradient-l2")


OWN_TRAINING = """
from faithboard import Training, variant

def gentle(supervised, config, vocabulary):
    return lambda model, batch, labels, rng: supervised(model(batch).logits, labels, batch.candidates)

GENTLE = Training("gentle", gentle, source="a test")
attention = variant("attention", training="gentle")
"""


def test_a_training_comes_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN_TRAINING)
    found = resolve.resolve("training", f"{path}:GENTLE")
    assert (found.name, found.value.source, len(found.sha256)) == ("gentle", "a test", 64)
    with pytest.raises(ResolveError, match="is a function, not a training; make it a Training"):
        resolve.resolve("training", f"{path}:gentle")
    with pytest.raises(ResolveError, match="unknown training 'saliency-guide': did you mean saliency-guided"):
        resolve.resolve("training", "saliency-guide")


def test_a_method_finds_its_training_beside_itself_or_by_name(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN_TRAINING)
    theirs = resolve.resolve("method", f"{path}:attention")
    built_in, plain = resolve.resolve_all("method", ["attention-saliency-guided", "attention"])
    found = resolve.asked_trainings([theirs, built_in, plain, theirs], [])
    assert [one.name for one in found] == ["gentle", "saliency-guided"]
    assert found[0] == resolve.resolve("training", f"{path}:GENTLE")
    path.write_text(OWN_TRAINING + "# one more line\n")
    again = resolve.resolve("method", f"{path}:attention")
    assert resolve.asked_trainings([again], [])[0].sha256 != found[0].sha256


def test_a_training_that_no_one_defines_is_named(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text('from faithboard import variant\nlost = variant("attention", training="saliency-guide")\n')
    with pytest.raises(ResolveError, match="unknown training 'saliency-guide': did you mean saliency-guided"):
        resolve.asked_trainings([resolve.resolve("method", f"{path}:lost")], [])


def test_two_definitions_of_one_name_in_one_file_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "two.py"
    path.write_text(METHOD.format(name="mine") + METHOD.format(name="mine").replace("def mine", "def other"))
    with pytest.raises(ResolveError, match="two methods are called 'mine'"):
        resolve.resolve_all("method", [f"{path}:mine", f"{path}:other"])


def test_a_module_that_does_not_import_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_module_of_a_test.py").write_text("def broken(:")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ResolveError, match="does not import"):
        resolve.resolve("method", "broken_module_of_a_test:x")


def test_a_syntax_error_shows_its_own_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("x = 1\ndef broken(:\n")
    with pytest.raises(ResolveError) as caught:
        resolve.resolve("method", f"{path}:x")
    assert "bad.py:2: def broken(:" in str(caught.value)
    assert "importlib" not in str(caught.value)


def test_a_file_without_an_attribute_is_told_how() -> None:
    with pytest.raises(ResolveError, match=r"as in good\.py:attribute"):
        resolve.resolve("method", "good.py")


PACKAGE = {"__init__.py": "from a_package_of_a_test.inner import mine\n", "inner.py": METHOD.format(name="mine")}


def package(folder: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> Path:
    """A package that offers what its files hold, imported anew by whoever asks next."""
    place = folder / "a_package_of_a_test"
    place.mkdir(exist_ok=True)
    for name, content in PACKAGE.items():
        (place / name).write_text(content + files.get(name.removesuffix(".py"), ""))
    monkeypatch.syspath_prepend(str(folder))
    for name in [name for name in sys.modules if name.startswith("a_package_of_a_test")]:
        monkeypatch.delitem(sys.modules, name)
    importlib.invalidate_caches()
    return place


def test_a_method_is_the_file_that_is_named_and_the_one_that_defines_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = "a_package_of_a_test:mine"
    place = package(tmp_path, monkeypatch)
    before = resolve.resolve("method", reference)
    assert (before.origin, before.code) == (str(place / "__init__.py"), (str(place / "inner.py"),))
    parts = [hashlib.sha256((place / name).read_bytes()).hexdigest() for name in ("__init__.py", "inner.py")]
    assert before.sha256 == hashlib.sha256("".join(parts).encode()).hexdigest()
    hashes = {before.sha256}
    for changed in ({"inner": "# one more line\n"}, {"__init__": "# one more line\n"}):
        package(tmp_path, monkeypatch, **changed)
        hashes.add(resolve.resolve("method", reference).sha256)
    assert len(hashes) == 3


@pytest.mark.parametrize(
    "wrapped",
    [
        "functools.partial(given, 2)",
        "functools.wraps(plain)(lambda *given: plain(*given))",
        "Given()",
        "Given().explain",
    ],
)
def test_the_file_of_a_function_is_found_below_what_wraps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrapped: str
) -> None:
    (tmp_path / "below_of_a_test.py").write_text(
        "def given(power, model, batch, rng):\n    return batch.ids.float() ** power\n"
        "def plain(model, batch, rng):\n    return batch.ids.float()\n"
        "class Given:\n    def __call__(self, model, batch, rng):\n        return batch.ids.float()\n"
        "    explain = __call__\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "below_of_a_test", raising=False)
    path = tmp_path / "named.py"
    path.write_text(
        "import functools\nfrom faithboard import method\nfrom below_of_a_test import Given, given, plain\n"
        f"M = method('m', kind='reference', signed=False, source='a test')({wrapped})\n"
    )
    assert resolve.resolve("method", f"{path}:M").code == (str(tmp_path / "below_of_a_test.py"),)


@pytest.mark.parametrize("kind", ["task", "method", "metric", "training"])
def test_a_built_in_is_its_own_file_alone(kind: resolve.Kind) -> None:
    for one in resolve.builtin(kind).values():
        if getattr(one.value, "base", None) is None:
            assert one.sha256 == hashlib.sha256(Path(one.origin).read_bytes()).hexdigest()


def test_another_release_of_captum_is_another_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "from faithboard import from_captum\n"
        "IG = from_captum(lambda forward: None, name='ig', kind='contribution', signed=True)\n"
    )
    hashes = set()
    for release in ("0.7.0", "0.8.0"):
        monkeypatch.setattr(importlib.metadata, "version", lambda name, release=release: release)
        hashes.add(resolve.resolve("method", f"{path}:IG").sha256)
    assert len(hashes) == 2


def test_a_module_that_must_not_be_imported_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN_TRAINING)
    monkeypatch.setitem(sys.modules, "blocked_by_a_test", None)
    found = resolve.asked_trainings([resolve.resolve("method", f"{path}:attention")], [])
    assert [one.name for one in found] == ["gentle"]


def test_a_wrong_attribute_is_told_of_the_methods_and_models_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        METHOD.format(name="mine") + "from faithboard import model\n"
        "@model('bag', capabilities=())\ndef bag_of_words(data): ...\n"
    )
    assert resolve.is_model(f"{path}:bag_of_words")
    assert not resolve.is_model(f"{path}:mine")
    with pytest.raises(ResolveError, match=r"'bag_of_word'; did you mean bag_of_words.*methods: mine; models: bag_of"):
        resolve.is_model(f"{path}:bag_of_word")
    path.write_text("x = 1\n")
    with pytest.raises(ResolveError, match="defines no method and no model"):
        resolve.is_model(f"{path}:y")
