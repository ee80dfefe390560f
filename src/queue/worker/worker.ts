// Works on the jobs of a queue. The states of a job in a worker:
//
//   claimed by an exchange, or handed off by letter (lane.ts) ──► WAITING for room ──► AT WORK: its handler runs (attempts.ts),
//   alone or in a batch of its name (batch.ts), and its lease is renewed (extender.ts) ──► SETTLING: its outcome is being sent:
//   the acks of one tick go together with the next exchange, other outcomes by themselves ──► settled, or lost
//
// The states of the worker:
//
//   RUNNING ──close, the signal aborts, or the instance closes──► CLOSING: no new jobs; those at work continue
//   CLOSING ──all settled, or the time is over──► the remaining jobs are released, and their signals abort
//           ──the server has confirmed it, or a second is over──► CLOSED: unconfirmed outcomes go to `onError`
//
// patience.ts limits how long CLOSING lasts.

import { LAST_WORK_MS } from '../../runtime/connection/runtime.ts'
import { AmbiguousError } from '../../runtime/errors/errors.ts'
import { notifying } from '../../runtime/errors/notify.ts'
import { toLeaseMs } from '../../runtime/leases/lease-options.ts'
import { onAbort } from '../../runtime/time/aborts.ts'
import { checkInteger, checkOptions } from '../../runtime/values/arguments.ts'
import { type Duration, toMs } from '../../runtime/values/duration.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import { type JobAttempt, isHeld } from '../claims/outcomes.ts'
import type { Settler } from '../claims/settler.ts'
import { type AnswerTime, timeOfWorker } from '../source/schemas.ts'
import type { QueueSource } from '../source/source.ts'
import {
  type AttemptHooks,
  JobAttempts,
  type Backoffs,
  checkBackoffs,
  checkHandlers,
  type Handlers,
  type AttemptVerdict,
} from './attempts.ts'
import { JobBatch, BatchHandler, Gatherings } from './batch.ts'
import { Extender } from './extender.ts'
import { WorkerLane } from './lane.ts'
import { Patience } from './patience.ts'

export interface WorkOptions<Jobs extends object = Record<string, unknown>> {
  /** The most jobs at work at the same time, 1 to 10,000; default 10. */
  concurrency?: number
  /** How many jobs to claim ahead of those at work, 0 to 10,000; default 0. */
  prefetch?: number
  /** The lease of a job; the worker renews it while the job is at work. Default 30 seconds. */
  lease?: Duration
  /**
   * How long a job waits for its next attempt after its handler threw, instead of its own backoff: one function for all
   * jobs, or one for each name. Not called after the last attempt.
   */
  backoff?: Backoffs<Jobs>
  /** Closes the worker when it aborts, as `close()` does. With a signal that has aborted already no job is claimed. */
  signal?: AbortSignal
  /**
   * Called once for each attempt whose `job.outcome` the server has confirmed, whether the worker or the handler
   * settled it.
   */
  onSettled?: (job: ClaimedJob) => void
  /** Called with what a handler or a backoff threw, and, with null as job, with errors of calls to the server. */
  onError?: (error: unknown, job: ClaimedJob | null) => void
}

const OPTIONS = ['concurrency', 'prefetch', 'lease', 'backoff', 'signal', 'onSettled', 'onError'] as const

/** Claims jobs, calls handlers and renews leases until it is closed. Errors go to `onError`. */
export class Worker<Jobs extends object> implements AsyncDisposable {
  readonly #time: AnswerTime
  readonly #attempts: JobAttempts<Jobs>
  readonly #concurrency: number
  readonly #room: number
  readonly #onSettled: (job: ClaimedJob) => void
  readonly #onError: (error: unknown, job: ClaimedJob | null) => void
  readonly #lanes: readonly WorkerLane[]
  /** The lane whose turn it is. */
  #turn = 0
  readonly #extender: Extender
  readonly #forgets: readonly (() => void)[]
  #forgetSignal: () => void = () => undefined
  /** Whether this tick has something to send at its end. */
  #isPlanned = false
  readonly #waiting: ClaimedJob[] = []
  readonly #gatherings = new Gatherings((handler, jobs) => this.#beginBatch(handler, jobs))
  #atWork = 0
  /** Jobs at work whose asynchronous schemas are still checking them, before they join a batch. */
  #judged = 0
  /** Jobs whose outcomes are being sent. */
  readonly #settling = new Set<ClaimedJob>()
  /** Released jobs whose release the server has not confirmed yet. */
  readonly #returning = new Set<ClaimedJob>()
  #state: 'running' | 'closing' | 'closed' = 'running'
  #closing: Promise<void> | null = null
  /** Resolves when surplus jobs are released. */
  #returned: Promise<unknown> = Promise.resolve()
  readonly #patience = new Patience(() => this.#lastTry())
  #onQuiet: (() => void) | null = null

