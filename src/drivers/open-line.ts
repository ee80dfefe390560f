// One line, and what is known of it. A line that is of no use looks like one on which nothing is said: nothing tells a client
// that its connection is half open, or that its server is a replica by now. So a line has to prove itself.
//
//   OPENING ──► OPEN ─┬─ proven: it answers PING, and the node of the commands counts it among its subscribers
//      │          │   └─ unproven: that could not be found out just now
//      │          │
//      └──────────┴──► GONE: broken, silent while commands are answered, elsewhere than the commands, or closed
//
// Which node that is shows a write that changes nothing (`touch`): any other node refuses it or passes it on.

import { randomBytes } from 'node:crypto'
import { ConnectionLostError, ServerReplyError } from '../driver.ts'
import type { Line, Lines } from './line.ts'
import { inTime, LIMIT_MS } from './time-limit.ts'

/** Whether the line is at the node where the commands for its channels run. */
export type Whereabouts = 'here' | 'elsewhere' | 'unknown'

export interface OpenLineEvents {
  onMessage(channel: string, message: string): void
  /** Called once, when the line has gone, however it went. */
  onGone(): void
}

export interface LineTerms extends OpenLineEvents {
  readonly address: string
  /** The beginning of the name of a channel of its own; null when the address alone says which node it is. */
  readonly own: string | null
}

/** A proof counts for this long: somewhat longer than it takes until the next one. */
const PROVEN_FOR_MS = 3000
/** A PING may be out for this long before the line is in doubt. */
const PING_MS = 900

/** Error words of a server that takes no commands just now, or none for this slot. */
const PASSING = new Set([
  'READONLY',
  'MOVED',
  'ASK',
  'TRYAGAIN',
  'CLUSTERDOWN',
  'MASTERDOWN',
  'LOADING',
  'BUSY',
])

export class OpenLine {
  readonly address: string
  readonly #isForSlots: boolean
  readonly #lines: Lines
  readonly #events: OpenLineEvents
  readonly #line: Promise<Line>
  /** A channel of this line alone: the node that counts a subscriber of it is the one that the line leads to. */
  readonly #own: Promise<string | null>
  /** What the server has confirmed, each with an object of its own for each time. */
  readonly #carried = new Map<string, object>()
  /** What the server refuses to answer for good. Then the line is taken for proven, as far as that goes. */
  readonly #refused = new Set<'touch' | 'subscribers'>()
  /** When the PING was sent that is not answered yet. */
  #pingAt: number | null = null
  /** When a question was asked that was answered on a connection for commands: the last one. */
  #answeredFor = Number.NEGATIVE_INFINITY
  #asking: Promise<Whereabouts> | null = null
  #provenAt = Number.NEGATIVE_INFINITY
  #isGone = false

  constructor(lines: Lines, terms: LineTerms) {
    this.address = terms.address
    this.#isForSlots = terms.own === null
    this.#lines = lines
    this.#events = terms
    this.#line = this.#open()
    this.#line.catch(() => this.close())
    this.#own = terms.own === null ? Promise.resolve(null) : this.#listenToOwn(terms.own)
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** True while it is certain that the line hears what is published for its channels. */
  get isProven(): boolean {
    const now = performance.now()
    const isInDoubt = this.#pingAt !== null && now - this.#pingAt > PING_MS
    return !this.#isGone && !isInDoubt && now - this.#provenAt < PROVEN_FOR_MS
  }

  /** Resolves once the server has confirmed; rejects with the errors of the port. A line that does neither in time is given up. */
  async subscribe(channel: string): Promise<void> {
    await this.#send((line) => line.subscribe(channel), 'SUBSCRIBE')
    this.#carried.set(channel, {})
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#carried.delete(channel)
    await this.#send((line) => line.unsubscribe(channel), 'UNSUBSCRIBE')
  }

  /** Finds out whether this is the line for these channels, which it carries; by the first one where that speaks for all. */
  async prove(channels: readonly string[]): Promise<Whereabouts> {
    this.#asking ??= this.#ask(this.#isForSlots ? channels : channels.slice(0, 1)).finally(() => {
      this.#asking = null
    })
    const found = await inTime(this.#asking, 'proof').catch(() => 'unknown' as const)
    this.#provenAt = found === 'here' ? performance.now() : Number.NEGATIVE_INFINITY
    return found
  }

