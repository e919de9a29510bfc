"""Train a small multilingual language model on NTREX, in the form that the Transformers library reads.

    OMP_NUM_THREADS=1 python benchmarks/small_llm.py NTREX FOLDER [--epochs 3]

NTREX is a folder of `LANGUAGE.txt.gz`; FOLDER gets the model and its tokenizer, byte-level BPE of 4,000 tokens. The
recipe on language models in all languages uses it in place of a large one. Prints the loss of each epoch; about ten
minutes of one processor.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

import langdiff as ld

LANGUAGES = ("eng", "deu", "fra", "fin", "rus", "vie", "zho-CN", "hin")
WINDOW = 128


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ntrex", type=Path, nargs="?")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    if options.folder is None:
        print("nothing is trained without the folders of NTREX and of the model")
        return
    multitext = ld.read_multitext([options.ntrex / f"{language}.txt.gz" for language in LANGUAGES], format="moses")
    texts = [text for edition in multitext.editions for text in multitext.text(edition).dropna()]
    tokenizer = train_tokenizer(texts)
    tokenizer.save_pretrained(options.folder)
    train_model(texts, tokenizer, options.epochs).save_pretrained(options.folder)


def train_tokenizer(texts):
    """Return byte-level BPE of the texts."""
    import tokenizers
    import transformers

    raw = tokenizers.Tokenizer(tokenizers.models.BPE())
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "</s>"]
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=4000, special_tokens=special, initial_alphabet=alphabet)
    raw.train_from_iterator(texts, trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<s>", eos_token="</s>")


def train_model(texts, tokenizer, epochs):
    """Return a GPT-2 of three layers, trained on batches of texts of similar length in random order."""
    import transformers

    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=WINDOW,
        n_embd=128,
        n_layer=3,
        n_head=4,
        bos_token_id=0,
        eos_token_id=1,
    )
    model = transformers.GPT2LMHeadModel(config).train()
    rows = sorted((np.array([0, *tokenizer.encode(text)[: WINDOW - 2], 1]) for text in texts), key=len)
    batches = [rows[start : start + 32] for start in range(0, len(rows), 32)]
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=epochs * len(batches))
    rng = np.random.default_rng(0)
    for epoch in range(1, epochs + 1):
        total = 0.0
        for k in rng.permutation(len(batches)):
            longest = len(batches[k][-1])
            ids = torch.tensor(np.array([np.pad(row, (0, longest - len(row))) for row in batches[k]]))
            real = torch.arange(longest) < torch.tensor([[len(row)] for row in batches[k]])
            loss = model(input_ids=ids, attention_mask=real.long(), labels=ids.masked_fill(~real, -100)).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / len(batches):.3f} nats a token", flush=True)
    return model.eval()


if __name__ == "__main__":
    main()
