"""The reasoner that generalises: which object is meant, which it is compared with, and on which
side of the threshold.

The sentence's grammar gives every word its role: those before "is" describe the target, the first
word after it (articles aside) is the adjective, the rest describe the reference set. The meaning of
the words is learnt from the answers, and from which sentence goes with which picture: every
describing word picks out objects by their colour and outline; every adjective has a direction, and
sets its threshold between the smallest and the largest of the reference set. No word's meaning
depends on another word, so that "big" means the same with a noun it was never seen with.

Settings change what it is given, to see what that is worth: `measures_learnt` (whether an adjective
is about the area, the height, the width or the brightness; otherwise, the area), `roles_learnt`
(roles from word order instead of the grammar) and `presupposition` (the weight of what a sentence
presupposes; 0: the answers alone).
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import softplus

from seesay.scenes.reasoners.attention_maps import AttentionMap
from seesay.scenes.reasoners.config import NetworkConfig
from seesay.scenes.reasoners.features.objects import APPEARANCE
from seesay.scenes.reasoners.networks.base import ReasonerNetwork
from seesay.scenes.reasoners.vocabulary import NULL, SPECIAL, SentenceVocabulary

VERB = "is"
FUNCTION_WORDS = ("a", "an", "the", "than")
"""Words that belong to the grammar and describe no object."""
MEASURES = ("area", "height", "width", "brightness")
"""What an adjective may be about, each as a share of the scene's largest."""
_LONGEST = 16  # words whose place in the sentence is told apart, where roles are learnt
_SHARP = 40.0  # the inverse temperature of the soft maximum over the objects' measures
_ABSENT = -1e4  # the logit of an empty slot


