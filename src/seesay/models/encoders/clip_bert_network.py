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
    2021)."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.bert.img_projection = torch.nn.Linear(config.img_feature_dim, config.hidden_size)
        self.post_init()

    def states(
        self,
        input_ids: torch.Tensor,
        features: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """The last layer's states at the tokens; `features` has one row per text, None for texts
        alone."""
        embeddings: Any = self.bert.embeddings
        inputs: torch.Tensor = embeddings(input_ids=input_ids)
        if features is not None:
            # BERT's layer norm of inputs, which sees no difference between a token and a feature
            projected: torch.Tensor = self.bert.img_projection(features.to(inputs.dtype))  # type: ignore[operator]
            inputs = torch.cat(
                [inputs, embeddings.dropout(embeddings.LayerNorm(projected))[:, None]], dim=1
            )
            if attention_mask is not None:
                attention_mask = torch.nn.functional.pad(attention_mask, (0, 1), value=1)
        mask = create_bidirectional_mask(self.config, inputs, attention_mask)
        states: torch.Tensor = self.bert.encoder(inputs, attention_mask=mask)[0]
        return states[:, : input_ids.shape[1]]

    def forward(
        self,
        input_ids: torch.Tensor,
        features: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
    ) -> MaskedLMOutput:
        """The vocabulary's logits at the tokens."""
        return MaskedLMOutput(logits=self.cls(self.states(input_ids, features, attention_mask)))
