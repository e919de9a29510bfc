"""Makes a page of each notebook when the handbook is built, with the outputs that are stored in it; executes none."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

FOLDER = "notebooks"  # of the repository, and of the site
TEMPLATE = """{% extends 'markdown/index.md.j2' %}
{% block stream %}
```text
{{ output.text | trim('\n') }}
```
{% endblock stream %}
{% block data_text %}
```text
{{ output.data['text/plain'] | trim('\n') }}
```
{% endblock data_text %}
{% block data_html %}
<div class="frame">
{{ output.data['text/html'] | plain_table }}
</div>
{% endblock data_html %}
{% block data_png %}
![drawn by the code above]({{ output.metadata.filenames['image/png'] }})
{% endblock data_png %}
"""
SOURCE = "\n\nThis page is `{}`, with the outputs that are stored in it.\n"


def page_of(notebook: Path) -> tuple[str, dict[str, bytes]]:
    """Return a notebook as Markdown, and its pictures by their paths beside the page."""
    from nbconvert import MarkdownExporter

    exporter = MarkdownExporter(raw_template=TEMPLATE)
    exporter.register_filter("plain_table", plain_table)
    names = {"unique_key": notebook.stem, "output_files_dir": notebook.stem}
    text, resources = exporter.from_filename(str(notebook), resources=names)
    title, _, rest = text.strip().partition("\n")
    return title + SOURCE.format(f"{FOLDER}/{notebook.name}") + rest + "\n", resources["outputs"]


def plain_table(html: str) -> str:
    """Return a table of pandas without styles of its own, so that it looks like the tables of the handbook."""
    html = re.sub(r"<style.*?</style>\s*", "", html, flags=re.DOTALL)
    html = re.sub(r' (?:border="1"|class="dataframe"|style="text-align: right;")', "", html)
    return re.sub(r"^\s+", "", html, flags=re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook, and its pictures."""
    for notebook in sorted((Path(config["docs_dir"]).parent / FOLDER).glob("*.ipynb")):
        text, pictures = page_of(notebook)
        files.append(File.generated(config, f"{FOLDER}/{notebook.stem}.md", content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, f"{FOLDER}/{name}", content=content))
    return files
