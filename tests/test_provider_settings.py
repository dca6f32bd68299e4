"""What is said of a provider, and what is refused of it in words."""

from pathlib import Path

import pytest

from airboss.errors import SettingsInvalid
from airboss.provider_settings import Provider, ProviderModel, is_credential, is_loopback
from airboss.settings import load_settings, shown_settings

HEAD = 'port = 1\n\n[[providers]]\nname = "good"\nbase_url = "https://x/v1"\nmodels = ["m"]\n\n'

BIG = (
    '{ id = "big", wire_model = "deployment-7", prompt_tokens = 200000, output_tokens = 32000, '
    'vision = false, efforts = ["low", "max"] }'
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def refusal(file: Path, **said: str) -> str:
    """What is said of the second provider in the file, at line 8."""
    table = {"name": '"p"', "base_url": '"https://x/v1"', "models": '["m"]', **said}
    lines = "".join(f"{name} = {value}\n" for name, value in table.items())
    file.write_text(f"{HEAD}[[providers]]\n{lines}", "utf-8")
    with pytest.raises(SettingsInvalid) as refused:
        load_settings(file, {})
    return str(refused.value).partition("Invalid settings")[2].partition("): ")[2]


def test_every_key_of_a_provider_is_read(file: Path) -> None:
    file.write_text(
        """
        [[providers]]
        name = "work"
        type = "azure"
        wire = "responses"
        base_url = "https://work.openai.azure.com"
        key_variable = "WORK_KEY"
        auth = "bearer"
        headers = { "X-Team" = "night shift" }
        api_version = "2025-04-01-preview"
        private = true
        models = [
            "plain",
            BIG,
        ]
        """.replace("BIG", BIG),
        "utf-8",
    )
    big = ProviderModel(
        id="big",
        wire_model="deployment-7",
        prompt_tokens=200_000,
        output_tokens=32_000,
        vision=False,
        efforts=("low", "max"),
    )
    [found] = load_settings(file, {}).providers
    assert found == Provider(
        name="work",
        type="azure",
        wire="responses",
        base_url="https://work.openai.azure.com",
        key_variable="WORK_KEY",
        auth="bearer",
        headers={"X-Team": "night shift"},
        api_version="2025-04-01-preview",
        private=True,
        models=(ProviderModel(id="plain"), big),
    )
    assert (found.model("big"), found.model("deployment-7")) == (big, None)


def test_settings_from_before_are_valid_still(file: Path) -> None:
    file.write_text(
        '[[providers]]\nname = "local"\nbase_url = "http://127.0.0.1:11434/v1"\nmodels = ["a"]\n'
        '[[providers]]\nname = "here"\nbase_url = "http://localhost:1/v1"\nmodels = ["a"]\n'
        '[[providers]]\nname = "six"\nbase_url = "http://[::1]:1/v1"\nmodels = ["a"]\n',
        "utf-8",
    )
    found = load_settings(file, {}).providers
    assert [provider.is_on_loopback for provider in found] == [True, True, True]
    assert [provider.private for provider in found] == [False, False, False]


@pytest.mark.parametrize("name", ["copilot", "rehearsal", "cli", "Copilot"])
def test_names_of_other_sources_are_refused(file: Path, name: str) -> None:
    said = refusal(file, name=f'"{name}"')
    assert said == (
        "providers.1.name (in the table at line 8): "
        f"The name {name} stands for something else. Choose another one."
    )


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://x", "This is no address. Write it as https://host/path."),
        ("https://", "This is no address."),
        ("https://x:99999/v1", "This is no address."),
        ("https://256.1.1.1/v1", "This is no address."),
        ("https://x y/v1", "This is no address."),
        ("https://[::1/v1", "This is no address."),
        ("https://x/v1#part", "This is no address."),
        ("https://me:word@x/v1", "No user and no password in an address"),
        ("https://me@x/v1", "No user and no password in an address"),
        ("https://x/v1?api_key=1", "No key in an address: name a key_variable instead."),
        ("https://x/v1?a=1&To%6ben=1", "No key in an address"),
        ("https://x/v1?a=1;X-Amz-Signature=1", "No key in an address"),
        ("https://x/v1?p%61ss%20w+d=1", "No key in an address"),
        ("http://x/v1", "Over http everybody on the way can read the key"),
        ("http://10.0.0.1/v1", "or set private = true if the provider is in your own network"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(file: Path, url: str, words: str) -> None:
    said = refusal(file, base_url=f'"{url}"')
    assert said.startswith("providers.1.base_url (in the table at line 8): ")
    assert words in said
    assert "word@" not in said


def test_http_in_ones_own_network_is_allowed_by_a_word(file: Path) -> None:
    file.write_text(
        '[[providers]]\nname = "lan"\nbase_url = "http://10.0.0.1/v1"\nprivate = true\n'
        'models = ["a"]\n',
        "utf-8",
    )
    assert load_settings(file, {}).providers[0].private


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            {"type": '"anthropic"', "wire": '"responses"'},
            "wire (in the table at line 8): Providers",
        ),
        ({"wire": '"websocket"'}, "wire (in the table at line 8): Input should be 'responses'"),
        ({"type": '"gemini"'}, "type (in the table at line 8): Input should be 'openai'"),
        ({"auth": '"basic"'}, "auth (in the table at line 8): Input should be 'key' or 'bearer'"),
        ({"api_version": '"2025"'}, "Only providers of the type azure have one. Leave it out."),
        ({"type": '"azure"', "api_version": '"a/b"'}, "String should match pattern"),
        ({"headers": '{ Authorization = "x" }'}, "The header Authorization would hold a key."),
        ({"headers": '{ "X-Api_Key" = "x" }'}, "The header X-Api_Key would hold a key."),
        ({"headers": '{ Host = "x" }'}, "The header Host belongs to the connection."),
        ({"headers": '{ "a b" = "x" }'}, "The header 'a b' cannot be sent"),
        ({"headers": '{ X-A = "x\\r\\nX-B: y" }'}, "The header 'X-A' cannot be sent"),
        ({"headers": '{ X-A = "ü" }'}, "The header 'X-A' cannot be sent"),
        ({"models": '["m", { id = "m" }]'}, "The model m is there twice. Name each once."),
        ({"models": '[{ id = "m", prompt_tokens = 0 }]'}, "models.0.prompt_tokens"),
        ({"models": '[{ id = "m", efforts = ["huge"] }]'}, "models.0.efforts.0"),
        ({"models": '[{ wire_model = "m" }]'}, "models.0.id (in the table at line 8): Field requ"),
        ({"models": "[1]"}, "models.0 (in the table at line 8): Input should be"),
        ({"tls": "false"}, "tls (in the table at line 8): There is no such field"),
        ({"proxy": '"http://x"'}, "proxy (in the table at line 8): There is no such field"),
    ],
)
def test_what_a_provider_cannot_be_is_refused_with_its_place(
    file: Path, said: dict[str, str], words: str
) -> None:
    told = refusal(file, **said)
    assert told.startswith("providers.1.")
    assert words in told


