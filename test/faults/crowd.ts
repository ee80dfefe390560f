// Several instances that want the same lock, the same permits, the same office and the same jobs, and what they saw of
// each other. All of them live in this process, so that one clock and one list of events judge them.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Campaign, type Driver, type Perilune, perilune, type Worker } from 'perilune'
import { until } from '../servers/ask.ts'

const LEASE = '5s'
/** Longer than any outage here: a caller that waits for this long was forgotten. */
const WAIT = '30s'
const PERMITS = 2

/** The current holders, up to the limit, and how long it took until the next one was let in. */
class Place {
  readonly name: string
  readonly #most: number
  readonly #problems: string[]
  #inside = 0
  #lastToken = 0
  /** When the last one came in; null: the servers take no calls. */
  #lastMs: number | null = null
  entered = 0
  longestPauseMs = 0

  constructor(name: string, most: number, problems: string[]) {
    this.name = name
    this.#most = most
    this.#problems = problems
  }

  /** Pauses that begin before this, or end before `served`, do not count. */
  unserved(): void {
    this.#lastMs = null
  }

  served(): void {
    this.#lastMs = performance.now()
  }

  async visit(token: number, ms: number): Promise<void> {
    this.entered++
    this.#inside++
    if (this.#inside > this.#most) this.#problems.push(`${this.name}: ${this.#inside} at once`)
    if (this.#most === 1 && token <= this.#lastToken)
      this.#problems.push(`${this.name}: ${token} after ${this.#lastToken}`)
    this.#lastToken = token
    if (this.#lastMs !== null) {
      this.longestPauseMs = Math.max(this.longestPauseMs, performance.now() - this.#lastMs)
      this.#lastMs = performance.now()
    }
    await sleep(ms)
    this.#inside--
  }
}

export class Crowd {
  readonly problems: string[] = []
  readonly lock: Place = new Place('lock', 1, this.problems)
  readonly permits: Place = new Place('permits', PERMITS, this.problems)
  readonly office: Place = new Place('office', 1, this.problems)
  readonly #instances: readonly Perilune[]
  readonly #runs = new Map<number, number>()
  readonly #acknowledged: number[] = []
  readonly #errors = new Map<string, number>()
  #enqueued = 0
  #over = false
  readonly #loops: Promise<void>[] = []
  readonly #closing: { close(): Promise<void> }[] = []

  constructor(drivers: readonly Driver[]) {
    this.#instances = drivers.map((driver) => perilune(driver, { namespace: 'crowd' }))
  }

  /** The failures and their number: calls while no server accepted any. */
  get errors(): ReadonlyMap<string, number> {
    return this.#errors
  }

  get jobs(): number {
    return this.#acknowledged.length
  }

  /** How long it took at most, while servers took calls, until the next one had each of them, in milliseconds. */
  get pauses(): string {
    return this.#places.map(({ name, longestPauseMs }) => `${name} ${Math.round(longestPauseMs)}`).join(', ')
  }

  get #places(): Place[] {
    return [this.lock, this.permits, this.office]
  }

  begin(): void {
    for (const redis of this.#instances) {
      this.#repeat(() => this.#takeLock(redis))
      this.#repeat(() => this.#takeLock(redis))
      for (let at = 0; at < PERMITS; at++) this.#repeat(() => this.#takePermit(redis))
      this.#repeat(() => this.#enqueue(redis))
      this.#closing.push(this.#work(redis), this.#campaign(redis))
    }
  }

  /** No server takes calls while this is done. */
  async during(outage: () => Promise<void>): Promise<void> {
    for (const place of this.#places) place.unserved()
    await outage()
    for (const place of this.#places) place.served()
  }

  /** Resolves once each of them has been had `more` times again, and jobs were done. */
  async goesOn(more: number): Promise<void> {
    const places = this.#places
    const before = places.map((place) => place.entered)
    const done = this.#runs.size
    await until(
      'all of them go on',
      async () =>
        places.every((place, at) => place.entered >= (before[at] ?? 0) + more) &&
        this.#runs.size >= done + more,
    )
  }

  /** Every job that was acknowledged has been done when this resolves. */
  async end(): Promise<void> {
    this.#over = true
    await Promise.all(this.#loops)
    await until('all jobs are done', async () => this.#acknowledged.every((job) => this.#runs.has(job)))
    await Promise.all(this.#closing.map((each) => each.close()))
    await Promise.all(this.#instances.map((redis) => redis.close()))
    for (const [job, runs] of this.#runs) if (runs > 1) this.problems.push(`job ${job}: done ${runs} times`)
  }

  #takeLock(redis: Perilune): Promise<void> {
    return redis.lock('lock', { lease: LEASE }).run(({ token }) => this.lock.visit(token, 10), { wait: WAIT })
  }

  #takePermit(redis: Perilune): Promise<void> {
    return redis
      .semaphore('permits', { limit: PERMITS, lease: LEASE })
      .run(({ token }) => this.permits.visit(token, 10), { wait: WAIT })
  }

  #campaign(redis: Perilune): Campaign {
    const lead = async ({ token }: { token: number }): Promise<void> => this.office.visit(token, 150)
    return redis
      .election('office', { lease: LEASE })
      .campaign(lead, { onError: (error) => this.#note(error) })
  }

  #work(redis: Perilune): Worker<{ count: number }> {
    const count = async ({ payload }: { payload: number }): Promise<void> => {
      this.#runs.set(payload, (this.#runs.get(payload) ?? 0) + 1)
    }
    const onError = (error: unknown): void => this.#note(error)
    return redis.queue<{ count: number }>('jobs').work({ count }, { lease: LEASE, onError })
  }

  async #enqueue(redis: Perilune): Promise<void> {
    const job = ++this.#enqueued
    await redis.queue<{ count: number }>('jobs').enqueue('count', job)
    this.#acknowledged.push(job)
    await sleep(15)
  }

  #repeat(once: () => Promise<void>): void {
    this.#loops.push(this.#untilOver(once))
  }

  async #untilOver(once: () => Promise<void>): Promise<void> {
    while (!this.#over) {
      await once().catch((error: unknown) => this.#note(error))
      await sleep(3)
    }
  }

  #note(error: unknown): void {
    const { name } = error as Error
    if (name === 'WaitTimeoutError') this.problems.push('a waiter timed out')
    this.#errors.set(name, (this.#errors.get(name) ?? 0) + 1)
  }
}
