"""Write codemeta.json and .zenodo.json from pyproject.toml and CITATION.cff (`make metadata`)."""

import json
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]


def metadata() -> dict[str, dict[str, Any]]:
    """Return the content of each file by its name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    abstract = " ".join(citation["abstract"].split())
    codemeta = {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": project["name"],
        "description": abstract,
        "version": project["version"],
        "license": [f"https://spdx.org/licenses/{one}" for one in project["license"].split(" AND ")],
        "author": [_person(author) for author in citation["authors"]],
        "keywords": citation["keywords"],
        "programmingLanguage": "Python",
        "runtimePlatform": f"Python {project['requires-python']}",
        "softwareRequirements": project["dependencies"],
        "developmentStatus": "active",
        "referencePublication": [f"https://doi.org/{paper['doi']}" for paper in citation["references"]],
    }
    zenodo = {
        "title": citation["title"],
        "description": abstract,
        "upload_type": "software",
        "version": project["version"],
        "license": project["license"].split(" AND ")[0],  # Zenodo has room for one, that of the code
        "creators": [_creator(author) for author in citation["authors"]],
        "keywords": citation["keywords"],
        "related_identifiers": [
            {"identifier": paper["doi"], "relation": "references", "scheme": "doi"} for paper in citation["references"]
        ],
    }
    if "date-released" in citation:
        day = str(citation["date-released"])
        codemeta["datePublished"] = zenodo["publication_date"] = day
    return {"codemeta.json": codemeta, ".zenodo.json": zenodo}


def _person(author: dict[str, str]) -> dict[str, str]:
    if "name" in author:
        return {"@type": "Organization", "name": author["name"]}
    person = {"@type": "Person", "givenName": author["given-names"], "familyName": author["family-names"]}
    return person | ({"@id": author["orcid"]} if "orcid" in author else {})


def _creator(author: dict[str, str]) -> dict[str, str]:
    if "name" in author:
        return {"name": author["name"]}
    creator = {"name": f"{author['family-names']}, {author['given-names']}"}
    return creator | ({"orcid": author["orcid"].rsplit("/", 1)[-1]} if "orcid" in author else {})


def text(content: dict[str, Any]) -> str:
    """Return what a file holds."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name, content in metadata().items():
        (ROOT / name).write_text(text(content), encoding="utf-8")
