"""Power failures at any moment of a writer's life, checkpoints and closing included.

`python -m tests.crash.power --cuts 2000 [--seed N] [--first-chain N] [--folder F]`: short with
`--cuts 100`. Every chain of lives begins with nothing and can be played alone. Counted: files that
are damaged, rows that are of no commit, generations that a follower meets twice.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from indexerd.core.sync.model import Plan, ScanRecord, Touch
from indexerd.store import Store
from indexerd.store.store import UNCLEAN_JUMP
from tests.crash.command import Command
from tests.crash.logged_disk import Disk, Files, Operation, logging_disk
from tests.store.wiki import NOON, Rows, bring, build, open_store, rows_of

CUTS_A_LIFE: Final = 20
LIVES_A_CHAIN: Final = 8  # each begins with what a power failure left of the one before
STEPS_A_LIFE: Final = 14
AFTER: Final = "after.md"  # written once the power is back
PAGES: Final = 24
LOST, TORN = 0.4, 0.2  # of the writes on their way
# Chances of losing and tearing, by the kind of end.
ENDS: Final = {"power": (LOST, TORN), "all lost": (1.0, 0.0), "torn": (0.0, 0.9), "killed": (0.0, 0.0)}
PAGES_SEEN: Final = "SELECT slug, path, content_hash, updated_at FROM v1_pages ORDER BY path"

Wiki = dict[str, str]
Generation = tuple[str, int]  # within which index
Met = dict[Generation, int]


@dataclass(frozen=True, slots=True)
class Mark:
    """From operation `at` on, readers saw this generation with this content."""

    at: int
    generation: Generation
    seen: int


@dataclass(slots=True)
class Life:
    """One session of a writer, from opening to its end."""

    operations: list[Operation] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    wiki: Wiki = field(default_factory=dict)

    def met(self, cut: int) -> Met:
        """What a follower may have met before the power failed."""
        return {mark.generation: mark.seen for mark in self.marks if mark.at <= cut}

    def possible(self, cut: int) -> Met:
        """What may be on the disk: the commit that was on its way too."""
        after = [mark for mark in self.marks if mark.at > cut][:1]
        return self.met(cut) | {mark.generation: mark.seen for mark in after}


@dataclass(slots=True)
class Counts:
    """What was played. `taken_back`: ends after which commits were missing."""

    cuts: int = 0
    commits: int = 0
    operations: int = 0
    taken_back: int = 0
    jumps: int = 0
    ends: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ENDS, 0))
    faults: list[str] = field(default_factory=list)


def observe(store: Store) -> tuple[Generation, int]:
    """What a follower meets now."""
    seen = hash(tuple(store._connection.execute(PAGES_SEEN).fetchall()))
    return (store.index_id, store.generation), seen


def edited(wiki: Wiki, chance: random.Random) -> Wiki:
    """The wiki after some edits, new pages and deletions."""
    changed = dict(wiki)
    for _ in range(chance.randrange(1, 5)):
        path = f"{chance.choice('abc')}/{chance.randrange(PAGES // 3)}.md"
        if chance.random() < 0.15:
            changed.pop(path, None)
        else:
            words = " ".join(f"w{chance.randrange(500)}" for _ in range(chance.randrange(5, 300)))
            changed[path] = f"# {path} {chance.randrange(99)}\n\n[x](0.md) {words}\n\n## 日本語\n\n{words}\n"
    return changed


def touch(store: Store) -> None:
    """New stamps under the same bytes: a commit that no reader sees."""
    known = next(iter(store.fetch_indexed().values()), None)
    if known is not None:
        stamp = known.stamp._replace(inode=known.stamp.inode + 1)
        store.apply(Plan(touches=(Touch(known.path, stamp, racy=False),)), committed_at=NOON)


def step(store: Store, wiki: Wiki, chance: random.Random) -> Wiki:
    """One thing a daemon does with its store; the wiki after it."""
    what = chance.random()
    if what < 0.5:
        wiki = edited(wiki, chance)
        bring(store, wiki)
    elif what < 0.62:
        touch(store)
    elif what < 0.72:
        store.merge()
    elif what < 0.85:
        store.checkpoint()
    elif what < 0.93:
        store.checkpoint(truncate=True)
    elif what < 0.98:
        store.record_scan(ScanRecord(NOON, NOON, "periodic", len(wiki), 1))
    else:
        with store.rebuilding():
            bring(store, wiki)
    return wiki


def live(folder: Path, files: Files, wiki: Wiki, chance: random.Random) -> Life:
    """Plays one session over what is on the disk and writes down what it does to it."""
    put(folder, files)
    life = Life(wiki=wiki)
    with logging_disk() as log:
        store = open_store(folder)

        def mark() -> None:
            generation, seen = observe(store)
            life.marks.append(Mark(len(log.operations), generation, seen))

        mark()
        for _ in range(chance.randrange(STEPS_A_LIFE)):
            life.wiki = step(store, life.wiki, chance)
            mark()
        before_closing = len(log.operations)
        store.close()
    # A writer that is killed never gets to close.
    life.operations = log.operations[: before_closing if chance.random() < 0.5 else None]
    return life


def put(folder: Path, files: Files) -> None:
    """Lays the files out as a daemon finds them; the lock's file is what says that they are its own."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "index.lock").touch()
    for name, content in files.items():
        (folder / name).write_bytes(content)


