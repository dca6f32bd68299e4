"""The commands about providers, each thin: provider add, list, test, remove."""

from enum import StrEnum
from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, Yes, reach


class Types(StrEnum):
    """Whose API a provider speaks."""

    openai = "openai"
    azure = "azure"
    anthropic = "anthropic"


class Wires(StrEnum):
    """Which of the APIs of OpenAI."""

    completions = "completions"
    responses = "responses"


app = typer.Typer(help="Add, test or remove your own model providers.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the provider.")]


@app.command("add")
def provider_add(
    name: Name,
    url: Annotated[str, typer.Option(metavar="URL", help="Address, such as https://host/v1.")],
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Model that people may use; repeatable."),
    ] = None,
    kind: Annotated[Types, typer.Option("--type", help="Type of its API.")] = Types.openai,
    wire: Annotated[Wires | None, typer.Option(help="OpenAI API to use. [completions]")] = None,
    api_version: Annotated[
        str | None, typer.Option(metavar="TEXT", help="API version, for azure only.")
    ] = None,
    private: Annotated[
        bool, typer.Option("--private", help="It is on your own network; http is allowed.")
    ] = False,
    no_test: Annotated[bool, typer.Option("--no-test", help="Add it without testing it.")] = False,
    data: Data = None,
) -> None:
    """Test a provider with one call, and add it.

    You are asked for its key; in a script, pass it on standard input.
    """
    from airboss.cli.provider.providers import add_provider

    said = {
        "type": kind.value,
        "base_url": url,
        "private": private,
        "wire": wire.value if wire else None,
        "api_version": api_version,
    }
    add_provider(reach(data)(), name, said, model or [], is_tested=not no_test)


@app.command("list")
def provider_list(data: Data = None, as_json: AsJson = False) -> None:
    """List your own providers, with their state."""
    from airboss.cli.provider.providers import list_providers

    list_providers(reach(data)(), is_json=as_json)


@app.command("test")
def provider_test(
    name: Name,
    model: Annotated[
        str | None, typer.Option(metavar="ID", help="Model to call. [its first]")
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Test a provider with one call to a model."""
    from airboss.cli.provider.providers import test_provider

    raise typer.Exit(test_provider(reach(data)(), name, model, is_json=as_json))


@app.command("remove")
def provider_remove(name: Name, yes: Yes = False, data: Data = None) -> None:
    """Remove a provider that was added while the server ran, and its key."""
    from airboss.cli.confirming import confirmed
    from airboss.cli.provider.providers import remove_provider

    losing = f"The provider {name} and its key are removed; open sessions on it fail."
    if confirmed("Remove it?", losing=losing, is_sure=yes):
        remove_provider(reach(data)(), name)
