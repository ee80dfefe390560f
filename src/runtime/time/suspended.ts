// How long the machine was suspended: the lid was closed, or the virtual machine paused. On Linux and macOS
// `performance.now()` leaves that time out, while leases go on ending, so whoever believes in one adds it.
//
// The wall clock tells: between two looks it goes further than `performance.now()` by the time of the suspension.
// A wall clock that is set forward looks the same, so what is told here may be too much, and never too little: whoever
// is in doubt asks the server. A wall clock that is set back tells nothing, and prolongs nothing.

/** Clocks are read one after the other, and in whole milliseconds: less than this is no suspension. */
const LEAST_MS = 50
const MOST_REMEMBERED = 100
/** Reading a clock is a good part of what a call on a lease costs. */
const RECENT_MS = 10

interface Suspension {
  /** When it was noticed. */
  readonly at: number
  /** Milliseconds of all before it. */
  readonly beforeMs: number
}

export class SuspendedTime {
  readonly #monotonic: () => number
  readonly #wall: () => number
  /** The wall clock's lead over the monotonic one, when that was smallest since the last suspension. */
  #leadMs: number
  #totalMs = 0
  #lookedAt = -Infinity
  #remembered: Suspension[] = []

  constructor(monotonic: () => number, wall: () => number) {
    this.#monotonic = monotonic
    this.#wall = wall
    this.#leadMs = this.#readLead()
  }

  /** Milliseconds of all suspensions that were noticed so far. */
  get totalMs(): number {
    return this.#totalMs
  }

  /** Notices a suspension since the last look. */
  look(): void {
    const leadMs = this.#readLead()
    if (leadMs < this.#leadMs) this.#leadMs = leadMs
    else if (leadMs - this.#leadMs >= LEAST_MS) this.#notice()
  }

  /** As `look`, unless the last one was just before `now`, by the monotonic clock. */
  lookAgain(now: number): void {
    if (now - this.#lookedAt > RECENT_MS) this.look()
  }

  /** Looks, and answers the milliseconds of suspensions that were noticed after this instant of the monotonic clock. */
  since(instant: number): number {
    this.look()
    if (this.#totalMs === 0) return 0
    const first = this.#remembered.find(({ at }) => at > instant)
    return first === undefined ? 0 : this.#totalMs - first.beforeMs
  }

  /** Looks again: this process may have stood still between the two clocks. */
  #notice(): void {
    const leadMs = this.#readLead()
    const ms = leadMs - this.#leadMs
    if (ms < LEAST_MS) return
    this.#leadMs = leadMs
    this.#remembered.push({ at: this.#monotonic(), beforeMs: this.#totalMs })
    this.#totalMs += ms
    if (this.#remembered.length > MOST_REMEMBERED) this.#forgetOldest()
  }

  /** For all instants before it, it counts as if it were later. */
  #forgetOldest(): void {
    const [, next] = this.#remembered.splice(0, 2)
    if (next !== undefined) this.#remembered.unshift({ at: next.at, beforeMs: 0 })
  }

  /** In this order: a process that stands still in between reads too much, which it finds out. */
  #readLead(): number {
    this.#lookedAt = this.#monotonic()
    return this.#wall() - this.#lookedAt
  }
}

// Taken now, lest a test that replaces one of the clocks later look like a suspension.
const monotonic = performance.now.bind(performance)
const { now: wall } = Date
const suspendedTime = new SuspendedTime(monotonic, wall)

/** Notices a suspension since the last look. */
export function lookForSuspension(): void {
  suspendedTime.look()
}

/** As `lookForSuspension`, unless the last look was just before this instant of `performance.now()`. */
export function lookAgain(now: number): void {
  suspendedTime.lookAgain(now)
}

/** Milliseconds of all suspensions that were noticed so far. */
export function suspendedMs(): number {
  return suspendedTime.totalMs
}

/** Looks, and answers the milliseconds of suspensions that were noticed after this instant of `performance.now()`. */
export function suspendedSince(instant: number): number {
  return suspendedTime.since(instant)
}
