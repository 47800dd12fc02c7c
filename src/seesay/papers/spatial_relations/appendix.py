"""The appendix: two pictures with the descriptions that are used, and the question that people
were asked."""

from __future__ import annotations

import base64
import io
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from seesay.data.json_stream import BrokenFileError, entries
from seesay.data.pictures import open_rgb
from seesay.errors import UserError
from seesay.files import write_csv
from seesay.language.relations.inventory import NEIGHBOURS
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status
from seesay.papers.published import published_tables
from seesay.reports.charts.kernel import (
    WIDTH,
    chart,
    element,
    group,
    horizontal_line,
    series_class,
    text,
)
from seesay.reports.pages.sections import DataTable

if TYPE_CHECKING:
    from PIL.Image import Image

REGIONS = "region_descriptions.json"
PICTURE_FOLDERS = ("", "images", "VG_100K", "VG_100K_2")
"""Where Visual Genome's pictures are, as they are distributed."""
_SIDES = ("x", "y", "width", "height")
LINE = 18.0
ROW = 74.0


@dataclass(frozen=True)
class DescribedRegion:
    """A part of a picture, and what somebody wrote of it."""

    id: str
    box: tuple[int, int, int, int] | None
    """Left, top, width and height, in pixels; None where the region is not known."""
    phrase: str

    @property
    def where(self) -> str:
        """The box in words."""
        if self.box is None:
            return "–"
        left, top, width, height = self.box
        return f"{width} x {height} at {left}, {top}"


def described_pictures(material: Material) -> Rendered:
    """Appendix B, Figures 1 and 2: pictures, their ids and the descriptions used; with Visual
    Genome's file of regions, what each describes."""
    printed = published_tables("spatial_relations")["Appendix B"].rows
    folder = material.data_of("visual-genome")
    pictures = {}
    if folder is not None:
        for picture_id in printed:
            pictures[picture_id] = find_picture(folder, picture_id)
    if folder is None or not any(pictures.values()):
        names = " and ".join(f"{picture_id}.jpg" for picture_id in printed)
        raise UserError(
            f"The pictures are not at hand: give a folder with --data that has {names} in "
            "visual-genome."
        )
    regions: dict[str, list[DescribedRegion]] = {}
    path = folder / REGIONS
    if path.is_file():
        regions = material.once("regions", lambda: read_regions(path, printed))
    charts = []
    body: list[list[str]] = []
    missing = []
    for number, (picture_id, phrases) in enumerate(printed.items(), 1):
        descriptions = _descriptions(regions.get(picture_id, []), phrases)
        for description in descriptions:
            body.append([picture_id, description.phrase, description.id or "–", description.where])
            if regions and description.box is None:
                missing.append(f"the description “{description.phrase}”")
        picture = pictures[picture_id]
        if picture is None:
            missing.append(f"the picture {picture_id}.jpg")
            continue
        title = f"Figure {number}: image_id = {picture_id}"
        charts.append(picture_chart(picture, descriptions, title))
    about = "The pictures that the examples of Table 1 are from, with the descriptions used"
    tables = []
    if regions:
        about += " and the regions that they describe."
        tables.append(DataTable(["image_id", "description", "region", "its box, in pixels"], body))
    else:
        about += f"; which regions they describe is in Visual Genome's {REGIONS}, not at hand."
    note = f" Not at hand: {', '.join(missing)}." if missing else ""
    return Rendered(about + note, tables, charts, status=Status.of(not missing))


def read_regions(path: Path, pictures: Mapping[str, object]) -> dict[str, list[DescribedRegion]]:
    """Read the regions of some pictures from Visual Genome's file, which has over a gigabyte."""
    regions: dict[str, list[DescribedRegion]] = {}
    try:
        for _, entry in entries(path):
            picture_id = _picture_id(entry)
            if picture_id not in pictures:
                continue
            regions[picture_id] = _parse_regions(entry)
            # the other hundred thousand pictures are of no use
            if len(regions) == len(pictures):
                break
    except BrokenFileError as error:
        raise UserError(f"'{path}' cannot be read: {error}.") from error
    return regions


def _picture_id(entry: Any) -> str:
    """Return the id of an entry's picture, which has another name in some editions."""
    if not isinstance(entry, dict):
        return ""
    return str(entry.get("id", entry.get("image_id", "")))


def _parse_regions(entry: Mapping[str, Any]) -> list[DescribedRegion]:
    """Return the regions of an entry; what is none is left out."""
    rows = entry.get("regions")
    regions = []
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict) or not isinstance(row.get("phrase"), str):
            continue
        sides = [side for side in map(row.get, _SIDES) if isinstance(side, int)]
        if len(sides) == len(_SIDES):
            left, top, width, height = sides
            box = (left, top, width, height)
            regions.append(
                DescribedRegion(str(row.get("region_id", "")), box, row["phrase"].strip())
            )
    return regions


