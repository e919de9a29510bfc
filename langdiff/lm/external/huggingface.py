"""Causal language models of the Transformers library, from a local folder."""

import hashlib
import inspect
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from langdiff.base.pretrained import load_local
from langdiff.base.signature import full_hash
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, TrainingError, option, warn
from langdiff.lm.device import find_device, single_precision
from langdiff.lm.lstm.batches import Batch, Pieces, Text
from langdiff.lm.lstm.scoring import MemoryLimit, bits_of_logits, by_symbol, in_batches, summed
from langdiff.lm.texts import check_texts, sizes_of
from langdiff.lm.units.characters import Ids
from langdiff.tables.multitext import Multitext
from langdiff.tables.token_tables import END, SPACES, TokenScores

_SAME = {torch.float32: 1e-3, torch.float16: 1e-2, torch.bfloat16: 5e-2}  # of logits of one position, computed twice
LOGITS_AT_ONCE = 1 << 26  # elements, 256 MB
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


class HuggingFaceLM:
    r"""Causal language model of the Transformers library that scores texts.

    The surprisal of a text is :math:`-\sum_t \log_2 p(u_t \mid \text{start}, u_1 \dots u_{t-1})` over its
    tokens and the end token: the first token is scored too, after the start token. It is that of the
    segmentation which the tokenizer gives, an upper bound on the surprisal of the string.

    A text longer than the model's window is read through several: each begins with the start token,
    and scores what none before it did, at least `overlap` tokens of the text being in view before
    every token scored.

    Parameters
    ----------
    path_or_model : str, Path or transformers.PreTrainedModel
        A local folder (``config.json``, ``*.safetensors``), or a model, which is put into evaluation mode and keeps
        its precision. No code of the folder is run, and only `download` lets anything be fetched.
    tokenizer : str, Path or transformers.PreTrainedTokenizerBase, optional
        By default that of the folder.
    device : str
        ``"auto"`` (a model that was given stays where it is; else CUDA where there is one, else the
        CPU), ``"cpu"``, ``"cuda"``, ….
    dtype : {"float32", "bfloat16", "float16"}
        Precision of the weights of a folder's model. Half of the memory is needed in half precision, and texts are off
        by up to one bit; logarithms and sums are never taken in half precision.
    device_map : str or dict, optional
        Where the layers of a folder's model go, as Transformers understands it (``"auto"``; needs Accelerate), for
        models larger than one GPU. By default the whole model goes to `device`.
    download : bool
        Whether a name that is not a folder is looked up on the Hugging Face Hub. By default nothing is downloaded.
    batch_size : int
        Windows scored at once at most, fewer if they are long, or once a GPU's memory has run out. It changes nothing
        but speed.
    max_length : int, optional
        Tokens in a window, the start token included; by default as many as the model has positions
        for. A model without such a limit reads every text whole.
    overlap : int, optional
        Tokens of the text that a window has in common with the next; by default half a window.
    start_token, end_token : str, optional
        Tokens that stand before a text and end it; by default the tokenizer's `bos_token` and `eos_token`, since
        that is how most models saw texts begin and end in training. Without a start the first token would have no
        probability, and without an end the texts' probabilities would not sum to 1; so where a tokenizer has none, one
        of its tokens is to be named, such as the one that stood between documents.

    Attributes
    ----------
    name : str
        The folder's name, or the model's class.
    identity : str
        Hash of all that the bits depend on: weights, their precision, tokenizer, windows, start and end.

    Raises
    ------
    MissingExtraError
        If Transformers is not installed.
    CheckpointError
        If the folder holds no model or no tokenizer that can be loaded.
    ConfigError
        If the tokenizer has no start or end token and none is given, a size or `dtype` is out of range, or the
        model looks at what it is to predict.

    Examples
    --------
    Any folder that ``save_pretrained`` has written, of a model and of its tokenizer::

        model = HuggingFaceLM("models/gpt2")
        ld.surprisals_of(model, multitext, lm=model.name)
    """

    def __init__(
        self,
        path_or_model: Any,
        tokenizer: Any = None,
        *,
        device: str = "auto",
        dtype: str = "float32",
        device_map: str | dict[str, Any] | None = None,
        download: bool = False,
        batch_size: int = 32,
        max_length: int | None = None,
        overlap: int | None = None,
        start_token: str | None = None,
        end_token: str | None = None,
    ) -> None:
        if batch_size < 1:
            raise ConfigError(f"{option('batch_size')} must be at least 1, got {batch_size}.")
        if dtype not in DTYPES:
            raise ConfigError(f"{option('dtype', dtype)}: use one of {', '.join(DTYPES)}.")
        self.batch_size = batch_size
        if isinstance(path_or_model, str | os.PathLike):
            path = Path(path_or_model)
            settings: dict[str, Any] = {"dtype": DTYPES[dtype], "use_safetensors": True}
            if device_map is not None:
                settings["device_map"] = device_map
            model = load_local("AutoModelForCausalLM", path, download=download, **settings)
            if device_map is None:
                model = model.to(find_device(device, any_kind=True))
            self.name = path.name
            tokenizer = path if tokenizer is None else tokenizer
        else:
            model = path_or_model if device == "auto" else path_or_model.to(find_device(device, any_kind=True))
            self.name = type(model).__name__
        if tokenizer is None:
            raise ConfigError("give the tokenizer as well: a model alone does not know its own.")
        if isinstance(tokenizer, str | os.PathLike):
            tokenizer = load_local("AutoTokenizer", Path(tokenizer), download=download)
        self.model, self.tokenizer = model.eval(), tokenizer
        self._vocabulary_size = int(model.config.get_text_config().vocab_size)
        self._limit = MemoryLimit(max(1, LOGITS_AT_ONCE // self._vocabulary_size))
        self._start = self._token(start_token, "start", "bos_token")
        self._end = self._token(end_token, "end", "eos_token")
        self.max_length = self._window(max_length)
        self.overlap = self._checked_overlap(overlap)
        self._check_model()

    def surprisal(self, texts: Sequence[str] | pd.Series) -> pd.DataFrame:
        """Score texts independently; logarithms in single precision, sums in double.

        Parameters
        ----------
        texts : sequence or Series of str
            What to score; special tokens written out in a text are text.

        Returns
        -------
        DataFrame, one row per text, index of `texts`
            ``bits``, all surprisal; ``eos_bits``, the share of the end token; ``characters``, ``bytes``
            (UTF-8) and ``units`` (tokens), the end token not counted.

        Raises
        ------
        DataError
            If a text is missing, empty or not a string.
        ConfigError
            If the tokenizer gives tokens that the model does not know.
        TrainingError
            If the model gives no finite number, or memory runs out.

        Warns
        -----
        LangdiffWarning
            If the tokenizer cannot give texts back, or does not see their first space: their bits are then those of
            other texts.
        """
        series = check_texts(texts, "texts")
        encoded = self._encode(series)
        try:
            bits, eos_bits = summed(encoded, self._in_batches(encoded))
        except (RuntimeError, MemoryError) as error:
            raise TrainingError(f"{self.name}: {type(error).__name__}: {error}") from error
        if not np.isfinite(bits).all():
            first = series.index[int(np.flatnonzero(~np.isfinite(bits))[0])]
            raise TrainingError(f"{self.name}: the model gives no finite surprisal to intent {first!r}.")
        columns = {
            "bits": bits,
            "eos_bits": eos_bits,
            **sizes_of(series),
            "units": [len(ids) for ids in encoded],
        }
        return pd.DataFrame(columns, index=series.index)

    def token_scores(self, multitext: Multitext) -> TokenScores:
        """Score every token of texts, and the end of each text.

        Parameters
        ----------
        multitext : Multitext
            Texts to score.

        Returns
        -------
        TokenScores
            One row per token, as it is in the vocabulary, with the ``text`` that it covers if the tokenizer tells;
            and ``boundary_bits``, from the probability of all tokens that begin with a space, and of the end token.
            Its `words` are corrected for spaces that belong to the word after them; its `surprisals` are those of
            `langdiff.surprisals_of`.

        Raises
        ------
        DataError, ConfigError, TrainingError
            As `surprisal`.

        Warns
        -----
        LangdiffWarning
            As `surprisal`.

        Examples
        --------
        Bits of words, corrected::

            HuggingFaceLM("models/gpt2").token_scores(multitext).words()
        """
        tables = [self._tokens_of(multitext.text(edition), edition) for edition in multitext.editions]
        return TokenScores(tokens=pd.concat(tables, ignore_index=True))

    @torch.no_grad()
    @single_precision()
    def start_charge(self) -> float:
        r"""Return the bits of a second start token, which programs that put one before each text charge to it.

        Some tokenizers begin every text with the start token by themselves. A program that puts one there as well, such
        as lm-evaluation-harness for rolling log-likelihoods, then scores the second one with the text:
        :math:`-\log_2 p(\text{start} \mid \text{start})`, the same for all texts. Subtracting them
        (``read_logs(…, tokenizer=lm, start="subtract")``) is not exact: the text was read after two start tokens, which
        changed its own bits, by ±.4 bits (standard deviation) of 13.7 in a small Llama. Scoring the texts again with
        ``add_bos_token=False`` is better.

        Returns
        -------
        float
            Bits; 0 if the tokenizer does not add a start token.
        """
        ids = self.tokenizer("a")["input_ids"]
        if not ids or ids[0] != self._start:
            return 0.0
        inputs = torch.tensor([[self._start]])
        logits = self._logits(inputs, torch.ones_like(inputs)).float()
        return float(-logits[0, 0].log_softmax(0)[self._start]) / log(2)

    def _tokens_of(self, texts: pd.Series, edition: str) -> pd.DataFrame:
        """Return one row per token of the texts of an edition."""
        series = check_texts(texts, f"edition {edition!r}")
        encoded = self._encode(series)
        try:
            scores = by_symbol(encoded, self._in_batches(encoded, self._word_begins), 2)
        except (RuntimeError, MemoryError) as error:
            raise TrainingError(f"{self.name}: {type(error).__name__}: {error}") from error
        lengths = [len(ids) + 1 for ids in encoded]
        columns: dict[str, Any] = {
            "intent": np.repeat(series.index.to_numpy(), lengths),
            "edition": edition,
            "token": [name for ids in encoded for name in (*self.tokenizer.convert_ids_to_tokens(ids), END)],
        }
        if self.tokenizer.is_fast:
            columns["text"] = [piece for text in series for piece in (*self._pieces(text), END)]
        columns["bits"] = np.concatenate([each[0] for each in scores])
        # what is known after a token is what the next one was drawn from
        columns["boundary_bits"] = np.concatenate([np.append(each[1, 1:], np.nan) for each in scores])
        if not np.isfinite(columns["bits"]).all():
            place = int(np.flatnonzero(~np.isfinite(columns["bits"]))[0])
            raise TrainingError(f"{self.name}: no finite surprisal in intent {columns['intent'][place]!r}.")
        return pd.DataFrame(columns)

    def _pieces(self, text: str) -> Iterator[str]:
        """Yield the characters of each token; a character shared by several tokens belongs to the first."""
        settings: dict[str, Any] = {"add_special_tokens": False, "split_special_tokens": True, "verbose": False}
        done = 0
        for start, end in self.tokenizer(text, return_offsets_mapping=True, **settings)["offset_mapping"]:
            yield text[max(start, done) : end]
            done = max(done, end)

    @cached_property
    def _word_begins(self) -> Ids:
        """Tokens that indicate that the preceding one ended a word: all with an initial space, and the end."""
        names = self.tokenizer.get_vocab()
        begins = {number for name, number in names.items() if name.startswith(SPACES)}
        return np.array(sorted({self._end} | {number for number in begins if number < self._vocabulary_size}))

    def _encode(self, series: pd.Series) -> list[list[int]]:
        texts = series.to_list()
        if not texts:
            return []
        # split_special_tokens: "<s>" in a text is three characters, not a special token
        settings: dict[str, Any] = {"add_special_tokens": False, "split_special_tokens": True, "verbose": False}
        encoded: list[list[int]] = self.tokenizer(texts, **settings)["input_ids"]
        spaced = [row for row, text in enumerate(texts) if text[0] == " "]
        bare = self.tokenizer([texts[row][1:] for row in spaced], **settings)["input_ids"] if spaced else []
        lost = [row for row, ids in zip(spaced, bare, strict=True) if ids == encoded[row]]
        if lost:
            warn(
                f"{self.name}: the tokenizer cannot tell {texts[lost[0]][1:40]!r} from {texts[lost[0]][:40]!r}: of "
                f"{len(lost):,} texts, the first of them intent {series.index[lost[0]]!r}, the first space is free."
            )
        highest = max(map(max, filter(None, encoded)), default=0)
        if highest >= self._vocabulary_size:
            raise ConfigError(
                f"the tokenizer gave token {highest}, but {self.name} knows {self._vocabulary_size:,}: "
                "they do not belong together."
            )
        # a first space is often the tokenizer's own
        back = [self.tokenizer.decode(ids, clean_up_tokenization_spaces=False).lstrip(" ") for ids in encoded]
        changed = [i for i, text in enumerate(texts) if back[i] != text.lstrip(" ")]
        if changed:
            first = changed[0]
            warn(
                f"{self.name}: the tokenizer cannot give back {len(changed):,} of {len(texts):,} texts: the first is "
                f"intent {series.index[first]!r}, {texts[first][:40]!r} becomes {back[first][:40]!r}. "
                "Their bits are those of what is left."
            )
        return encoded

    def _in_batches(
        self, encoded: Sequence[Sequence[int]], boundary: Ids | None = None
    ) -> Iterator[tuple[Pieces, Floats]]:
        """Score windows of texts in parallel; see `langdiff.lm.lstm.scoring.in_batches`."""
        text = Text([np.array(ids, dtype=np.int64) for ids in encoded], self._end)

        def bits(own: Pieces) -> Floats:
            (batch,) = text.batches(own, torch.device("cpu"), steps=int(own.lengths.max()))
            return self._bits(batch, boundary)

        pieces = text.pieces(self.max_length, self.overlap)
        return in_batches(pieces, bits, self._limit, self.model.device, self.batch_size)

    @torch.no_grad()
    @single_precision()
    def _bits(self, batch: Batch, boundary: Ids | None) -> Floats:
        """Return the bits of the N targets of windows and, in a second row, of a token of `boundary`; (1 or 2, N)."""
        inputs = batch.inputs.T.clone()  # (B, T)
        inputs[:, 0] = self._start
        logits = self._logits(inputs, batch.real.T).transpose(0, 1)  # (T, B, V)
        targets, real = batch.targets.to(logits.device), batch.real.to(logits.device)
        found: Floats = bits_of_logits(logits[real].float(), targets[real], boundary).numpy()
        return found

    def _logits(self, inputs: Tensor, real: Tensor) -> Tensor:
        # padding is on the right, where a causal model does not look
        output = self.model(
            input_ids=inputs.to(self.model.device),
            attention_mask=real.to(self.model.device).long(),
            **self._without_cache,
        )
        logits: Tensor = output.logits  # (B, T, V)
        return logits

    @cached_property
    def _without_cache(self) -> dict[str, bool]:
        """Return the arguments that keep a model from storing keys and values; some models have none."""
        taken = inspect.signature(self.model.forward).parameters
        others = any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values())
        return {"use_cache": False} if others or "use_cache" in taken else {}

    def _token(self, token: str | None, what: str, attribute: str) -> int:
        if token is None:
            token = getattr(self.tokenizer, attribute)
        if token is None:
            raise ConfigError(
                f"the tokenizer has no {attribute}, and a text needs a {what} token to be scored whole. "
                f"Name a token of its vocabulary by {option(f'{what}_token')}."
            )
        number = self.tokenizer.get_vocab().get(str(token))
        if number is None or number >= self._vocabulary_size:
            raise ConfigError(f"{option(f'{what}_token', str(token))}: not in the vocabulary of {self.name}.")
        return int(number)

    def _window(self, max_length: int | None) -> int | None:
        limit = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        if max_length is None:
            return limit
        if max_length < 1 or (limit is not None and max_length > limit):
            upper = "" if limit is None else f" and at most {limit:,}, the positions of {self.name}"
            raise ConfigError(f"{option('max_length')} must be at least 1{upper}; got {max_length}.")
        return max_length

    def _checked_overlap(self, overlap: int | None) -> int:
        if overlap is None:
            return (self.max_length or 0) // 2
        if not 0 <= overlap < (self.max_length or float("inf")):
            raise ConfigError(
                f"{option('overlap')} must be from 0 to less than {option('max_length')} ({self.max_length}), got "
                f"{overlap}."
            )
        return overlap

    @torch.no_grad()
    @single_precision()
    def _check_model(self) -> None:
        """Check that the predictions of a model do not depend on later tokens."""
        other = (self._start + 1) % self._vocabulary_size
        inputs = torch.tensor([[self._start, self._start], [self._start, other]])
        first = self._logits(inputs, torch.ones_like(inputs))[:, 0].float()
        same = _SAME.get(self._dtype, max(_SAME.values()))
        if not torch.allclose(first[0], first[1], rtol=0, atol=same * (1 + float(first.abs().max()))):
            raise ConfigError(f"{self.name} is not a causal language model: it looks at the tokens it is to predict.")

    @property
    def _dtype(self) -> torch.dtype:
        dtype: torch.dtype = next(self.model.parameters()).dtype
        return dtype

    @cached_property
    def identity(self) -> str:
        """Hash of everything that determines the bits: weights, precision, tokenizer, windows, start and end."""
        digest = hashlib.sha256()
        for name, weights in sorted(self.model.state_dict().items()):
            digest.update(f"{name} {weights.dtype} {tuple(weights.shape)}\n".encode())
            digest.update(weights.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
        words = getattr(self.tokenizer, "backend_tokenizer", None)
        tokenizer = self.tokenizer.get_vocab() if words is None else words.to_str()
        windows = [self.max_length, self.overlap, self._start, self._end]
        return full_hash(digest.hexdigest(), self.model.config.to_json_string(use_diff=False), tokenizer, windows)

    def __repr__(self) -> str:
        """Return a one-line description."""
        window = f"windows of {self.max_length:,}, {self.overlap:,} in common" if self.max_length else "no limit"
        precision = "" if self._dtype == torch.float32 else f", {str(self._dtype).removeprefix('torch.')}"
        return f"HuggingFaceLM {self.name}: {self._vocabulary_size:,} tokens, {window}{precision}"
