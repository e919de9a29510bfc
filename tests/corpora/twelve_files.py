"""A corpus of twelve files, of which three cannot be used as a whole."""

LANGUAGES = ("dan", "deu", "eng", "fin", "fra", "hun", "ita", "nld", "pol", "por", "spa", "swe")
FAULTY = {"fra", "nld", "swe"}
N_LINES = 1100  # more than the thousand faults that one file may have


def twelve_files(folder):
    """Write 12 line-aligned files: fra is Latin-1, nld lacks a line, swe is UTF-16, one line of ita has a NUL."""
    for language in LANGUAGES:
        lines = [f"sätze {language} {k}" for k in range(1, N_LINES + 1)]
        if language == "ita":
            lines[6] += "\0"
        if language == "nld":
            del lines[400]
        encoding = {"fra": "latin-1", "swe": "utf-16"}.get(language, "utf-8")
        (folder / f"{language}.txt").write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))
    return folder
