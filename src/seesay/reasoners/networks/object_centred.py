"""The reasoner that generalises: who is meant, whom it is compared with, where the line is, and on which side of it.

The sentence's grammar says which word has which role: those before "is" describe the target, the first word after it
(articles aside) is the adjective, the rest describe what the target is compared with. What the words mean is learnt
from the answers, and from which sentence goes with which picture: every describing word finds its objects by their
colour and outline; every adjective has a direction, and draws its line between the smallest and the largest of the
set. No word's meaning depends on another word, so that "big" means the same with a noun it was never seen with.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import softplus

from seesay.reasoners.config import Shape
from seesay.reasoners.features.objects import LOOK
from seesay.reasoners.vocabulary import SPECIAL, Words

VERB = "is"
EMPTY = ("a", "an", "the", "than")
"""Words that have a place in the grammar and nothing to say of an object."""
_SHARP = 40.0  # how much more the largest counts than one a little smaller
_ABSENT = -1e4


class ObjectCentred(nn.Module):
    """Slots (items, objects, numbers) and words (items, words) to answers, which are no and yes."""

    says: torch.Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.look = nn.Linear(LOOK, shape.width)
        self.describe = nn.Embedding(len(shape.words), 2 * shape.width)
        self.direction = nn.Embedding(len(shape.words), 1)
        self.adjective = nn.Embedding(len(shape.words), shape.embedding)
        self.line = nn.Sequential(
            nn.Linear(shape.embedding + 2, shape.hidden), nn.ReLU(), nn.Linear(shape.hidden, 2),
        )  # fmt: skip
        nn.init.normal_(self.describe.weight, std=0.3)
        nn.init.normal_(self.direction.weight, std=0.1)
        self.yes = shape.answers.index("yes")
        self.verb = shape.words.numbers.get(VERB, -1)
        self.register_buffer("says", torch.tensor(_says_something(shape.words)), persistent=False)

    def forward(self, slots: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        target, among, adjective = self.attend(slots, words)
        area = slots[:, :, 1] / slots[:, :, 1].amax(1, keepdim=True).clamp(min=1e-6)
        size = (target.exp() * area).sum(1)
        largest = (torch.softmax(_SHARP * area + among, 1) * area).sum(1)
        smallest = (torch.softmax(_SHARP * -area + among, 1) * area).sum(1)
        spread = largest - smallest
        inside = among.exp()
        middle = ((inside * area).sum(1) / inside.sum(1).clamp(min=1e-6) - smallest) / (spread + 1e-3)
        about = torch.stack((inside.sum(1) / 5, middle), 1)
        said = (adjective[:, :, None] * self.adjective(words)).sum(1)
        k, sharp = self.line(torch.cat((said, about), 1)).unbind(1)
        line = largest - (1.2 * torch.sigmoid(k) - 0.1) * spread  # a little beyond the extremes, for superlatives
        side = (adjective * self.direction(words)[:, :, 0]).sum(1)
        yes = 10 * side * softplus(sharp) * (size - line) / (spread + 0.05)  # in shares of the set's range
        found = torch.stack((-yes, yes), 1) / 2
        return found if self.yes == 1 else found.flip(1)

    def attend(self, slots: torch.Tensor, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Who is meant (log-probabilities over objects), who is in its set (each by itself), which word compares."""
        targets, adjective, references = self.roles(words)
        fits = self.fits(slots, words)
        absent = (1 - slots[:, :, 0]) * _ABSENT
        target = torch.log_softmax((fits * targets[:, :, None]).sum(1) + absent, 1)
        return target, (fits * references[:, :, None]).sum(1) + absent, adjective.float()

    def beside(self, slots: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """How badly the sentences tell their own pictures from the others of the batch, by the target alone.

        Who says "the red square is …" presupposes that there is one. So a sentence's target should be found in its own
        picture rather than in another's: nothing but pictures and sentences is needed to learn that, and it keeps a
        word from meaning everything but what it says, with which the answers alone would be content.
        """
        typical, strict = self.meaning(words)
        strict = strict * self.roles(words)[0][:, :, None]
        looks = self.look(slots[:, :, -LOOK:])
        # The distance of `fits`, summed over the words and multiplied out: one product for all pairs.
        away = strict.sum(1) @ (looks**2).flatten(0, 1).T - 2 * (strict * typical).sum(1) @ looks.flatten(0, 1).T
        away = away.view(len(words), *slots.shape[:2]) - (1 - slots[:, :, 0]) * _ABSENT
        own = (-away).logsumexp(2)  # what does not depend on the picture falls out of the comparison
        return torch.nn.functional.cross_entropy(own, torch.arange(len(words), device=words.device))

    def roles(self, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Which words describe the target, compare, describe the reference set."""
        after = (words == self.verb).cumsum(1) > 0
        says = self.says[words]
        place = (says & after).cumsum(1)
        return says & ~after, says & after & (place == 1), says & after & (place > 1)

    def fits(self, slots: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """How well every word fits every object (items, words, objects), as the logarithm of a number from 0 to 1.

        A word has a typical look, and how strict it is about each of the look's traits.
        """
        typical, strict = self.meaning(words)
        looks: torch.Tensor = self.look(slots[:, :, -LOOK:])
        away = (looks[:, None] - typical[:, :, None]) ** 2
        return -(away @ strict[:, :, :, None])[..., 0]

    def meaning(self, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Every word's typical look, and how strict it is about each trait of it."""
        typical, strict = self.describe(words).chunk(2, -1)
        return typical, softplus(strict)


def _says_something(words: Words) -> list[bool]:
    return [False] * len(SPECIAL) + [word not in (VERB, *EMPTY) for word in words.words]
