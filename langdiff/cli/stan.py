"""`langdiff sample` and `langdiff install-stan`: the posterior of difficulties."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from langdiff.cli.output import print_json, print_table
from langdiff.cli.paths import existing
from langdiff.cli.units import Unit, Verify
from langdiff.regression.variants import StanModel, find_variant

SHOWN = {
    "difficulty": "{:+.4f}",
    "sd": "{:.4f}",
    "low": "{:+.4f}",
    "high": "{:+.4f}",
    "percent": "{:+.1f}",
    "r_hat": "{:.3f}",
    "ess_bulk": "{:,.0f}",
    "ess_tail": "{:,.0f}",
    "ess_sd": "{:,.0f}",
}


def sample(
    surprisals: Annotated[
        Path,
        typer.Argument(
            help="Table (.csv, .tsv, .parquet): long, or intents × editions.", metavar="SURPRISALS", callback=existing
        ),
    ],
    model: Annotated[StanModel, typer.Option(help="Regression model.")] = "2",
    laplace_scale: Annotated[float | None, typer.Option(help="Scale b of model 3, nats.")] = None,
    unit: Unit = None,
    verify: Verify = True,
    chains: Annotated[int, typer.Option(help="Number of Markov chains.")] = 4,
    iter_warmup: Annotated[int, typer.Option(help="Draws of each chain to adapt with, not kept.")] = 200,
    iter_sampling: Annotated[int, typer.Option(help="Draws of each chain to keep.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of all chains.")] = 0,
    engine: Annotated[
        Literal["auto", "cmdstan", "pystan"], typer.Option(help="auto: CmdStan where installed, else PyStan.")
    ] = "auto",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Save all draws here (.nc, NetCDF).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Draw from the posterior of difficulties with Stan.

    Example: langdiff sample surprisals.csv --out posterior.nc
    """
    import langdiff as ld
    from langdiff.regression.stan.sampling import Sampler, sample

    if out is not None:
        check_netcdf(out)
    idata = sample(
        ld.read_surprisals(surprisals, unit=unit, verify=verify),
        model=find_variant(model, laplace_scale=laplace_scale),
        sampler=Sampler(engine=engine, chains=chains, iter_warmup=iter_warmup, iter_sampling=iter_sampling),
        seed=seed,
    )
    show_draws(idata, out, as_json, SHOWN)


def show_draws(idata: Any, out: Path | None, as_json: bool, formats: dict[str, str]) -> None:
    """Save draws if asked to, and print the table of the posterior under what is said of the chains."""
    from langdiff.regression.stan.draws import diagnose, posterior_table

    if out is not None:
        save_netcdf(idata, out)
    table = posterior_table(idata).reset_index()
    if as_json:
        print_json(table)
        return
    lines = [diagnose(idata).summary(), f"[{idata['posterior'].attrs['signature']}]"]
    print_table(table, "\n".join(lines), formats)


def save_netcdf(idata: Any, path: Path) -> None:
    """Write draws, or nothing if that fails."""
    from langdiff.base.io import atomic_path

    with atomic_path(path) as temporary:
        idata.to_netcdf(str(temporary))


def check_netcdf(path: Path) -> None:
    """Refuse names of other files."""
    from langdiff.errors import ConfigError

    if path.suffix != ".nc":
        raise ConfigError(f"{path}: draws are saved as NetCDF; use a name that ends in .nc.")


def install_stan(
    version: Annotated[str | None, typer.Option(help="Release, such as 2.35.0; by default the latest.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for CmdStan; by default CmdStanPy's own.")
    ] = None,
    cores: Annotated[int, typer.Option(help="Number of processes to build with.")] = 2,
) -> None:
    """Download and build CmdStan, the faster of the two engines of `langdiff sample`.

    Example: langdiff install-stan
    """
    from langdiff.regression.stan.engines import install_cmdstan

    typer.echo(str(install_cmdstan(version=version, folder=out, cores=cores)))
