"""`langdiff parallelism`: statistics, splits, ranks and pictures of annotated parallelisms."""

import typer

parallelism_app = typer.Typer(
    name="parallelism", help="Measure, split, show and detect rhetorical parallelism.", no_args_is_help=True
)
