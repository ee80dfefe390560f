// A half-open command connection (a firewall dropped it, or the host of its server died) looks like one with a slow
// server: nothing arrives, and the operating system takes 15 minutes to give it up. So when an answer is overdue and
// nothing arrives, a second connection is opened in the same way:
//
//   WELL ──an answer is overdue──► DOUBTED ──also in the next round: a second connection sends a write
//    ▲                               │  │      to the same key that changes nothing
//    ├── data arrived, or the second ◄┘  └── the second is answered, the first still silent ──► dropped: outstanding
//    │   one is not answered either:          calls are lost, and the client reconnects
//    └── the server is slow or unreachable
//
// The probe is a write, because a server may block writes and answer all else: it does so before each planned failover.
// Rounds are counted, not milliseconds: after a stall the process reads the arrived data before it doubts a connection.
// Answers on one connection come in the order of the calls. So only the oldest call matters, and only from the moment
// it became the oldest.

import { ServerReplyError } from '../../driver.ts'
import type { WatchedConnections, Signs } from './watched-connections.ts'
import { Pauses } from './pauses.ts'
import { type PendingRun, type PendingRuns, ROUND_MS } from './pending-runs.ts'
import { inTime } from './time-limit.ts'

/** How long data that had arrived before the second connection's answer may take to be read. */
const READ_MS = 250
/** The next probe after an unanswered second connection follows after so many rounds, at first and at most. */
const FIRST_REST = 4
const LONGEST_REST = 10
/** On a cluster another node may have taken over: this is checked after so many rounds, and again after as many. */
const LOOK_AFTER = 8
const LOOK_EVERY = 4
/** A transfer slower than this per round (64 KiB a second) is treated as silence. */
const BYTES_A_ROUND = 32 * 1024
/** The reason for giving up the calls of a connection. */
const SILENT = 'the connection was silent'
/** Error codes of a server that is slow. */
const SLOW = new Set(['BUSY', 'LOADING'])

/** The oldest run of a connection. */
interface Watched<Spot extends object> {
  readonly run: PendingRun<Spot>
  readonly signs: Signs
  /** The round since which there was no sign of life. */
  readonly since: number
  readonly isDoubted: boolean
}

/** How long a connection is not probed after its server did not answer. */
interface Rest {
  readonly until: number
  readonly rounds: number
}

export class Silence<Spot extends object> {
  readonly #pending: PendingRuns<Spot>
  readonly #listening: WatchedConnections<Spot>
  readonly #pauses = new Pauses()
  readonly #stopRounds: () => void
  #watched = new Map<Spot, Watched<Spot>>()
  #isLooking = false
  /** Each connection is probed independently, without waiting for other servers. */
  readonly #asking = new Set<Spot>()
  /** Each ends a connection that was opened to see whether the server answers. */
  readonly #probes = new Set<() => void>()
  readonly #rests = new WeakMap<Spot, Rest>()
  #closed = false

  constructor(pending: PendingRuns<Spot>, listening: WatchedConnections<Spot>) {
    this.#pending = pending
    this.#listening = listening
    this.#stopRounds = pending.onRound(() => void this.#round())
  }

