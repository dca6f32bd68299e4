"""Options win over the file, the file over defaults; what cannot be used is refused in words."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from airboss.errors import SettingsInvalid
from airboss.provider_settings import Provider, ProviderModel
from airboss.settings import Settings, default_data_folder, load_settings

A, B = ProviderModel(id="a"), ProviderModel(id="b")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def test_without_a_file_or_options_there_are_the_defaults(file: Path) -> None:
    assert load_settings(None, {}) == load_settings(file, {}) == Settings()
    assert (Settings().port, Settings().host, Settings().permissions) == (
        8888,
        "127.0.0.1",
        "ask",
    )


def test_an_option_wins_over_the_file_and_the_file_over_the_default(file: Path) -> None:
    file.write_text('port = 1234\nhost = "::1"\n', "utf-8")
    loaded = load_settings(file, {"port": 4321, "host": None, "test": True})
    assert loaded == Settings(port=4321, host="::1", test=True)


def test_a_provider_is_read_from_the_file(file: Path) -> None:
    file.write_text(
        '[[providers]]\nname = "local"\nbase_url = "http://127.0.0.1:1/v1"\nmodels = ["a", "b"]\n',
        "utf-8",
    )
    local = Provider(name="local", base_url="http://127.0.0.1:1/v1", models=(A, B))
    assert load_settings(file, {}) == Settings(providers=(local,))


def test_a_command_is_one_text_or_a_list_of_words(file: Path) -> None:
    file.write_text('notify_command = ["notify-send", "It waits"]\n', "utf-8")
    told = load_settings(file, {})
    assert told.notify_command == ("notify-send", "It waits")
    assert load_settings(None, {"notify_command": "notify-send 'It waits'"}) == told


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("port = 99999", "port: Input should be less than or equal to 65535"),
        ("prot = 1", "prot: There is no such field"),
        ('permissions = "all"', "permissions: Input should be 'ask'"),
        ("port = ", "Invalid value"),
        ("port = " + "[" * 5_000, "its tables and lists are nested too deeply"),
        ('roots = ["~no-such-user-here/x"]', "there is no home folder of ~no-such-user-here"),
        ('entry = "/a\\u0000b"', "entry: no path has a NUL in it"),
        ('webhook_url = "https://256.1.1.1/"', "webhook_url: Should be an address"),
        ('tls_key = "/k"', "tls_certificate and tls_key belong together"),
        ('notify_command = ""', "notify_command: List should have at least 1 item"),
        ('notify_command = "say \'x"', "notify_command: No closing quotation"),
        ('webhook_url = "ftp://x"', "webhook_url: String should match pattern"),
        ('webhook_url = "https://me:word@x"', "webhook_url: String should match pattern"),
        ('webhook_secret = "word"', "webhook_secret: There is no such field"),
        (
            '[[providers]]\nname = "a b"\nbase_url = "ftp://x"\nmodels = []',
            "providers.0.name (in the table at line 1): Should have letters, digits, - and _",
        ),
        (
            '[[providers]]\nname = "p"\nbase_url = "https://x"\nmodels = ["m"]\n' * 2,
            "the name 'p' is used twice. Use a different name for each.",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(
    file: Path, content: str, words: str
) -> None:
    file.write_text(content, "utf-8")
    with pytest.raises(SettingsInvalid) as refused:
        load_settings(file, {})
    assert words in str(refused.value)


@pytest.mark.parametrize("field", ["key", "key_variable"])
def test_a_key_in_the_wrong_place_is_refused_and_not_repeated(file: Path, field: str) -> None:
    secret = "sk-proj-0123456789abcdefghij"
    provider = f'name = "p"\nbase_url = "http://x"\nmodels = ["m"]\n{field} = "{secret}"'
    file.write_text(f"[[providers]]\n{provider}\n", "utf-8")
    with pytest.raises(SettingsInvalid) as refused:
        load_settings(file, {})
    assert f"providers.0.{field}" in str(refused.value)
    assert secret not in str(refused.value)


def test_a_file_with_a_mark_of_its_encoding_is_read(file: Path) -> None:
    file.write_text("port = 1\n", "utf-8-sig")
    assert load_settings(file, {}).port == 1


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, file: Path) -> None:
    with pytest.raises(SettingsInvalid, match="Could not read"):
        load_settings(tmp_path, {})
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsInvalid, match="Could not read"):
        load_settings(file, {})


def test_paths_are_written_out_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    loaded = load_settings(None, {"data": "~/data", "roots": ("work", "~/more")})
    assert (loaded.data, loaded.roots) == (
        tmp_path / "data",
        (tmp_path / "work", tmp_path / "more"),
    )


def test_the_data_folder_comes_from_the_environment_or_the_platform(tmp_path: Path) -> None:
    assert default_data_folder({"AIRBOSS_DATA": str(tmp_path)}) == tmp_path
    assert default_data_folder({"AIRBOSS_DATA": "x"}) == Path.cwd() / "x"
    assert default_data_folder({}).name == "airboss"


def test_settings_never_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().port = 1


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ('plan = {description = "d", prompt = "p"}', '"plan" is a command of its own already'),
        ('"not it" = {description = "d", prompt = "p"}', "commands"),
        ('go = {prompt = "p"}', "commands.go.description"),
        ('go = {description = "d", prompt = ""}', "commands.go.prompt"),
        ('go = {description = "d", prompt = "p", run = "x"}', "commands.go.run"),
    ],
)
def test_a_command_that_cannot_be_is_refused_with_its_place(
    file: Path, command: str, words: str
) -> None:
    file.write_text(f"[session.commands]\n{command}\n", "utf-8")
    with pytest.raises(SettingsInvalid, match=words):
        load_settings(file, {})
