"""A section ``[vowels]`` of experiment files, and a command."""

import pandas as pd
import typer

from langdiff.run import Analysis, Section, section

app = typer.Typer()


@section("vowels", title="Vowels", heading="How many vowels are there?", explains="Counted in all texts.")
class Vowels(Section):
    letters: str = "aeiou"

    def depends(self, basis):
        return basis.hashes(basis.texts)

    def make(self, basis):
        counts = {name: basis.texts.text(name).str.count(f"[{self.letters}]").sum() for name in basis.texts.editions}
        table = pd.Series(counts, name="vowels").rename_axis("edition").reset_index()
        return Analysis(name=self.about.name, table=table, notes=())


@app.command()
def vowels(text: str) -> None:
    """Count the vowels of a text."""
    typer.echo(sum(letter in "aeiou" for letter in text))
