"""The default ranking with one part turned off at a time, for `python -m tests.eval --ablate`."""

from __future__ import annotations

from wikiq.model.policies import DEFAULT

ABLATIONS = {
    "no-weights": DEFAULT.replace(weights=(1.0, 1.0, 1.0, 1.0)),
    "function-words": DEFAULT.replace(function_words=True),
    "no-pairs": DEFAULT.replace(pair_weight=0.0),
    "no-forms": DEFAULT.replace(form_weight=0.0),
    "no-field-lengths": DEFAULT.replace(measured=0),
    "no-page": DEFAULT.replace(page_weight=0.0),
    "no-literals": DEFAULT.replace(literal_weight=0.0, literal_heading_weight=0.0),
    "no-literal-headings": DEFAULT.replace(literal_heading_weight=0.0),
    "no-headings": DEFAULT.replace(heading_weight=0.0),
    "no-exact-names": DEFAULT.replace(exact_names=False),
    "no-names": DEFAULT.replace(names=False),
    "no-prefixes": DEFAULT.replace(prefixes=False),
    "no-divisions": DEFAULT.replace(divisions=False),
    "no-corrections": DEFAULT.replace(corrections=False),
    "no-pieces": DEFAULT.replace(piece_weight=0.0),
    "no-piece-pairs": DEFAULT.replace(piece_pair_weight=0.0),
}
