// Works on the jobs of a queue.
//
//   RUNNING ──close──► CLOSING: no new jobs; those at work go on ──all settled, or `within` is over──► CLOSED

import { checkInteger, checkOptions } from '../runtime/arguments.ts'
import { type Duration, toMs } from '../runtime/duration.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'
import { toLeaseMs } from '../runtime/lease-options.ts'
import { type ClaimedJob, type Settling, toClaimedJobs } from './claimed-job.ts'
import type { Exchanged } from './exchange.ts'
import { Exchanger } from './exchanger.ts'
import { Extender } from './extender.ts'
import { type Handler, type Handlers, handle } from './handling.ts'
import { Settler, toAck } from './settling.ts'
import type { Source } from './source.ts'

export interface WorkOptions {
  /** Jobs at work at once; default 10. */
  concurrency?: number
  /** Jobs claimed ahead of those at work; default 0. */
  prefetch?: number
  /** How long a job is claimed; it is extended while it is at work. Default 30 seconds. */
  lease?: Duration
  /** Called when the server knows what became of an attempt: see `job.outcome`. */
  onSettled?: (job: ClaimedJob) => void
  /** Called with what a handler threw, and (then without a job) with what went wrong on the way to the server. */
  onError?: (error: unknown, job: ClaimedJob | null) => void
}

const OPTIONS = ['concurrency', 'prefetch', 'lease', 'onSettled', 'onError'] as const

export class Worker<Jobs extends object> implements AsyncDisposable {
  readonly #source: Source
  readonly #handlers: Handlers<Jobs>
  readonly #concurrency: number
  readonly #room: number
  readonly #onSettled: (job: ClaimedJob) => void
  readonly #onError: (error: unknown, job: ClaimedJob | null) => void
  readonly #exchanger: Exchanger
  readonly #extender: Extender
  readonly #outcomes: Settling
  readonly #waiting: ClaimedJob[] = []
  #atWork = 0
  #settling = 0
  #state: 'running' | 'closing' | 'closed' = 'running'
  #closing: Promise<void> | null = null
  #onQuiet: (() => void) | null = null

  /** Throws InvalidArgumentError. */
  constructor(source: Source, handlers: Handlers<Jobs>, options: WorkOptions) {
    checkOptions('options', options, OPTIONS)
    checkHandlers(handlers)
    const { concurrency = 10, prefetch = 0, lease = '30s', onSettled, onError } = options
    this.#source = source
    this.#handlers = handlers
    this.#concurrency = checkInteger('concurrency', concurrency, 1, 10_000)
    this.#room = this.#concurrency + checkInteger('prefetch', prefetch, 0, 10_000)
    this.#onSettled = onSettled ?? (() => undefined)
    this.#onError = onError ?? (() => undefined)
    const leaseMs = toLeaseMs(lease)
    const settler = new Settler(source)
    const onTrouble = (error: unknown): void => this.#onError(error, null)
    this.#extender = new Extender(settler, leaseMs, onTrouble)
    this.#exchanger = new Exchanger(source, {
      leaseMs,
      room: () => this.#room - this.#atWork - this.#waiting.length,
      take: (exchanged) => this.#take(exchanged),
      onError: onTrouble,
    })
    this.#outcomes = {
      ack: (job, result) => this.#exchanger.ack(toAck(job, result, source), job as ClaimedJob),
      retry: (...failure) => settler.retry(...failure),
      bury: (...failure) => settler.bury(...failure),
      release: (job) => settler.release(job),
      extend: (job, ms) => settler.extend(job as ClaimedJob, ms),
      note: (note) => settler.note(note),
    }
  }

  /** Jobs at work now. */
  get atWork(): number {
    return this.#atWork
  }

  /**
   * Claims no more jobs, and resolves when those at work are done, or after `within` (default 30 seconds): the
   * signals of those that are left abort then, and they are ready for others at once. Throws InvalidArgumentError.
   */
  async close({ within = '30s' }: { within?: Duration } = {}): Promise<void> {
    const withinMs = toMs('within', within, { min: '0ms', max: '1h' })
    this.#closing ??= this.#close(withinMs)
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(withinMs: number): Promise<void> {
    this.#state = 'closing'
    this.#exchanger.stopAsking()
    const given = this.#giveBack(this.#waiting.splice(0))
    await this.#quietWithin(withinMs)
    const left = [...this.#extender.jobs]
    await Promise.all([given, this.#giveBack(left)])
    this.#state = 'closed'
    this.#extender.close()
    await this.#exchanger.end()
  }

  async #quietWithin(ms: number): Promise<void> {
    if (this.#atWork + this.#settling === 0) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#onQuiet = resolve
      timer = setTimeout(resolve, ms)
    })
    clearTimeout(timer)
  }

  /** Whoever works on them is told to stop, and others may begin. */
  async #giveBack(jobs: readonly ClaimedJob[]): Promise<void> {
    const given = jobs.map(async (job) => {
      this.#extender.drop(job)
      const back = job.release()
      job.stop(new Error('the worker is closed'))
      await back.catch((error: unknown) => this.#onError(error, job))
    })
    await Promise.all(given)
  }

  #take(exchanged: Exchanged): void {
    const jobs = toClaimedJobs(this.#source, this.#outcomes, exchanged)
    if (this.#state !== 'running') {
      void this.#giveBack(jobs)
      return
    }
    for (const job of jobs) {
      this.#extender.keep(job)
      this.#waiting.push(job)
    }
    this.#start()
  }

  #start(): void {
    while (this.#atWork < this.#concurrency && this.#waiting.length > 0) {
      const job = this.#waiting.shift() as ClaimedJob
      this.#atWork += 1
      void this.#work(job)
    }
  }

  async #work(job: ClaimedJob): Promise<void> {
    const settle = await handle(job, this.#handlerOf(job.name), { onError: this.#onError })
    this.#atWork -= 1
    this.#settling += 1
    // The next job need not wait until the server knows; it comes with the answer.
    const settled = settle()
    this.#start()
    this.#exchanger.plan()
    await settled.catch((error: unknown) => this.#onError(error, job))
    this.#extender.drop(job)
    this.#settling -= 1
    if (job.outcome !== null) this.#onSettled(job)
    if (this.#atWork + this.#settling === 0) this.#onQuiet?.()
  }

  #handlerOf(name: string): Handler<never> | null {
    const handlers = this.#handlers
    if (typeof handlers === 'function') return handlers
    return Object.hasOwn(handlers, name) ? (handlers[name as keyof Jobs] as Handler<never>) : null
  }
}

function checkHandlers(handlers: unknown): void {
  if (typeof handlers === 'function') return
  const isObject = typeof handlers === 'object' && handlers !== null
  if (!isObject || Object.values(handlers).some((handler) => typeof handler !== 'function')) {
    throw new InvalidArgumentError('handlers', 'must be a function, or an object of one for each name')
  }
}
