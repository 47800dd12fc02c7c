"""What a shell offers when somebody presses Tab: names of models, tasks, ways, papers, data sets.

A name is looked up in the registries, which import nothing of what they list.
"""

from __future__ import annotations

from collections.abc import Iterable

from typer import Context


def complete_models(incomplete: str) -> list[str]:
    """Complete a model's name: of the catalogue, a baseline, or a prefix."""
    from seesay.models import MODELS
    from seesay.models.baselines import baseline_cards
    from seesay.models.catalogue import CATALOGUE

    baselines = [f"baseline:{name}" for name in baseline_cards()]
    prefixes = [f"{name}:" for name in MODELS.names() if name != "baseline"]
    return _matching([*CATALOGUE, *baselines, *prefixes], incomplete)


def complete_tasks(ctx: Context, incomplete: str) -> list[str]:
    """Complete the name of a task or a group, also behind a comma; after --edition or
    --contamination, of a task that they can be used with."""
    from seesay.tasks import TASKS, task_groups

    before, comma, last = incomplete.rpartition(",")
    has_contamination = ctx.params.get("contamination")
    if has_contamination or ctx.params.get("edition"):
        from seesay.tasks.editions import renewable_tasks

        offered = renewable_tasks(texts_only=bool(has_contamination))
    else:
        offered = [*task_groups(), "all", *TASKS.names()]
    names = _matching(offered, last)
    return [f"{before}{comma}{name}" for name in names]


def complete_ways(incomplete: str) -> list[str]:
    """Complete a way to ask, as `--how` takes it."""
    from seesay.condition import How

    # the lens is asked for with --layers
    return _matching([how for how in How if how is not How.LENS], incomplete)


def complete_papers(incomplete: str) -> list[str]:
    """Complete a paper's name."""
    from seesay.plugins import collect

    return _matching(collect(lambda plugin: plugin.papers), incomplete)


def complete_datasets(incomplete: str) -> list[str]:
    """Complete the name of a published data set."""
    from seesay.data.catalogue import CATALOGUE

    return _matching(CATALOGUE, incomplete)


def _matching(names: Iterable[str], incomplete: str) -> list[str]:
    return [str(name) for name in names if name.startswith(incomplete)]