@pytest.mark.parametrize(
    "name",
    [
        "key",
        "API-Key",
        "api_key",
        "To%6Ben",
        "p\u200bassword",
        "%70ass\u3164word",
        "x-amz+signature",
        "api" + 100 * "-" + "key",  # longer than what is looked up
    ],
)
def test_a_credential_is_known_by_any_spelling_of_its_name(name: str) -> None:
    assert is_credential(name)


@pytest.mark.parametrize("name", ["api-version", "keyboard", "X-Team", "traceparent", "", "mode"])
def test_other_names_are_no_credentials(name: str) -> None:
    assert not is_credential(name)


def test_loopback_is_this_machine_by_name_and_by_number() -> None:
    assert all(map(is_loopback, ("localhost", "a.localhost.", "127.9.9.9", "[::1]", "LOCALHOST")))
    assert not any(map(is_loopback, ("10.0.0.1", "localhost.example.com", "x", "9.9.9.9", "")))


def test_settings_that_are_shown_name_providers_and_nothing_more(file: Path) -> None:
    file.write_text(
        '[[providers]]\nname = "p"\nbase_url = "https://x/v1"\nmodels = ["m"]\n'
        'headers = { X-Team = "hush" }\n',
        "utf-8",
    )
    assert shown_settings(load_settings(file, {}))["providers"] == ["p"]
