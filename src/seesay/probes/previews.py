"""A question as each kind of model would see it."""

from __future__ import annotations

from pathlib import Path

from seesay.braces import fill
from seesay.models.multiple_choice import lettered, question, with_options
from seesay.questions import Question, Task


def previews(
    task: Task,
    example: Question,
) -> list[tuple[str, str]]:
    """Return the kinds of models and conditions, each with the text it gets."""
    prompt = task.templates[0].ask(example)
    choice_templates = task.choice_templates or task.templates
    choice = choice_templates[0].ask(example)
    # a causal model is asked for the option's words after the text before the slot
    before, after = prompt.parts
    gold_word = prompt.options[example.options.index(example.best_label)]
    texts = {
        "masked": prompt.text,
        "causal": f"{before}⟨{gold_word}⟩{after}",
        "encoder-decoder": with_options(prompt.text, prompt.options),
        "choice": f"{question(choice.text)} {lettered(choice.options)} "
        f"{choice.instructions.answer}",
    }
    if task.qa_templates:
        texts["qa"] = task.qa_templates[0].ask(example).parts[0].strip()
    linear_text = task.training.linear_text
    if linear_text:
        texts["linear probe"] = fill(linear_text, example.fields)
    if example.picture is None:
        return list(texts.items())
    picture = Path(example.picture).name
    return [("picture", picture), *texts.items()]
