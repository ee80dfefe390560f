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

import { ServerReplyError } from '../driver.ts'
import type { Line, LineEvents } from './line.ts'
import { Pauses } from './pauses.ts'
import type { PendingRun, PendingRuns } from './pending.ts'
import { inTime } from './time-limit.ts'

/** Old runs that are looked at in a round. */
const MOST_RUNS = 100
/** What has come by the time of the answer of the new connection is read within this. */
const READ_MS = 250
/** After a server did not answer on a new connection either, so many rounds at first, and at last, pass until it is asked again. */
const FIRST_REST = 4
const LONGEST_REST = 10
/** What goes out more slowly than this in a round, 64 KiB a second, is taken for silence. */
const BYTES_A_ROUND = 32 * 1024
/** A server that answers so is slow. */
const SLOW = new Set(['BUSY', 'LOADING'])

export const NO_EVENTS: LineEvents = {
  onMessage: () => undefined,
  onLeft: () => undefined,
  onLost: () => undefined,
}

/** `Spot`: a connection, as the client library has it. */
export interface Listening<Spot extends object> {
  /** No connection is doubted before so many rounds. */
  readonly patience: number
  /** The connection over which an answer is due; undefined: there is none just now, or it must not be dropped. */
  over(run: PendingRun<Spot>): Spot | undefined | Promise<Spot | undefined>
  /** After so many rounds without a sign it is doubted, besides the time that it may take for what was sent to go out. */
  patienceWith(run: PendingRun<Spot>, spot: Spot): number
  /** How many bytes go out before it is answered. */
  sent(run: PendingRun<Spot>, spot: Spot): number
  /** Others whenever it is another one, or something was read over it, where the library tells. */
  signs(spot: Spot): Signs
  /** Opens another one like it. */
  open(spot: Spot): Promise<Line>
  /** Ends it; the client connects again. */
  drop(spot: Spot): void
  /** Its server does not answer on a new connection either. */
  away(spot: Spot): void
}

export interface Signs {
  readonly of: object
  readonly read: number
}

/** The oldest run of a connection. */
interface Watched<Spot extends object> {
  readonly run: PendingRun<Spot>
  readonly signs: Signs
  /** The round from which on there was no sign. */
  readonly since: number
  readonly isDoubted: boolean
}

export class Silence<Spot extends object> {
  readonly #pending: PendingRuns<Spot>
  readonly #listening: Listening<Spot>
  readonly #pauses = new Pauses()
  #watched = new Map<Spot, Watched<Spot>>()
  #isLooking = false
  /** Something is due for which the connection waits on purpose. */
  #blocked = 0
  #rest = 0
  #longestRest = FIRST_REST
  #closed = false

  constructor(pending: PendingRuns<Spot>, listening: Listening<Spot>) {
    this.#pending = pending
    this.#listening = listening
    pending.onRound = () => void this.#round()
  }

  /** True while a connection is doubted. */
  get isDoubted(): boolean {
    for (const { run, isDoubted } of this.#watched.values())
      if (isDoubted && this.#pending.has(run)) return true
    return false
  }

  /** Whatever is due meanwhile may be due for long. */
  async during<T>(answer: Promise<T>): Promise<T> {
    this.#blocked += 1
    try {
      return await answer
    } finally {
      this.#blocked -= 1
    }
  }

  close(): void {
    this.#closed = true
    this.#watched.clear()
    this.#pauses.endAll()
  }

  async #round(): Promise<void> {
    if (this.#isLooking || this.#blocked > 0 || this.#closed) return
    if (this.#rest > 0) {
      this.#rest -= 1
      return
    }
    this.#isLooking = true
    try {
      await this.#look()
    } finally {
      this.#isLooking = false
    }
  }

  async #look(): Promise<void> {
    const before = this.#watched
    this.#watched = await this.#watch(before)
    const asking: Promise<boolean>[] = []
    for (const [spot, watched] of this.#watched) {
      if (watched.isDoubted && isSame(before.get(spot), watched)) asking.push(this.#ask(spot, watched))
    }
    if (asking.length === 0) return
    const areOver = await Promise.all(asking)
    if (areOver.every((isOver) => isOver)) {
      this.#longestRest = FIRST_REST
    } else {
      this.#rest = this.#longestRest
      this.#longestRest = Math.min(this.#longestRest * 2, LONGEST_REST)
    }
  }

  /** The oldest run of each connection on which one is due for long. */
  async #watch(before: ReadonlyMap<Spot, Watched<Spot>>): Promise<Map<Spot, Watched<Spot>>> {
    const { patience, over } = this.#listening
    const watched = new Map<Spot, Watched<Spot>>()
    for (const run of this.#pending.oldest(MOST_RUNS)) {
      if (this.#pending.rounds - run.round < patience) break
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
    const patience = patienceWith(run, spot) + Math.floor(sent(run, spot) / BYTES_A_ROUND)
    return { ...now, since, isDoubted: rounds - since >= patience }
  }

  /** Resolves to whether the doubt is over. */
  async #ask(spot: Spot, watched: Watched<Spot>): Promise<boolean> {
    const { run } = watched
    const isAnswered = await this.#answers(spot, run.key)
    if (isAnswered) await this.#pauses.pause(READ_MS)
    if (this.#closed) return true
    const isSilent = this.#pending.has(run) && isSame(watched, { run, signs: this.#listening.signs(spot) })
    if (isSilent && isAnswered) this.#listening.drop(spot)
    if (isSilent && !isAnswered) this.#listening.away(spot)
    else this.#watched.delete(spot)
    return isAnswered || !isSilent
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
