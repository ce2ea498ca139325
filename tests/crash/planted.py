"""Bugs that somebody might make, each a replaced text in one file, and what must find it.

A form is words for pytest, or the name of a command of this folder and its options. The cheapest form
that must find a bug stands here; where a daemon's own races hide it, a long form in short.
"""

from __future__ import annotations

from typing import Final, NamedTuple

SYNC: Final = "indexerd/core/sync"
PIPELINE: Final = "indexerd/pipeline"
STORE: Final = "indexerd/store"
DAEMON: Final = "indexerd/daemon"

FOLLOWING: Final = "tests/daemon/test_following.py -k"
INDEXER: Final = "tests/pipeline/test_indexer.py -m 'not slow'"
TREE: Final = "tests/tree/test_tree.py -m 'not slow'"
APPLYING: Final = "tests/store/test_applying.py"


class Bug(NamedTuple):
    """`name` says what is wrong then; `form`: what must fail."""

    name: str
    path: str
    old: str
    new: str
    form: str


PLANTED: Final = (
    Bug(
        "a hot file is never due",
        f"{SYNC}/debounce.py",
        "min(self.last + QUIET_DELAY_MS / 1000, self.first + LONGEST_WAIT_MS / 1000)",
        "self.last + QUIET_DELAY_MS / 1000",
        "tests/core/sync/test_debounce.py",
    ),
    Bug(
        "a folder forgets how long its paths wait",
        f"{SYNC}/debounce.py",
        "whole.first = min(whole.first, absorbed.first)",
        "pass",
        "tests/core/sync/test_debounce.py",
    ),
    Bug(
        "a batch takes what has not settled",
        f"{SYNC}/debounce.py",
        "ready = sorted(path for path, wait in self._waits.items() if wait.due_at() <= now)",
        "ready = sorted(self._waits)",
        "tests/core/sync/test_debounce.py",
    ),
    Bug(
        "a batch that failed is forgotten",
        f"{SYNC}/scheduler.py",
        "self._debouncer.put_back(Batch(subtrees=job.covers), now, delay=wait)",
        "pass",
        "tests/core/sync/test_scheduler.py",
    ),
    Bug(
        "one quiet scan confirms a storm",
        f"{SYNC}/scheduler.py",
        "confirmed = not (self._moved or self._moved_before)",
        "confirmed = not self._moved",
        "tests/core/sync/test_scheduler.py",
    ),
    Bug(
        "the change time is no part of a stamp",
        f"{SYNC}/reconcile.py",
        "page.stamp != stamp\n",
        "page.stamp[:4] != stamp[:4]\n",
        INDEXER,
    ),
    Bug(
        "a young stamp is taken for proof",
        f"{SYNC}/reconcile.py",
        "            or page.racy\n",
        "",
        "tests/core/sync/test_reconcile.py",
    ),
    Bug(
        "what could not be looked at is gone",
        f"{SYNC}/reconcile.py",
        "    if not unseen:\n        return paths\n",
        "    return paths\n",
        "tests/core/sync/test_reconcile.py",
    ),
    Bug(
        "a slug that was lost is told of for ever",
        f"{SYNC}/plan.py",
        "() if path in going else _slug_part",
        "_slug_part",
        INDEXER,
    ),
    Bug(
        "what a loser of a slug takes is not settled with it",
        f"{SYNC}/plan.py",
        "return set(claimed_by_losers(rivals)) - groups.keys()",
        "return set()",
        "tests/pipeline/test_indexer.py -k whatever_happened",
    ),
    Bug(
        "an unmounted disk is believed at once",
        f"{SYNC}/confirmation.py",
        "return 0 < total == gone or (gone >= GUARDED_DELETIONS and gone * 2 > total)",
        "return False",
        "tests/core/sync/test_reconcile.py",
    ),
    Bug(
        "a confirmation does not start again with another observation",
        f"{SYNC}/confirmation.py",
        "seen.observation, seen.since = observation, now",
        "seen.observation = observation",
        "tests/core/sync/test_confirmation.py",
    ),
    Bug(
        "a page given up is tried all the time",
        f"{SYNC}/retries.py",
        "return page is not None and page.stamp == stamp and now < page.due_at",
        "return False",
        "tests/core/sync/test_retries.py",
    ),
    Bug(
        "this machine's clock is taken for the disk's",
        f"{SYNC}/disk_clock.py",
        "return min(wall_ns, max(self._at_least(stamp.device, monotonic_ns), wall_ns - LATEST_CLOCK_NS))",
        "return wall_ns",
        "tests/core/sync/test_disk_clock.py",
    ),
    Bug(
        "a link to a folder is followed",
        "indexerd/tree/openat.py",
        "below = os.open(part, FOLDER_FLAGS, dir_fd=at)",
        "below = os.open(part, FOLDER_FLAGS & ~os.O_NOFOLLOW, dir_fd=at)",
        TREE,
    ),
    Bug(
        "an unreadable folder was looked at",
        "indexerd/tree/scanner.py",
        "        self.unseen.append(path)\n        if why.kind",
        "        if why.kind",
        TREE,
    ),
    Bug(
        "the index is a page of its wiki",
        "indexerd/tree/scanner.py",
        "(facts.st_dev, facts.st_ino) not in self.own_files",
        "facts.st_ino",
        TREE,
    ),
    Bug(
        "a file that changes while it is read is taken",
        "indexerd/tree/tree.py",
        "if len(data) != before.st_size or stamp_of(before) != stamp_of(after):",
        "if len(data) != before.st_size:",
        TREE,
    ),
    Bug(
        "the farthest ignore file decides",
        "indexerd/tree/ignore.py",
        "IgnoreRules(self.configured, (level, *self.files))",
        "IgnoreRules(self.configured, (*self.files, level))",
        TREE,
    ),
    Bug(
        "a star of an ignore pattern goes back",
        "indexerd/tree/gitignore.py",
        'f"(?>{_ONE}*?{run})"',
        'f"(?:{_ONE}*?{run})"',
        "tests/tree/test_gitignore.py -k costs",
    ),
    Bug(
        "the first line of an ignore file decides",
        "indexerd/tree/ignore.py",
        "tuple(reversed(patterns))",
        "tuple(patterns)",
        "tests/tree/test_gitignore.py -k random",
    ),
    Bug(
        "topics.yaml is not read when it alone was saved",
        f"{PIPELINE}/indexer.py",
        'if "" in covers or TOPICS_FILE in covers:',
        'if "" in covers:',
        "tests/tree/test_topics_file.py -k alone",
    ),
    Bug(
        "a page that is held is written",
        f"{PIPELINE}/indexer.py",
        "if page.path not in hold]",
        "]",
        INDEXER,
    ),
    Bug(
        "an empty folder where another was is believed",
        f"{PIPELINE}/indexer.py",
        "            self._refuse_unmounted(scan)\n",
        "            pass\n",
        INDEXER,
    ),
    Bug(
        "one page that breaks a commit breaks them all",
        f"{PIPELINE}/indexer.py",
        "            half = len(gathered.outcomes) // 2\n",
        "            half = 0\n",
        INDEXER,
    ),
    Bug(
        "a page may take as long as it likes",
        f"{PIPELINE}/workers.py",
        "signal.setitimer(signal.ITIMER_PROF, budget_s)",
        "signal.setitimer(signal.ITIMER_REAL, 0)",
        "tests/pipeline/test_workers.py -k 'dies_or_hangs or more_time'",
    ),
    Bug(
        "a pause counts as work",
        f"{PIPELINE}/workers.py",
        "signal.setitimer(signal.ITIMER_PROF, budget_s)",
        "signal.setitimer(signal.ITIMER_REAL, budget_s)",
        "tests/pipeline/test_workers.py -k paused",
    ),
    Bug(
        "a deletion has no entry in the feed",
        f"{STORE}/write/change_feed.py",
        '    entries |= {slug: ("delete", path, None) for slug, path in gone.items()}\n',
        "",
        APPLYING,
    ),
    Bug(
        "a change is committed under the old generation",
        f"{STORE}/store.py",
        "return self.generation + (UNCLEAN_JUMP if self._jump else 1)",
        "return self.generation + (UNCLEAN_JUMP if self._jump else 0)",
        APPLYING,
    ),
    Bug(
        "a kill is not followed by a jump",
        f"{STORE}/store.py",
        "return self.generation + (UNCLEAN_JUMP if self._jump else 1)",
        "return self.generation + 1",
        "tests/store/test_open.py",
    ),
    Bug(
        "bigrams of what is gone stay",
        f"{STORE}/write/fulltext.py",
        "    if changes.grams_deleted:\n",
        "    if False:\n",
        f"{APPLYING} tests/store/test_any_sequence.py",
    ),
    Bug(
        "a link is not looked up again when a page comes",
        f"{STORE}/write/link_targets.py",
        "moved = _keys(changes.names_deleted) | _keys(changes.names_inserted)",
        "moved = _keys(changes.names_deleted)",
        "tests/store/write/test_link_targets.py",
    ),
    Bug(
        "two daemons write one index",
        f"{STORE}/file/lock.py",
        "fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)",
        "tests/store/file/test_lock.py",
    ),
    Bug(
        "topics that nobody carries any more stay",
        f"{STORE}/write/topic_graph.py",
        "for topic in changes.topics_released - gained",
        "for topic in ()",
        f"{APPLYING} tests/store/test_any_sequence.py",
    ),
    Bug(
        "a question that comes during a scan is answered by it",
        f"{DAEMON}/loop.py",
        "self._barrier.serve(waiting, fresh)",
        "self._barrier.serve(self._barrier.present(), fresh)",
        f"{FOLLOWING} question_that_comes",
    ),
    Bug(
        "fresh is said while something is open",
        f"{DAEMON}/loop.py",
        "if not self._sync.open and not result.astray:",
        "if True:",
        f"{FOLLOWING} freshness_waits",
    ),
    Bug(
        "a question is answered by no scan at all",
        f"{DAEMON}/barrier_waiters.py",
        "            scheduler.ask_scan(Reason.BARRIER, now)\n        elif",
        "            scheduler.report('nothing.md', now)\n        elif",
        "barrier --trips 30 --storm 0 --restart-every 0 --command-every 0",
    ),
    Bug(
        "a folder that comes is one path",
        f"{DAEMON}/next_jobs.py",
        "    if result.folders and not job.is_scan:\n        scheduler.scan_when_quiet(now)\n",
        "",
        f"{FOLLOWING} after_a_folder_change",
    ),
    Bug(
        "an emptied page is published at once",
        f"{DAEMON}/sync_pass.py",
        "                hold.append(wanted.path)\n",
        "                pass\n",
        f"{FOLLOWING} emptied_in_place",
    ),
    Bug(
        "most pages gone at once is believed",
        f"{DAEMON}/sync_pass.py",
        "        if self._indexer.is_surprising(scanned):\n",
        "        if False:\n",
        f"{FOLLOWING} most_pages_gone",
    ),
    Bug(
        "a machine that slept looks at nothing",
        f"{DAEMON}/loop.py",
        "                self._scheduler.ask_scan(Reason.GAP, self._clock())\n",
        "",
        f"{FOLLOWING} slept",
    ),
    Bug(
        "an index that was replaced is gone on with",
        f"{DAEMON}/loop.py",
        "if job.is_scan and not self._resources.store.is_in_place():",
        "if False:",
        f"{FOLLOWING} deleted_under",
    ),
    Bug(
        "events below the index are work",
        f"{DAEMON}/watch_events.py",
        "if any(is_below(path, own) for own in self._own_paths):",
        "if False:",
        "tests/daemon/test_watch_events.py",
    ),
    Bug(
        "the watcher's paths are dropped, and scans hide it",
        f"{DAEMON}/watch_events.py",
        "                self._scheduler.report(cover, when)\n",
        "",
        "operations --operations 30 --restart-every 0 --scan-interval 600",
    ),
    Bug(
        "readers see a page before its sections",
        f"{PIPELINE}/indexer.py",
        "        update.add(self._store.apply(plan, committed_at=time_text(time.time_ns())))\n",
        "        now = time_text(time.time_ns())\n"
        "        update.add(self._store.apply(replace(plan, upserts=()), committed_at=now))\n"
        "        update.add(self._store.apply(replace(plan, deletes=()), committed_at=now))\n",
        f"{INDEXER} -k rename_is_one_commit",
    ),
    Bug(
        "the size of a number on the socket is not looked at",
        "indexerd/contract/barrier.py",
        "if not is_number or not 0 <= told <= LARGEST_NUMBER:",
        "if not is_number:",
        "tests/contract/test_barrier.py tests/daemon/test_barrier_server.py",
    ),
    Bug(
        "ab is below a",
        "indexerd/contract/places.py",
        'path.startswith(f"{above}/")',
        "path.startswith(above)",
        "tests/contract/test_places.py",
    ),
    Bug(
        "the last character of a run has no bigram",
        "indexerd/contract/terms.py",
        "for at in range(len(run))]",
        "for at in range(len(run) - 1)]",
        "tests/contract/test_terms.py",
    ),
    Bug(
        "a daemon that hangs is fresh",
        "cli/wikiq/index/freshness.py",
        "    if silent_s > HUNG_AFTER_S:\n",
        "    if False:\n",
        "tests/wikiq/index/test_freshness.py",
    ),
    Bug(
        "work that goes on gives no sign",
        "indexerd/service/status_file.py",
        "            os.utime(self._path, follow_symlinks=False)\n",
        "            pass\n",
        "tests/service/test_status_file.py",
    ),
    Bug(
        "an index says what an editor is told",
        "cli/wikiq/shell/editor.py",
        "if not os.path.isabs(root) or not is_below(real, real_root):",
        "if False:",
        "tests/wikiq/test_hostile_paths.py",
    ),
    Bug(
        "a page steers the terminal",
        "cli/wikiq/output/terminal.py",
        "        shown = printable_line(span.text)\n",
        "        shown = span.text\n",
        "tests/wikiq/output/test_terminal.py",
    ),
    Bug(
        "equal scores come in any order",
        "cli/wikiq/ranking/score.py",
        "    ordered.sort(key=lambda one: one[1].updated_at, reverse=True)\n",
        "",
        "tests/wikiq/ranking/test_score.py",
    ),
    Bug(
        "repeated headings share an anchor",
        "indexerd/core/page/anchors.py",
        "        while anchor in self._repeats:\n",
        "        while False:\n",
        "tests/core/page/test_anchors.py",
    ),
    Bug(
        "a heading of a level stands above its equals",
        "indexerd/core/page/sections.py",
        "open_headings[-1].level >= heading.level",
        "open_headings[-1].level > heading.level",
        "tests/core/page/test_sections.py",
    ),
    Bug(
        "TOML's dotted keys have no end",
        "indexerd/contract/toml.py",
        "if re.search(_DEEP_KEY, text, re.ASCII):",
        "if False:",
        "tests/setup/test_config.py -k hostile",
    ),
    Bug(
        "a topic may have any number above it",
        "indexerd/core/page/topics.py",
        "if len(above[topic]) > MOST_ABOVE:",
        "if False:",
        "tests/core/page/test_topics.py -k wrong",
    ),
)
