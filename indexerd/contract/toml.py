"""TOML that came with a wiki, read so that its cost stays in proportion to its length.

tomllib makes a table for each part of a dotted key, and a copy of the key for each table: 32 KB of
dots took 1 GB. Loads nothing before it is asked.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_KEY_PARTS = 32  # mappings within each other, too; real keys have three parts
WIKI_SETTINGS_BYTES = 64 << 10  # of `.wikiq.toml`; whole tables of keys that deep take some 20 MB then

# The first part of a key follows what can come before a key, so each text is read once.
_DEEP_KEY = (
    r"""(?<![^\s=\[{,])(?:(?:[\w\-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+)"""
    f"{{{MAX_KEY_PARTS}}}"
)


def parse_toml(text: str) -> "dict[str, Any]":
    """Parse a whole text. Raises ValueError in words for people; a TOMLDecodeError knows its line."""
    import re  # noqa: PLC0415 - most commands of wikiq need none
    import tomllib  # noqa: PLC0415 - 8 ms

    if re.search(_DEEP_KEY, text, re.ASCII):
        raise ValueError(f"a key of more than {MAX_KEY_PARTS} parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError as error:
        raise ValueError(f"nested deeper than {MAX_KEY_PARTS} levels") from error
    except ValueError as error:  # from int(), which takes some thousand digits
        raise ValueError("a number with too many digits") from error
