"""The daemon: one loop that does one job at a time, beside a watcher, a socket and signals.

It decides nothing by itself: the scheduler says what is next, the sync pass what is believed. Every job
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
from indexerd.core.sync.scheduler import Job, Reason, Scheduler
from indexerd.daemon.barrier_server import serve_barrier
from indexerd.daemon.barrier_waiters import Barrier, Wait
from indexerd.daemon.environment import Surroundings, own_paths
from indexerd.daemon.job_progress import JobProgress
from indexerd.daemon.maintenance import Maintenance
from indexerd.daemon.next_jobs import ask_next_jobs
from indexerd.daemon.publisher import Publisher
from indexerd.daemon.resources import Resources
from indexerd.daemon.scan_audit import Finding, ScanBook
from indexerd.daemon.sleeper import Sleeper
from indexerd.daemon.status import Status
from indexerd.daemon.sync_pass import SyncPass, SyncResult, Unavailable
from indexerd.daemon.watch_events import WatchEvents
from indexerd.daemon.watch_keeper import WatchKeeper
from indexerd.errors import DamagedIndexError, IndexerdError, ReplacedProgramError
from indexerd.tree.scanner import Stopped
from indexerd.tree.watcher import Watcher

ROOT_CHECK_S: Final = 1.0  # between two scans for a root that is gone


class Daemon:
    """Follows one wiki until `stop` or a signal."""

    def __init__(self, resources: Resources, around: Surroundings, log: Any) -> None:
        root, settings = resources.wiki.root, resources.wiki.settings
        self._resources = resources
        self._around = around
        self._service = around.service
        self._clock = around.clock
        self._log = log
        self._sleeper = Sleeper(around.clock, around.wall)
        self._scheduler = Scheduler()
        self._scheduler.set_shortest_interval(settings.scan_interval)
        self._sync = SyncPass(root, resources.indexer, self._clock)
        self._maintenance = Maintenance(resources.store, self._clock)
        self._progress = JobProgress()
        self._barrier = Barrier(
            wake=self._sleeper.wake, what_is_open=lambda: self.what_is_open, how_far=self._progress.describe
        )
        self._status = Status(
            control=around.control, index=resources.store.place, building=resources.store.building
        )
        if (refused := resources.wiki.configuration.refused) is not None:
            self._status.settings_refused(refused)
            log.warning("settings.refused", problem=str(refused))
        self._publisher = Publisher(
            self._status,
            around,
            pending=lambda: self._scheduler.pending + self._progress.remaining,
            what_is_open=lambda: self.what_is_open,
            wal_bytes=lambda: self._maintenance.wal_bytes,
            log=log,
        )
        self._scans = ScanBook()
        hearing = WatchEvents(
            scheduler=self._scheduler,
            status=self._status,
            scans=self._scans,
            own_paths=own_paths(root, str(resources.wiki.index), around),
            wake=self._sleeper.wake,
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
        self._sleeper.wake()

    def reload(self) -> None:
        """Reads the settings again and scans everything."""
        self._reload_asked = True
        self._sleeper.wake()

    @property
    def what_is_open(self) -> tuple[str, ...]:
        """What keeps the index from being equal to the tree, for people."""
        return (*self._status.obstacles, *self._sync.open)

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
        self._scheduler.ask_scan(Reason.START, self._clock())
        self._publisher.publish_now()
        while not self._stopping:
            if self._sleeper.skipped():
                self._log.info("machine.slept")
                self._status.machine_slept()
                self._scheduler.ask_scan(Reason.GAP, self._clock())
            self._publisher.progressed()
            if self._reload_asked:
                await self._reload()
            self._barrier.begin(self._scheduler, self._clock(), confirm_at=self._sync.confirm_at)
            job = self._scheduler.next_job(self._clock())
            if job is not None:
                await self._do(job, self._barrier.present() if job.is_scan else ())
            elif (finding := self._scans.take_due(self._clock())) is not None:
                await self._close_scan(finding)
            elif not self._maintenance.is_due():
                await self._rest()
            if self._maintenance.is_due():  # after a job too: in a storm there is always another one
                await self._guarded(self._maintenance.run)
            self._publisher.publish()
        self._publisher.publish_now()

    async def _do(self, job: Job, waiting: Wait) -> None:
        if job.is_scan and not self._resources.store.is_in_place():
            await self._replace_index()
            return
        if job.is_scan and self._resources.settings_edited():
            await self._reload()
            job = replace(job, reason=Reason.RELOAD)  # no event could have told what it finds
        self._scans.begin()
        self._progress.begin(job, self._clock())
        try:
            result = await anyio.to_thread.run_sync(self._run_pass, job)
            self._take_in(job, result, waiting)
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
            self._sleeper.worked()

    def _take_in(self, job: Job, result: SyncResult | Unavailable, waiting: Wait) -> None:
        """Hands the result to the scheduler, the status and whoever waits. Raises StorageError."""
        self._progress.end()
        self._status.job_finished()
        if isinstance(result, Unavailable):
            self._scheduler.finish(job, self._clock())
            self._lose_root(result)
        else:
            self._scheduler.finish(
                job, self._clock(), scan_s=result.scan_s, changed=bool(result.update.commits)
            )
            self._follow_up(job, result)
            if not self._sync.open and not result.astray:
                store = self._resources.store
                fresh = Fresh(
                    index_id=store.index_id,
                    generation=store.generation,
                    index=store.place,
                    without_text=self._resources.indexer.given_up[:PATHS_NAMED],
                )
                self._publisher.publish()  # before who is told "fresh" reads it
                self._barrier.serve(waiting, fresh)

    def _run_pass(self, job: Job) -> SyncResult | Unavailable:
        """In a worker thread."""
        return self._sync.run(job, self._asked_to_stop, self._tell_progress)

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
        self._note_trouble("batch.failed", error, self._scheduler.fail(job, self._clock()))

    def _note_trouble(self, event: str, error: Exception, wait: float) -> None:
        """For the status and the log: why nothing is written, and for how long."""
        reason, remedy = self._status.job_failed(error)
        self._log.warning(event, reason=reason, remedy=remedy, retry_in_s=wait)

    def _lose_root(self, lost: Unavailable) -> None:
        if self._status.root_lost(lost.reason):
            self._log.warning("root.lost", reason=lost.reason)
        self._scheduler.ask_scan(Reason.RETRY, lost.confirm_at or self._clock() + ROOT_CHECK_S)
        self._be_ready()

    def _follow_up(self, job: Job, result: SyncResult) -> None:
        now, update = self._clock(), result.update
        if result.another_root or self._status.unavailable is not None:
            self._status.root_found()
            self._log.info("root.found", root=self._resources.wiki.root)
            self._keeper.reopen()
        ask_next_jobs(self._scheduler, job, result, now)
        if result.astray:
            self._keeper.doubt()
        if update.commits:
            self._status.update_committed(update)
            self._maintenance.committed(update.commits)
            self._log.info(
                "batch.committed",
                reason=job.reason,
                generation=update.generation,
                upserted=update.upserted,
                deleted=update.deleted,
            )
        if job.is_scan:
            self._enter_scan(job, result)
            self._be_ready()
            self._keeper.check_mounts()

    def _enter_scan(self, job: Job, result: SyncResult) -> None:
        """What a scan of everything found."""
        self._service.bound_log()
        self._maintenance.scanned()
        now, store = self._clock(), self._resources.store
        finding = self._scans.enter(job, result, now, watching=self._status.watching)
        self._status.scan_finished(
            finding.as_last_scan(),
            now,
            building=store.building,
            generation=store.generation,
            problems=len(store.fetch_diagnostics()),
        )

    async def _close_scan(self, finding: Finding) -> None:
        """Keeps a scan in the index, once it is certain what the watcher missed."""
        missed = finding.missed
        if missed:
            self._status.changes_missed(missed, self._clock())
            self._log.warning("events.missed", paths=missed, reason=finding.reason)
            if finding.reason == Reason.PERIODIC:
                self._keeper.doubt()
        record, found = self._resources.indexer.record, finding.result
        await self._guarded(
            lambda: record(found.scanned, found.update, finding.reason, missed_by_events=missed)
        )

    def _be_ready(self) -> None:
        """A scan is done, or cannot be; the first one, and the one after a reload, are reported."""
        if not self._status.started and self._resources.store.was_unclean:
            self._maintenance.ask_check()
        if self._status.became_ready():
            self._publisher.ready()
            self._log.info("daemon.ready", mode=self._status.mode, pages=self._status.pages)

    # Around the jobs.

    async def _reload(self) -> None:
        self._reload_asked = False
        self._status.reload_began()
        self._service.reloading(self._clock())
        try:
            await anyio.to_thread.run_sync(self._resources.reload)
        except IndexerdError as error:
            self._status.settings_refused(error)
            self._log.warning("settings.refused", problem=str(error))
        else:
            self._status.settings_loaded()
            self._log.info("settings.loaded")
            self._sync.use(self._resources.indexer)
            settings = self._resources.wiki.settings
            self._scheduler.set_shortest_interval(settings.scan_interval)
            self._keeper.reopen(scan_only=settings.watch == "scan")
        self._scheduler.retry_now()
        self._scheduler.ask_scan(Reason.RELOAD, self._clock())

    async def _replace_index(self) -> None:
        """The index file is damaged, or another one: moves it aside, and rebuilds it from the tree.

        Another one is not gone on with, for the log beside it may be that of the one before.
        Tried until it works: what is in the way may be a full disk, or another writer.
        """
        self._log.warning("index.replaced", index=str(self._resources.wiki.index))
        self._status.index_given_up()
        failures = 0
        while not self._stopping:
            try:
                await anyio.to_thread.run_sync(self._resources.start_over)
                break
            except (IndexerdError, OSError, MemoryError) as error:
                failures += 1
                self._note_trouble("index.unavailable", error, back_off_s(failures))
                await self._wait(back_off_s(failures))
        self._sync.use(self._resources.indexer)
        self._status.index_opened(self._resources.store.place)
        self._maintenance = Maintenance(self._resources.store, self._clock)
        self._scheduler.retry_now()
        self._scheduler.ask_scan(Reason.START, self._clock())

    async def _wait(self, seconds: float) -> None:
        """Waits that long, or until stopped, and says that this is no standstill."""
        until = self._clock() + seconds
        while not self._stopping and self._clock() < until:
            self._publisher.progressed()
            self._publisher.publish()
            await self._sleeper.rest((until,), self._service.ping_interval_s)

    async def _guarded(self, work: Callable[[], object]) -> None:
        """Work on the index that may be left for later when the disk refuses it."""
        try:
            await anyio.to_thread.run_sync(work)
        except DamagedIndexError as error:
            self._log.warning("index.damaged", problems=(error.problem,))
            await self._replace_index()
        except (IndexerdError, OSError, MemoryError) as error:
            self._log.warning("upkeep.failed", reason=str(error))
            self._maintenance.put_off()

    async def _rest(self) -> None:
        times = (
            self._scheduler.next_at(),
            self._maintenance.next_at,
            self._scans.next_at,
            self._publisher.due_at,
        )
        await self._sleeper.rest(times, self._service.ping_interval_s)