def _descriptions(
    regions: Sequence[DescribedRegion], phrases: Sequence[str]
) -> list[DescribedRegion]:
    """Return the region of each phrase, whatever its capitals; one without a box where there is
    none."""
    by_phrase: dict[str, DescribedRegion] = {}
    for region in regions:
        by_phrase.setdefault(region.phrase.lower(), region)
    return [by_phrase.get(phrase, DescribedRegion("", None, phrase)) for phrase in phrases]


def find_picture(folder: Path, picture_id: str) -> Path | None:
    """Return a picture's file, if there is one."""
    for name in PICTURE_FOLDERS:
        path = folder / name / f"{picture_id}.jpg"
        if path.is_file():
            return path
    return None


def picture_chart(path: Path, regions: Sequence[DescribedRegion], title: str) -> Markup:
    """Draw a picture with a frame around each region, and the descriptions below it."""
    image = open_rgb(path)
    scale = WIDTH / image.width
    height = image.height * scale
    # a page is read at twice this width at most
    image.thumbnail((int(2 * WIDTH), int(2 * height)))
    parts = [
        element(
            "image",
            href=_jpeg_address(image),
            x=0,
            y=0,
            width=WIDTH,
            height=height,
        )
    ]
    for number, region in enumerate(regions):
        marks = [
            element(
                "rect",
                x=0,
                y=height + 8 + LINE * number,
                width=10,
                height=10,
                class_="fill",
            )
        ]
        if region.box is not None:
            left, top, width, deep = (side * scale for side in region.box)
            frame = element(
                "rect",
                x=left,
                y=top,
                width=width,
                height=deep,
                fill="none",
                stroke="currentColor",
                stroke_width="3",
            )
            marks.append(frame)
        parts.append(group(marks, series_class(number)))
        parts.append(text(16, height + 17 + LINE * number, region.phrase, "", WIDTH - 16))
    return chart("described", WIDTH, height + 14 + LINE * len(regions), title, parts)


def _jpeg_address(image: Image) -> str:
    """Return a photograph as a data address."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=80)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def question_layout(material: Material) -> Rendered:
    """Appendix D, Figure 4: how the question is presented, from the page of `seesay judge`."""
    try:
        from seesay.judge.commands.options import require_extra
        from seesay.judge.items import SLIDER_MAX, RatingItem
        from seesay.judge.study import StudyDesign
        from seesay.judge.study_builder import study_from_pairs
        from seesay.judge.web.languages import LocalTexts
        from seesay.judge.web.pages import sample_page
    except ModuleNotFoundError as error:
        raise UserError("The judge, whose page this is, is not installed here.") from error
    require_extra()
    # a study of pairs is made of a file, as `seesay judge` makes it
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "relations.csv"
        pairs = [{"a": a, "b": b} for a, b in NEIGHBOURS]
        write_csv(path, ("a", "b"), pairs)
        study = study_from_pairs(path, StudyDesign(per_page=4))
    texts = LocalTexts(study)
    parts = []
    page = sample_page(study)
    controls = []
    for number, page_item in enumerate(page):
        # a study of pairs has items of this kind alone
        assert isinstance(page_item.item, RatingItem)
        words = " · ".join(page_item.item.words)
        if page_item.item.control:
            controls.append(words)
        start = (page_item.start or 0) / SLIDER_MAX
        parts += _slider(words, (texts.low, texts.high), start, ROW * number)
    drawing = chart("sliders", WIDTH, ROW * len(page), texts.title, parts)
    sentence = (
        "The first page of a study of such pairs, as `seesay judge preview` shows it: pairs down "
        "the page in random order, each with a slider between dissimilar and similar that can be "
        f"put anywhere. Controls among them: {', '.join(controls)}; `seesay judge export` leaves "
        "a person out with all judgements by the rule above. The authors' page has one pair at a "
        "time (`--per-page 1`), its two words one above the other, and a slider that starts in the "
        "middle, as ours does."
    )
    return Rendered(sentence, charts=[drawing])


def _slider(words: str, ends: tuple[str, str], start: float, top: float) -> list[Markup]:
    """Draw a pair of words above a slider at its initial position, from 0 to 1."""
    left = 84.0
    right = WIDTH - 60.0
    middle = top + 46
    low, high = ends
    knob = element(
        "circle",
        cx=left + (right - left) * start,
        cy=middle,
        r=8,
        class_="fill",
    )
    return [
        text(WIDTH / 2, top + 22, words, "middle"),
        horizontal_line(left, right, middle, "base"),
        group([knob], series_class(0)),
        text(left - 12, middle + 4, low, "note end"),
        text(right + 12, middle + 4, high, "note"),
    ]
