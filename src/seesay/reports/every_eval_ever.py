"""Runs as records of Every Eval Ever, with their intervals and every answer.

The schema is that of github.com/evaleval/every_eval_ever, `eval.schema.json` and
`instance_level_eval.schema.json`; its datastore prescribes the names of folders and files.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from seesay import metrics
from seesay.digests import json_digest
from seesay.errors import UserError
from seesay.export import accuracy_of
from seesay.files import write_json, write_json_lines
from seesay.questions import Question
from seesay.reports.formatting import lower_is_better, metric_name
from seesay.reports.groups import PEOPLE
from seesay.reports.unanswered import count_unanswered
from seesay.runs.chosen import accepted_labels, explain_answers, is_relaxed
from seesay.runs.figures import CALIBRATED
from seesay.runs.records import Figure
from seesay.runs.run import Run

SCHEMA_VERSION = "0.3.0"
RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
"""What whoever asked a model may be to its makers."""
_INTERVAL = "bootstrap clustered by object; Wilson's interval where all answers are alike"
_COMMIT = re.compile("[0-9a-f]{40}")

log = logging.getLogger(__name__)


def write_records(
    folder: Path, runs: Sequence[Run], organization: str, relationship: str = "other"
) -> list[Path]:
    """Write a record and the answers of each run below `folder`, and return the records.

    `organization` is who asked the models, and `relationship` what they are to the models' makers.
    """
    if not organization.strip():
        raise UserError("Every Eval Ever asks who ran the models: give --by NAME.")
    if relationship not in RELATIONSHIPS:
        raise UserError(
            f"'{relationship}' is no relationship to a model's makers: choose one of "
            f"{', '.join(RELATIONSHIPS)}."
        )
    source = {
        "source_name": "seesay",
        "source_type": "evaluation_run",
        "source_organization_name": organization,
        "evaluator_relationship": relationship,
    }
    paths = []
    for run in runs:
        if run.manifest.family == PEOPLE:
            log.warning("Every Eval Ever has records of models: %s is left out.", run.label)
        else:
            paths.append(_write_record(folder, run, source))
    if not paths:
        raise UserError("There is no run of a model to write: people have no place there.")
    return paths


def _write_record(folder: Path, run: Run, source: dict[str, str]) -> Path:
    """Write one run: its record, and beside it the answers where they are right or wrong."""
    manifest = run.manifest
    # a run that was read from a log has that file in place of a folder
    if run.folder.is_file():
        raise UserError(
            f"{run.folder} is a log of {manifest.family}: Every Eval Ever has converters of its "
            "own for logs. Give runs of seesay."
        )
    developer, model = _model_names(run)
    digest = json_digest(manifest.signature)
    timestamp = int(datetime.fromisoformat(manifest.created).timestamp())
    # the same run has the same name, so that it is there once however often it is written
    content = hashlib.sha256(f"{manifest.signature} {timestamp}".encode()).digest()
    name = str(UUID(bytes=content[:16], version=4))
    place = Path("data", f"seesay-{_component(manifest.task)}", developer, model)
    record: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"seesay.{manifest.task}.{digest}/{developer}/{model}/{timestamp}",
        "evaluation_timestamp": str(timestamp),
        "retrieved_timestamp": str(int(time.time())),
        "source_metadata": source,
        "eval_library": {"name": "seesay", "version": manifest.seesay},
        "model_info": _model_info(run, f"{developer}/{model}"),
        "evaluation_results": [_result(run, figure) for figure in _overall(run)],
    }
    # the metric by which an answer is right or wrong
    metric = "relaxed_accuracy" if is_relaxed(run.task) else accuracy_of(run.task)
    if metric is not None:
        samples = place / f"{name}_samples.jsonl"
        rows = list(_samples(run, metric, record))
        write_json_lines(folder / samples, rows)
        record["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": samples.as_posix(),
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256((folder / samples).read_bytes()).hexdigest(),
            "total_rows": len(rows),
        }
    path = folder / place / f"{name}.json"
    write_json(path, record)
    return path


def _component(text: str) -> str:
    """Return a text as a part of a path, as the datastore allows it."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip(".-") or "unnamed"


def _model_names(run: Run) -> tuple[str, str]:
    """Return who made the model, as far as a Hub id says so, and its name."""
    manifest = run.manifest
    owner, slash, name = manifest.model.partition("/")
    # only a model of the Hub has a commit as its fingerprint
    if slash and _COMMIT.match(manifest.model_fingerprint):
        return _component(owner), _component(name)
    return "unknown", _component(manifest.model)


def _model_info(run: Run, model_id: str) -> dict[str, Any]:
    manifest = run.manifest
    details = {
        # a network whose parameters were counted was loaded by whoever asked it
        "deployment_type": "unknown" if manifest.parameters is None else "self_deployed",
        "model_availability": "unknown",
        "family": manifest.family,
        "fingerprint": manifest.model_fingerprint,
    }
    if manifest.parameters is not None:
        details["parameters"] = str(manifest.parameters)
    return {"name": run.label, "id": model_id, "additional_details": details}


