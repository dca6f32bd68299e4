"""What providers say of their models, each in its own words."""

from airboss.harness.offered_models import models_in


def test_what_services_say_of_their_models() -> None:
    rows = [
        {"id": "a", "context_length": 262144, "supported_parameters": ["reasoning"]},
        {"id": "b", "architecture": {"input_modalities": ["text", "image"]}},
        {"id": "c", "meta": {"n_ctx_train": 32768}, "capabilities": {"vision": False}},
        {"id": "d", "type": "embeddings"},
        {"id": "e", "capabilities": {"completion_chat": False}},
        {"id": "two words"},
        {"name": "no id"},
        "text",
        {"id": "a", "context_length": 1_000_000},
        {"id": "f", "context_length": "many", "max_model_len": True},
    ]
    found = models_in({"data": rows})
    assert found is not None
    assert [(m.id, m.context_tokens, m.vision, m.efforts, m.chat) for m in found] == [
        ("a", 262144, None, True, True),
        ("b", None, True, None, True),
        ("c", 32768, False, None, True),
        ("d", None, None, None, False),
        ("e", None, None, None, False),
        ("f", None, None, None, True),
    ]
    assert models_in({"models": []}) is None
    assert models_in("x") is None
    assert models_in([{"id": "m"}]) is not None
