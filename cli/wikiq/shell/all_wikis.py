"""Asks every index of the state folder the same question and merges the answers by rank.

Scores of different indexes cannot be compared: each one's best hit comes before anyone's second.
"""

from __future__ import annotations

from itertools import zip_longest

from indexerd.contract.record import Record
from wikiq.answers.pages import list_pages
from wikiq.answers.search import search
from wikiq.errors import NoIndexError, UnknownPageError, UnknownTopicError, UsageError, WikiqError
from wikiq.index.freshness import STOPPED, staleness
from wikiq.index.locate import list_indexes
from wikiq.model.request import Source
from wikiq.model.results import Hit, MergedResult, WikiAnswer, WikiHit
from wikiq.shell.session import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    from indexerd.contract.which_index import KnownIndex
    from wikiq.index.database import Snapshot
    from wikiq.model.request import SearchRequest
    from wikiq.model.results import Freshness, SearchResult
    from wikiq.output.context import Surroundings
    from wikiq.shell.session import Session

    Answer = TypeVar("Answer")


class Beside(Record):
    """What is told beside the answers of all wikis: errors of those that gave none, and who is not fresh."""

    failed: tuple[str, ...]
    not_fresh: tuple[str, ...]


def indexes_of_all(source: Source, surroundings: Surroundings) -> tuple[KnownIndex, ...]:
    """Give every registered index. Raises UsageError where one was named too, NoIndexError without any."""
    if source.db is not None or source.wiki is not None:
        raise UsageError("--all", "cannot be combined with --db or --wiki", "leave out one of them")
    known = list_indexes(surroundings.environ)
    if not known:
        raise NoIndexError("--all", "there is no index yet", "run `indexerd build`")
    return known


def search_everywhere(request: SearchRequest, source: Source, surroundings: Surroundings) -> MergedResult:
    """Search every registered index, best hits first."""
    found = ask_everywhere(lambda snapshot: search(snapshot, request), request, source, surroundings)
    return found.replace(hits=found.hits[: request.limit])


def list_everywhere(
    request: SearchRequest, limit: int | None, source: Source, surroundings: Surroundings
) -> MergedResult:
    """List the pages of every registered index that pass the filters, newest first."""
    found = ask_everywhere(
        lambda snapshot: list_pages(snapshot, request.filters, limit=limit), request, source, surroundings
    )
    newest = sorted(found.hits, key=lambda hit: hit.updated_at, reverse=True)
    return found.replace(hits=tuple(newest[:limit]))


def each_wiki(
    ask: Callable[[Session], Answer], source: Source, surroundings: Surroundings
) -> tuple[list[tuple[KnownIndex, Answer]], Beside]:
    """Ask every registered index; one that cannot answer is noted and does not stop the others.

    Raises NoIndexError without any index, and what was wrong with the question if none could answer.
    """
    answers: list[tuple[KnownIndex, Answer]] = []
    failed: list[WikiqError] = []
    not_fresh: list[str] = []
    behind: list[tuple[KnownIndex, Freshness]] = []
    for known in indexes_of_all(source, surroundings):
        try:
            with opened(source.replace(db=known.path), surroundings) as session:
                answer = ask(session)
        except (UnknownPageError, UnknownTopicError) as error:
            failed.append(error)  # no page of this wiki can be meant; another one's may
            continue
        except UsageError:
            raise
        except WikiqError as error:
            surroundings.note(str(error))
            failed.append(error)
            continue
        if session.freshness.stale:
            behind.append((known, session.freshness))
        if not session.is_fresh:
            not_fresh.append(known.wiki)
        answers.append((known, answer))
    for line in staleness_lines(behind):
        surroundings.note(line)
    if not answers:
        raise failed[0] if failed else NoIndexError("--all", "there is no index yet", "run `indexerd build`")
    return answers, Beside(failed=tuple(map(str, failed)), not_fresh=tuple(not_fresh))


def ask_everywhere(
    ask: Callable[[Snapshot], SearchResult],
    request: SearchRequest,
    source: Source,
    surroundings: Surroundings,
) -> MergedResult:
    """Ask every registered index for hits, and merge them by rank. Raises what `each_wiki` does."""
    asked, beside = each_wiki(lambda session: ask(session.snapshot), source, surroundings)
    results = [result for _, result in asked]
    answers = [_answer(result, known.root) for known, result in asked]
    ranked = [[_placed(hit, known.wiki, known.root) for hit in result.hits] for known, result in asked]
    return MergedResult(
        query=request.query,
        corrected={typed: used for result in results for typed, used in result.corrected.items()},
        excluded=tuple(dict.fromkeys(word for result in results for word in result.excluded)),
        ignored_terms=results[0].ignored_terms,
        total=sum(answer.total for answer in answers),
        total_exact=all(answer.total_exact for answer in answers),
        wikis=tuple(answers),
        failed=beside.failed,
        not_fresh=beside.not_fresh,
        hits=tuple(merge_by_rank(ranked)),
    )


def staleness_lines(behind: Sequence[tuple[KnownIndex, Freshness]]) -> Iterator[str]:
    """Say which answers may be behind their trees: a line each, but one for all wikis without a daemon."""
    names = [known.wiki for known, _ in behind]
    called = {known: known.wiki if names.count(known.wiki) == 1 else known.root for known, _ in behind}
    idle = [known for known, freshness in behind if freshness.mode == STOPPED]
    if len(idle) > 1:
        listed = ", ".join(called[known] for known in idle)
        yield f"no daemon is running for {listed}; start each with `indexerd run ROOT`"
    for known, freshness in behind:
        line = staleness(freshness, known.root)
        if line is not None and (known not in idle or len(idle) == 1):
            yield f"{called[known]}: {line}"


def merge_by_rank(ranked: Sequence[Sequence[WikiHit]]) -> list[WikiHit]:
    """Merge lists by rank: the first hit of every list, then the second of every list, and so on."""
    return [hit for hits in zip_longest(*ranked) for hit in hits if hit is not None]


def _answer(result: SearchResult, root: str) -> WikiAnswer:
    return WikiAnswer(
        wiki=result.wiki,
        root=root,
        index_id=result.index_id,
        generation=result.generation,
        age_s=result.age_s,
        stale=result.stale,
        total=result.total,
        total_exact=result.total_exact,
    )


def _placed(hit: Hit, wiki: str, root: str) -> WikiHit:
    return WikiHit(**{field: getattr(hit, field) for field in Hit.fields}, wiki=wiki, root=root)
