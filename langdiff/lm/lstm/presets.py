"""Recipes of networks by name, in one table."""

from dataclasses import replace
from typing import Any

from langdiff.lm.lstm.recipe import RECIPES, Recipe

__all__ = ["RECIPES"]

RECIPES |= {
    recipe.name: recipe
    for recipe in (
        # minutes on one core for a New Testament; one wide layer learns faster than two narrow ones
        Recipe(
            name="char-small",
            units="char",
            embedding_size=256,
            hidden_size=256,
            layers=1,
            dropout_input=0.05,
            dropout_output=0.1,
            learning_rate=4e-3,
            batch_units=1024,
            epochs=10,
        ),
        Recipe(
            name="bpe-small",
            units="bpe",
            embedding_size=256,
            hidden_size=256,
            layers=1,
            dropout_embedding=0.1,
            dropout_input=0.5,
            dropout_output=0.5,
            weight_drop=0.4,
            learning_rate=1e-2,
            weight_decay=0.1,
            batch_units=512,
            bf16=True,
            epochs=16,
        ),
        # seconds on one core for a few thousand short sentences: to try things out, not to measure
        Recipe(
            name="char-tiny",
            units="char",
            embedding_size=96,
            hidden_size=96,
            layers=1,
            learning_rate=1e-2,
            batch_units=512,
            epochs=8,
            min_count=5,
        ),
        Recipe(
            name="bpe-tiny",
            units="bpe",
            embedding_size=96,
            hidden_size=96,
            layers=1,
            learning_rate=1e-2,
            batch_units=256,
            epochs=8,
            min_count=5,
        ),
        # as published (Merity, Keskar & Socher 2018, An Analysis of Neural Language Modeling at
        # Multiple Scales; Mielke et al. 2019, section 2): weeks on one core for a Bible
        Recipe(
            name="char-ptb",
            units="char",
            embedding_size=200,
            hidden_size=1000,
            layers=3,
            dropout_input=0.1,
            dropout_hidden=0.25,
            dropout_output=0.1,
            weight_drop=0.5,
            optimizer="adam",
            learning_rate=2e-3,
            weight_decay=1.2e-6,
            gradient_clip=0.25,
            schedule="steps",
            warm_up=0.0,
            decay_epochs=(300, 400),
            context="stream",
            batch_units=150 * 128,
            bptt=150,
            epochs=500,
            patience=500,
        ),
        # as published (Merity, Keskar & Socher 2018, Regularizing and Optimizing LSTM Language
        # Models; Mielke et al. 2019, section 2)
        Recipe(
            name="bpe-awd",
            units="bpe",
            embedding_size=400,
            hidden_size=1150,
            layers=3,
            dropout_embedding=0.1,
            dropout_input=0.65,
            dropout_hidden=0.2,
            dropout_output=0.4,
            weight_drop=0.5,
            activation_penalty=2.0,
            change_penalty=1.0,
            optimizer="sgd",
            learning_rate=30.0,
            weight_decay=1.2e-6,
            gradient_clip=0.25,
            non_monotone=5,
            schedule="steps",
            warm_up=0.0,
            context="stream",
            batch_units=70 * 40,
            bptt=70,
            epochs=200,
            patience=200,
        ),
        # about as many weights in one wide layer, which learns from the first step on
        Recipe(
            name="char-fast",
            units="char",
            embedding_size=1024,
            hidden_size=1024,
            layers=1,
            dropout_input=0.1,
            dropout_output=0.1,
            weight_drop=0.5,
            learning_rate=2e-3,
            batch_units=4096,
            bf16=True,
            epochs=50,
            patience=5,
        ),
        Recipe(
            name="bpe-fast",
            units="bpe",
            embedding_size=1024,
            hidden_size=1024,
            layers=1,
            dropout_embedding=0.1,
            dropout_input=0.4,
            dropout_output=0.4,
            weight_drop=0.5,
            learning_rate=2e-3,
            batch_units=2048,
            bf16=True,
            epochs=30,
            patience=5,
        ),
    )
}


# made of the small recipes: networks that correct n-grams (the default), and other units
RECIPES |= {
    recipe.name: recipe
    for recipe in (
        replace(
            RECIPES["char-small"],
            name="char-residual",
            ngram_orders=(3, 5, 8, 16),
            dropout_input=0.0,
            dropout_output=0.1,
            epochs=7,
        ),
        # few merges: short subwords have long histories that n-grams know, and their distributions are small
        replace(
            RECIPES["char-small"],
            name="bpe-residual",
            units="bpe",
            bpe_ratio=0.05,
            ngram_orders=(2, 3, 5, 8),
            dropout_input=0.2,
            dropout_output=0.3,
            epochs=7,
        ),
        # one pass over a large text, of which no unit is seen twice
        replace(RECIPES["char-small"], name="char-once", dropout_input=0.0, dropout_output=0.0, epochs=1),
        replace(RECIPES["char-small"], name="bytes-small", units="bytes"),
        replace(RECIPES["char-small"], name="graphemes-small", units="graphemes"),
        replace(RECIPES["bpe-small"], name="subword-nmt-small", bpe_backend="subword-nmt"),
    )
}

# half as wide and fewer epochs: a fraction of the time, for two to three per cent more bits
RECIPES |= {
    f"{name}-quick": replace(RECIPES[name], name=f"{name}-quick", embedding_size=128, hidden_size=128, epochs=3)
    for name in ("char-residual", "bpe-residual")
}

# two blocks in place of the LSTM, which learn more slowly: over characters, and over the short subwords of bpe-residual
_BLOCKS: dict[str, Any] = {
    "architecture": "transformer",
    "embedding_size": 128,
    "hidden_size": 512,
    "layers": 2,
    "heads": 4,
    "learning_rate": 3e-3,
    "weight_decay": 0.05,
    "dropout_hidden": 0.1,
    "epochs": 7,
}
RECIPES |= {
    recipe.name: recipe
    for recipe in (
        replace(RECIPES["char-small"], name="char-transformer", dropout_output=0.0, **_BLOCKS),
        replace(
            RECIPES["bpe-residual"],
            name="bpe-transformer",
            ngram_orders=(),
            dropout_input=0.1,
            dropout_output=0.1,
            **_BLOCKS,
        ),
    )
}
