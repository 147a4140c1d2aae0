#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/unit/frontend/data/onnx: small networks as PyTorch exports them, with inputs and PyTorch's own results.

Needs PyTorch (Debian 12: python3-torch python3-onnx, then /usr/bin/python3), which nothing else here needs:
    /usr/bin/python3 tools/make_onnx_data.py FOLDER
"""

import math
import pathlib
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

WIDTH, HEADS, LAYERS, VOCABULARY, LONGEST = 8, 2, 2, 20, 16


def layers(make):
    return nn.ModuleList([make() for _ in range(LAYERS)])


def split_heads(x):
    return x.view(x.size()[:-1] + (HEADS, WIDTH // HEADS)).permute(0, 2, 1, 3)


def join_heads(x):
    x = x.permute(0, 2, 1, 3).contiguous()
    return x.view(x.size()[:-2] + (WIDTH,))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Dropout(0.1), nn.Linear(12, 5))

    def forward(self, x):
        return F.log_softmax(self.body(x), dim=1)


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)
        self.downsample = None
        if inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.downsample(x) if self.downsample else x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 4, 7, 2, 3, bias=False), nn.BatchNorm2d(4)
        self.maxpool, self.avgpool = nn.MaxPool2d(3, 2, 1), nn.AdaptiveAvgPool2d((1, 1))
        self.layer1, self.layer2 = ResidualBlock(4, 4, 1), ResidualBlock(4, 8, 2)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        return self.fc(torch.flatten(self.avgpool(self.layer2(self.layer1(x))), 1))


class BertLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.dense = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm1, self.norm2, self.dropout = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12), nn.Dropout(0.1)

    def forward(self, x, mask):
        query, key, value = (split_heads(f(x)) for f in (self.query, self.key, self.value))
        scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(WIDTH // HEADS) + mask
        y = join_heads(torch.matmul(self.dropout(F.softmax(scores, dim=-1)), value))
        x = self.norm1(self.dropout(self.dense(y)) + x)
        return self.norm2(self.dropout(self.down(F.gelu(self.up(x)))) + x)


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.types = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(2, WIDTH)
        self.positions, self.norm = nn.Embedding(LONGEST, WIDTH), nn.LayerNorm(WIDTH, 1e-12)
        self.register_buffer("position_ids", torch.arange(LONGEST).expand((1, -1)))
        self.layer, self.pooler, self.classifier = layers(BertLayer), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 3)

    def forward(self, input_ids, attention_mask, token_type_ids):
        mask = (1.0 - attention_mask[:, None, None, :].to(torch.float32)) * torch.finfo(torch.float32).min
        places = self.position_ids[:, : input_ids.size(1)]
        x = self.norm(self.words(input_ids) + self.types(token_type_ids) + self.positions(places))
        for layer in self.layer:
            x = layer(x, mask)
        return self.classifier(torch.tanh(self.pooler(x[:, 0])))


class Conv1D(nn.Module):
    """The dense layer of GPT-2: its weight is [in, out]."""

    def __init__(self, outputs, inputs):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(inputs, outputs) * 0.2), nn.Parameter(torch.randn(outputs))

    def forward(self, x):
        size = x.size()[:-1] + (self.bias.size(0),)
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(size)


class Gpt2Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = Conv1D(3 * WIDTH, WIDTH), Conv1D(WIDTH, WIDTH)
        self.c_fc, self.c_out = Conv1D(4 * WIDTH, WIDTH), Conv1D(WIDTH, 4 * WIDTH)
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        causal = torch.tril(torch.ones((LONGEST, LONGEST), dtype=torch.uint8)).view(1, 1, LONGEST, LONGEST)
        self.register_buffer("bias", causal)
        self.register_buffer("masked_bias", torch.tensor(-1e4))

    def forward(self, x):
        query, key, value = (split_heads(part) for part in self.c_attn(self.ln_1(x)).split(WIDTH, dim=2))
        scores = torch.matmul(query, key.transpose(-1, -2)) / (value.size(-1) ** 0.5)
        first, last = key.size(-2) - query.size(-2), key.size(-2)
        causal = self.bias[:, :, first:last, :last].to(torch.bool)
        scores = F.softmax(torch.where(causal, scores, self.masked_bias.to(scores.dtype)), dim=-1)
        x = x + self.c_proj(join_heads(torch.matmul(scores, value)))
        y = self.c_fc(self.ln_2(x))
        y = 0.5 * y * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (y + 0.044715 * torch.pow(y, 3.0))))
        return x + self.c_out(y)


class Gpt2(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe, self.h = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LONGEST, WIDTH), layers(Gpt2Layer)
        self.ln_f, self.lm_head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, input_ids):
        input_ids = input_ids.view(-1, input_ids.size()[-1])
        places = torch.arange(0, input_ids.size()[-1], dtype=torch.long).unsqueeze(0).view(-1, input_ids.size()[-1])
        x = self.wte(input_ids) + self.wpe(places)
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


class VitLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, 1e-6), nn.LayerNorm(WIDTH, 1e-6)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(b, n, 3, HEADS, c // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
        scores = ((q @ k.transpose(-2, -1)) * (c // HEADS) ** -0.5).softmax(dim=-1)
        x = x + self.proj((scores @ v).transpose(1, 2).reshape(b, n, c))
        return x + self.mlp(self.norm2(x))


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, 4, 4)
        self.cls_token, self.pos_embed = nn.Parameter(torch.randn(1, 1, WIDTH)), nn.Parameter(torch.randn(1, 5, WIDTH))
        self.blocks, self.norm, self.head = layers(VitLayer), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 5)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1) + self.pos_embed
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1), nn.Conv2d(12, 2, 1)
        self.norm, self.up = nn.GroupNorm(2, 8), nn.ConvTranspose2d(8, 4, 2, 2)
        self.up_in_groups = nn.ConvTranspose2d(8, 4, 3, 2, 1, 1, groups=2)

    def forward(self, x):
        first = F.silu(self.first(x))
        second = F.leaky_relu(self.norm(self.second(F.avg_pool2d(first, 3, 2, 1))))
        joined = torch.cat((first, self.up(second), self.up_in_groups(second)), dim=1)
        return self.last(joined) + F.interpolate(F.max_pool2d(x, 2), scale_factor=2)[:, :1]


def disturb(model):
    """First values that are zero or one would hide what is not used."""
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.data += 0.1 * torch.randn_like(parameter)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.2)
            module.running_var.uniform_(0.5, 1.5)


def export(folder, name, model, inputs, opset):
    disturb(model)
    model.eval()
    # The graph as it is: no batch norm folded into convolutions.
    torch.onnx.export(model, tuple(inputs.values()), str(folder / f"{name}.onnx"), input_names=list(inputs),
                      output_names=["output"], opset_version=opset, training=torch.onnx.TrainingMode.PRESERVE,
                      dynamic_axes={key: {0: "batch", **({1: "sequence"} if value.dtype == torch.int64 else {})}
                                    for key, value in inputs.items()})
    arrays = {key: value.numpy() for key, value in inputs.items()}
    np.savez(folder / f"{name}.npz", output=model(*inputs.values()).detach().numpy(), **arrays)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    tokens = torch.randint(0, VOCABULARY, (2, 6))
    mask = torch.ones(2, 6, dtype=torch.int64)
    mask[1, 4:] = 0
    export(folder, "mlp", Mlp(), {"x": torch.randn(4, 6)}, 11)
    export(folder, "resnet", ResNet(), {"image": torch.randn(2, 3, 32, 32)}, 13)
    export(folder, "bert", Bert(), {"input_ids": tokens, "attention_mask": mask, "token_type_ids": mask}, 14)
    export(folder, "gpt2", Gpt2(), {"input_ids": tokens}, 13)
    export(folder, "vit", Vit(), {"image": torch.randn(2, 3, 8, 8)}, 16)
    export(folder, "unet", Unet(), {"image": torch.randn(2, 3, 8, 8)}, 11)


if __name__ == "__main__":
    main()
