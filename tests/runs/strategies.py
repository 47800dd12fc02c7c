"""Scores, answers and tasks of any shape."""

from __future__ import annotations

from hypothesis import strategies as st

from seesay.questions import Answer, BadRow, Provenance, Published, Question, Scores, Task, Template

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
fields = st.dictionaries(names, names, max_size=3)
plain_texts = names.filter(lambda text: not set("[{}") & set(text))
plain_words = st.dictionaries(names, plain_texts, max_size=3)
logps = st.floats(max_value=0, allow_nan=False, allow_infinity=False) | st.just(float("-inf"))


@st.composite
def scores(draw: st.DrawFn, size: int | None = None) -> Scores:
    n = draw(st.integers(1, 4)) if size is None else size
    some = st.lists(st.integers(0, 1000), min_size=n, max_size=n).map(tuple)
    tokens = st.lists(st.integers(1, 1000), min_size=n, max_size=n).map(tuple)
    logp = draw(st.lists(logps, min_size=n, max_size=n))
    return Scores(tuple(logp), draw(tokens), draw(some), draw(some | st.none()))


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    options = tuple(draw(st.lists(names, min_size=1, max_size=4)))
    n = len(options)
    return Answer(draw(names), draw(names), options, draw(scores(n)), draw(scores(n) | st.none()))


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    questions = []
    for name in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        options = tuple(draw(st.lists(names, min_size=1, max_size=4, unique=True)))
        weights = st.floats(0.1, 10)
        gold = draw(st.dictionaries(st.sampled_from(options), weights, min_size=1))
        questions.append(
            Question(
                name,
                draw(fields),
                options,
                gold,
                draw(names),
                draw(fields),
                draw(names | st.none()),
            )
        )
    templates = [
        Template(name, draw(plain_texts) + "[MASK].", draw(plain_words))
        for name in draw(st.lists(names, min_size=1, max_size=3, unique=True))
    ]
    return Task(
        draw(names),
        draw(names),
        draw(names),
        tuple(templates),
        tuple(questions),
        tuple(draw(st.lists(names, max_size=2))),
        draw(fields),
        tuple(
            draw(st.lists(st.builds(Published, names, names, st.floats(0, 1), names), max_size=2))
        ),
        provenance=Provenance(
            bad_rows=tuple(draw(st.lists(st.builds(BadRow, st.integers(0, 9), names), max_size=2))),
            citation=draw(names),
        ),
    )
