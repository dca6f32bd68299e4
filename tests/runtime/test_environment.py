"""What agents may see of the server's environment."""

import pytest

from airboss.runtime.environment import agents_environment


def kept(
    environ: dict[str, str], secrets: tuple[str, ...] = (), secret_names: tuple[str, ...] = ()
) -> dict[str, str]:
    passed = agents_environment(environ, owner="o", secrets=secrets, secret_names=secret_names)
    ours = ("AIRBOSS_", "COPILOT_DISABLE_LOGIN_SHELL_ENV")
    return {name: value for name, value in passed.items() if not name.startswith(ours)}


@pytest.mark.parametrize(
    "name",
    [
        "AIRBOSS_TOKEN",
        "AIRBOSS_ANYTHING",
        "GH_TOKEN",
        "GITHUB_TOKEN",
        "COPILOT_GITHUB_TOKEN",
        "COPILOT_SDK_AUTH_TOKEN",
        "OPENAI_API_KEY",
        "AZURE_OPENAI_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "DB_PASSWD",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "my_secret",
        "CAPI_HMAC_KEY",
        "DATABASE_URL",
        "SENTRY_DSN",
        "GITLAB_PAT",
    ],
)
def test_a_name_that_means_a_secret_is_left_out(name: str) -> None:
    assert kept({name: "value-of-it", "PATH": "/bin"}) == {"PATH": "/bin"}


def test_the_runtimes_own_variables_and_ordinary_ones_pass() -> None:
    environ = {
        "COPILOT_API_URL": "http://127.0.0.1:1",
        "COPILOT_DEBUG_GITHUB_API_URL": "http://127.0.0.1:1",
        "HTTPS_PROXY": "http://me:word@proxy:3128",
        "no_proxy": "localhost",
        "GH_CONFIG_DIR": "/somewhere",
        "XDG_CACHE_HOME": "/cache",
        "SSL_CERT_FILE": "/certs.pem",
        "NODE_EXTRA_CA_CERTS": "/more.pem",
        "SSH_AUTH_SOCK": "/run/agent",
        "HOME": "/home/me",
        "KEYBOARD": "de",
        "LANG": "C.UTF-8",
    }
    assert kept(environ) == environ


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, {"NO_PROXY": "127.0.0.1"}),
        ({"no_proxy": ".corp"}, {"no_proxy": ".corp,127.0.0.1"}),
        ({"NO_PROXY": "", "no_proxy": "*"}, {"NO_PROXY": "127.0.0.1", "no_proxy": "*"}),
    ],
)
def test_what_is_on_this_machine_is_never_asked_of_a_proxy(
    given: dict[str, str], found: dict[str, str]
) -> None:
    proxy = {"http_proxy": "http://proxy:3128"}
    assert kept({**proxy, **given}) == {**proxy, **found}


def test_known_secrets_are_left_out_by_value_and_by_configured_name() -> None:
    environ = {
        "INNOCENT": "abc-top-secret-xyz",
        "MODEL_LOGIN": "something else",
        "MONGO": "mongodb://me:word@host/db",
        "SHORT": "abc",
    }
    passed = kept(environ, secrets=("top-secret", "abc"), secret_names=("MODEL_LOGIN",))
    assert passed == {"SHORT": "abc"}


def test_everything_bears_our_mark_and_no_profile_is_read() -> None:
    assert agents_environment({}, owner="data-1", life="rtl_1") == {
        "COPILOT_DISABLE_LOGIN_SHELL_ENV": "1",
        "AIRBOSS_OWNER": "data-1",
        "AIRBOSS_LIFE": "rtl_1",
    }