  /**
   * Asks the line for a sign of life, or gives it up when it has owed one for too long while commands were answered: where
   * they are not, the server is busy or away.
   */
  feelPulse(): void {
    const now = performance.now()
    if (this.#pingAt !== null) {
      const isSilent = now - this.#pingAt >= LIMIT_MS && this.#answeredFor - this.#pingAt >= PING_MS
      if (isSilent) this.close()
      return
    }
    this.#pingAt = now
    const answered = (): void => {
      if (this.#pingAt === now) this.#pingAt = null
    }
    // A refusal is an answer, too.
    this.#line.then((line) => line.ping()).then(answered, answered)
  }

  close(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#line.then((line) => line.close()).catch(() => undefined)
    this.#events.onGone()
  }

  async #open(): Promise<Line> {
    const opening = this.#lines.open(this.address, {
      onMessage: (channel, message) => {
        this.#pingAt = null
        this.#events.onMessage(channel, message)
      },
      onLost: () => this.close(),
    })
    try {
      return await inTime(opening, 'connect')
    } catch (error) {
      // It may come later.
      opening.then((line) => line.close()).catch(() => undefined)
      throw error
    }
  }

  async #send(send: (line: Line) => Promise<void>, what: string): Promise<void> {
    const line = await this.#line
    if (this.#isGone) throw lost()
    try {
      await inTime(send(line), what)
    } catch (error) {
      if (!(error instanceof ServerReplyError)) this.close()
      throw error
    }
    if (this.#isGone) throw lost()
  }

  /** Null when the server refuses it. */
  async #listenToOwn(beginning: string): Promise<string | null> {
    const name = `${beginning}:line:${randomBytes(9).toString('base64url')}`
    return this.subscribe(name).then(
      () => name,
      () => null,
    )
  }

  async #ask(channels: readonly string[]): Promise<Whereabouts> {
    const found = await Promise.all(channels.map((channel) => this.#whereFor(channel)))
    if (found.includes('elsewhere')) return 'elsewhere'
    return found.includes('unknown') ? 'unknown' : 'here'
  }

  async #whereFor(channel: string): Promise<Whereabouts> {
    try {
      await this.#unlessRefused('touch', () => this.#lines.touch(channel))
      const { addresses, onlyFirst } = await this.#lines.placeOf(channel)
      const isRight = onlyFirst ? addresses[0] === this.address : addresses.includes(this.address)
      return isRight && (await this.#isCounted(channel)) ? 'here' : 'elsewhere'
    } catch {
      return 'unknown'
    }
  }

  async #isCounted(channel: string): Promise<boolean> {
    const name = (await this.#own) ?? channel
    const carried = this.#carried.get(name)
    const counts = await this.#unlessRefused('subscribers', () =>
      this.#lines.subscribers(this.address, [name]),
    )
    // A channel that was left meanwhile says nothing of the line.
    return counts === undefined || counts[0] !== 0 || this.#carried.get(name) !== carried
  }

  /** Undefined when the server refuses to answer this for good. Rejects when there is no answer just now. */
  async #unlessRefused<T>(what: 'touch' | 'subscribers', ask: () => Promise<T>): Promise<T | undefined> {
    const askedAt = performance.now()
    try {
      const answer = this.#refused.has(what) ? undefined : await ask()
      this.#answeredFor = askedAt
      return answer
    } catch (error) {
      if (!(error instanceof ServerReplyError)) throw error
      this.#answeredFor = askedAt
      if (PASSING.has(error.word)) throw error
      this.#refused.add(what)
      return undefined
    }
  }
}

function lost(): ConnectionLostError {
  return new ConnectionLostError('the connection was lost', true)
}
