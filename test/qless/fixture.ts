// Shared by the tests that follow those of qless line by line: its verbs, on a queue of ours whose clock stands still.

import {
  type ClaimedJob,
  type ClaimOptions,
  InvalidArgumentError,
  type JobOptions,
  LeaseLostError,
  type QueueEvent,
} from 'perilune'
import { onTestFinished } from 'vitest'
import type { EventOptions } from '../../src/queue/events.ts'
import type { Queue } from '../../src/queue/queue.ts'
import { START_US } from '../../src/testing/test-clock.ts'
import { type Payloads, type Setup, setup, until } from '../queue-fixture.ts'

export { until } from '../queue-fixture.ts'

export const START_MS: number = START_US / 1000
export const SECOND = 1000
export const MINUTE: number = 60 * SECOND
export const HOUR: number = 60 * MINUTE
export const DAY: number = 24 * HOUR

type Mails = Queue<Payloads>
export type Mail = ClaimedJob<Payloads[keyof Payloads]>

export interface Place extends Setup {
  /** Enqueues a job with this id. */
  put(id: string, options?: JobOptions): Promise<void>
  /** Claims jobs for a minute. */
  pop(options?: ClaimOptions): Promise<Mail[]>
  /** The ids of those that are claimed now. */
  popIds(limit?: number): Promise<string[]>
  /** Puts a job with this id, and claims it. */
  putAndPop(id: string, options?: JobOptions): Promise<Mail>
  stateOf(id: string): Promise<string>
  /** Counts of jobs. */
  count(state: 'ready' | 'scheduled' | 'blocked' | 'claimed' | 'dead' | 'done' | 'overdue'): Promise<number>
}

export async function begin(): Promise<Place> {
  const place = await setup()
  return { ...place, ...verbsOf(place.queue) }
}

/** The verbs, on another queue. */
export function verbsOf(queue: Mails): Omit<Place, keyof Setup> {
  const put = async (id: string, options: JobOptions = {}): Promise<void> => {
    await queue.enqueue('mail', { to: id }, { id, ...options })
  }
  const pop = (options: ClaimOptions = {}): Promise<Mail[]> => queue.claim({ lease: '1m', ...options })
  return {
    put,
    pop,
    popIds: async (limit = 1) => (await pop({ limit })).map(({ id }) => id),
    putAndPop: async (id, options) => {
      await put(id, options)
      const [job] = await pop()
      if (job?.id !== id) throw new Error(`${job?.id} was claimed, not ${id}`)
      return job
    },
    stateOf: async (id) => (await queue.jobs.get(id))?.state ?? 'absent',
    count: async (state) => (await queue.inspect())[state],
  }
}

/** Why a call was refused: the reason of a lost lease, or the argument that is wrong; `none`: it was not. */
export async function refusalOf(call: Promise<unknown> | (() => Promise<unknown>)): Promise<string> {
  try {
    await (typeof call === 'function' ? call() : call)
    return 'none'
  } catch (error) {
    if (error instanceof LeaseLostError) return /\((\w+)\)$/.exec(error.resource)?.[1] ?? error.resource
    if (error instanceof InvalidArgumentError) return error.argument
    throw error
  }
}

/** A token that was never granted. */
export function guessed(id: string): { id: string; token: number } {
  return { id, token: 7 }
}

export interface Heard {
  readonly events: readonly QueueEvent[]
  /** Once so many have arrived: the event and its job. */
  first(count: number): Promise<string[]>
}

/** The events of the queue from now on. */
export async function hear({ queue, client, name }: Setup, options: EventOptions = {}): Promise<Heard> {
  const events: QueueEvent[] = []
  const aborter = new AbortController()
  const listening = (async () => {
    for await (const event of queue.events({ ...options, signal: aborter.signal })) events.push(event)
  })().catch((error: unknown) => {
    if (!aborter.signal.aborted) throw error
  })
  onTestFinished(async () => {
    aborter.abort()
    await listening
  })
  await until(async () => (await client.hlen(`queue-test:{queue:${name}}:listeners`)) > 0)
  const tell = (event: QueueEvent): string => ('id' in event ? `${event.id} ${event.kind}` : event.kind)
  const first = async (count: number): Promise<string[]> => {
    await until(() => events.length >= count)
    return events.map(tell)
  }
  return { events, first }
}
