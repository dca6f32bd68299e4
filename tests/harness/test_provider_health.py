"""Providers that are fine or failing, since when and why."""

from airboss.harness.provider_health import ProviderHealth


def test_a_provider_fails_since_its_first_failure_until_it_answers() -> None:
    told: list[str] = []
    health = ProviderHealth(lambda: told.append("told"))
    assert health.of("lab") is None
    health.answered("lab", 401)
    first = health.of("lab")
    assert first is not None
    assert first.cause == "401: the key was refused."
    health.answered("lab", 401)
    health.answered("lab", 400)  # of the request, not of the provider
    assert (health.of("lab"), len(told)) == (first, 1)
    health.answered("lab", 503)
    later = health.of("lab")
    assert later is not None
    assert (later.since, later.cause) == (first.since, "503: it has an error.")
    health.answered("lab", 200)
    health.answered("lab", 200)
    fine = health.of("lab")
    assert fine is not None
    assert (fine.cause, len(told)) == (None, 3)
    health.fine("lab", 412)
    health.failing("lab", "It broke off.")
    failing = health.of("lab")
    assert failing is not None
    assert (failing.cause, failing.first_word_ms, len(told)) == ("It broke off.", 412, 5)
    health.forget("lab")
    assert health.of("lab") is None
