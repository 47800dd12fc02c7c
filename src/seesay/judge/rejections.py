"""Why a request or an answer is not accepted, in words for the one who sent it."""

from __future__ import annotations


class RequestRejectedError(Exception):
    """A request that cannot be accepted, with the HTTP status and the message for the sender.

    The message is translated when it is shown; `values` fill its placeholders.
    """

    def __init__(self, status: int, message: str, **values: object) -> None:
        self.status = status
        self.message_id = message
        self.values = values
        # Without values a percent sign stands for itself.
        self.message = message % values if values else message
        super().__init__(self.message)


class InvalidAnswerError(RequestRejectedError):
    """An answer that an item does not allow."""

    def __init__(self, message: str, **values: object) -> None:
        super().__init__(422, message, **values)


class MistakenAnswerError(InvalidAnswerError):
    """An answer that a participant may give by mistake.

    They read what is wrong with it, and the other answers of their page are stored.
    """
