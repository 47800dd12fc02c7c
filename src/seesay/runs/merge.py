"""Shares of a run, asked by jobs of their own, as the run that one job would have made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from seesay.answers import Scores
from seesay.errors import UserError
from seesay.files import lock_folder
from seesay.probes.choice import note_positions
from seesay.probes.generated import note_misses
from seesay.progress import ProgressBars, no_progress
from seesay.questions import Prompt, Task
from seesay.runs import ask, store
from seesay.runs.answer_table import PromptScores
from seesay.runs.figures import figures
from seesay.runs.journal import Journal
from seesay.runs.records import Manifest
from seesay.runs.run import Run
from seesay.shards import RUN, Shard, find_shards, refuse_missing

Shares = dict[Shard, list[Path]]
"""The folders of each share of a run: several where a job was repeated elsewhere."""


def merge_shards(
    folders: Sequence[Path],
    root: Path,
    progress: ProgressBars = no_progress,
) -> list[Run]:
    """Return the runs whose shares lie at or below the folders, finished below `root`.

    All shares are looked at before the first run is written: what is missing is said at once.
    """
    by_run = _find_shares(folders)
    for name, shares in by_run.items():
        refuse_missing(name, shares)
    runs = []
    with progress("Merging", "runs") as advance:
        for shares in by_run.values():
            runs.append(_merge(shares, root))
            advance(1, len(by_run))
    return runs


def _find_shares(folders: Sequence[Path]) -> dict[str, Shares]:
    """Return the shares by the run that they belong to: model, task and key."""
    by_run: dict[str, Shares] = {}
    for share in find_shards(folders):
        if share.kind == RUN:
            shares = by_run.setdefault("/".join(share.folder.parts[-3:]), {})
            shares.setdefault(share.shard, []).append(share.folder)
    return {name: by_run[name] for name in sorted(by_run)}


def _merge(shares: Shares, root: Path) -> Run:
    in_order = sorted(shares, key=lambda shard: shard.number)
    folders = [folder for shard in in_order for folder in shares[shard]]
    manifests = []
    for folder in folders:
        with store.damaged_run(folder):
            manifests.append(store.read_manifest(folder / store.MANIFEST))
    task = _read_task(folders)
    prompts = ask.distinct_prompts(task)
    scores, share_counts = _read_scores(shares, prompts)
    counts = _count_replies(scores.view(prompts))
    manifest = _merge_manifests(manifests, share_counts, counts)
    answers = ask.assemble(task, scores)
    target = store.folder_for(root, manifest)
    with lock_folder(target, hint="wait for the other command"):
        if (target / store.FIGURES).is_file():
            earlier = store.read_run(target)
            if earlier.answers != answers or earlier.task != task.without_splits():
                raise UserError(
                    f"The run in {target} has other answers than these shares: give another "
                    "--output."
                )
            return earlier
        store.write_manifest(target, manifest)
        store.write_task(target / store.QUESTIONS, task)
        ask.write_answers(target, answers, task, manifest.condition.length)
        store.finish(target, figures(manifest, task, answers))
        return store.read_run(target, answers, task)


def _read_task(folders: Sequence[Path]) -> Task:
    """Return the task, of which every share has to have the same questions."""
    tasks = []
    for folder in folders:
        with store.damaged_run(folder):
            tasks.append(store.read_task(folder / store.QUESTIONS))
    for task, folder in zip(tasks, folders, strict=True):
        if task != tasks[0]:
            raise UserError(
                f"The questions in {folder} are not those in {folders[0]}: one of them was changed "
                "after it was asked. Run the commands of these shares again in a new folder."
            )
    return tasks[0]


def _count_replies(scores: Sequence[Scores]) -> list[str]:
    """Return the notes that count answers: those of a share say nothing about the run."""
    return [*note_positions(scores), *note_misses(scores)]


def _merge_manifests(
    manifests: Sequence[Manifest], share_counts: Collection[str], counts: Sequence[str]
) -> Manifest:
    """Return the manifest of the whole run: of the first that was started, with everybody's notes
    and all that was paid, for a share that was asked twice as well.

    Notes that count a share's answers make room for those of the run.
    """
    first = min(manifests, key=lambda manifest: manifest.created)
    notes = [note for manifest in manifests for note in manifest.notes if note not in share_counts]
    notes += counts
    spent: Counter[str] = Counter()
    for manifest in manifests:
        spent.update(manifest.spent)
    return first.model_copy(update={"notes": list(dict.fromkeys(notes)), "spent": dict(spent)})


def _read_scores(shares: Shares, prompts: Mapping[str, Prompt]) -> tuple[PromptScores, list[str]]:
    """Return the scores of every prompt, and the notes that count the answers of each share.

    Scores of a share that was asked twice have to agree.
    """
    scores = PromptScores()
    share_counts: list[str] = []
    for shard, folders in shares.items():
        for folder in folders:
            entries = Journal(folder / store.JOURNAL).read()
            # in the order of the prompts, in which the share counted them
            share_counts += _count_replies([entries[key] for key in prompts if key in entries])
            for key, prompt_scores in entries.items():
                if key not in scores:
                    scores.add(key, prompt_scores)
                elif scores.columns[scores.places[key]] != prompt_scores:
                    raise UserError(
                        f"Share {shard} was answered twice, and not alike: give only one of "
                        f"{' and '.join(map(str, folders))}."
                    )
    unanswered = sum(key not in scores for key in prompts)
    if unanswered:
        raise UserError(
            f"{unanswered:,} of {len(prompts):,} prompts have no answer though every share was "
            "finished: a journal is damaged. Run the commands of the shares again, which asks "
            "only what is missing."
        )
    return scores, share_counts
