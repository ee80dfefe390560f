// Works on the jobs of a queue. A job on its way through a worker:
//
//   claimed by an exchange, or handed over by letter (lane.ts) ──► WAITING for room ──► AT WORK: its handler runs (attempts.ts),
//   alone or with others of its name (batch.ts), and its lease is renewed (extender.ts) ──► SETTLING: its outcome is on its way:
//   acks go with the next exchange, all that one tick has brought together, and others by themselves ──► settled, or lost
//
// and the worker itself:
//
//   RUNNING ──close, the signal aborts, or the instance closes──► CLOSING: no new jobs; those at work go on
//   CLOSING ──all settled, or the time is over──► what is left is given back, and its signals abort
//           ──the server knows, or a second is over──► CLOSED: what it may not know goes to `onError`
//
// How long CLOSING lasts at most: see patience.ts.

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
  /** Jobs at work at once; default 10. */
  concurrency?: number
  /** Jobs claimed ahead of those at work; default 0. */
  prefetch?: number
  /** How long a job is claimed; it is extended while it is at work. Default 30 seconds. */
  lease?: Duration
  /**
   * How long a job whose handler threw waits for its next attempt, instead of by its own backoff: one for every job, or
   * one for each name. Not asked after the last attempt.
   */
  backoff?: Backoffs<Jobs>
  /** Closes the worker when it aborts, as `close()` does; where it has aborted before, no job is claimed. */
  signal?: AbortSignal
  /** Called once when the server knows what became of an attempt, whoever said it: see `job.outcome`. */
  onSettled?: (job: ClaimedJob) => void
  /** Called with what a handler or a backoff threw, and (then without a job) with what went wrong on the way to the server. */
  onError?: (error: unknown, job: ClaimedJob | null) => void
}

const OPTIONS = ['concurrency', 'prefetch', 'lease', 'backoff', 'signal', 'onSettled', 'onError'] as const

/** Claims jobs, hands them to handlers and extends them meanwhile, until it is closed. Its errors go to `onError`. */
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
  /** Of those at work: they have yet to join others, for their schemas take their time. */
  #judged = 0
  /** Their outcomes are on their way. */
  readonly #settling = new Set<ClaimedJob>()
  /** Given back, and the server has not confirmed that yet. */
  readonly #returning = new Set<ClaimedJob>()
  #state: 'running' | 'closing' | 'closed' = 'running'
  #closing: Promise<void> | null = null
  /** Resolves when jobs that were not wanted are given back. */
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
    // Behind all that may throw: who gets no worker could not close it.
    if (this.#state === 'running') this.#begin()
  }

  /** Jobs at work now. */
  get atWork(): number {
    return this.#atWork
  }

  /**
   * Claims no more jobs, and resolves when those at work are done, or after `within` (default 30 seconds): the
   * signals of those that are left abort then, and they are ready for others at once. The server has one second more for
   * that: jobs whose outcome it has not confirmed by then go to `onError`, and come back when their leases end, unless it
   * knows the outcome after all. A second call may make the time shorter. Throws InvalidArgumentError.
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

  /** There may be something to send, or room for more jobs: what one tick brings travels together. */
  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => this.#endTick())
  }

  /** Each lane acks what is done, and claims its share of what there is room for. */
  #endTick(): void {
    this.#isPlanned = false
    const shares = this.#shareOut(Math.max(0, this.#free()))
    for (const lane of this.#lanes) lane.exchange(shares.get(lane) ?? 0)
  }

  /**
   * Equal shares for the lanes that may ask; what cannot be divided goes to those whose turn it is, so that no partition with many jobs
   * holds up those with few. A lane that is silent takes nothing away from the others.
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

  /** Jobs that were claimed, or handed over. */
  #take(jobs: readonly ClaimedJob[], settler: Settler): void {
    if (this.#state !== 'running') return this.#return(jobs)
    this.#extender.keep(jobs, settler)
    this.#waiting.push(...jobs)
    this.#start()
    // A job may come by letter while others were asked for.
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
    // The next job need not wait until the server knows; it comes with the answer.
    this.#start()
    this.#plan()
  }

  /** An ack goes to the lane of the job, which plans the exchange that takes it along. */
  #settle(job: ClaimedJob, verdict: AttemptVerdict): void {
    const settled = (error: unknown): void => this.#settled(job, error)
    if (verdict.is === 'done') job.ackThen(verdict.result, settled)
    else this.#attempts.tell(job, verdict).then(() => settled(null), settled)
  }

  /** The server knows, or was told in vain. */
  #settled(job: ClaimedJob, error: unknown): void {
    // A worker that is closed has given up before.
    if (!this.#settling.delete(job)) return
    this.#extender.drop(job)
    if (error !== null) this.#onError(error, job)
    if (this.#atWork + this.#settling.size === 0) this.#onQuiet?.()
  }

  /** Before it joins others: one that does not fit, or of which its schema says nothing, keeps them from nothing. */
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

  /** Gathered jobs take all the room there is: no others will join them. */
  #beginIfFull(): void {
    if (this.#atWork === this.#concurrency && this.#judged === 0) this.#gatherings.beginAll()
  }

  /** Those that were lost while they waited for others are left out. */
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

  /** What could not be told is tried once more. */
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
    // Of others the outcome is on its way.
    const left = [...this.#extender.jobs].filter(({ isClaimed }) => isClaimed)
    await Promise.race([this.#end(Promise.all([given, this.#giveBack(left)])), this.#patience.over])
    this.#state = 'closed'
    this.#patience.end()
    this.#extender.close()
    for (const forget of this.#forgets) forget()
    this.#giveUp()
  }

  /** Resolves when nothing is at work any more, or the time for that is over. */
  async #quiet(): Promise<void> {
    if (this.#atWork + this.#settling.size === 0) return
    await new Promise<void>((resolve) => (this.#onQuiet = resolve))
  }

  /** Resolves when the server knows all outcomes, and no job can come any more. */
  async #end(given: Promise<unknown>): Promise<void> {
    await given
    this.#extender.close()
    await Promise.all(this.#lanes.map((lane) => lane.end()))
    await this.#returned
  }

  /** The time is over: what the server could not be told is told once more, and then no more. */
  #lastTry(): void {
    this.#hurry()
    this.#onQuiet?.()
  }

  #hurry(): void {
    for (const lane of this.#lanes) lane.hurry()
  }

  /** Outcomes that are not confirmed now are waited for no longer. */
  #giveUp(): void {
    for (const job of this.#settling) {
      this.#settled(job, new AmbiguousError(`the end of job '${job.id}'`))
    }
    const returning = [...this.#returning]
    this.#returning.clear()
    for (const job of returning) this.#onError(new AmbiguousError(`the release of job '${job.id}'`), job)
  }

  /** Whoever works on them is told to stop, and others may begin. */
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
