// A semaphore in plain memory: permits that end, and a line.

export const CLAIM_MS = 1000
const SILENT_S = 4

interface Attempt {
  readonly id: string
  readonly weight: number
  readonly leaseMs: number
  /** Its process has died: notifications to it are not heard. */
  readonly dead: boolean
}

/**
 * One in line, and how often others have looked while it was the first and did not ask: up to twice, four seconds
 * apart.
 */
interface Waiter {
  readonly attempt: Attempt
  looks: number
  lookedS: number
}

interface Permit extends Attempt {
  readonly token: number
  endsAtMs: number
}

export type Answer = readonly unknown[]

export class SemaphoreModel {
  nowUs: number
  #limit = 0
  #resized = false
  #token = 0
  #permits: Permit[] = []
  #line: Waiter[] = []

  constructor(nowUs: number) {
    this.nowUs = nowUs
  }

  get #nowMs(): number {
    return Math.floor(this.nowUs / 1000)
  }

  acquire(attempt: Attempt, limit: number, waits: boolean): Answer {
    const live = this.#permits.find((permit) => permit.id === attempt.id && permit.endsAtMs > this.#nowMs)
    if (live !== undefined) return this.#granted(live)
    this.#reap()
    if (!this.#resized) this.#limit = limit
    const oversized = attempt.weight > this.#limit
    if (oversized) this.#leave(attempt.id)
    // When nothing is free, the line is not read.
    const mine = this.#fits(1) && this.#serve(attempt.id)
    if (oversized) return ['oversized', this.#limit]
    if (mine || (this.#line.length === 0 && this.#fits(attempt.weight))) {
      this.#leave(attempt.id)
      const permit = this.#grant(attempt, attempt.leaseMs)
      this.#serve('')
      return this.#granted(permit)
    }
    const recheckMs = Math.min(...this.#permits.map(({ endsAtMs }) => endsAtMs)) - this.#nowMs
    if (!waits) return ['full', recheckMs]
    if (!this.#line.some((waiter) => waiter.attempt.id === attempt.id))
      this.#line.push({ attempt, looks: 0, lookedS: 0 })
    const place = this.#line.findIndex((waiter) => waiter.attempt.id === attempt.id)
    const [first] = this.#line
    if (place === 0 && first) first.looks = 0
    return ['queued', place, place === 0 ? recheckMs : 0, this.#nowMs]
  }

  release(token: number): Answer {
    const permit = this.#live(token)
    if (permit === undefined) return ['lost']
    this.#permits = this.#permits.filter((other) => other !== permit)
    this.#reap()
    this.#serve('')
    return ['released', false]
  }

  abandon(id: string): Answer {
    const wasFirst = this.#line[0]?.attempt.id === id
    const before = this.#permits.length
    this.#leave(id)
    this.#permits = this.#permits.filter((permit) => permit.id !== id)
    this.#reap()
    if (wasFirst || this.#permits.length < before) this.#serve('')
    return ['abandoned', false]
  }

  extend(tokens: readonly number[], leaseMs: number): Answer {
    const ends = tokens.map((token) => {
      const permit = this.#live(token)
      if (permit !== undefined) permit.endsAtMs = this.#nowMs + leaseMs
      return permit?.endsAtMs ?? 0
    })
    return ['extended', this.#nowMs, ends]
  }

  resize(limit: number): Answer {
    this.#limit = limit
    this.#resized = true
    this.#reap()
    this.#line = this.#line.filter(({ attempt }) => attempt.weight <= limit)
    this.#serve('')
    return ['resized', false]
  }

  serve(): Answer {
    this.#reap()
    this.#serve('')
    return ['served', false]
  }

  clear(): void {
    this.#limit = 0
    this.#resized = false
    this.#token = 0
    this.#permits = []
    this.#line = []
  }

  /** `limit` is returned for an unknown semaphore. */
  inspect(limit: number, holder: string): Answer {
    const live = this.#permits
      .filter(({ endsAtMs }) => endsAtMs > this.#nowMs)
      .toSorted((one, other) => one.endsAtMs - other.endsAtMs || one.token - other.token)
    return [
      'inspection',
      this.#limit === 0 ? limit : this.#limit,
      this.#resized,
      live.reduce((sum, { weight }) => sum + weight, 0),
      this.#token,
      this.#nowMs,
      live.map(({ token, endsAtMs, weight }) => [token, endsAtMs, weight, holder]),
      this.#line.length,
      this.#line.map(({ attempt }) => [attempt.id, attempt.weight, holder]),
    ]
  }

  #live(token: number): Permit | undefined {
    return this.#permits.find((permit) => permit.token === token && permit.endsAtMs > this.#nowMs)
  }

  #reap(): void {
    this.#permits = this.#permits.filter(({ endsAtMs }) => endsAtMs > this.#nowMs)
  }

  #leave(id: string): void {
    this.#line = this.#line.filter(({ attempt }) => attempt.id !== id)
  }

  #fits(weight: number): boolean {
    return this.#permits.reduce((sum, permit) => sum + permit.weight, weight) <= this.#limit
  }

  /** True when it came to the caller's own attempt. */
  #serve(own: string): boolean {
    for (let waiter = this.#line[0]; waiter !== undefined; waiter = this.#line[0]) {
      const first = waiter.attempt
      const fits = this.#fits(first.weight)
      if (fits && first.id === own) return true
      const waits = !fits && !first.dead && first.weight <= this.#limit
      if (waits && !(this.#fits(1) && this.#isSilent(waiter, own))) return false
      this.#line.shift()
      if (fits && !first.dead) this.#grant(first, Math.min(first.leaseMs, CLAIM_MS))
    }
    return false
  }

  /** Another one looks at the first in line. */
  #isSilent(waiter: Waiter, own: string): boolean {
    if (own === '' || waiter.attempt.id === own) return false
    const nowS = Math.floor(this.#nowMs / 1000)
    if (waiter.looks > 0 && nowS - waiter.lookedS < SILENT_S) return false
    if (waiter.looks === 2) return true
    waiter.looks += 1
    waiter.lookedS = nowS
    return false
  }

  #grant(attempt: Attempt, leaseMs: number): Permit {
    this.#token = Math.max(this.#token + 1, this.nowUs)
    const permit = { ...attempt, token: this.#token, endsAtMs: this.#nowMs + leaseMs }
    this.#permits.push(permit)
    return permit
  }

  #granted({ token, endsAtMs }: Permit): Answer {
    return ['granted', token, endsAtMs, this.#nowMs]
  }
}
