"""Published corpora: where they are, on which terms, and whether they can be downloaded."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True)
class CorpusSource:
    """What is known of a published corpus.

    Attributes
    ----------
    title : str
        Name and version of the corpus.
    licence : str
        The terms in short; `home` has them in full.
    home : str
        Address of the page that describes it.
    url : str, optional
        Address of an archive (``.tar.gz``) that its publisher lets anyone download.
    sha256 : str, optional
        Checksum of the archive; without one, that of the first download is kept and later ones are compared.
    format : str, optional
        Format of the files, as in `langdiff.read_multitext`.
    how : str
        How to read it, or how to get it where there is no `url`.
    """

    title: str
    licence: str
    home: str
    url: str | None = None
    sha256: str | None = None
    format: str | None = None
    how: str


SOURCES: Mapping[str, CorpusSource] = MappingProxyType(
    {
        "costep": CorpusSource(
            title="CoStEP 1.0.1, Corrected & Structured Europarl, 21 languages, about 1.5 GB",
            licence="debates of the European Parliament: may be reproduced if the source is acknowledged; cite Graën "
            "et al. (2014) and Koehn (2005)",
            home="https://pub.cl.uzh.ch/wiki/public/costep/start",
            url="http://pub.cl.uzh.ch/corpora/costep/costep_1.0.1.tar.gz",
            format="costep",
            how="read the directory with the .xml files",
        ),
        "flores-200": CorpusSource(
            title="FLORES-200, 2,009 sentences in 204 languages, 26 MB",
            licence="CC BY-SA 4.0",
            home="https://github.com/facebookresearch/flores/tree/main/flores200",
            url="https://dl.fbaipublicfiles.com/nllb/flores200_dataset.tar.gz",
            sha256="b8b0b76783024b85797e5cc75064eb83fc5288b41e9654dabc7be6ae944011f6",
            format="moses",
            how="read flores200_dataset/dev/*.dev or devtest/*.devtest; not meant for training",
        ),
        "ntrex-128": CorpusSource(
            title="NTREX-128, 1,997 news sentences, English and 128 translations",
            licence="CC BY-SA 4.0",
            home="https://github.com/MicrosoftTranslator/NTREX",
            url="https://github.com/MicrosoftTranslator/NTREX/archive/284d63d27173ca94d9f5f65bf44d8592f945d038.tar.gz",
            format="moses",
            how="read NTREX-*/NTREX-128/*.txt",
        ),
        "bible-corpus": CorpusSource(
            title="Bibles of Christodoulopoulos & Steedman (2015), about 100 languages",
            licence="CC0 1.0 for the collection; each file's header names the translation's own",
            home="https://github.com/christos-c/bible-corpus",
            url="https://github.com/christos-c/bible-corpus/archive/44e5fca1bfb369a5da2ee23ebc6f421c88489c5c.tar.gz",
            format="ces",
            how="read bible-corpus-*/bibles/*.xml",
        ),
        "ebible": CorpusSource(
            title="eBible corpus, Bibles of eBible.org, one verse per line",
            licence="each translation's own, in metadata/licences: public domain, Creative Commons or by permission",
            home="https://github.com/BibleNLP/ebible",
            url="https://github.com/BibleNLP/ebible/archive/0eed6f47ff555201874d5416bbfebba4ed743d4f.tar.gz",
            format="ebible",
            how="read ebible-*/corpus/*.txt, with vref.txt",
        ),
        "pbc": CorpusSource(
            title="Parallel Bible Corpus (Mayer & Cysouw 2014), more than 1,000 languages",
            licence="none stated; many translations are protected",
            home="https://aclanthology.org/L14-1215/",
            format="pbc",
            how="ask its authors; Mielke et al. (2019) selected 106 Bibles from it",
        ),
        "openmt": CorpusSource(
            title="NIST OpenMT evaluation sets, four English references per text",
            licence="agreement with the Linguistic Data Consortium",
            home="https://catalog.ldc.upenn.edu/",
            format="mteval",
            how="order the sets 'NIST Open Machine Translation Evaluation' of the years wanted",
        ),
        "pud": CorpusSource(
            title="Parallel Universal Dependencies, 1,000 sentences in about 20 languages, with trees",
            licence="CC BY-SA 3.0 or 4.0, by treebank",
            home="https://universaldependencies.org/",
            how="download a release of Universal Dependencies and take the treebanks called PUD",
        ),
    }
)
