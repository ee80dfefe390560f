// The work for subscriptions, and its times: jobs in two queues, processed by every process of the service.
//
//   tend  of a queue: checks its subscriptions and the waiting pushes
//   push  of a subscription: a turn at sending its remaining pushes
//   ask   of a subscription: sends it a question
//
// Tenants take turns in both queues. Slow subscribers, and those that have not answered yet, are only served by the slow
// queue: however many they are, the others do not wait for them.

import { type ClaimedJob, DriverError, type Perilune, type Queue, type Worker } from 'perilune'
import { feedName, type QueuePlace, placeOf } from '../queues/place.ts'
import { ForRoom } from './for-room.ts'
import type { SubscriberQuestion } from '../subscriptions/letter.ts'

export interface TendJob {
  readonly queue: string
  /** How often it was done since the last post. */
  readonly round: number
}

export interface PushJob {
  readonly queue: string
  readonly subscription: string
}

export interface AskJob extends PushJob {
  readonly key: string
  readonly kind: SubscriberQuestion
  /** How often earlier jobs have sent it without success. */
  readonly tries?: number
}

interface Jobs {
  tend: TendJob
  push: PushJob
  ask: AskJob
}

export interface WebhookTurn {
  readonly place: QueuePlace
  readonly subscription: string
  readonly isSlow: boolean
  readonly job: ClaimedJob
}

export interface AgendaHandlers {
  tend(place: QueuePlace, round: number): Promise<void>
  push(turn: WebhookTurn): Promise<void>
  ask(turn: WebhookTurn, question: AskJob): Promise<void>
}

/** The target of a push job. */
export interface PushTarget {
  readonly subscription: string
  readonly key: string
  readonly isSlow: boolean
  readonly delayMs: number
  /** Whether a job scheduled for later runs now. */
  readonly hurries: boolean
}

export interface AgendaParts {
  readonly perilune: Perilune
  /** Jobs of each queue that one process runs at once. */
  readonly slots: number
  readonly onError: (error: unknown) => void
}

// When the jobs of a process that died are taken over.
const LEASE = '10s'
// A queue whose subscriptions find no room for their turns is tended again, at the latest after the longer time.
const FIRST_PAUSE_MS = 500
const LAST_PAUSE_MS = 5000
// A job that fails is retried as long as there is work to do.
const PATIENT = { maxAttempts: 65_535, backoff: { kind: 'exponential', base: '1s', max: '30s' } } as const

export class Agenda {
  readonly #parts: AgendaParts
  readonly #quick: Queue<Jobs>
  readonly #slow: Queue<Jobs>
  readonly #forRoom = new ForRoom((place) => this.tendAfter(place, 0, 0))
  #workers: Worker<Jobs>[] = []

  constructor(parts: AgendaParts) {
    this.#parts = parts
    this.#quick = parts.perilune.queue<Jobs>('webhooks')
    this.#slow = parts.perilune.queue<Jobs>('webhooks/slow')
  }

