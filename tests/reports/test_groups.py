"""The order of runs, and one name per model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.reports.made_up import run, task

from seesay.reports.groups import group_runs, unite_names
from seesay.runs.run import Run

DIGEST = "d47e41c6d4e51b3f"


def with_manifest(each: Run, **fields: object) -> Run:
    """The run with other entries in its manifest, in a folder of its own."""
    manifest = each.manifest.model_copy(update=fields)
    return replace(each, manifest=manifest, folder=Path("runs") / str(fields))


def signed(model: str, fingerprint: str, created: str = "2026-01-02T03:04:05Z") -> Run:
    """A run whose signature names the model as real ones do."""
    signature = f"task:made-up|model:{model}@{fingerprint}|length:sum"
    made = run(task(), model, signature=signature)
    return with_manifest(made, model_fingerprint=fingerprint, created=created)


def test_models_come_before_people_and_baselines() -> None:
    example = task()
    runs = [
        with_manifest(run(example, "baseline:majority"), family="baseline"),
        with_manifest(run(example, "annotators"), family="people"),
        run(example, "b-model"),
        run(example, "a-model"),
    ]
    (group,) = group_runs(runs)
    labels = [entry.label for entry in group.entries]
    assert labels == ["b-model", "a-model", "annotators", "baseline:majority"]
    # the first model has the first color
    assert [entry.series for entry in group.entries] == [0, 1, 2, 3]


def test_one_model_under_two_names_is_one_and_its_later_run_counts() -> None:
    earlier = signed("/models/tiny", DIGEST, "2026-01-02T03:04:05Z")
    later = signed("tiny", DIGEST, "2026-01-03T03:04:05Z")
    other = signed("other", "0" * 16)
    united = unite_names([later, earlier, other])
    assert [each.manifest.model for each in united] == ["tiny", "other"]
    assert united[0].manifest.created == later.manifest.created
    # asked in another way, it is another run of the same model
    signature = earlier.manifest.signature + "|shots:5"
    few_shot = with_manifest(earlier, signature=signature)
    names = [each.manifest.model for each in unite_names([later, few_shot])]
    assert names == ["tiny", "tiny"]


def test_a_fingerprint_that_is_no_digest_unites_nothing() -> None:
    """Models of other packages may all state the same."""
    runs = [signed("mine", "1"), signed("yours", "1")]
    assert [each.manifest.model for each in unite_names(runs)] == ["mine", "yours"]
