"""ViPhy's tables of words: prompts, colour words, categories, subtypes."""

from __future__ import annotations

from collections import Counter

from markupsafe import Markup

from seesay.data import viphy
from seesay.data.knowledge import COLORS, SubtypeFact
from seesay.papers.material import Material
from seesay.papers.paper import Rendered
from seesay.papers.published import published_tables
from seesay.papers.viphy import source
from seesay.papers.viphy.method import from_mining
from seesay.registry import load_address
from seesay.reports.gold_analyses import category_agreement, even_steps
from seesay.reports.pages.sections import DataTable
from seesay.tasks.categories import CATEGORIES, ENCODER, assign
from seesay.tasks.template_files import read_template_file

PUBLISHED = published_tables("viphy")
SAMPLE = 3_000
"""Names whose category is found for the page; `seesay tasks viphy-color --page FILE --categories
minilm` takes all."""
TASKS = {"Color": "viphy-color", "Size": "viphy-size", "Spatial": "viphy-space"}


def prompts(material: Material) -> Rendered:
    """Table 2: the prompts as printed, and those that our tasks ask."""
    body = []
    for name, (printed,) in PUBLISHED["Table 2"].rows.items():
        group, setting = name.split(": ")
        fields = read_template_file(TASKS[group])
        # a probe encodes one text, the others are asked in several templates
        if setting == "FT":
            ours = [fields["training"].linear_text]
        else:
            templates = fields["templates"] if setting == "ZS" else fields["choice_templates"]
            ours = [template.text for template in templates]
        body.append([name, printed, "; ".join(dict.fromkeys(ours))])
    text = (
        "ZS is asked without training, FT is what a probe encodes, QA is asked with lettered "
        "options. The names in braces are filled in; `[MASK]` is where the options stand, [CLS] is "
        "the tokenizer's. The size prompts of the authors' code have an article more than "
        "print: without training both are asked, the probe encodes that of the code."
    )
    table = DataTable(["task and setting", "published", "ours"], body)
    return Rendered(text, [table], has_published=True)


def color_words(material: Material) -> Rendered:
    """Table 7: the words that stand for a basic colour, as printed and as mining reads them."""
    words = from_mining(lambda: load_address("seesay.mining.colors:WORDS"))
    # mining has the colours of each word, print the words of each colour
    by_color: dict[str, list[str]] = {color: [] for color in COLORS}
    for word, colors in words.items():
        for color in colors:
            if word != color:
                by_color[color].append(word)
    body = []
    for name, (printed,) in PUBLISHED["Table 7"].rows.items():
        ours = by_color.pop(name.lower())
        printed_words = set(printed.split(", "))
        more = ", ".join(word for word in ours if word not in printed_words)
        missing = ", ".join(sorted(printed_words - {*ours}))
        body.append([name, printed, ", ".join(ours), more, missing])
    text = (
        "Ours is what `seesay mine` reads in a model's answer; words count, where the published "
        'code finds parts of words ("red" in "colored"). The last two columns are what ours has '
        "more and less than print."
    )
    header = ["basic colour", "published", "ours", "more", "less"]
    return Rendered(text, [DataTable(header, body)], has_published=True)


def categories(material: Material) -> Rendered:
    """Table 8: the texts of the categories, and how far our encoder agrees with the published
    assignment by these and by the texts of the authors' script."""
    from seesay.models.encoders import load_encoder
    from seesay.probes.vector_cache import VectorCache

    published, _ = viphy.categories(source.require(material, viphy.CATEGORIES))
    # a list says that it can be shown, for which no encoder is fetched
    if material.brief:
        return Rendered()
    # at even steps, the sample is the same every time and spread over the whole file
    names = even_steps(list(published), SAMPLE)
    vectors = VectorCache(load_encoder(ENCODER))
    with material.progress(f"{ENCODER}: names of things", "texts") as advance:
        vectors.rows(names, advance)
    printed = {}
    for name, (objects,) in PUBLISHED["Table 8"].rows.items():
        # the published assignment has two of the names in full
        full_name = next(category for category in CATEGORIES if category.startswith(name))
        printed[full_name] = objects.split(", ")
    by_text = {"the printed texts": printed, "the longer texts of its script": CATEGORIES}
    sentences = []
    charts: list[Markup] = []
    for which, texts in by_text.items():
        assigned = assign(names, vectors.rows, texts)
        analysis = category_agreement("viphy-color", assigned, published, ENCODER)
        sentences.append(f"By {which}: {analysis.text}")
        # one picture of two that look alike
        charts = charts or list(analysis.charts)
    text = (
        f"{' '.join(sentences)} The published assignment (extra/obj2cat.json) was made with those "
        f"of the script and another encoder. These are {len(names):,} of the {len(published):,} "
        "names, at even steps."
    )
    return Rendered(text, charts=charts)


def subtypes(material: Material) -> Rendered:
    """Table 9: the printed examples of subtypes by context, with their counts in the published
    map."""
    counts: Counter[str] = Counter()
    parents = {}
    for fact in source.rows(material, SubtypeFact):
        if fact.subtype != fact.object:
            counts[fact.subtype] = fact.count
            parents[fact.subtype] = fact.object
    body = []
    for context, (printed,) in PUBLISHED["Table 9"].rows.items():
        for name in printed.split(", "):
            body.append([context, name, parents.get(name), counts[name] or None])
    text = (
        "The printed examples in the published map of subtypes (data/object_subtypes_o100_s10.json)"
        ": the name that each is a subtype of, and how often captions have it. An example without "
        "a count is not in the map, whose subtypes are seen ten times or more."
    )
    header = ["context", "published example", "a subtype of", "in captions"]
    return Rendered(text, [DataTable(header, body)], has_published=True)
