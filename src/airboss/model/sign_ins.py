"""Sign-ins of browsers, as people see them: who, from where, since when and until when."""

from airboss.model.ids import SignInId
from airboss.model.words import Frozen, Words


class SignIn(Frozen):
    """One browser that is signed in. Times are milliseconds, UTC."""

    id: SignInId
    # The name of the token that it came from.
    name: Words
    address: Words
    device: Words
    since: int
    until: int
    # To the minute.
    used_at: int