  start(handlers: AgendaHandlers): void {
    const { slots, onError } = this.#parts
    const options = { concurrency: slots, lease: LEASE, onError: (error: unknown) => onError(error) } as const
    this.#workers = [this.#quick, this.#slow].map((queue) =>
      queue.work(
        {
          tend: (job) =>
            this.#untilRoom(job, () => handlers.tend(placeOf(job.payload.queue), job.payload.round)),
          push: (job) => quietly(job, () => handlers.push(this.#turn(queue, job))),
          ask: (job) => quietly(job, () => handlers.ask(this.#turn(queue, job), job.payload)),
        },
        options,
      ),
    )
  }

  /** Claims nothing new. Running jobs may end within the limit; then they are given back, for after the next start. */
  async close(withinMs: number): Promise<void> {
    const workers = this.#workers.map((worker) => worker.close({ within: `${withinMs}ms` }))
    await Promise.all([this.#forRoom.close(), ...workers])
  }

  /** At once, even if it was scheduled for later; on a full server as soon as it has room. */
  tendNow(place: QueuePlace): Promise<void> {
    return this.#orForRoom(place, () => this.tendAfter(place, 0, 0))
  }

  /** At that time, even if it was scheduled for another. */
  async tendAfter(place: QueuePlace, round: number, delayMs: number): Promise<void> {
    await this.#tend(place, round, delayMs, true)
  }

  /** Unless it is scheduled for an earlier time. */
  async tendLater(place: QueuePlace, round: number, delayMs: number): Promise<void> {
    await this.#tend(place, round, delayMs, false)
  }

  async push(place: QueuePlace, targets: readonly PushTarget[]): Promise<void> {
    await Promise.all(
      [this.#quick, this.#slow].map((queue) => {
        const own = targets.filter(({ isSlow }) => isSlow === (queue === this.#slow))
        return queue.enqueueMany(own.map((target) => pushJob(place, target)))
      }),
    )
  }

  /** On a full server the queue is tended as soon as there is room. */
  pushOrTend(place: QueuePlace, target: PushTarget): Promise<void> {
    return this.#orForRoom(place, () => this.push(place, [target]))
  }

  /** Ends a turn whose subscriber has another one in the same queue. */
  async nextTurn({ place, job }: WebhookTurn, target: PushTarget): Promise<void> {
    const given = { delay: `${Math.max(1, Math.ceil(target.delayMs))}ms` } as const
    await followed(job, pushJob(place, target), () => job.release(given))
  }

  /** Sends a question at once, even if the same one waits for a retry. */
  async ask(place: QueuePlace, question: Omit<AskJob, 'queue'>): Promise<void> {
    const { name, payload, ...options } = askJob({ ...question, queue: feedName(place) })
    const { id, duplicate } = await this.#slow.enqueue(name, payload, options)
    if (duplicate) await this.#slow.jobs.requeue([id])
  }

  /** Ends a turn in which a question was sent without success. */
  async askAgain({ job }: WebhookTurn, question: AskJob, delay: `${number}s`): Promise<void> {
    const tries = (question.tries ?? 0) + job.attempt
    const next = { ...askJob({ ...question, tries }), delay }
    await followed(job, next, () => job.retry({ delay, kind: 'not-taken' }))
  }

  async #orForRoom(place: QueuePlace, enqueue: () => Promise<void>): Promise<void> {
    try {
      await enqueue()
    } catch (error) {
      if (!isStoreFull(error)) throw error
      this.#forRoom.add(place)
    }
  }

  /** Other failures are rarer, and may take longer. */
  async #untilRoom(job: ClaimedJob, tend: () => Promise<void>): Promise<void> {
    try {
      await tend()
    } catch (error) {
      if (!isStoreFull(error)) throw error
      if (job.attempt === 1) this.#parts.onError(error)
      const delayMs = FIRST_PAUSE_MS * 2 ** (job.attempt - 1)
      if (delayMs < LAST_PAUSE_MS) await job.retry({ delay: `${delayMs}ms`, kind: 'store-full' })
      // Not counted, so that it never has its last attempt, however long the server is full.
      else await job.release({ delay: `${LAST_PAUSE_MS}ms` })
    }
  }

  async #tend(place: QueuePlace, round: number, delayMs: number, replace: boolean): Promise<void> {
    const queue = feedName(place)
    await this.#quick.enqueue(
      'tend',
      { queue, round },
      {
        ...PATIENT,
        group: place.tenant.scope,
        // A job that has started may have read already.
        unique: { key: `tend ${queue}`, until: 'started', replace },
        ...delayed(delayMs),
      },
    )
  }

  #turn(queue: Queue<Jobs>, job: ClaimedJob<PushJob>): WebhookTurn {
    const { queue: name, subscription } = job.payload
    return { place: placeOf(name), subscription, isSlow: queue === this.#slow, job }
  }
}

/**
 * Another job replaces this one. A job that is given back, or retried, keeps its place before later ones of its tenant,
 * and would delay their turns. Only a server that is out of memory may accept none.
 */
async function followed(
  job: ClaimedJob,
  next: Parameters<ClaimedJob['ackAndEnqueue']>[0],
  otherwise: () => Promise<unknown>,
): Promise<void> {
  try {
    await job.ackAndEnqueue(next)
  } catch (error) {
    if (!isStoreFull(error)) throw error
    await otherwise()
  }
}

function askJob(payload: AskJob) {
  return {
    name: 'ask' as const,
    payload,
    ...PATIENT,
    group: placeOf(payload.queue).tenant.scope,
    // A question that is asked again has all its tries.
    unique: { key: `ask ${payload.kind} ${payload.key}`, replace: true },
  }
}

function pushJob(place: QueuePlace, { subscription, key, delayMs, hurries }: PushTarget) {
  return {
    name: 'push' as const,
    payload: { queue: feedName(place), subscription },
    ...PATIENT,
    group: place.tenant.scope,
    // Two turns of one subscription would push the same messages.
    unique: { key: `push ${key}`, replace: hurries },
    ...delayed(delayMs),
  }
}

export function isStoreFull(error: unknown): boolean {
  return error instanceof DriverError && error.code === 'store-full'
}

function delayed(ms: number): { delay?: `${number}ms` } {
  return ms <= 0 ? {} : { delay: `${Math.ceil(ms)}ms` }
}

/** Work that was cut off because its job was given back, or lost, is done by another attempt. */
async function quietly(job: ClaimedJob, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!job.signal.aborted) throw error
  }
}
