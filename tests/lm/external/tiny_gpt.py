"""A causal model of the Transformers library that is made in a moment, and its tokenizer."""

import os

import pytest
import torch

from tests.lm.conftest import verses

os.environ["HF_HUB_OFFLINE"] = "1"  # read when huggingface_hub is imported, just below
transformers = pytest.importorskip("transformers", reason="needs the extra hf")
tokenizers = pytest.importorskip("tokenizers", reason="needs the extra hf")

WINDOW = 16


def make_tokenizer():
    """Train byte-level BPE with 300 tokens."""
    raw = tokenizers.Tokenizer(tokenizers.models.BPE())
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(verses("eng", 200, 0), trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<s>", eos_token="</s>")


def sharpened(model):
    """Scale random weights, so that predictions depend strongly on what was before."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.dim() > 1:
                weights.copy_(torch.randn(weights.shape, generator=generator) * (0.3 if "wte" not in name else 0.6))
    return model.eval()


def make_gpt(tokenizer, positions=WINDOW):
    """Make a GPT-2 of two layers with random weights, and three tokens more than the tokenizer has."""
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer) + 3,
        n_positions=positions,
        n_embd=24,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=1,
    )
    return sharpened(transformers.GPT2LMHeadModel(config))
