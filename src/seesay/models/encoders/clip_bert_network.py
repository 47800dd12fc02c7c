"""CLIP-BERT's network: a BERT whose text may be followed by one feature of a picture."""

from __future__ import annotations

from typing import Any

import torch
from transformers import BertForMaskedLM
from transformers.masking_utils import create_bidirectional_mask
from transformers.modeling_outputs import MaskedLMOutput


class ClipBertForMaskedLM(BertForMaskedLM):
    """`config.img_feature_dim` numbers are projected to BERT's width and stand after the last
    token, layer-normed like any input but without position or type embedding (Norlund et al.
    2021).

    With `config.predicts_features` it is one that was trained on pictures here: features are
    brought to one scale, and those of a picture that is not shown are predicted from the first
    token's state.
    """

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.bert.img_projection = torch.nn.Linear(config.img_feature_dim, config.hidden_size)
        self.predicts_features = bool(getattr(config, "predicts_features", False))
        if self.predicts_features:
            self.imagination = torch.nn.Linear(config.hidden_size, config.img_feature_dim)
        self.post_init()

    def layer_states(
        self,
        input_ids: torch.Tensor,
        features: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        shown: torch.Tensor | None = None,
    ) -> list[torch.Tensor]:
        """The states at the tokens, from the embeddings to the last layer; `features` has one row
        per text, None for texts alone, and `shown` says which texts see theirs."""
        embeddings: Any = self.bert.embeddings
        states: torch.Tensor = embeddings(input_ids=input_ids)
        if features is not None:
            if self.predicts_features:
                features = standardize(features)
            # BERT's layer norm of inputs, which sees no difference between a token and a feature
            projected: torch.Tensor = self.bert.img_projection(features.to(states.dtype))  # type: ignore[operator]
            states = torch.cat(
                [states, embeddings.dropout(embeddings.LayerNorm(projected))[:, None]], dim=1
            )
            if shown is not None:
                if attention_mask is None:
                    attention_mask = torch.ones_like(input_ids)
                last = shown[:, None].to(attention_mask.dtype)
                attention_mask = torch.cat([attention_mask, last], dim=1)
            elif attention_mask is not None:
                attention_mask = torch.nn.functional.pad(attention_mask, (0, 1), value=1)
        mask = create_bidirectional_mask(self.config, states, attention_mask)
        layers = [states]
        for layer in self.bert.encoder.layer:
            output: Any = layer(layers[-1], attention_mask=mask)
            layers.append(output[0] if isinstance(output, tuple) else output)
        return [states[:, : input_ids.shape[1]] for states in layers]

    def states(self, *inputs: torch.Tensor | None, **named: torch.Tensor | None) -> torch.Tensor:
        """The last layer's states at the tokens."""
        return self.layer_states(*inputs, **named)[-1]  # type: ignore[arg-type]

    def imagine(self, input_ids: torch.Tensor) -> torch.Tensor:
        """The features of the picture that each text describes, as predicted from the text."""
        return self.predict_features(self.states(input_ids))

    def predict_features(self, states: torch.Tensor) -> torch.Tensor:
        """The features of pictures that were not shown, from the states of their texts."""
        features: torch.Tensor = self.imagination(states[:, 0])
        return features

    def forward(
        self,
        input_ids: torch.Tensor,
        features: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
    ) -> MaskedLMOutput:
        """The vocabulary's logits at the tokens."""
        return MaskedLMOutput(logits=self.cls(self.states(input_ids, features, attention_mask)))


def standardize(features: torch.Tensor) -> torch.Tensor:
    """Vectors with the mean 0 and the deviation 1 of their own numbers, whatever their scale."""
    return torch.nn.functional.layer_norm(features, features.shape[-1:])
