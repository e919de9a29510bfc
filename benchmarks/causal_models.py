"""A causal model of the Transformers library: langdiff beside minicons on the same model, in one run.

    OMP_NUM_THREADS=1 python benchmarks/causal_models.py FOLDER [--texts 200]

FOLDER holds a model and its tokenizer, with a start and an end token. Prints the largest relative difference of the
bits of texts, and the ratio of processor times. minicons is not a dependency: pip install minicons.
"""

import argparse
import logging
import time
import warnings
from pathlib import Path

import numpy as np

import langdiff as ld


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--batch", type=int, default=32)
    options = parser.parse_args()
    if options.folder is None:
        print("nothing is compared without the folder of a model")
        return
    warnings.simplefilter("ignore")
    logging.disable()
    from minicons.scorer import IncrementalLMScorer

    multitext = ld.synthesize(n_intents=options.texts, n_languages=2, seed=0).multitext
    texts = multitext.text(multitext.editions[0]).tolist()
    model = ld.HuggingFaceLM(options.folder, device="cpu", batch_size=options.batch)
    theirs = IncrementalLMScorer(str(options.folder), "cpu")
    fits = [len(model.tokenizer.tokenize(text)) < (model.max_length or np.inf) for text in texts]
    texts = [text for text, whole in zip(texts, fits, strict=True) if whole]  # minicons reads one window

    def ours_bits():
        return model.surprisal(texts)["bits"].to_numpy()

    def their_bits():
        found = []
        for start in range(0, len(texts), options.batch):
            found += theirs.sequence_score(
                texts[start : start + options.batch],
                bos_token=True,
                eos_token=True,
                reduction=lambda scores: -scores.sum().item() / np.log(2),
            )
        return np.array(found)

    bits, seconds = {}, {}
    for name, score in (("langdiff", ours_bits), ("minicons", their_bits)):
        score()  # once to warm up
        start = time.process_time()
        bits[name] = score()
        seconds[name] = time.process_time() - start
    difference = np.abs(bits["langdiff"] / bits["minicons"] - 1).max()
    print(f"{model!r}: {len(texts)} texts, batches of {options.batch}")
    print(f"largest relative difference of bits: {difference:.1e}")
    print(f"processor time of minicons / langdiff: {seconds['minicons'] / seconds['langdiff']:.1f}")


if __name__ == "__main__":
    main()
