"""The debouncer with the time passed in: no sleep and no disk."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from indexerd.contract.places import is_below
from indexerd.core.sync.debounce import (
    FOLDER_CAP,
    LONGEST_WAIT_MS,
    PENDING_CAP,
    QUIET_DELAY_MS,
    TRAILING_LATEST_MS,
    TRAILING_PATHS,
    TRAILING_QUIET_MS,
    Batch,
    Debouncer,
)
from indexerd.core.sync.paths import ROOT

QUIET = QUIET_DELAY_MS / 1000
LONGEST = LONGEST_WAIT_MS / 1000
INSTANT = 0.001


def drain(debouncer: Debouncer) -> list[tuple[float, Batch]]:
    """Everything that becomes due, with its time, as a loop that sleeps until `next_due` would see it."""
    batches = []
    while (when := debouncer.next_due()) is not None:
        batch = debouncer.due(when)
        assert batch is not None, "next_due names a time at which there is something"
        batches.append((when, batch))
    return batches


def test_nothing_is_due_while_nothing_was_reported() -> None:
    debouncer = Debouncer()
    assert debouncer.next_due() is None
    assert debouncer.due(1e9) is None
    assert len(debouncer.waiting) == 0


def test_a_path_is_due_when_it_has_been_quiet_and_not_before() -> None:
    debouncer = Debouncer()
    debouncer.add("a.md", 10.0)
    debouncer.add("a.md", 10.03)
    assert debouncer.due(10.03 + QUIET - INSTANT) is None
    assert len(debouncer.waiting) == 1
    assert debouncer.due(10.03 + QUIET + INSTANT) == Batch(paths=("a.md",))
    assert len(debouncer.waiting) == 0


def test_a_path_that_is_never_quiet_is_due_after_the_longest_wait() -> None:
    debouncer = Debouncer()
    start = 5.0
    for step in range(100):
        now = start + step * 0.01
        debouncer.add("hot.md", now)
        if debouncer.due(now) is not None:
            assert LONGEST - INSTANT <= now - start <= LONGEST + 0.01 + INSTANT
            return
    raise AssertionError("a path that was written for a second was never due")


def test_a_hot_path_is_handed_out_at_most_once_per_longest_wait() -> None:
    debouncer = Debouncer()
    handed_out = []
    for step in range(6_000):  # a minute of a write every 10 ms
        now = step / 100
        debouncer.add("hot.md", now)
        if debouncer.due(now) is not None:
            handed_out.append(now)
    assert all(later - earlier >= LONGEST - INSTANT for earlier, later in pairwise(handed_out))
    assert len(handed_out) >= 60 / LONGEST * 0.9, "it is not starved either"


def test_a_hot_path_in_pauses_longer_than_the_quiet_delay_is_still_handed_out_once_per_longest_wait() -> None:
    debouncer = Debouncer()
    debouncer.add("hot.md", 0.0)
    assert debouncer.due(QUIET) == Batch(paths=("hot.md",))
    debouncer.add("hot.md", QUIET + 0.1)
    assert debouncer.due(QUIET + 0.1 + QUIET + INSTANT) is None
    assert debouncer.due(QUIET + LONGEST) == Batch(paths=("hot.md",))


def test_a_path_that_rests_is_due_when_its_rest_is_over_and_another_is_not_held_up() -> None:
    debouncer = Debouncer()
    debouncer.rest("log.md", 8.0)
    debouncer.add("log.md", 3.0)
    debouncer.add("a.md", 3.0)
    assert drain(debouncer) == [(3.0 + QUIET, Batch(paths=("a.md",))), (8.0, Batch(paths=("log.md",)))]


def test_a_hot_path_does_not_hold_the_others_up() -> None:
    debouncer = Debouncer()
    for step in range(20):
        debouncer.add("hot.md", step / 100)
    debouncer.add("calm.md", 0.2)
    for step in range(6):
        debouncer.add("hot.md", 0.2 + step / 100)
    assert debouncer.due(0.2 + QUIET) == Batch(paths=("calm.md",))


def test_each_of_many_paths_waits_by_itself() -> None:
    """40 saves a second of different pages: each is due a quiet delay after its own save."""
    debouncer = Debouncer()
    for nth in range(40):
        debouncer.add(f"{nth}.md", nth / 40)
    waits = [when - int(path[:-3]) / 40 for when, batch in drain(debouncer) for path in batch.paths]
    assert len(waits) == 40
    assert max(waits) <= QUIET + INSTANT


def test_a_rename_is_one_batch() -> None:
    debouncer = Debouncer()
    debouncer.add("old.md", 1.0)
    debouncer.add("new.md", 1.0)
    assert debouncer.due(1.0 + QUIET) == Batch(paths=("new.md", "old.md"))


def test_a_folder_at_the_cap_is_still_paths() -> None:
    debouncer = Debouncer()
    for nth in range(FOLDER_CAP):
        debouncer.add(f"d/{nth}.md", 0.0)
    batch = debouncer.due(QUIET)
    assert batch is not None
    assert (len(batch.paths), batch.subtrees) == (FOLDER_CAP, ())


def test_a_folder_one_past_the_cap_is_one_subtree() -> None:
    debouncer = Debouncer()
    debouncer.add("other.md", 0.0)
    for nth in range(FOLDER_CAP + 1):
        debouncer.add(f"d/{nth}.md", 0.0)
    assert len(debouncer.waiting) == 2
    assert debouncer.due(QUIET) == Batch(paths=("other.md",), subtrees=("d",))


def test_too_many_folders_collapse_into_the_one_above() -> None:
    debouncer = Debouncer()
    for nth in range(FOLDER_CAP + 1):
        debouncer.add(f"top/d{nth}", 0.0, subtree=True)
    assert debouncer.due(QUIET) == Batch(subtrees=("top",))


def test_past_the_cap_in_all_the_whole_root_is_scanned() -> None:
    debouncer = Debouncer()
    for nth in range(PENDING_CAP):
        debouncer.add(f"{nth // 8}/d/{nth}.md", 0.0)
    assert len(debouncer.waiting) == PENDING_CAP
    debouncer.add("one/more.md", 0.0)
    assert debouncer.due(QUIET) == Batch(subtrees=(ROOT,))


def test_a_collapsed_folder_is_due_as_early_as_its_first_path_was() -> None:
    debouncer = Debouncer()
    for step in range(100):
        debouncer.add(f"d/{step}.md", step / 100)
    assert debouncer.next_due() == LONGEST


def test_a_path_below_a_waiting_folder_waits_with_it() -> None:
    debouncer = Debouncer()
    debouncer.add("d", 0.0, subtree=True)
    debouncer.add("d/e/a.md", 0.01)
    assert len(debouncer.waiting) == 1
    assert debouncer.due(0.01 + QUIET) == Batch(subtrees=("d",))


def test_a_path_written_right_after_its_folder_was_scanned_rests_too() -> None:
    debouncer = Debouncer()
    debouncer.add("d", 0.0, subtree=True)
    debouncer.due(QUIET)
    debouncer.add("d/hot.md", QUIET + 0.01)
    assert debouncer.next_due() == QUIET + LONGEST


def test_a_folder_asks_for_a_trailing_scan_once_it_is_quiet() -> None:
    debouncer = Debouncer()
    debouncer.add("d", 0.0, subtree=True)
    assert debouncer.due(QUIET) == Batch(subtrees=("d",))
    debouncer.add("a.md", 0.3)
    assert debouncer.due(0.3 + QUIET) == Batch(paths=("a.md",))
    assert debouncer.next_due() == 0.3 + TRAILING_QUIET_MS / 1000
    assert debouncer.due(0.3 + TRAILING_QUIET_MS / 1000) == Batch(trailing=True)
    assert len(debouncer.waiting) == 0


def test_a_batch_at_the_cap_needs_no_trailing_scan_and_one_past_it_does() -> None:
    for paths, trailing in ((TRAILING_PATHS, False), (TRAILING_PATHS + 1, True)):
        debouncer = Debouncer()
        for nth in range(paths):
            debouncer.add(f"{nth % 2}/{nth}.md", 0.0)
        assert len((debouncer.due(QUIET) or Batch()).paths) == paths
        assert debouncer.waiting == ()
        assert (debouncer.next_due() is not None) == trailing


def test_a_file_that_is_never_quiet_does_not_put_the_trailing_scan_off_for_ever() -> None:
    debouncer = Debouncer()
    debouncer.scan_when_quiet(0.0)
    for step in range(10_000):
        now = step / 100
        debouncer.add("hot.md", now)
        batch = debouncer.due(now)
        if batch is not None and batch.trailing:
            assert now <= TRAILING_LATEST_MS / 1000 + 0.01
            return
    raise AssertionError("the trailing scan never came")


def test_a_batch_put_back_is_due_again_whole_after_the_delay() -> None:
    debouncer = Debouncer()
    debouncer.put_back(Batch(paths=("a.md",), subtrees=("d",)), 1.0, delay=4.0)
    assert debouncer.next_due() == 5.0
    assert debouncer.due(5.0) == Batch(paths=("a.md",), subtrees=("d",))


def test_a_trailing_scan_put_back_scans_everything_after_the_delay() -> None:
    debouncer = Debouncer()
    debouncer.put_back(Batch(paths=("a.md",), trailing=True), 1.0, delay=4.0)
    assert debouncer.next_due() == 5.0
    assert debouncer.due(5.0) == Batch(subtrees=(ROOT,))


def test_clearing_forgets_what_waits() -> None:
    debouncer = Debouncer()
    for nth in range(FOLDER_CAP):
        debouncer.add(f"d/{nth}.md", 0.0)
    debouncer.scan_when_quiet(0.0)
    debouncer.clear()
    assert len(debouncer.waiting) == 0
    debouncer.add("d/a.md", 1.0)
    assert debouncer.due(1.0 + QUIET) == Batch(paths=("d/a.md",))


names = st.sampled_from(["a", "b", "c", "d"])
paths = st.lists(names, min_size=1, max_size=4).map("/".join)
reports = st.lists(st.tuples(paths, st.booleans(), st.floats(0, 0.2)), max_size=60)


@given(reports=reports)
def test_every_report_is_covered_by_a_batch_that_comes_after_it(
    reports: list[tuple[str, bool, float]],
) -> None:
    debouncer = Debouncer()
    now = 0.0
    open_reports: dict[str, float] = {}
    latest = 0.0

    def take(when: float) -> None:
        nonlocal latest
        batch = debouncer.due(when)
        if batch is None:
            return
        for path in list(open_reports):
            covered = path in batch.paths or any(is_below(path, folder) for folder in batch.subtrees)
            if covered:
                latest = max(latest, when - open_reports.pop(path))

    for path, subtree, pause in reports:
        now += pause
        take(now)
        debouncer.add(path, now, subtree=subtree)
        open_reports.setdefault(path, now)
    while (due := debouncer.next_due()) is not None:
        take(due)
    assert open_reports == {}
    assert latest <= 2 * LONGEST + 0.2 + INSTANT, "rested, then waited, then the loop came round"
