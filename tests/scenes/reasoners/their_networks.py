"""The published networks in small, with the names that their weights have in a checkpoint.

Written after the published scripts: what is concatenated with what, and in which order, is theirs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

SHAPE = (6, 4, 4)
WORDS = ["The", "a", "big", "blue", "circle", "is", "red", "small", "square"]
VOCAB = {
    "question_token_to_idx": {
        token: number
        for number, token in enumerate(["<NULL>", "<START>", "<END>", "<UNK>", *WORDS])
    },
    "answer_token_to_idx": {
        "<NULL>": 0,
        "<START>": 1,
        "<END>": 2,
        "<UNK>": 3,
        "no": 4,
        "yes": 5,
    },
    "program_token_to_idx": {"<NULL>": 0, "<START>": 1, "<END>": 2, "<UNK>": 3},
}


def mlp(inputs: int, norm: bool, dropout: float) -> nn.Sequential:
    """Layers that are switched off are not there, and so have no number."""
    drop = [nn.Dropout(dropout)] if dropout else []
    before = [nn.BatchNorm1d(inputs)] if norm else []
    after = [nn.BatchNorm1d(10)] if norm else []
    return nn.Sequential(
        *drop, *before, nn.Linear(inputs, 10), *after, *drop, nn.ReLU(), nn.Linear(10, 6)
    )


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(13, 7)
        self.rnn = nn.LSTM(7, 8, 2, batch_first=True)

    def forward(self, words: Tensor) -> Tensor:
        states: Tensor = self.rnn(self.embed(words))[0]
        return states[:, -1]


class CnnLstm(nn.Module):
    def __init__(self, norm: bool, dropout: float) -> None:
        super().__init__()
        self.rnn = Reader()
        self.cnn = nn.Sequential(nn.Conv2d(6, 5, 1), nn.ReLU(), nn.MaxPool2d(2, 2))
        self.classifier = mlp(5 * 2 * 2 + 8, norm, dropout)

    def forward(self, words: Tensor, features: Tensor) -> Tensor:
        joined = torch.cat([self.rnn(words), self.cnn(features).flatten(1)], 1)
        logits: Tensor = self.classifier(joined)
        return logits


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.Wv = nn.Conv2d(8, 5, 1)
        self.Wu = nn.Linear(8, 5)
        self.Wp = nn.Conv2d(5, 1, 1)

    def forward(self, v: Tensor, u: Tensor) -> Tensor:
        h = torch.tanh(self.Wv(v) + self.Wu(u)[:, :, None, None])
        p = self.Wp(h).flatten(1).softmax(1).view(len(u), 1, 4, 4)
        query: Tensor = u + (p * v).sum((2, 3))
        return query


class StackedAttention(nn.Module):
    def __init__(self, norm: bool, dropout: float) -> None:
        super().__init__()
        self.rnn = Reader()
        self.image_proj = nn.Conv2d(6, 8, 1)
        for number in range(2):
            self.add_module(f"stacked-attn-{number}", Attention())
        self.classifier = mlp(8, norm, dropout)

    def forward(self, words: Tensor, features: Tensor) -> Tensor:
        u, v = self.rnn(words), self.image_proj(features)
        for number in range(2):
            u = self.get_submodule(f"stacked-attn-{number}")(v, u)
        logits: Tensor = self.classifier(u)
        return logits


class FilmGenerator(nn.Module):
    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.encoder_embed = nn.Embedding(13, 7)
        self.encoder_rnn = nn.GRU(7, 8, batch_first=True)
        self.decoder_linear = nn.Linear(8, 2 * outputs)

    def forward(self, words: Tensor) -> Tensor:
        states = self.encoder_rnn(self.encoder_embed(words))[0]
        film: Tensor = self.decoder_linear(states[:, -1]).view(len(words), 2, -1)
        return film


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.input_proj = nn.Conv2d(5 + 2, 5, 1)
        self.conv1 = nn.Conv2d(5, 5, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(5, affine=False)

    def forward(self, x: Tensor, gamma: Tensor, beta: Tensor, places: Tensor) -> Tensor:
        x = self.input_proj(torch.cat([x, places], 1)).relu()
        modulated = gamma[:, :, None, None] * self.bn1(self.conv1(x)) + beta[:, :, None, None]
        out: Tensor = x + modulated.relu()
        return out


class FilmedNet(nn.Module):
    def __init__(self, norm: bool, dropout: float) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(6 + 2, 5, 3, padding=1), nn.BatchNorm2d(5), nn.ReLU())
        for number in range(2):
            self.add_module(str(number), Block())
        layers: list[nn.Module] = [nn.Conv2d(5 + 2, 9, 1)]
        layers += [nn.BatchNorm2d(9)] if norm else []
        layers += [nn.ReLU(), nn.MaxPool2d(4), nn.Flatten(), nn.Linear(9, 10)]
        layers += [nn.BatchNorm1d(10)] if norm else []
        layers += [nn.ReLU(), *([nn.Dropout(dropout)] if dropout else []), nn.Linear(10, 6)]
        self.classifier = nn.Sequential(*layers)

    def forward(self, features: Tensor, film: Tensor) -> Tensor:
        line = torch.linspace(-1, 1, 4)
        # columns first, then rows
        places = torch.stack([line.expand(4, 4), line[:, None].expand(4, 4)])
        places = places.expand(len(features), 2, 4, 4)
        x = self.stem(torch.cat([features, places], 1))
        for number in range(2):
            gamma, beta = 1 + film[:, number, :5], film[:, number, 5:10]
            x = self.get_submodule(str(number))(x, gamma, beta, places)
        logits: Tensor = self.classifier(torch.cat([x, places], 1))
        return logits


class Film(nn.Module):
    """Both parts; an older layout has outputs that are not used."""

    def __init__(self, norm: bool, dropout: float, outputs: int = 10) -> None:
        super().__init__()
        self.generator, self.net = FilmGenerator(outputs), FilmedNet(norm, dropout)

    def forward(self, words: Tensor, features: Tensor) -> Tensor:
        logits: Tensor = self.net(features, self.generator(words))
        return logits


def scramble(network: nn.Module) -> None:
    """Give every norm values as of a trained network, so that each of them counts."""
    for name, buffer in network.named_buffers():
        if "running" in name:
            buffer.copy_(torch.rand_like(buffer) + 0.5)
    for module in network.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.affine:
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias)


def write(path: Path, network: nn.Module, norm: bool, dropout: float, **other: Any) -> None:
    """Write a checkpoint with the fields of the published code."""
    baseline: dict[str, Any] = {
        "rnn_wordvec_dim": 7,
        "rnn_dim": 8,
        "rnn_num_layers": 2,
        "cnn_feat_dim": SHAPE,
        "fc_dims": (10,),
        "fc_use_batchnorm": norm,
        "fc_dropout": dropout,
        "cnn_num_res_blocks": 0,
        "cnn_pooling": "maxpool2",
        "cnn_proj_dim": 5,
        "num_stacked_attn": 2,
        "stacked_attn_dim": 5,
    }
    generator = {
        "wordvec_dim": 7,
        "hidden_dim": 8,
        "rnn_num_layers": 1,
        "encoder_type": "gru",
        "decoder_type": "linear",
        "bidirectional": False,
        "output_batchnorm": False,
        "gamma_option": "linear",
        "gamma_baseline": 1,
        "num_modules": 2,
        "module_num_layers": 1,
        "module_dim": 5,
        "debug_every": float("inf"),
    }
    engine = {
        "feature_dim": SHAPE,
        "stem_batchnorm": True,
        "stem_num_layers": 1,
        "stem_stride": 1,
        "module_dim": 5,
        "module_residual": True,
        "module_batchnorm": True,
        "module_batchnorm_affine": False,
        "module_input_proj": 1,
        "module_kernel_size": 3,
        "classifier_proj_dim": 9,
        "classifier_downsample": "maxpoolfull",
        "classifier_fc_layers": (10,),
        "classifier_batchnorm": norm,
        "classifier_dropout": dropout,
        "condition_method": "bn-film",
        "use_gamma": True,
        "use_beta": True,
        "use_coords": 1,
        "num_modules": 2,
    }
    is_film = isinstance(network, Film)
    kind = "CNN+LSTM" if isinstance(network, CnnLstm) else "CNN+LSTM+SA"
    fields: dict[str, Any] = {
        "args": {"learning_rate": 3e-4, "num_iterations": 10_000},
        "vocab": VOCAB,
        "baseline_type": None if is_film else kind,
        "baseline_kwargs": None if is_film else baseline,
        "baseline_state": None if is_film else dict(network.state_dict()),
        "program_generator_kwargs": generator if is_film else None,
        "program_generator_state": None,
        "execution_engine_kwargs": engine if is_film else None,
        "execution_engine_state": None,
        "best_val_acc": 0.75,
        "model_t": 1250,
        "val_accs": [0.5, 0.75],
    }
    if isinstance(network, Film):
        fields["program_generator_state"] = dict(network.generator.state_dict())
        fields["execution_engine_state"] = dict(network.net.state_dict())
    # PyTorch 1.0, which they used, wrote no zip files
    torch.save(fields | other, path, _use_new_zipfile_serialization=False)
