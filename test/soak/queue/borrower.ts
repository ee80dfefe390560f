// Takes jobs as somebody does who knows only ids and tokens, and holds some of them beyond their leases: what it settles
// then is stale where others have begun.

import { setTimeout as sleep } from 'node:timers/promises'
import type { LentJob, Queue } from 'perilune'
import { type Diary, type Held, isOutOfReach } from './diary.ts'
import type { Outcome } from './log.ts'
import type { Jobs, Plan } from './plan.ts'

export class Borrower {
  readonly #queue: Queue<Jobs>
  readonly #leaseMs: number
  readonly #diary: Diary
  readonly #random: () => number
  readonly #over = new AbortController()
  #borrowing: Promise<void> | null = null

  constructor(queue: Queue<Jobs>, leaseMs: number, diary: Diary, random: () => number) {
    this.#queue = queue
    this.#leaseMs = leaseMs
    this.#diary = diary
    this.#random = random
  }

  borrow(): Promise<void> {
    this.#borrowing ??= this.#borrow()
    return this.#borrowing
  }

  async close(): Promise<void> {
    this.#over.abort()
    await this.#borrowing
  }

  async #borrow(): Promise<void> {
    const { signal } = this.#over
    while (!signal.aborted) {
      const options = { limit: 2, lease: `${this.#leaseMs}ms`, wait: '200ms' } as const
      const lent = await this.#queue.lend(options).catch((error: unknown) => {
        if (isOutOfReach(error)) return { jobs: [], expiresAtMs: 0 }
        throw error
      })
      await Promise.all(lent.jobs.map((job) => this.#hold(job, lent.expiresAtMs)))
    }
  }

  async #hold(job: LentJob<Plan>, expiresAtMs: number): Promise<void> {
    const { id, token, attempt, maxAttempts, group, payload } = job
    const held: Held = { ref: payload.ref, id, token, attempt, maxAttempts, group }
    await this.#diary.began('main', held, expiresAtMs)
    if (payload.poison) process.kill(process.pid, 'SIGKILL')
    const stays = this.#random() < 0.3 ? this.#leaseMs * (1 + this.#random()) : payload.ms
    await sleep(stays)
    const throws = attempt <= payload.fails
    await this.#diary.ending('main', held, throws)
    const outcome = await this.#settle(id, token, throws).catch((error: unknown) => {
      if (isOutOfReach(error)) return 'unknown' as const
      throw error
    })
    await this.#diary.settled('main', held, outcome)
  }

  async #settle(id: string, token: number, throws: boolean): Promise<Outcome> {
    const { settle } = this.#queue
    const [settled] = throws
      ? await settle.retry([{ id, token, kind: 'PlannedError' }])
      : await settle.ack([{ id, token, result: id }])
    return settled?.outcome ?? 'unknown'
  }
}