def _overall(run: Run) -> list[Figure]:
    """Return the figures over all templates, of the task or of each of its nested parts."""
    return [
        figure
        for figure in run.figures
        if figure.template is None and figure.slice in run.task.parts
    ]


def _result(run: Run, figure: Figure) -> dict[str, Any]:
    """Return one figure with its metric, its interval and how it was made."""
    manifest = run.manifest
    metric = metrics.get(figure.metric.removeprefix(CALIBRATED))
    config: dict[str, Any] = {
        "metric_id": figure.metric if metric.binary else f"seesay.{figure.metric}",
        "metric_name": metric_name(figure.metric),
        "evaluation_description": f"{run.task.title}. {metric.meaning}",
        "lower_is_better": lower_is_better(figure.metric),
    }
    if metric.binary:
        config |= {"score_type": "continuous", "min_score": 0, "max_score": 1}
    details = {
        "objects": figure.objects,
        "chance": figure.chance,
        "spread": figure.spread,
        "prompts_without_an_answer": count_unanswered(run, figure) or None,
    }
    return {
        "evaluation_result_id": _result_id(run, figure),
        "evaluation_name": _evaluation_name(run, figure),
        "source_data": {
            "dataset_name": manifest.task,
            "source_type": "other",
            "additional_details": {
                "version": manifest.task_version,
                "fingerprint": manifest.task_fingerprint,
                "citation": manifest.citation,
            },
        },
        "metric_config": config,
        "score_details": {
            "score": figure.value,
            "details": {
                "signature": figure.signature,
                **{name: str(value) for name, value in details.items() if value is not None},
            },
            "uncertainty": {
                "confidence_interval": {
                    "lower": figure.low,
                    "upper": figure.high,
                    "confidence_level": 0.95,
                    "method": _INTERVAL,
                },
                "num_samples": figure.n,
                "num_bootstrap_samples": manifest.resamples,
            },
        },
        "generation_config": {
            "generation_args": {"execution_command": manifest.command},
            "additional_details": {
                name: str(value)
                for name, value in manifest.condition.model_dump(mode="json").items()
                if value is not None
            },
        },
    }


def _evaluation_name(run: Run, figure: Figure) -> str:
    """Return the name of the task, with the nested part that a figure is of."""
    part = f".{figure.slice}" if figure.slice else ""
    return f"seesay.{run.manifest.task}{part}"


def _result_id(run: Run, figure: Figure) -> str:
    return f"{_evaluation_name(run, figure)}.{figure.metric}"


def _samples(run: Run, metric: str, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each answer, under the figure to which it contributes."""
    questions = {question.id: question for question in run.task.questions}
    figures = [figure for figure in _overall(run) if figure.metric == metric]
    method = f"{run.manifest.condition.how}: the option of the highest score"
    rows = explain_answers(run.task, run.answers, run.manifest.condition.length)
    for answer, row in zip(run.answers, rows, strict=True):
        question = questions[answer.question]
        reference = accepted_labels(question, relaxed=is_relaxed(run.task))
        raw = row.prompt.question_text
        extracted = {
            "turn_idx": 0,
            "source": "output.raw",
            "extracted_value": row.chosen,
            "extraction_method": method,
            "is_terminal": True,
        }
        for figure in figures:
            if figure.slice and not _is_in(question, figure):
                continue
            yield {
                "schema_version": SCHEMA_VERSION,
                "evaluation_id": record["evaluation_id"],
                "model_id": record["model_info"]["id"],
                "evaluation_name": _evaluation_name(run, figure),
                "evaluation_result_id": _result_id(run, figure),
                "sample_id": f"{answer.question} {answer.template}",
                "sample_hash": _sample_hash(raw, reference),
                "interaction_type": "single_turn",
                "input": {"raw": raw, "reference": reference, "choices": list(answer.options)},
                "output": {"raw": [row.chosen]},
                "answer_attribution": [extracted],
                "evaluation": {"score": row.right, "is_correct": row.right == 1},
                "metadata": {
                    **question.tags,
                    "object": question.object,
                    "template": answer.template,
                    "logp": json.dumps([round(logp, 6) for logp in answer.scores.logp]),
                },
            }


def _is_in(question: Question, figure: Figure) -> bool:
    """Whether a question is in the part that a figure is of."""
    part = figure.slice
    return part is not None and all(question.tags.get(tag) == part[tag] for tag in part.tags)


def _sample_hash(raw: str, reference: Sequence[str]) -> str:
    """Return what the datastore knows a sample by, whoever wrote it."""
    content = {"raw": raw, "reference": list(reference)}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
