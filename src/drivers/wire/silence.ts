// A connection for commands that is half open, for a firewall has dropped it or the host of its server has gone, looks like one
// whose server is slow: nothing is read over it, and the operating system takes a quarter of an hour to give it up. So where an
// answer is due for long and nothing is read, a new connection is opened the same way:
//
//   WELL ──an answer is due for long──► DOUBTED ──the next round, too: a new connection is opened, and asked for a write of
//    ▲                                   │  │      the same key that changes nothing
//    ├── something was read, or the new ◄┘  └── the new one answers, nothing is read over the old one ──► dropped: what is
//        one does not answer either: the        due is lost, and the client connects again
//        server is slow or away
//
// For a write, since a server may hold these back and answer all else: it does so before each planned failover.
// Rounds are counted, not milliseconds: a process that has stood still reads what came before it doubts anything. What is due
// over one connection is answered in the order in which it was sent: so only the oldest of it tells, and only from the moment on
// at which it was that.

import { ServerReplyError } from '../../driver.ts'
import type { WatchedConnections, Signs } from './watched-connections.ts'
import { Pauses } from './pauses.ts'
import { type PendingRun, type PendingRuns, ROUND_MS } from './pending-runs.ts'
import { inTime } from './time-limit.ts'

/** What has come by the time of the answer of the new connection is read within this. */
const READ_MS = 250
/** After a server did not answer on a new connection either, so many rounds at first, and at last, pass until it is asked again. */
const FIRST_REST = 4
const LONGEST_REST = 10
/** On a cluster another node may have taken its place: that is looked for from so many rounds on, and every so many. */
const LOOK_AFTER = 8
const LOOK_EVERY = 4
/** What goes out more slowly than this in a round, 64 KiB a second, is taken for silence. */
const BYTES_A_ROUND = 32 * 1024
/** Why what was due on a connection is given up. */
const SILENT = 'the connection was silent'
/** A server that answers so is slow. */
const SLOW = new Set(['BUSY', 'LOADING'])

/** The oldest run of a connection. */
interface Watched<Spot extends object> {
  readonly run: PendingRun<Spot>
  readonly signs: Signs
  /** The round from which on there was no sign. */
  readonly since: number
  readonly isDoubted: boolean
}

/** How long a connection is not asked about whose server did not answer. */
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
  /** Each is asked about by itself: none waits for the server of another. */
  readonly #asking = new Set<Spot>()
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

  /** What may take long is not doubted yet; to look past its server harms nobody. */
  #mayHaveSuccessor({ since, isDoubted }: Watched<Spot>): boolean {
    const rounds = this.#pending.rounds - since - LOOK_AFTER
    return !isDoubted && rounds >= 0 && rounds % LOOK_EVERY === 0
  }

  #isLeft(spot: Spot): boolean {
    return this.#asking.has(spot) || this.#pending.rounds <= (this.#rests.get(spot)?.until ?? -1)
  }

  /** The oldest run of each connection on which one is due for long. */
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
   * What is still due afterwards was never due over this connection: a client library may forget a call. It is sent again, or the
   * next connection would be dropped for it.
   */
  #drop(spot: Spot, watched: PendingRun<Spot>): void {
    const { placeOf, drop } = this.#listening
    const place = placeOf(watched)
    const due = new Set(this.#pending.dueFor(0).filter((run) => run.written && placeOf(run) === place))
    drop(spot)
    setImmediate(() => this.#pending.giveUp(SILENT, (run) => due.has(run)))
  }

  /** Its server is slow or away: it is asked about again later. */
  #leave(spot: Spot): void {
    const before = this.#rests.get(spot)?.rounds
    const rounds = before === undefined ? FIRST_REST : Math.min(before * 2, LONGEST_REST)
    this.#rests.set(spot, { until: this.#pending.rounds + rounds, rounds })
    this.#listening.away(spot)
  }

  async #answers(spot: Spot, key: string): Promise<boolean> {
    try {
      const line = await this.#listening.open(spot)
      try {
        await inTime(key === '' ? line.ping() : line.touch(key), 'a new connection')
      } finally {
        line.close()
      }
      return true
    } catch (error) {
      return error instanceof ServerReplyError && !SLOW.has(error.word)
    }
  }
}

interface Seen {
  readonly run: object
  readonly signs: Signs
}

function isSame(before: Seen | undefined, now: Seen): boolean {
  return before?.run === now.run && before.signs.of === now.signs.of && before.signs.read === now.signs.read
}
