// How long the machine was suspended: its lid was closed, or the virtual machine paused. On Linux and macOS
// `performance.now()` omits that time while leases keep running, so lease ends are corrected by it.
//
// The wall clock shows a suspension: between two checks it advances further than `performance.now()`. A wall clock that
// was set forward looks the same, so the result may be too large, never too small; in doubt the server is asked. A wall
// clock that was set back shows nothing, and extends nothing.

/** The clocks are read one after the other, in whole milliseconds: less than this is no suspension. */
const LEAST_MS = 50
const MOST_REMEMBERED = 100
/** Reading a clock is a considerable part of the cost of a call on a lease. */
const RECENT_MS = 10

interface Suspension {
  /** When it was noticed. */
  readonly at: number
  /** The total of all earlier suspensions, in milliseconds. */
  readonly beforeMs: number
}

export class SuspendedTime {
  readonly #monotonic: () => number
  readonly #wall: () => number
  /** The lead of the wall clock over the monotonic one: its minimum since the last suspension. */
  #leadMs: number
  #totalMs = 0
  #lookedAt = -Infinity
  #remembered: Suspension[] = []

  constructor(monotonic: () => number, wall: () => number) {
    this.#monotonic = monotonic
    this.#wall = wall
    this.#leadMs = this.#readLead()
  }

  /** The total of all suspensions noticed so far, in milliseconds. */
  get totalMs(): number {
    return this.#totalMs
  }

  /** Notices a suspension since the last check. */
  look(): void {
    const leadMs = this.#readLead()
    if (leadMs < this.#leadMs) this.#leadMs = leadMs
    else if (leadMs - this.#leadMs >= LEAST_MS) this.#notice()
  }

  /** Like `look`, unless the last check was just before `now`, by the monotonic clock. */
  lookAgain(now: number): void {
    if (now - this.#lookedAt > RECENT_MS) this.look()
  }

  /** Checks, and returns the milliseconds of suspensions noticed after this time of the monotonic clock. */
  since(instant: number): number {
    this.look()
    if (this.#totalMs === 0) return 0
    const first = this.#remembered.find(({ at }) => at > instant)
    return first === undefined ? 0 : this.#totalMs - first.beforeMs
  }

  /** Reads again: this process may have stalled between the two clocks. */
  #notice(): void {
    const leadMs = this.#readLead()
    const ms = leadMs - this.#leadMs
    if (ms < LEAST_MS) return
    this.#leadMs = leadMs
    this.#remembered.push({ at: this.#monotonic(), beforeMs: this.#totalMs })
    this.#totalMs += ms
    if (this.#remembered.length > MOST_REMEMBERED) this.#forgetOldest()
  }

  /** For all times before it, a forgotten suspension counts as a later one. */
  #forgetOldest(): void {
    const [, next] = this.#remembered.splice(0, 2)
    if (next !== undefined) this.#remembered.unshift({ at: next.at, beforeMs: 0 })
  }

  /** In this order: a stall between the two reads gives a larger lead, which is then detected. */
  #readLead(): number {
    this.#lookedAt = this.#monotonic()
    return this.#wall() - this.#lookedAt
  }
}

// Read now, so that a test that replaces one of the clocks later does not look like a suspension.
const monotonic = performance.now.bind(performance)
const { now: wall } = Date
const suspendedTime = new SuspendedTime(monotonic, wall)

/** Notices a suspension since the last check. */
export function lookForSuspension(): void {
  suspendedTime.look()
}

/** Like `lookForSuspension`, unless the last check was just before this `performance.now()`. */
export function lookAgain(now: number): void {
  suspendedTime.lookAgain(now)
}

/** The total of all suspensions noticed so far, in milliseconds. */
export function suspendedMs(): number {
  return suspendedTime.totalMs
}

/** Checks, and returns the milliseconds of suspensions noticed after this `performance.now()`. */
export function suspendedSince(instant: number): number {
  return suspendedTime.since(instant)
}
