// Enqueues jobs in bursts, and records the answers.

import { setTimeout as sleep } from 'node:timers/promises'
import { AmbiguousError, type JobOptions, type Queue } from 'perilune'
import { isOutOfReach } from './diary.ts'
import type { Log } from './log.ts'
import type { PartyOrder } from './order.ts'
import { type Jobs, type Plan, type PlannedJob, planJob } from './plan.ts'

type Which = 'main' | 'after'
const IF_DEPENDENCY_FAILS = ['fail', 'cancel', 'run'] as const

const ENOUGH = 60
// The next enqueue finds out how it ends.
const OUT_OF_REACH = { ready: 0 }

export class Producer {
  readonly #order: PartyOrder
  readonly #queues: Record<Which, Queue<Jobs>>
  readonly #log: Log
  readonly #random: () => number
  #planned = 0
  #stopped = false

  constructor(order: PartyOrder, queues: Record<Which, Queue<Jobs>>, log: Log, random: () => number) {
    this.#order = order
    this.#queues = queues
    this.#log = log
    this.#random = random
  }

  stop(): void {
    this.#stopped = true
  }

  async produce(): Promise<void> {
    if (this.#order.produces > 0 && this.#order.poison) await this.#enqueue('main', [this.#poison()])
    while (this.#planned < this.#order.produces && !this.#stopped) {
      await this.#wanted()
      const jobs = this.#plan(1 + Math.floor(this.#random() * 20))
      const ids = await this.#enqueue('main', jobs)
      if (this.#order.kind === 'families') await this.#enqueueDependents(jobs, ids)
      await sleep(this.#random() * 60)
      if (this.#order.cancels) await this.#cancelSome(jobs, ids)
    }
  }

  /** Resolves when the workers would soon have nothing to do. */
  async #wanted(): Promise<void> {
    while (!this.#stopped && (await this.#queues.main.inspect().catch(() => OUT_OF_REACH)).ready > ENOUGH)
      await sleep(20)
  }

  #plan(count: number): PlannedJob[] {
    return Array.from({ length: count }, () => planJob(this.#nextRef(), this.#order.kind, this.#random))
  }

  /** Some are at work by then, or done. */
  async #cancelSome(jobs: readonly PlannedJob[], ids: readonly (string | null)[]): Promise<void> {
    const chosen = jobs.flatMap(({ payload: { ref } }, at) => {
      const id = ids[at] ?? null
      return id === null || this.#random() > 0.08 ? [] : [{ ref, id }]
    })
    if (chosen.length === 0) return
    const { main } = this.#queues
    await this.#log.write(...chosen.map(({ ref }) => ({ queue: 'main', kind: 'cancelling', ref }) as const))
    const outcomes = await main.jobs.cancel(chosen.map(({ id }) => id)).catch((error: unknown) => {
      if (!isOutOfReach(error)) throw error
      return []
    })
    await this.#log.write(
      ...chosen.map(
        ({ ref }, at) =>
          ({ queue: 'main', kind: 'cancelled', ref, outcome: outcomes[at] ?? 'unknown' }) as const,
      ),
    )
  }

  #poison(): PlannedJob {
    const job = planJob(this.#nextRef(), this.#order.kind, this.#random)
    return { ...job, name: 'one', payload: { ...job.payload, poison: true, ends: 'ack' } }
  }

  #nextRef(): string {
    return `${this.#order.by}.${++this.#planned}`
  }

  /** Those that wait have one to three of these jobs as dependencies. */
  async #enqueueDependents(jobs: readonly PlannedJob[], ids: readonly (string | null)[]): Promise<void> {
    const known = jobs.flatMap(({ payload: { ref } }, at) => {
      const id = ids[at] ?? null
      return id === null ? [] : [{ ref, id }]
    })
    if (known.length === 0) return
    const pick = (): (typeof known)[number][] => {
      const from = Math.floor(this.#random() * known.length)
      return known.slice(from, from + 1 + Math.floor(this.#random() * 3))
    }
    await Promise.all(this.#plan(known.length).map((job) => this.#enqueueDependent(job, pick())))
  }

  async #enqueueDependent(
    job: PlannedJob,
    dependencies: readonly { ref: string; id: string }[],
  ): Promise<void> {
    const onDependencyFailure = IF_DEPENDENCY_FAILS[Math.floor(this.#random() * 3)] ?? 'run'
    const options: JobOptions = {
      dependsOn: dependencies.map(({ id }) => ({ queue: this.#order.queues.main, id })),
      onDependencyFailure,
    }
    const refs = dependencies.map(({ ref }) => ref)
    const payload: Plan = { ...job.payload, ends: job.payload.ends === 'advance' ? 'ack' : job.payload.ends }
    await this.#enqueue('after', [{ ...job, payload, options }], refs, onDependencyFailure)
  }

  /** The ids; null where none is known for certain. */
  async #enqueue(
    queue: Which,
    jobs: readonly PlannedJob[],
    dependsOn: readonly string[] = [],
    onDependencyFailure = '',
  ): Promise<(string | null)[]> {
    const entries = jobs.map(({ payload: { ref }, options: { delay = '0ms', priority = 0 } }) => {
      const delayMs = Number.parseInt(String(delay), 10)
      return { queue, kind: 'asked', ref, dependsOn, onDependencyFailure, delayMs, priority } as const
    })
    await this.#log.write(...entries)
    return Promise.all(jobs.map((job) => this.#enqueueOne(queue, job)))
  }

  async #enqueueOne(queue: Which, { name, payload, options }: PlannedJob): Promise<string | null> {
    const { ref } = payload
    try {
      const { id, duplicate } = await this.#queues[queue].enqueue(name, payload, options)
      await this.#log.write({ queue, kind: 'enqueued', ref, id })
      if (duplicate) await this.#log.write({ kind: 'broken', what: `${ref} was taken for a duplicate` })
      return id
    } catch (error) {
      const kind = error instanceof AmbiguousError ? 'unknown' : 'refused'
      await this.#log.write({ queue, kind, ref })
      return null
    }
  }
}
