// A connection for commands that is half open, for a firewall has dropped it or the host of its server has gone, looks like one
// whose server is slow: nothing is read over it, and the operating system takes a quarter of an hour to give it up. So where an
// answer is due for long and nothing is read, a new connection is opened the same way:
//
//   WELL ──an answer is due for long──► DOUBTED ──the next round, too: a new connection is opened, and asked for a PING
//    ▲                                   │  │
//    ├── something was read, or the new ◄┘  └── the new one answers, nothing is read over the old one ──► dropped: what is
//        one does not answer either: the        due is lost, and the client connects again
//        server is slow or away
//
// Rounds are counted, not milliseconds: a process that has stood still reads what came before it doubts anything.

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

export const NO_EVENTS: LineEvents = {
  onMessage: () => undefined,
  onLeft: () => undefined,
  onLost: () => undefined,
}

/** `Spot`: a connection, as the client library has it. */
export interface Listening<Spot extends object> {
  /** After so many rounds without an answer it is doubted; Infinity: never. */
  patience(run: PendingRun): number
  /** The connection over which an answer is due; undefined: there is none just now, or it must not be dropped. */
  over(run: PendingRun): Spot | undefined | Promise<Spot | undefined>
  /** Another number whenever something was read over it, where the library tells. */
  read(spot: Spot): number
  /** Opens another one like it. */
  open(spot: Spot): Promise<Line>
  /** Ends it; the client connects again. */
  drop(spot: Spot): void
  /** Its server does not answer on a new connection either. */
  away(spot: Spot): void
}

interface Doubt {
  readonly run: PendingRun
  readonly read: number
}

export class Silence<Spot extends object> {
  readonly #pending: PendingRuns
  readonly #listening: Listening<Spot>
  readonly #pauses = new Pauses()
  #doubts = new Map<Spot, Doubt>()
  #isLooking = false
  /** Something is due for which the connection waits on purpose. */
  #blocked = 0
  #rest = 0
  #longestRest = FIRST_REST
  #closed = false

  constructor(pending: PendingRuns, listening: Listening<Spot>) {
    this.#pending = pending
    this.#listening = listening
    pending.onRound = () => void this.#round()
  }

  /** True while a connection is doubted. */
  get isDoubted(): boolean {
    for (const { run } of this.#doubts.values()) if (this.#pending.has(run)) return true
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
    this.#doubts.clear()
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
    const before = this.#doubts
    this.#doubts = await this.#doubtsNow()
    const asking: Promise<boolean>[] = []
    for (const [spot, doubt] of this.#doubts) {
      const { run, read } = before.get(spot) ?? {}
      if (run === doubt.run && read === doubt.read) asking.push(this.#ask(spot, doubt))
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
  async #doubtsNow(): Promise<Map<Spot, Doubt>> {
    const { patience, over, read } = this.#listening
    const doubts = new Map<Spot, Doubt>()
    for (const run of this.#pending.oldest(MOST_RUNS)) {
      if (this.#pending.rounds - run.round < patience(run)) continue
      const spot = await Promise.resolve(over(run)).catch(() => undefined)
      if (spot !== undefined && !doubts.has(spot)) doubts.set(spot, { run, read: read(spot) })
    }
    return doubts
  }

  /** Resolves to whether the doubt is over. */
  async #ask(spot: Spot, { run, read }: Doubt): Promise<boolean> {
    const isAnswered = await this.#answers(spot)
    if (isAnswered) await this.#pauses.pause(READ_MS)
    if (this.#closed) return true
    const isSilent = this.#pending.has(run) && this.#listening.read(spot) === read
    if (isSilent && isAnswered) this.#listening.drop(spot)
    if (isSilent && !isAnswered) this.#listening.away(spot)
    else this.#doubts.delete(spot)
    return isAnswered || !isSilent
  }

  async #answers(spot: Spot): Promise<boolean> {
    try {
      const line = await this.#listening.open(spot)
      try {
        await inTime(line.ping(), 'PING')
      } finally {
        line.close()
      }
      return true
    } catch {
      return false
    }
  }
}