class ObjectCentred(ReasonerNetwork):
    """Slots of objects (items, objects, numbers) and word ids (items, words) to the answers no and
    yes."""

    takes_objects = True
    answers = frozenset(("no", "yes"))
    has_regularisation = False
    says: torch.Tensor

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(config)
        words = len(config.vocabulary)
        self.look = nn.Linear(APPEARANCE, config.width)
        self.describe = nn.Embedding(words, 2 * config.width)
        self.direction = nn.Embedding(words, 1)
        self.adjective = nn.Embedding(words, config.embedding)
        self.line = nn.Sequential(
            nn.Linear(config.embedding + 2, config.hidden), nn.ReLU(), nn.Linear(config.hidden, 2)
        )
        nn.init.normal_(self.describe.weight, std=0.3)
        nn.init.normal_(self.direction.weight, std=0.1)
        self.presupposition = config.presupposition
        self.measure = nn.Embedding(words, len(MEASURES)) if config.measures_learnt else None
        # the target, the adjective, the reference set, or none of them
        self.word_roles = nn.Embedding(words, 4) if config.roles_learnt else None
        self.place_roles = nn.Embedding(_LONGEST, 4) if config.roles_learnt else None
        self.yes = config.answers.index("yes")
        self.verb = config.vocabulary.ids.get(VERB, -1)
        self.register_buffer("says", torch.tensor(_is_content(config.vocabulary)), persistent=False)

    def forward(self, slots: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        slots = _occupied(slots)
        target, members, adjective = self.attend(slots, words)
        sizes = self.sizes(slots, words, adjective)
        size = (target.exp() * sizes).sum(1)
        largest = (torch.softmax(_SHARP * sizes + members, 1) * sizes).sum(1)
        smallest = (torch.softmax(_SHARP * -sizes + members, 1) * sizes).sum(1)
        spread = largest - smallest
        membership = members.exp()
        mean = ((membership * sizes).sum(1) / membership.sum(1).clamp(min=1e-6) - smallest) / (
            spread + 1e-3
        )
        statistics = torch.stack((membership.sum(1) / 5, mean), 1)
        embedded = (adjective[:, :, None] * self.adjective(words)).sum(1)
        k, sharpness = self.line(torch.cat((embedded, statistics), 1)).unbind(1)
        # reaches beyond both ends, for superlatives
        threshold = largest - (1.2 * torch.sigmoid(k) - 0.1) * spread
        direction = (adjective * self.direction(words)[:, :, 0]).sum(1)
        # in shares of the range
        yes = 10 * direction * softplus(sharpness) * (size - threshold) / (spread + 0.05)
        logits = torch.stack((-yes, yes), 1) / 2
        return logits if self.yes == 1 else logits.flip(1)

    def sizes(
        self, slots: torch.Tensor, words: torch.Tensor, adjective: torch.Tensor
    ) -> torch.Tensor:
        """The objects' sizes by the adjective's measure (items, objects)."""
        measures = _measures(slots)
        if self.measure is None:
            return measures[:, :, 0]
        choice = torch.softmax((adjective[:, :, None] * self.measure(words)).sum(1), 1)
        return (measures * choice[:, None]).sum(2)

    def attend(
        self, slots: torch.Tensor, words: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The target (log-probabilities over objects), the reference set (a log-membership per
        object), and which word is the adjective."""
        targets, adjective, references = self.roles(words)
        fits = self.fits(slots, words)
        absent = (1 - slots[:, :, 0]) * _ABSENT
        target = torch.log_softmax((fits * targets[:, :, None]).sum(1) + absent, 1)
        return target, (fits * references[:, :, None]).sum(1) + absent, adjective.float()

    def attention_maps(
        self, slots: torch.Tensor, words: torch.Tensor
    ) -> list[tuple[AttentionMap, ...]]:
        """The probability that each object is the target, and its membership in the reference
        set."""
        target, members, _ = self.attend(slots, words)
        arrays = (slots.double(), target.exp().double(), members.exp().double())
        return [
            _boxes(*item) for item in zip(*(array.cpu().numpy() for array in arrays), strict=True)
        ]

    def auxiliary_loss(self, slots: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """Contrastive: how badly the sentences tell their own pictures from the others of the
        batch, by the target.

        "The red square is …" presupposes that there is one. So a sentence's target should be found
        in its own picture rather than in another's. This needs only pictures and sentences, and it
        keeps a word from meaning everything but what it says, which the answers alone would allow.
        """
        slots, (typical, strictness) = _occupied(slots), self.meaning(words)
        strictness = strictness * self.roles(words)[0][:, :, None]
        appearance = self.look(slots[:, :, -APPEARANCE:])
        # The distance of `fits`, summed over the words and multiplied out: one product for all
        # pairs.
        distance = (
            strictness.sum(1) @ (appearance**2).flatten(0, 1).T
            - 2 * (strictness * typical).sum(1) @ appearance.flatten(0, 1).T
        )
        distance = distance.view(len(words), *slots.shape[:2]) - (1 - slots[:, :, 0]) * _ABSENT
        logits = (-distance).logsumexp(2)  # what does not depend on the picture cancels out
        own = torch.arange(len(words), device=words.device)
        loss: torch.Tensor = self.presupposition * torch.nn.functional.cross_entropy(logits, own)
        return loss

    def roles(self, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Masks of the words that describe the target, are the adjective, describe the reference
        set; where roles are learnt, probabilities."""
        if self.word_roles is not None and self.place_roles is not None:
            places = torch.arange(words.shape[1], device=words.device).clamp(max=_LONGEST - 1)
            roles = (
                torch.softmax(self.word_roles(words) + self.place_roles(places), 2)
                * (words != NULL)[:, :, None]
            )
            return roles[:, :, 0], roles[:, :, 1], roles[:, :, 2]
        after = (words == self.verb).cumsum(1) > 0
        content = self.says[words]
        position = (content & after).cumsum(1)
        return content & ~after, content & after & (position == 1), content & after & (position > 1)

    def fits(self, slots: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """How well every word fits every object (items, words, objects), as the logarithm of a
        number from 0 to 1.

        A word has a typical appearance, and a strictness about each of its dimensions.
        """
        typical, strictness = self.meaning(words)
        appearance: torch.Tensor = self.look(slots[:, :, -APPEARANCE:])
        distance = (appearance[:, None] - typical[:, :, None]) ** 2
        return -(distance @ strictness[:, :, :, None])[..., 0]

    def meaning(self, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Every word's typical appearance, and its strictness about each dimension of it."""
        typical, strictness = self.describe(words).chunk(2, -1)
        return typical, softplus(strictness)


def _occupied(slots: torch.Tensor) -> torch.Tensor:
    """The slots up to the last one that holds an object in some item: most pictures have far fewer
    than there are."""
    occupied = slots[:, :, 0].amax(0).nonzero()
    if len(occupied):
        return slots[:, : int(occupied[-1]) + 1]
    return slots[:, :1]


def _measures(slots: torch.Tensor) -> torch.Tensor:
    """The measures of every object (items, objects, measures)."""
    top, left, bottom, right = slots[:, :, 2:6].unbind(2)
    brightness = slots[:, :, -APPEARANCE:][:, :, :3].amax(2)
    measures = torch.stack((slots[:, :, 1], bottom - top, right - left, brightness), 2)
    return measures / measures.amax(1, keepdim=True).clamp(min=1e-6)


def _boxes(
    slots: NDArray[np.float64], target: NDArray[np.float64], members: NDArray[np.float64]
) -> tuple[AttentionMap, ...]:
    """The boxes of the objects, weighted by target and reference set.

    Only the ratios of memberships matter to the network, so the highest is shown as 1.
    """
    present = slots[:, 0] > 0
    boxes = slots[present, 2:6]
    return (
        AttentionMap("target", target[present], boxes),
        AttentionMap("reference set", members[present] / max(members.max(), 1e-30), boxes),
    )


def _is_content(vocabulary: SentenceVocabulary) -> list[bool]:
    return [False] * len(SPECIAL) + [
        word not in (VERB, *FUNCTION_WORDS) for word in vocabulary.words
    ]