  /** True while a connection is doubted. */
  get isDoubted(): boolean {
    for (const { run, isDoubted } of this.#watched.values())
      if (isDoubted && this.#pending.has(run)) return true
    return false
  }

  close(): void {
    this.#closed = true
    this.#stopRounds()
    this.#watched.clear()
    this.#pauses.endAll()
    for (const end of this.#probes) end()
  }

  async #round(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      await this.#look()
    } finally {
      this.#isLooking = false
    }
  }

  async #look(): Promise<void> {
    const before = this.#watched
    const watched = await this.#watch(before)
    if (this.#closed) return
    this.#watched = watched
    for (const [spot, now] of watched) {
      if (this.#mayHaveSuccessor(now)) this.#listening.away(spot)
      else if (now.isDoubted && isSame(before.get(spot), now) && !this.#isLeft(spot))
        void this.#ask(spot, now)
    }
  }

  /** Includes calls that may take long and are not doubted yet: looking for a successor is harmless. */
  #mayHaveSuccessor({ since, isDoubted }: Watched<Spot>): boolean {
    const rounds = this.#pending.rounds - since - LOOK_AFTER
    return !isDoubted && rounds >= 0 && rounds % LOOK_EVERY === 0
  }

  #isLeft(spot: Spot): boolean {
    return this.#asking.has(spot) || this.#pending.rounds <= (this.#rests.get(spot)?.until ?? -1)
  }

  /** The oldest run of each connection with an overdue answer. */
  async #watch(before: ReadonlyMap<Spot, Watched<Spot>>): Promise<Map<Spot, Watched<Spot>>> {
    const { patience, placeOf, over } = this.#listening
    const places = new Set<unknown>([undefined])
    const watched = new Map<Spot, Watched<Spot>>()
    for (const run of this.#pending.dueFor(patience)) {
      const place = this.#pending.has(run) ? placeOf(run) : undefined
      if (places.has(place)) continue
      places.add(place)
      const spot = await Promise.resolve(over(run)).catch(() => undefined)
      if (spot === undefined || watched.has(spot) || !this.#pending.has(run)) continue
      watched.set(spot, this.#see(run, spot, before.get(spot)))
    }
    return watched
  }

  #see(run: PendingRun<Spot>, spot: Spot, before: Watched<Spot> | undefined): Watched<Spot> {
    const { patienceWith, sent, signs } = this.#listening
    const now = { run, signs: signs(spot) }
    const { rounds } = this.#pending
    let since = run.round
    if (before !== undefined) since = isSame(before, now) ? before.since : rounds
    const goesOut = Math.floor(sent(run, spot) / BYTES_A_ROUND)
    const patience = patienceWith(run, spot) + goesOut + (run.waitsMs ?? 0) / ROUND_MS
    return { ...now, since, isDoubted: rounds - since >= patience }
  }

  async #ask(spot: Spot, watched: Watched<Spot>): Promise<void> {
    this.#asking.add(spot)
    const { run } = watched
    const isAnswered = await this.#answers(spot, run.key)
    if (isAnswered) await this.#pauses.pause(READ_MS)
    this.#asking.delete(spot)
    if (this.#closed) return
    const isSilent = this.#pending.has(run) && isSame(watched, { run, signs: this.#listening.signs(spot) })
    if (isSilent && !isAnswered) return this.#leave(spot)
    this.#rests.delete(spot)
    this.#watched.delete(spot)
    if (isSilent) this.#drop(spot, run)
  }

  /**
   * A call that is still unanswered afterwards was never outstanding on this connection: a client library may forget a
   * call. It is retried, because otherwise the next connection would be dropped for it too.
   */
  #drop(spot: Spot, watched: PendingRun<Spot>): void {
    const { placeOf, drop } = this.#listening
    const place = placeOf(watched)
    const due = new Set(this.#pending.dueFor(0).filter((run) => run.written && placeOf(run) === place))
    drop(spot)
    setImmediate(() => this.#pending.giveUp(SILENT, (run) => due.has(run)))
  }

  /** The server is slow or unreachable: probes it again later. */
  #leave(spot: Spot): void {
    const before = this.#rests.get(spot)?.rounds
    const rounds = before === undefined ? FIRST_REST : Math.min(before * 2, LONGEST_REST)
    this.#rests.set(spot, { until: this.#pending.rounds + rounds, rounds })
    this.#listening.away(spot)
  }

  async #answers(spot: Spot, key: string): Promise<boolean> {
    let end = ignore
    const onOpening = (own: () => void): void => {
      end = own
      this.#probes.add(own)
    }
    try {
      const line = await this.#listening.open(spot, {
        onOpening,
        onMessage: ignore,
        onLeft: ignore,
        onLost: ignore,
      })
      await inTime(key === '' ? line.ping() : line.touch(key), 'probe')
      return true
    } catch (error) {
      return error instanceof ServerReplyError && !SLOW.has(error.word)
    } finally {
      end()
      this.#probes.delete(end)
    }
  }
}

function ignore(): void {}

interface Seen {
  readonly run: object
  readonly signs: Signs
}

function isSame(before: Seen | undefined, now: Seen): boolean {
  return before?.run === now.run && before.signs.of === now.signs.of && before.signs.read === now.signs.read
}
