// Claims jobs by ids and tokens only, and holds some of them beyond their leases: its later settlements are stale where
// other attempts have begun.

import { setTimeout as sleep } from 'node:timers/promises'
import type { DetachedJob, Queue } from 'perilune'
import { type Diary, type Held, isOutOfReach } from './diary.ts'
import type { Outcome } from './log.ts'
import type { PartyOrder } from './order.ts'
import { FAILED, type Jobs, type Plan, planNext } from './plan.ts'

export class DetachedLoader {
  readonly #queue: Queue<Jobs>
  readonly #leaseMs: number
  /** The queue of successors. */
  readonly #after: string
  readonly #diary: Diary
  readonly #random: () => number
  readonly #over = new AbortController()
  #borrowing: Promise<void> | null = null

  constructor(queue: Queue<Jobs>, order: PartyOrder, diary: Diary, random: () => number) {
    this.#queue = queue
    this.#leaseMs = order.leaseMs
    this.#after = order.queues.after
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
      const claim = await this.#queue.claimDetached(options).catch((error: unknown) => {
        if (isOutOfReach(error)) return { jobs: [], expiresAtMs: 0 }
        throw error
      })
      await Promise.all(claim.jobs.map((job) => this.#hold(job, claim.expiresAtMs)))
    }
  }

  async #hold(job: DetachedJob<Plan>, expiresAtMs: number): Promise<void> {
    const { id, token, attempt, maxAttempts, group, payload } = job
    if (this.#random() < 0.1) return this.#giveBack(job)
    const held: Held = { ref: payload.ref, id, token, attempt, maxAttempts, group }
    await this.#diary.began('main', held, expiresAtMs)
    if (payload.poison) process.kill(process.pid, 'SIGKILL')
    const stays = this.#random() < 0.3 ? this.#leaseMs * (1 + this.#random()) : payload.ms
    await sleep(stays)
    const throws = attempt <= payload.fails
    await this.#diary.ending('main', held, throws)
    const outcome = await this.#settle(held, payload, throws).catch((error: unknown) => {
      if (isOutOfReach(error)) return 'unknown' as const
      throw error
    })
    await this.#diary.settled('main', held, outcome)
  }

  /** As if it had never begun. */
  async #giveBack({ id, token }: DetachedJob<Plan>): Promise<void> {
    await this.#queue.byToken.release([{ id, token }]).catch((error: unknown) => {
      if (!isOutOfReach(error)) throw error
    })
  }

  async #settle(held: Held, plan: Plan, throws: boolean): Promise<Outcome> {
    const { byToken: settle } = this.#queue
    const { id, token } = held
    if (!throws && plan.ends === 'advance') return this.#advance(held, plan)
    const [settled] = throws
      ? await settle.retry([{ id, token, kind: 'PlannedError' }])
      : plan.ends === 'fail'
        ? await settle.fail([{ id, token, kind: FAILED }])
        : await settle.ack([{ id, token, result: id }])
    return settled?.outcome ?? 'unknown'
  }

  async #advance(held: Held, plan: Plan): Promise<Outcome> {
    const { id, token } = held
    await this.#diary.advancing(held)
    const next = { queue: this.#after, ...planNext(plan) }
    const [settled] = await this.#queue.byToken.ackAndEnqueue([{ id, token, next }])
    if (settled?.outcome !== 'acked') return 'lost'
    await this.#diary.advanced(held)
    return 'acked'
  }
}