@dataclass(slots=True)
class Chain:
    """Some lives, each cut off at many places; the next one begins with what one of them left."""

    folder: Path
    seed: str
    counts: Counts
    files: Files = field(default_factory=dict)
    wiki: Wiki = field(default_factory=dict)
    met: Met = field(default_factory=dict)

    def play(self, cuts: int) -> None:
        chance = random.Random(self.seed)
        for _ in range(LIVES_A_CHAIN):
            if cuts > 0:
                life = live(self.folder / "live", self.files, self.wiki, chance)
                self._cut(life, min(cuts, CUTS_A_LIFE), chance)
                cuts -= CUTS_A_LIFE

    def _cut(self, life: Life, cuts: int, chance: random.Random) -> None:
        shutil.rmtree(self.folder / "fresh", ignore_errors=True)
        wanted = build(self.folder / "fresh", {**life.wiki, AFTER: "# After\n"})
        places = sorted(chance.choices(range(len(life.operations) + 1), k=cuts))
        goes_on = chance.randrange(cuts)
        disk, played, met, left = Disk(dict(self.files)), 0, self.met, self.files
        for number, cut in enumerate(places):
            disk.play(life.operations[played:cut])
            played = cut
            end = chance.choice(list(ENDS))
            files = disk.survivors(chance, *ENDS[end])
            put(self.folder / "cut", files)
            for fault in self._examine(life, cut, met, wanted):
                self.counts.faults.append(f"chain {self.seed}, cut {cut}, {end}: {fault}")
            self.counts.cuts += 1
            self.counts.ends[end] += 1
            if number == goes_on:
                left, self.met = files, met | life.met(cut)
        self.files, self.wiki = left, life.wiki
        self.counts.operations += len(life.operations)
        self.counts.commits += len(life.marks)

    def _examine(self, life: Life, cut: int, before: Met, wanted: Rows) -> Iterator[str]:
        """What is wrong with what the end at `cut` left. `before`: what was met in earlier lives."""
        met = before | life.met(cut)
        with open_store(self.folder / "cut") as store:
            if store.moved_aside is not None:
                yield "damaged: it was moved aside"
                return
            yield from store.check_integrity()
            (index, number), seen = observe(store)
            # Without a commit an index may be lost as a whole.
            committed = any(met_number for _, met_number in met)
            if committed and (before | life.possible(cut)).get((index, number)) != seen:
                yield f"the rows are those of no commit: generation {number}"
            newest = max((met_number for met_index, met_number in met if met_index == index), default=0)
            bring(store, {**life.wiki, AFTER: f"# After {cut}\n"})
            self.counts.taken_back += number < newest
            self.counts.jumps += store.generation == number + UNCLEAN_JUMP
            if store.generation <= newest:
                yield f"generation {store.generation} comes again, {newest} was met"
            bring(store, {**life.wiki, AFTER: "# After\n"})
            yield from store.check_integrity()
        if rows_of(self.folder / "cut") != wanted:
            yield "rows differ from those of an index made anew"


def run(folder: Path, *, cuts: int, seed: int, first_chain: int = 0) -> Counts:
    """Plays chains until there were so many cuts."""
    counts = Counts()
    for number in itertools.count(first_chain):
        if counts.cuts >= cuts:
            return counts
        if number % 5 == 4:
            print(f"chain {number}: {counts.cuts} cuts, {len(counts.faults)} faults", flush=True)
        Chain(folder, f"{seed}/{number}", counts).play(cuts - counts.cuts)
    raise AssertionError


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("power", __doc__, cuts=2000, first_chain=0)
    options = command.parse(arguments)
    how = {"cuts": options.cuts, "first_chain": options.first_chain}
    return command.play(options, lambda folder: dataclasses.asdict(run(folder, **how, seed=options.seed)))


if __name__ == "__main__":
    sys.exit(main())