  /** Throws InvalidArgumentError. */
  constructor(
    sources: readonly QueueSource[],
    handlers: Handlers<Jobs>,
    options: WorkOptions<Jobs>,
    { around }: AttemptHooks,
  ) {
    checkOptions('options', options, OPTIONS)
    checkHandlers(handlers)
    const { concurrency = 10, prefetch = 0, lease = '30s', backoff = {} } = options
    const [first] = sources as [QueueSource]
    const { runtime } = first.unit
    const backoffs = checkBackoffs<Jobs>(backoff)
    this.#concurrency = checkInteger('concurrency', concurrency, 1, 10_000)
    this.#room = this.#concurrency + checkInteger('prefetch', prefetch, 0, 10_000)
    this.#onSettled = notifying('onSettled', options.onSettled)
    this.#onError = notifying('onError', options.onError)
    const leaseMs = toLeaseMs(lease)
    const onError = (error: unknown): void => this.#onError(error, null)
    this.#extender = new Extender(leaseMs, onError)
    this.#time = timeOfWorker(runtime.runner)
    const terms = { handlers, backoffs, checks: first.checks, time: this.#time, around }
    this.#attempts = new JobAttempts<Jobs>({ ...terms, onError: this.#onError })
    const owner = {
      leaseMs,
      plan: () => this.#plan(),
      hasRoom: () => this.#free() > 0,
      take: (jobs: ClaimedJob[], settler: Settler) => this.#take(jobs, settler),
      noteExtended: (job: JobAttempt) => this.#extender.watch(job),
      onError,
    }
    this.#lanes = sources.map((source) => new WorkerLane(source, owner, sources.length > 1))
    this.#forgetSignal = onAbort(options.signal, () => void this.close())
    const look = (): void => this.#extender.look()
    this.#forgets = [
      runtime.atClose(() => this.#closeWithInstance()),
      ...sources.map(({ unit }) => runtime.clearings.watch(unit.beginning, look)),
    ]
    // After everything that can throw: a caller that gets no worker could not close it.
    if (this.#state === 'running') this.#begin()
  }

  /** Jobs at work now. */
  get atWork(): number {
    return this.#atWork
  }

  /**
   * Claims no more jobs, and waits up to `within` (default 30 seconds) for those at work. Then the signals of the
   * remaining jobs abort, and the jobs are released, so that other workers can claim them at once. The server has one
   * more second to confirm that. A job whose outcome is not confirmed by then goes to `onError`; unless the server
   * got the outcome after all, the job becomes ready when its lease ends. A second call can shorten the time. Throws
   * InvalidArgumentError.
   */
  async close(options: { within?: Duration } = {}): Promise<void> {
    checkOptions('options', options, ['within'])
    const { within = '30s' } = options
    const withinMs = toMs('within', within, { min: '0ms', max: '1h' })
    return this.#closeWithin(withinMs)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #begin(): void {
    for (const lane of this.#lanes) lane.begin()
    this.#plan()
  }

  /** There may be something to send, or room for more jobs. Everything of one tick is sent together. */
  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => this.#endTick())
  }

  /** Each lane sends its acks, and claims its share of the free room. */
  #endTick(): void {
    this.#isPlanned = false
    const shares = this.#shareOut(Math.max(0, this.#free()))
    for (const lane of this.#lanes) lane.exchange(shares.get(lane) ?? 0)
  }

  /**
   * Equal shares for the lanes that may ask. The lanes take turns at the remainder, so that no partition with many jobs
   * starves those with few. A silent lane takes nothing away from the others.
   */
  #shareOut(room: number): Map<WorkerLane, number> {
    const count = this.#lanes.length
    const inTurn = [...this.#lanes.slice(this.#turn), ...this.#lanes.slice(0, this.#turn)]
    const mayAsk = inTurn.filter((lane) => lane.mayAsk)
    const asking = mayAsk.filter(({ isSilent }) => !isSilent)
    const shares = new Map(mayAsk.map((lane) => [lane, Math.ceil(room / count)]))
    const over = asking.length === 0 ? 0 : room % asking.length
    for (const [at, lane] of asking.entries()) {
      shares.set(lane, Math.floor(room / asking.length) + (at < over ? 1 : 0))
      if (at === over - 1) this.#turn = (this.#lanes.indexOf(lane) + 1) % count
    }
    return shares
  }

  /** How many more jobs could be asked for. */
  #free(): number {
    const asked = this.#lanes.reduce((sum, lane) => sum + lane.asked, 0)
    return this.#room - this.#atWork - this.#waiting.length - asked
  }

  /** Takes jobs that were claimed or handed off. */
  #take(jobs: readonly ClaimedJob[], settler: Settler): void {
    // Jobs in doubt come from before a clear, or from after it: then they are claimed again.
    if (this.#state !== 'running' || jobs[0]?.isInDoubt === true) return this.#return(jobs)
    this.#extender.keep(jobs, settler)
    this.#waiting.push(...jobs)
    this.#start()
    // A job may arrive by letter while a claim is under way.
    const over = this.#atWork + this.#waiting.length - this.#room
    if (over > 0) this.#return(this.#waiting.splice(-over))
  }

  #start(): void {
    while (this.#atWork < this.#concurrency && this.#waiting.length > 0) {
      const job = this.#waiting.shift() as ClaimedJob
      if (!isHeld(job)) {
        this.#extender.drop(job)
        continue
      }
      this.#atWork += 1
      const handler = this.#attempts.handlerOf(job.name)
      if (handler instanceof BatchHandler) this.#gather(job, handler)
      else void this.#work(job, this.#attempts.handle(job, handler))
    }
    this.#beginIfFull()
  }

