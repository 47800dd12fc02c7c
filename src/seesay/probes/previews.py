"""A question as each kind of model would see it."""

from __future__ import annotations

from pathlib import Path

from seesay.models.multiple_choice import lettered, question, with_options
from seesay.questions import Question, Task


def previews(task: Task, example: Question) -> list[tuple[str, str]]:
    """The kinds of models and ways of asking, each with the text it gets."""
    prompt = task.templates[0].ask(example)
    before, after = prompt.parts
    word = prompt.options[example.options.index(example.best_label)]
    choice = (task.choice_templates or task.templates)[0].ask(example)
    if example.picture is None:
        shown = []
    else:
        shown = [("picture", Path(example.picture).name)]
    shown += [
        ("masked", prompt.text),
        ("causal", f"{before}⟨{word}⟩{after}"),
        ("encoder-decoder", with_options(prompt.text, prompt.options)),
        ("choice", f"{question(choice.text)} {lettered(choice.options)} Answer:"),
    ]
    if task.linear_text:
        shown.append(("linear probe", task.linear_text.format_map(dict(example.fields))))
    return shown
