"""Human studies: a web page that asks people a task's questions, and a run of their answers.

In that run people stand beside models. A study (`study`, `study_builder`) is what is asked.
`storage` keeps it with its participants and their answers, in SQLite or PostgreSQL; `assignment`,
`answers` and `participants` change them; `web` serves the pages; `results` turns the answers into
tables, agreement coefficients and a run.
"""

from enum import StrEnum


class SliderStart(StrEnum):
    """The position of a slider before it is moved."""

    # Here, because the command line needs it at every start, before anything heavy is imported.
    MIDDLE = "middle"
    RANDOM = "random"


class OptionOrder(StrEnum):
    """The order in which a participant sees the options of an item."""

    AUTO = "auto"
    """Shuffled, but for numbers and for yes and no."""
    SHUFFLED = "shuffled"
    AS_GIVEN = "as-given"