  async #work(job: ClaimedJob, attempting: Promise<AttemptVerdict>): Promise<void> {
    job.onOutcome(this.#onSettled)
    const verdict = await attempting
    this.#atWork -= 1
    this.#settling.add(job)
    this.#settle(job, verdict)
    // The next jobs do not wait for the ack: the answer to it brings them.
    this.#start()
    this.#plan()
  }

  /** An ack goes to the lane of the job, which sends it with its next exchange. */
  #settle(job: ClaimedJob, verdict: AttemptVerdict): void {
    const settled = (error: unknown): void => this.#settled(job, error)
    if (verdict.is === 'done') job.ackThen(verdict.result, settled)
    else this.#attempts.settle(job, verdict).then(() => settled(null), settled)
  }

  /** The server has confirmed the outcome, or sending it has failed. */
  #settled(job: ClaimedJob, error: unknown): void {
    // A closed worker has given it up already.
    if (!this.#settling.delete(job)) return
    this.#extender.drop(job)
    if (error !== null) this.#onError(error, job)
    if (this.#atWork + this.#settling.size === 0) this.#onQuiet?.()
  }

  /**
   * Checks the payload before the job joins a batch: a job that does not fit, or whose schema hangs, must not delay
   * others.
   */
  #gather(job: ClaimedJob, handler: BatchHandler<never>): void {
    const judged = this.#attempts.judge(job)
    if (judged instanceof Promise) void this.#gatherLate(job, handler, judged)
    else if (judged === null) this.#gatherings.add(handler, job)
    else void this.#work(job, Promise.resolve(judged))
  }

  async #gatherLate(
    job: ClaimedJob,
    handler: BatchHandler<never>,
    judging: Promise<AttemptVerdict | null>,
  ): Promise<void> {
    this.#judged += 1
    const verdict = await judging
    this.#judged -= 1
    if (verdict !== null) void this.#work(job, Promise.resolve(verdict))
    else if (this.#state === 'running') this.#gatherings.add(handler, job)
    else this.#beginBatch(handler, [job])
    this.#beginIfFull()
  }

  /** When gathered jobs take all the room, no other job can join them. */
  #beginIfFull(): void {
    if (this.#atWork === this.#concurrency && this.#judged === 0) this.#gatherings.beginAll()
  }

  /** Leaves out jobs that were lost while they waited for their batch. */
  #beginBatch(handler: BatchHandler<never>, gathered: readonly ClaimedJob[]): void {
    const jobs = gathered.filter(isHeld)
    const batch = new JobBatch(handler, jobs.length, this.#time.deadlineMs)
    for (const job of gathered) {
      if (job.isClaimed) void this.#work(job, this.#join(batch, job))
      else this.#forget(job)
    }
  }

  async #join(batch: JobBatch, job: ClaimedJob): Promise<AttemptVerdict> {
    try {
      return await this.#attempts.attempt(job, () => batch.join(job))
    } finally {
      batch.leave(job)
    }
  }

  #forget(job: ClaimedJob): void {
    this.#extender.drop(job)
    this.#atWork -= 1
    this.#plan()
  }

  /** Outcomes that could not be sent are tried once more. */
  #closeWithInstance(): Promise<void> {
    this.#hurry()
    return this.#closeWithin(LAST_WORK_MS)
  }

  #closeWithin(ms: number): Promise<void> {
    this.#closing ??= this.#close()
    this.#patience.atMost(ms)
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#state = 'closing'
    this.#forgetSignal()
    for (const lane of this.#lanes) lane.stopAsking()
    const gathered = this.#gatherings.takeAll()
    this.#atWork -= gathered.length
    const given = this.#giveBack([...this.#waiting.splice(0), ...gathered])
    await this.#quiet()
    // The outcomes of the others are being sent.
    const left = [...this.#extender.jobs].filter(({ isClaimed }) => isClaimed)
    await Promise.race([this.#end(Promise.all([given, this.#giveBack(left)])), this.#patience.over])
    this.#state = 'closed'
    this.#patience.end()
    this.#extender.close()
    for (const forget of this.#forgets) forget()
    this.#giveUp()
  }

  /** Resolves when nothing is at work any more, or the time is over. */
  async #quiet(): Promise<void> {
    if (this.#atWork + this.#settling.size === 0) return
    await new Promise<void>((resolve) => (this.#onQuiet = resolve))
  }

  /** Resolves when the server has confirmed all outcomes, and no more jobs can arrive. */
  async #end(given: Promise<unknown>): Promise<void> {
    await given
    this.#extender.close()
    await Promise.all(this.#lanes.map((lane) => lane.end()))
    await this.#returned
  }

  /** The time is over: outcomes that could not be sent are sent once more, and then no more. */
  #lastTry(): void {
    this.#hurry()
    this.#onQuiet?.()
  }

  #hurry(): void {
    for (const lane of this.#lanes) lane.hurry()
  }

  /** Stops waiting for unconfirmed outcomes. */
  #giveUp(): void {
    for (const job of this.#settling) {
      this.#settled(job, new AmbiguousError(`the end of job '${job.id}'`))
    }
    const returning = [...this.#returning]
    this.#returning.clear()
    for (const job of returning) this.#onError(new AmbiguousError(`the release of job '${job.id}'`), job)
  }

  /** Releases the jobs for other workers, and aborts the signals of their handlers. */
  async #giveBack(jobs: readonly ClaimedJob[]): Promise<void> {
    const given = jobs.map(async (job) => {
      this.#extender.drop(job)
      this.#returning.add(job)
      const back = job.release()
      job.stop(new Error('the worker is closed'))
      await back.catch((error: unknown) => {
        if (this.#returning.has(job)) this.#onError(error, job)
      })
      this.#returning.delete(job)
    })
    await Promise.all(given)
  }

  #return(jobs: readonly ClaimedJob[]): void {
    this.#returned = Promise.all([this.#returned, this.#giveBack(jobs)])
  }
}
