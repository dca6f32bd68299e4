"""The benchmark: what Airboss costs over the bare SDK, how soon viewers hear, what it weighs."""
