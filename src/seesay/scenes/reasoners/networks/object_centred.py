"""The reasoner that generalises: which object is meant, what it is compared with, on which side.

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
_LONGEST = 16  # words that have a place of their own in the sentence, where roles are learnt
_SHARP = 40.0  # the inverse temperature of the soft maximum over the objects' measures
_ABSENT = -1e4  # the logit of an empty slot
_LEAST_SHARPNESS = 0.5
"""The floor of an answer's sharpness.

Directions begin with a random sign. Where it is wrong, gradients lower the sharpness faster than
they turn the direction, and both are multiplied: at 0 neither has a gradient, and every answer is a
coin toss (a loss of ln 2) for the rest of the training.
"""


class ObjectCentred(ReasonerNetwork):
    """From slots of objects (items, objects, numbers) and word ids (items, words) to no and yes."""

    takes_objects = True
    answers = frozenset(("no", "yes"))
    has_regularisation = False
    is_content: torch.Tensor
    is_suffix: torch.Tensor

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(config)
        words = len(config.vocabulary)
        self.look = nn.Linear(APPEARANCE, config.width)
        self.describe = nn.Embedding(words, 2 * config.width)
        self.direction = nn.Embedding(words, 1)
        self.adjective = nn.Embedding(words, config.embedding)
        self.line = nn.Sequential(
            nn.Linear(config.embedding + 2, config.hidden),
            nn.ReLU(),
            nn.Linear(config.hidden, 2),
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
        content = torch.tensor(_is_content(config.vocabulary))
        self.register_buffer("is_content", content, persistent=False)
        suffix = torch.tensor(_is_suffix(config.vocabulary))
        self.register_buffer("is_suffix", suffix, persistent=False)

    def forward(self, slots: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        slots = _occupied(slots)
        target, members, adjective = self.attend(slots, words)
        sizes = self.sizes(slots, words, adjective)
        size = (target.exp() * sizes).sum(1)
        # soft maximum and minimum over the reference set, so that gradients reach the memberships
        largest = (torch.softmax(_SHARP * sizes + members, 1) * sizes).sum(1)
        smallest = (torch.softmax(_SHARP * -sizes + members, 1) * sizes).sum(1)
        spread = largest - smallest
        statistics = _set_statistics(members.exp(), sizes, smallest, spread)
        embedded = (adjective[:, :, None] * self.adjective(words)).sum(1)
        k, sharpness = self.line(torch.cat((embedded, statistics), 1)).unbind(1)
        # T = Max - k (Max - Min), as the data defines it (MALeViC, section 4); k goes from -0.1 to
        # 1.1, beyond both ends, for superlatives
        threshold = largest - (1.2 * torch.sigmoid(k) - 0.1) * spread
        direction = (adjective * self.direction(words)[:, :, 0]).sum(1)
        # The distance from the threshold counts in shares of the range. Without a floor, sharpness
        # may reach 0 while a direction still has the wrong sign; then nothing is learnt any more.
        steepness = 10 * direction * (_LEAST_SHARPNESS + softplus(sharpness))
        yes = steepness * (size - threshold) / (spread + 0.05)
        logits = torch.stack((-yes, yes), 1) / 2
        if self.yes == 1:
            return logits
        return logits.flip(1)

    def sizes(
        self, slots: torch.Tensor, words: torch.Tensor, adjective: torch.Tensor
    ) -> torch.Tensor:
        """Return the objects' sizes by the adjective's measure (items, objects)."""
        measures = _measures(slots)
        if self.measure is None:
            return measures[:, :, 0]
        logits = (adjective[:, :, None] * self.measure(words)).sum(1)
        weights = torch.softmax(logits, 1)
        return (measures * weights[:, None]).sum(2)

    def attend(
        self, slots: torch.Tensor, words: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the target, the reference set, and which word is the adjective.

        The target is given as log-probabilities over objects, the set as a log-membership per
        object.
        """
        targets, adjective, references = self.roles(words)
        fits = self.fits(slots, words)
        absent = (1 - slots[:, :, 0]) * _ABSENT
        target = torch.log_softmax((fits * targets[:, :, None]).sum(1) + absent, 1)
        members = (fits * references[:, :, None]).sum(1) + absent
        return target, members, adjective.float()

    def attention_maps(
        self, slots: torch.Tensor, words: torch.Tensor
    ) -> list[tuple[AttentionMap, ...]]:
        """Return the probability that each object is the target, and its membership in the set."""
        target, members, _ = self.attend(slots, words)
        tensors = (slots.double(), target.exp().double(), members.exp().double())
        arrays = [tensor.cpu().numpy() for tensor in tensors]
        return [_boxes(*item) for item in zip(*arrays, strict=True)]

    def auxiliary_loss(self, slots: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """Return a contrastive loss: how badly targets tell their own pictures from others.

        "The red square is …" presupposes that there is one. So a sentence's target should be found
        in its own picture rather than in another of the batch. This needs only pictures and
        sentences, and it keeps a word from meaning everything but what it says, which the answers
        alone would allow.
        """
        slots = _occupied(slots)
        typical, strictness = self.meaning(words)
        strictness = strictness * self.roles(words)[0][:, :, None]
        appearance = self.look(slots[:, :, -APPEARANCE:])
        # The distance of `fits`, s (a - t)², summed over the words and multiplied out: one product
        # for all pairs. The term s t² does not depend on the picture and cancels out.
        distance = (
            strictness.sum(1) @ (appearance**2).flatten(0, 1).T
            - 2 * (strictness * typical).sum(1) @ appearance.flatten(0, 1).T
        )
        distance = distance.view(len(words), *slots.shape[:2]) - (1 - slots[:, :, 0]) * _ABSENT
        logits = (-distance).logsumexp(2)
        pictures = torch.arange(len(words), device=words.device)
        loss = torch.nn.functional.cross_entropy(logits, pictures)
        return self.presupposition * loss

    def roles(self, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return masks of the words that describe the target, are the adjective, or describe the
        reference set; where roles are learnt, probabilities.
        """
        if self.word_roles is not None and self.place_roles is not None:
            places = torch.arange(words.shape[1], device=words.device).clamp(max=_LONGEST - 1)
            roles = torch.softmax(self.word_roles(words) + self.place_roles(places), 2)
            roles = roles * (words != NULL)[:, :, None]
            return roles[:, :, 0], roles[:, :, 1], roles[:, :, 2]
        after = (words == self.verb).cumsum(1) > 0
        content = self.is_content[words]
        predicate = content & after
        # a suffix is part of the word before it
        position = (predicate & ~self.is_suffix[words]).cumsum(1)
        return content & ~after, predicate & (position == 1), predicate & (position > 1)

    def fits(self, slots: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """Return how well every word fits every object (items, words, objects).

        It is the logarithm of a number from 0 to 1. A word has a typical appearance, and a
        strictness about each of its dimensions.
        """
        typical, strictness = self.meaning(words)
        appearance: torch.Tensor = self.look(slots[:, :, -APPEARANCE:])
        distance = (appearance[:, None] - typical[:, :, None]) ** 2
        return -(distance @ strictness[:, :, :, None])[..., 0]

    def meaning(self, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return every word's typical appearance, and its strictness about each dimension of it."""
        typical, strictness = self.describe(words).chunk(2, -1)
        return typical, softplus(strictness)


def _set_statistics(
    membership: torch.Tensor,
    sizes: torch.Tensor,
    smallest: torch.Tensor,
    spread: torch.Tensor,
) -> torch.Tensor:
    """Return how large the reference set is, and where in its range the mean lies (items, 2)."""
    mean = (membership * sizes).sum(1) / membership.sum(1).clamp(min=1e-6)
    position = (mean - smallest) / (spread + 1e-3)
    return torch.stack((membership.sum(1) / 5, position), 1)


def _occupied(slots: torch.Tensor) -> torch.Tensor:
    """Return the slots up to the last one that holds an object in some item.

    Most pictures have far fewer objects than there are slots.
    """
    occupied = slots[:, :, 0].amax(0).nonzero()
    if len(occupied):
        return slots[:, : int(occupied[-1]) + 1]
    return slots[:, :1]


def _measures(slots: torch.Tensor) -> torch.Tensor:
    """Return the measures of every object (items, objects, measures)."""
    area = slots[:, :, 1]
    top, left, bottom, right = slots[:, :, 2:6].unbind(2)
    appearance = slots[:, :, -APPEARANCE:]
    # the strongest color channel: a dark red is darker than a bright one, not than a bright blue
    brightness = appearance[:, :, :3].amax(2)
    measures = torch.stack((area, bottom - top, right - left, brightness), 2)
    return measures / measures.amax(1, keepdim=True).clamp(min=1e-6)


def _boxes(
    slots: NDArray[np.float64],
    target: NDArray[np.float64],
    members: NDArray[np.float64],
) -> tuple[AttentionMap, ...]:
    """Return the boxes of the objects, weighted by target and reference set."""
    present = slots[:, 0] > 0
    boxes = slots[present, 2:6]
    # only the ratios of memberships matter to the network, so the highest is shown as 1
    membership = members[present] / max(members.max(), 1e-30)
    return (
        AttentionMap("target", target[present], boxes),
        AttentionMap("reference set", membership, boxes),
    )


def _is_content(vocabulary: SentenceVocabulary) -> list[bool]:
    """Return for every word id whether it describes something."""
    grammar = (VERB, *FUNCTION_WORDS)
    return [False] * len(SPECIAL) + [word not in grammar for word in vocabulary.words]


def _is_suffix(vocabulary: SentenceVocabulary) -> list[bool]:
    """Return for every word id whether it is a suffix, as `-est` of `big -est`."""
    return [False] * len(SPECIAL) + [word.startswith("-") for word in vocabulary.words]
