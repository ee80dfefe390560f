// One line, and what is known of it. A line that is of no use looks like one on which nothing is said: nothing tells a client
// that its connection is half open, or that its server is a replica by now. So a line has to prove itself.
//
//   OPENING ──► OPEN ─┬─ proven: it answers PING, and leads to the node where commands for its channels run
//      │          │   └─ unproven: that could not be found out just now
//      │          │
//      └──────────┴──► GONE: broken, silent while commands are answered, elsewhere than the commands, or closed
//
// Which node that is shows a write that changes nothing (`touch`): any other node refuses it or passes it on.

import { ConnectionLostError, ServerReplyError } from '../../driver.ts'
import type { Line, Lines } from '../wire/line.ts'
import { Pulse } from './pulse.ts'
import { inTime } from '../wire/time-limit.ts'

/** Whether the line is at the node where the commands for its channels run. */
export type Whereabouts = 'here' | 'elsewhere' | 'unknown'

export interface OpenLineEvents {
  onMessage(channel: string, message: string): void
  /** The slot of this channel has left the node. */
  onLeft(channel: string): void
  /** Called once, when the line has gone, however it went. */
  onGone(): void
}

export interface OpenLineTerms extends OpenLineEvents {
  readonly address: string
  /** True when it matters for each slot where the line leads to. */
  readonly isForSlots: boolean
}

/** A proof counts for this long: somewhat longer than it takes until the next one. */
const PROVEN_FOR_MS = 3000

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

/** Of a primary that takes no write just now: it is one. */
const OF_PRIMARIES = new Set(['NOREPLICAS', 'MISCONF'])

export class OpenLine {
  readonly address: string
  readonly #isForSlots: boolean
  readonly #lines: Lines
  readonly #events: OpenLineEvents
  readonly #line: Promise<Line>
  /** What the server has confirmed, each with an object of its own for each time. */
  readonly #carried = new Map<string, object>()
  /** What the server refuses to answer for good. Then the line is taken for proven, as far as that goes. */
  readonly #refused = new Set<'touch' | 'leadsTo'>()
  readonly #pulse = new Pulse(() => this.#line.then((line) => line.ping()))
  #asking: Promise<Whereabouts> | null = null
  #provenAt = Number.NEGATIVE_INFINITY
  #isGone = false

  constructor(lines: Lines, terms: OpenLineTerms) {
    this.address = terms.address
    this.#isForSlots = terms.isForSlots
    this.#lines = lines
    this.#events = terms
    this.#line = this.#open()
    this.#line.catch(() => this.close())
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** True while it is certain that the line hears what is published for its channels. */
  get isProven(): boolean {
    return !this.#isGone && !this.#pulse.isLate && performance.now() - this.#provenAt < PROVEN_FOR_MS
  }

  /** True from when the server has confirmed the channel until its slot leaves the node. */
  carries(channel: string): boolean {
    return !this.#isGone && this.#carried.has(channel)
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

  /** Finds out whether this is the line for these channels; by the first of them where that speaks for all. */
  async prove(channels: readonly string[]): Promise<Whereabouts> {
    this.#asking ??= this.#ask(this.#isForSlots ? channels : channels.slice(0, 1)).finally(() => {
      this.#asking = null
    })
    const found = await inTime(this.#asking, 'proof').catch(() => 'unknown' as const)
    this.#provenAt = found === 'here' ? performance.now() : Number.NEGATIVE_INFINITY
    return found
  }

  /** Asks the line for a sign of life, or closes it when it has owed one for too long. */
  feelPulse(): void {
    if (!this.#pulse.feel()) this.close()
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
        this.#pulse.heard()
        this.#events.onMessage(channel, message)
      },
      onLeft: (channel) => {
        this.#carried.delete(channel)
        this.#events.onLeft(channel)
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

  async #ask(channels: readonly string[]): Promise<Whereabouts> {
    const found = await Promise.all(channels.map((channel) => this.#whereFor(channel)))
    if (found.includes('elsewhere')) return 'elsewhere'
    return found.includes('unknown') ? 'unknown' : 'here'
  }

  async #whereFor(channel: string): Promise<Whereabouts> {
    const carried = this.#carried.get(channel)
    try {
      await this.#unlessRefused('touch', () => this.#lines.touch(channel))
      const { addresses, onlyFirst } = await this.#lines.placeOf(channel)
      const isRight = onlyFirst ? addresses[0] === this.address : addresses.includes(this.address)
      // A channel that was left meanwhile says nothing of the line.
      const isHere = (isRight && (await this.#leadsThere(channel))) || this.#carried.get(channel) !== carried
      return isHere ? 'here' : 'elsewhere'
    } catch {
      return 'unknown'
    }
  }

  async #leadsThere(channel: string): Promise<boolean> {
    const line = await this.#line
    const ask = (): Promise<boolean> => this.#lines.leadsTo(line, this.address, channel)
    return (await this.#unlessRefused('leadsTo', ask)) !== false
  }

  /** Undefined when the server refuses to answer this, now or for good. Rejects when there is no answer just now. */
  async #unlessRefused<T>(what: 'touch' | 'leadsTo', ask: () => Promise<T>): Promise<T | undefined> {
    const askedAt = performance.now()
    try {
      const answer = this.#refused.has(what) ? undefined : await ask()
      this.#pulse.commandAnswered(askedAt)
      return answer
    } catch (error) {
      if (!(error instanceof ServerReplyError)) throw error
      this.#pulse.commandAnswered(askedAt)
      if (PASSING.has(error.word)) throw error
      if (!OF_PRIMARIES.has(error.word)) this.#refused.add(what)
      return undefined
    }
  }
}

function lost(): ConnectionLostError {
  return new ConnectionLostError('the connection was lost', true)
}
