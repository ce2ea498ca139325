"""The daemon: one loop that does one job at a time, beside a watcher, a socket and signals.

It decides nothing by itself: the agenda says what is next, the sync pass what is believed. Every job
runs in a worker thread, so that a stop, a barrier and the service manager never wait for the loop.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import anyio
import anyio.abc
import anyio.from_thread
import anyio.to_thread

from indexerd.contract.barrier import PATHS_NAMED, Fresh
from indexerd.core.sync.intervals import back_off_s
from indexerd.core.sync.scheduler import Agenda, Job, Reason
from indexerd.daemon.barrier_server import serve_barrier
from indexerd.daemon.barrier_waiters import Barrier, Wait
from indexerd.daemon.environment import Surroundings, own_paths
from indexerd.daemon.job_progress import JobProgress
from indexerd.daemon.maintenance import Upkeep
from indexerd.daemon.next_jobs import ask_next_jobs
from indexerd.daemon.publisher import Publisher
from indexerd.daemon.resources import Workshop
from indexerd.daemon.scan_audit import Finding, ScanBook
from indexerd.daemon.sleeper import Pulse
from indexerd.daemon.status import Status
from indexerd.daemon.sync_pass import Looked, Looker, Unavailable
from indexerd.daemon.watch_events import Hearing
from indexerd.daemon.watch_keeper import WatchKeeper
from indexerd.errors import DamagedIndexError, IndexerdError, ReplacedProgramError
from indexerd.tree.scanner import Stopped
from indexerd.tree.watcher import Watcher

ROOT_CHECK_S: Final = 1.0  # between two scans for a root that is gone


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
        self._agenda.set_shortest_interval(settings.scan_interval)
        self._looker = Looker(root, workshop.indexer, self._clock)
        self._upkeep = Upkeep(workshop.store, self._clock)
        self._progress = JobProgress()
        self._barrier = Barrier(
            wake=self._pulse.wake, what_is_open=lambda: self.what_is_open, how_far=self._progress.describe
        )
        self._status = Status(
            control=around.control, index=workshop.store.place, building=workshop.store.building
        )
        if (refused := workshop.wiki.configuration.refused) is not None:
            self._status.settings_refused(refused)
            log.warning("settings.refused", problem=str(refused))
        self._publisher = Publisher(
            self._status,
            around,
            pending=lambda: self._agenda.pending + self._progress.remaining,
            what_is_open=lambda: self.what_is_open,
            wal_bytes=lambda: self._upkeep.wal_bytes,
            log=log,
        )
        self._scans = ScanBook()
        hearing = Hearing(
            agenda=self._agenda,
            status=self._status,
            scans=self._scans,
            own_paths=own_paths(root, str(workshop.wiki.index), around),
            wake=self._pulse.wake,
            ask_reload=self.reload,
            clock=self._clock,
            log=log,
        )
        watcher = Watcher(root, hearing.matters, around.open_notifier)
        self._keeper = WatchKeeper(watcher, hearing, scan_only=settings.watch == "scan", clock=self._clock)
        self._stopping = False
        self._reload_asked = False

    # What others call, in the event loop.

    def stop(self) -> None:
        """Ends the daemon: the transaction at hand is finished or rolled back, nothing new begins."""
        self._stopping = True
        self._pulse.wake()

    def reload(self) -> None:
        """Reads the settings again and scans everything."""
        self._reload_asked = True
        self._pulse.wake()

    @property
    def what_is_open(self) -> tuple[str, ...]:
        """What keeps the index from being equal to the tree, for people."""
        return (*self._status.obstacles, *self._looker.open)

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
            self._status.socket_failed()
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
        self._publisher.publish_now()
        while not self._stopping:
            if self._pulse.skipped():
                self._log.info("machine.slept")
                self._status.machine_slept()
                self._agenda.ask_scan(Reason.GAP, self._clock())
            self._publisher.progressed()
            if self._reload_asked:
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
            self._publisher.publish()
        self._publisher.publish_now()

    async def _do(self, job: Job, waiting: Wait) -> None:
        if job.is_scan and not self._workshop.store.is_in_place():
            await self._replace_index()
            return
        if job.is_scan and self._workshop.settings_edited():
            await self._reload()
            job = replace(job, reason=Reason.RELOAD)  # no event could have told what it finds
        self._scans.begin()
        self._progress.begin(job, self._clock())
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
            self._progress.end()
            self._pulse.worked()

    def _take_in(self, job: Job, looked: Looked | Unavailable, waiting: Wait) -> None:
        """What a look came to, for the agenda, the status and whoever waits. Raises StorageError."""
        self._progress.end()
        self._status.job_finished()
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
                self._publisher.publish()  # before who is told "fresh" reads it
                self._barrier.serve(waiting, fresh)

    def _look(self, job: Job) -> Looked | Unavailable:
        """In a worker thread."""
        return self._looker.look(job, self._asked_to_stop, self._tell_progress)

    def _asked_to_stop(self) -> bool:
        """In a worker thread, at every folder and page: so progress is what feeds the watchdog."""
        self._progress.scan_folder()
        self._publisher.job_progressed()
        return self._stopping

    def _tell_progress(self, done: int, total: int) -> None:
        """In a worker thread. What a long job has still to do is pending."""
        if self._progress.finish_page(done, total, self._clock()):
            anyio.from_thread.run_sync(self._publisher.pages_done, done, total)

    # After a job.

    def _fail(self, job: Job, error: Exception) -> None:
        self._note_trouble("batch.failed", error, self._agenda.fail(job, self._clock()))

    def _note_trouble(self, event: str, error: Exception, wait: float) -> None:
        """For the status and the log: why nothing is written, and for how long."""
        reason, remedy = self._status.job_failed(error)
        self._log.warning(event, reason=reason, remedy=remedy, retry_in_s=wait)

    def _lose_root(self, lost: Unavailable) -> None:
        if self._status.root_lost(lost.reason):
            self._log.warning("root.lost", reason=lost.reason)
        self._agenda.ask_scan(Reason.RETRY, lost.second_look_at or self._clock() + ROOT_CHECK_S)
        self._be_ready()

    def _follow_up(self, job: Job, looked: Looked) -> None:
        now, update = self._clock(), looked.update
        if looked.another_root or self._status.unavailable is not None:
            self._status.root_found()
            self._log.info("root.found", root=self._workshop.wiki.root)
            self._keeper.reopen()
        ask_next_jobs(self._agenda, job, looked, now)
        if looked.astray:
            self._keeper.doubt()
        if update.commits:
            self._status.update_committed(update)
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
        now, store = self._clock(), self._workshop.store
        finding = self._scans.enter(job, looked, now, watching=self._status.watching)
        self._status.scan_finished(
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
            self._status.changes_missed(missed, self._clock())
            self._log.warning("events.missed", paths=missed, reason=finding.reason)
            if finding.reason == Reason.PERIODIC:
                self._keeper.doubt()
        record, looked = self._workshop.indexer.record, finding.looked
        await self._guarded(
            lambda: record(looked.survey, looked.update, finding.reason, missed_by_events=missed)
        )

    def _be_ready(self) -> None:
        """A scan is done, or cannot be; the first one, and the one after a reload, are told."""
        if not self._status.started and self._workshop.store.was_unclean:
            self._upkeep.ask_check()
        if self._status.became_ready():
            self._publisher.ready()
            self._log.info("daemon.ready", mode=self._status.mode, pages=self._status.pages)

    # Around the jobs.

    async def _reload(self) -> None:
        self._reload_asked = False
        self._status.reload_began()
        self._service.reloading(self._clock())
        try:
            await anyio.to_thread.run_sync(self._workshop.reload)
        except IndexerdError as error:
            self._status.settings_refused(error)
            self._log.warning("settings.refused", problem=str(error))
        else:
            self._status.settings_loaded()
            self._log.info("settings.loaded")
            self._looker.use(self._workshop.indexer)
            settings = self._workshop.wiki.settings
            self._agenda.set_shortest_interval(settings.scan_interval)
            self._keeper.reopen(scan_only=settings.watch == "scan")
        self._agenda.retry_now()
        self._agenda.ask_scan(Reason.RELOAD, self._clock())

    async def _replace_index(self) -> None:
        """The index file is damaged, or another one: moved aside, and made anew from the tree.

        Another one is not gone on with, for the log beside it may be that of the one before.
        Tried until it works: what is in the way may be a full disk, or another writer.
        """
        self._log.warning("index.replaced", index=str(self._workshop.wiki.index))
        self._status.index_given_up()
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
        self._status.index_opened(self._workshop.store.place)
        self._upkeep = Upkeep(self._workshop.store, self._clock)
        self._agenda.retry_now()
        self._agenda.ask_scan(Reason.START, self._clock())

    async def _wait(self, seconds: float) -> None:
        """That long, or until stopped; others are told that this is no standstill."""
        until = self._clock() + seconds
        while not self._stopping and self._clock() < until:
            self._publisher.progressed()
            self._publisher.publish()
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
        times = (
            self._agenda.next_at(),
            self._upkeep.next_at,
            self._scans.next_at,
            self._publisher.due_at,
        )
        await self._pulse.rest(times, self._service.ping_interval_s)
