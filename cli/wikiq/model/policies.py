"""How results are ranked: frozen, named, versioned records, and nothing that computes.

Each number was chosen on judged sets (docs/decisions/); `python -m tests.eval --ablate` turns one part off at
a time. A changed number is another version.
"""

from __future__ import annotations

from indexerd.contract.record import Record


class Policy(Record):
    """The `default` way to rank.

    `weights` are bm25's, for title, ancestors, heading, body. A section's own score is
    words + `pair_weight` x adjacent pairs + `form_weight` x other forms of the words, from the natural
    table, and `piece_weight` x (pieces + `piece_pair_weight` x pairs of alphabetic ones), from the
    bigram table. In the `measured` best sections words count by the length of their field (BM25F):
    `heading_length` of the way for title and headings together, `body_length` for the body. The `pool`
    best sections are reranked: each gets `page_weight` x the
    mean of its page's `page_sections` best (or of all, when it has fewer). For words with signs that
    it holds verbatim it gets their share of the question x the best score x `literal_weight`, where
    its heading holds them `literal_heading_weight` more; and where its whole heading stands in the
    question, the heading's share x the best score x `heading_weight`. Without `function_words`, words
    like `the` and `how` count in pairs only.
    """

    name: str
    version: int
    weights: tuple[float, float, float, float] = (5.0, 1.0, 8.0, 1.0)
    pair_weight: float = 0.3
    form_weight: float = 0.3
    piece_weight: float = 0.5
    piece_pair_weight: float = 0.6
    measured: int = 60
    heading_length: float = 0.75
    body_length: float = 0.75
    pool: int = 200
    page_weight: float = 0.5
    page_sections: int = 3
    literal_weight: float = 1.0
    literal_heading_weight: float = 1.0
    heading_weight: float = 0.3
    function_words: bool = False
    names: bool = True
    exact_names: bool = True
    prefixes: bool = True
    divisions: bool = True
    corrections: bool = True

    @property
    def label(self) -> str:
        """The name and version, as results carry them."""
        return f"{self.name}@{self.version}"


DEFAULT = Policy(name="default", version=3)
