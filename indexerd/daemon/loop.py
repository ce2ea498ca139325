"""The daemon: one loop that does one job at a time, beside a watcher, a socket and signals.

It decides nothing by itself: the agenda says what is next, the looker what is believed. Every job
runs in a worker thread, so that a stop, a barrier and the service manager never wait for the loop.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import anyio
import anyio.abc
import anyio.from_thread
import anyio.to_thread

from indexerd.contract.barrier import PATHS_NAMED, Fresh
from indexerd.contract.moments import time_text
from indexerd.core.sync.intervals import back_off_s
from indexerd.core.sync.scheduler import Agenda, Job, Reason
from indexerd.daemon.barrier_server import serve_barrier
from indexerd.daemon.barrier_waiters import Barrier, Wait
from indexerd.daemon.environment import Surroundings, own_paths
from indexerd.daemon.job_progress import JobProgress
from indexerd.daemon.maintenance import Upkeep
from indexerd.daemon.next_jobs import ask_next_jobs
from indexerd.daemon.resources import Workshop
from indexerd.daemon.scan_audit import Finding, ScanBook
from indexerd.daemon.sleeper import Pulse
from indexerd.daemon.status import Report, describe_trouble
from indexerd.daemon.sync_pass import Looked, Looker, Unavailable
from indexerd.daemon.watch_events import Hearing
from indexerd.daemon.watch_keeper import WatchKeeper
from indexerd.errors import DamagedIndexError, IndexerdError, ReplacedProgramError
from indexerd.tree.scanner import Stopped
from indexerd.tree.watcher import Watcher

TELL_EVERY_S: Final = 1.0  # how far a first build has come
ROOT_CHECK_S: Final = 1.0  # between two looks for a root that is gone


class Daemon:
    """Follows one wiki until `stop` or a signal."""

    def __init__(self, workshop: Workshop, around: Surroundings, log: Any) -> None:
        root, settings = workshop.wiki.root, workshop.wiki.settings
        self._workshop = workshop
        self._around = around
        self._service = around.service
        self._clock = around.clock
        self._log = log
        self._pulse = Pulse(around.clock, around.wall)
        self._agenda = Agenda()
        self._agenda.shortest_interval_s = settings.scan_interval
        self._looker = Looker(root, workshop.indexer, self._clock)
        self._upkeep = Upkeep(workshop.store, self._clock)
        self._progress = JobProgress()
        self._barrier = Barrier(
            wake=self._pulse.wake, what_is_open=lambda: self.what_is_open, how_far=self._progress.describe
        )
        self._report = Report(
            control=around.control, index=workshop.store.place, building=workshop.store.building
        )
        if (refused := workshop.wiki.configuration.refused) is not None:
            self._report.settings = describe_trouble(refused)
            log.warning("settings.refused", problem=str(refused))
        self._scans = ScanBook()
        self._hearing = hearing = Hearing(
            agenda=self._agenda,
            report=self._report,
            scans=self._scans,
            own_paths=own_paths(root, str(workshop.wiki.index), around),
            wake=self._pulse.wake,
            clock=self._clock,
            log=log,
        )
        watcher = Watcher(root, hearing.matters, around.open_notifier)
        self._keeper = WatchKeeper(watcher, hearing, scan_only=settings.watch == "scan", clock=self._clock)
        self._running: Job | None = None
        self._stopping = False
        self._told_at = float("-inf")
        self._reload_asked = False
        self._reloading = False

    # What others call, in the event loop.

    def stop(self) -> None:
        """Ends the daemon: the transaction at hand is finished or rolled back, nothing new begins."""
        self._stopping = True
        self._pulse.wake()

    def reload(self) -> None:
        """Reads the settings again and looks at everything."""
        self._reload_asked = True
        self._pulse.wake()

    @property
    def what_is_open(self) -> tuple[str, ...]:
        """What keeps the index from being equal to the tree, for people."""
        return (*self._report.obstacles, *self._looker.open)

    # The loop.

    async def run(self) -> None:
        """Until stopped. Errors that nobody foresaw end it with their traceback."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._heed_signals)
            await self._open_barrier(tasks)
            tasks.start_soon(self._keeper.run)
            await self._work()
            self._service.stopping()
            tasks.cancel_scope.cancel()

    async def _open_barrier(self, tasks: anyio.abc.TaskGroup) -> None:
        """The socket. Without it the wiki is followed all the same."""
        control = self._around.control
        try:
            if control is not None:
                await tasks.start(serve_barrier, control, self._barrier.ask, self._log)
        except OSError as error:
            self._report.control = None
            self._log.warning("control.unavailable", reason=f"{error.strerror}: {error.filename or control}")

    async def _heed_signals(self) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            async for number in signals:
                # From a terminal that is closed it means the end, else the daemon would be an orphan.
                if number == signal.SIGHUP and self._service.is_present:
                    self.reload()
                else:
                    self.stop()

    async def _work(self) -> None:
        self._agenda.ask_scan(Reason.START, self._clock())
        self._publish(at_once=True)
        while not self._stopping:
            if self._pulse.skipped():
                self._log.info("machine.slept")
                self._report.counters["gaps"] += 1
                self._agenda.ask_scan(Reason.GAP, self._clock())
            self._service.progressed(self._clock(), starting=not self._report.started)
            if self._reload_asked or self._hearing.settings_edited:
                await self._reload()
            self._barrier.begin(self._agenda, self._clock(), doubt_at=self._looker.doubt_at)
            job = self._agenda.next_job(self._clock())
            if job is not None:
                await self._do(job, self._barrier.present() if job.is_scan else ())
            elif (finding := self._scans.take_due(self._clock())) is not None:
                await self._close_scan(finding)
            elif not self._upkeep.is_due():
                await self._rest()
            if self._upkeep.is_due():  # after a job too: in a storm there is always another one
                await self._guarded(self._upkeep.run)
            self._publish()
        self._publish(at_once=True)

    async def _do(self, job: Job, waiting: Wait) -> None:
        if job.is_scan and not self._workshop.store.is_in_place():
            await self._replace_index()
            return
        if job.is_scan and self._workshop.settings_edited():
            await self._reload()
            job = replace(job, reason=Reason.RELOAD)  # no event could have told what it finds
        self._running, self._hearing.reported = job, set()
        self._progress.begin(job)
        self._told_at = self._clock()
        try:
            looked = await anyio.to_thread.run_sync(self._look, job)
            self._take_in(job, looked, waiting)
        except Stopped:
            return
        except DamagedIndexError as error:
            self._fail(job, error)
            await self._replace_index()
            return
        except ReplacedProgramError:
            raise  # nothing is lost: who starts it again has the new code do it
        except (IndexerdError, OSError, MemoryError) as error:
            self._fail(job, error)
            return
        finally:
            self._running = None
            self._progress.end()
            self._pulse.worked()

    def _take_in(self, job: Job, looked: Looked | Unavailable, waiting: Wait) -> None:
        """What a look came to, for the agenda, the status and whoever waits. Raises StorageError."""
        self._progress.end()
        self._report.trouble = None
        if isinstance(looked, Unavailable):
            self._agenda.finish(job, self._clock())
            self._lose_root(looked)
        else:
            self._agenda.finish(job, self._clock(), scan_s=looked.scan_s, changed=bool(looked.update.commits))
            self._follow_up(job, looked)
            if not self._looker.open and not looked.astray:
                store = self._workshop.store
                fresh = Fresh(
                    index_id=store.index_id,
                    generation=store.generation,
                    index=store.place,
                    without_text=self._workshop.indexer.given_up[:PATHS_NAMED],
                )
                self._publish()  # before who is told "fresh" reads it
                self._barrier.serve(waiting, fresh)

    def _look(self, job: Job) -> Looked | Unavailable:
        """In a worker thread."""
        return self._looker.look(job, self._asked_to_stop, self._tell_progress)

    def _asked_to_stop(self) -> bool:
        """In a worker thread, at every folder and page: so progress is what feeds the watchdog."""
        now = self._clock()
        self._progress.scan_folder()
        self._service.progressed(now, starting=not self._report.started)
        self._around.state.touch(now)
        return self._stopping

    def _tell_progress(self, done: int, total: int) -> None:
        """In a worker thread. What a long job has still to do is pending."""
        now = self._clock()
        self._progress.finish_page(done, total)
        if now - self._told_at >= TELL_EVERY_S:
            self._told_at = now
            anyio.from_thread.run_sync(self._publish)
            if not self._report.started:
                self._service.status(f"{self._report.mode}, {done} of {total} pages")

    # After a job.

    def _fail(self, job: Job, error: Exception) -> None:
        self._note_trouble("batch.failed", error, self._agenda.fail(job, self._clock()))

    def _note_trouble(self, event: str, error: Exception, wait: float) -> None:
        """For the status and the log: why nothing is written, and for how long."""
        reason, remedy = self._report.trouble = describe_trouble(error)
        self._report.counters["failures"] += 1
        self._log.warning(event, reason=reason, remedy=remedy, retry_in_s=wait)

    def _lose_root(self, lost: Unavailable) -> None:
        report = self._report
        if report.unavailable is None:
            report.counters["root_lost"] += 1
            self._log.warning("root.lost", reason=lost.reason)
        report.unavailable = lost.reason
        self._agenda.ask_scan(Reason.RETRY, lost.second_look_at or self._clock() + ROOT_CHECK_S)
        self._be_ready()

    def _follow_up(self, job: Job, looked: Looked) -> None:
        now, update = self._clock(), looked.update
        if looked.another_root or self._report.unavailable is not None:
            self._report.unavailable = None
            self._log.info("root.found", root=self._workshop.wiki.root)
            self._keeper.reopen()
        ask_next_jobs(self._agenda, job, looked, now)
        if looked.astray:
            self._keeper.doubt()
        if update.commits:
            self._report.count_update(update)
            self._upkeep.committed(update.commits)
            self._log.info(
                "batch.committed",
                reason=job.reason,
                generation=update.generation,
                upserted=update.upserted,
                deleted=update.deleted,
            )
        if job.is_scan:
            self._enter_scan(job, looked)
            self._be_ready()
            self._keeper.check_mounts()

    def _enter_scan(self, job: Job, looked: Looked) -> None:
        """What a scan of everything found."""
        self._service.bound_log()
        self._upkeep.scanned()
        now, watching = self._clock(), self._report.watching
        finding = self._scans.enter(job, looked, self._hearing.reported, now, watching=watching)
        store = self._workshop.store
        self._report.count_scan(
            finding.told(),
            now,
            building=store.building,
            generation=store.generation,
            problems=len(store.fetch_diagnostics()),
        )

    async def _close_scan(self, finding: Finding) -> None:
        """Keeps a scan in the index, once it is certain what the watcher had not told of it."""
        missed = finding.missed
        if missed:
            self._report.count_missed(missed, self._clock())
            self._log.warning("events.missed", paths=missed, reason=finding.reason)
            if finding.reason == Reason.PERIODIC:
                self._keeper.doubt()
        record, looked = self._workshop.indexer.record, finding.looked
        await self._guarded(
            lambda: record(looked.survey, looked.update, finding.reason, missed_by_events=missed)
        )

    def _be_ready(self) -> None:
        """The first look, or the one after a reload, is done, whatever it found."""
        if self._reloading or not self._report.started:
            if not self._report.started and self._workshop.store.was_unclean:
                self._upkeep.ask_check()
            self._report.started, self._reloading = True, False
            self._service.ready(self._report.line())
            self._log.info("daemon.ready", mode=self._report.mode, pages=self._report.pages)

    # Around the jobs.

    async def _reload(self) -> None:
        self._reload_asked = self._hearing.settings_edited = False
        self._reloading = True
        self._service.reloading(self._clock())
        try:
            await anyio.to_thread.run_sync(self._workshop.reload)
        except IndexerdError as error:
            self._report.settings = describe_trouble(error)
            self._log.warning("settings.refused", problem=str(error))
        else:
            self._report.settings = None
            self._log.info("settings.loaded")
            self._looker.use(self._workshop.indexer)
            settings = self._workshop.wiki.settings
            self._agenda.shortest_interval_s = settings.scan_interval
            self._keeper.reopen(scan_only=settings.watch == "scan")
        self._agenda.retry_now()
        self._agenda.ask_scan(Reason.RELOAD, self._clock())

    async def _replace_index(self) -> None:
        """The index file is damaged, or another one: moved aside, and made anew from the tree.

        Another one is not gone on with, for the log beside it may be that of the one before.
        Tried until it works: what is in the way may be a full disk, or another writer.
        """
        self._log.warning("index.replaced", index=str(self._workshop.wiki.index))
        self._report.counters["index_replaced"] += 1
        failures = 0
        while not self._stopping:
            try:
                await anyio.to_thread.run_sync(self._workshop.start_anew)
                break
            except (IndexerdError, OSError, MemoryError) as error:
                failures += 1
                self._note_trouble("index.unavailable", error, back_off_s(failures))
                await self._wait(back_off_s(failures))
        self._looker.use(self._workshop.indexer)
        self._report.index = self._workshop.store.place
        self._upkeep = Upkeep(self._workshop.store, self._clock)
        self._agenda.retry_now()
        self._agenda.ask_scan(Reason.START, self._clock())

    async def _wait(self, seconds: float) -> None:
        """That long, or until stopped; others are told that this is no standstill."""
        until = self._clock() + seconds
        while not self._stopping and self._clock() < until:
            self._service.progressed(self._clock(), starting=not self._report.started)
            self._publish()
            await self._pulse.rest((until,), self._service.ping_interval_s)

    async def _guarded(self, work: Callable[[], object]) -> None:
        """Work on the index that may be left for later when the disk refuses it."""
        try:
            await anyio.to_thread.run_sync(work)
        except DamagedIndexError as error:
            self._log.warning("index.damaged", problems=(error.problem,))
            await self._replace_index()
        except (IndexerdError, OSError, MemoryError) as error:
            self._log.warning("upkeep.failed", reason=str(error))
            self._upkeep.put_off()

    async def _rest(self) -> None:
        state = self._report.state(self._pending, self.what_is_open)
        own = (self._agenda.next_at(), self._upkeep.next_at, self._scans.next_at)
        await self._pulse.rest((*own, self._around.state.due_at(state)), self._service.ping_interval_s)

    @property
    def _pending(self) -> int:
        return self._agenda.pending + self._progress.remaining

    def _publish(self, *, at_once: bool = False) -> None:
        report, state = self._report, self._around.state
        size = self._upkeep.wal_bytes
        if report.measure_wal(size):
            report.counters["wal_grown"] += 1
            self._log.warning("wal.grown", bytes=size)
        now, live = self._clock(), report.state(self._pending, self.what_is_open)
        if at_once:
            state.write_now(live, now, time_text(time.time_ns()))
        elif state.write(live, now, time_text(time.time_ns())) and report.started:
            self._service.status(report.line())
