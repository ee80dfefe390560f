// One line and its state. A useless line looks like an idle one: a client cannot see that its connection is half open,
// or that its server has become a replica. So each line is verified regularly.
//
//   OPENING ──► OPEN ─┬─ proven: it answers PING, and leads to the node that runs commands for its channels
//      │          │   └─ unproven: this could not be determined at the moment
//      │          │
//      └──────────┴──► GONE: broken, silent while commands are answered, at another node than the commands, or closed
//
// To find the node, a write that changes nothing (`touch`) is sent: any other node rejects or redirects it.

import { ConnectionLostError, ServerReplyError } from '../../driver.ts'
import type { Line, Lines } from '../wire/line.ts'
import { Pulse } from './pulse.ts'
import { inTime } from '../wire/time-limit.ts'

/** Whether the line leads to the node that runs the commands for its channels. */
export type Whereabouts = 'here' | 'elsewhere' | 'unknown'

export interface OpenLineEvents {
  onMessage(channel: string, message: string): void
  /** The slot of this channel has left the node. */
  onLeft(channel: string): void
  /** Called once when the line is lost or closed, for any reason. */
  onGone(): void
}

export interface OpenLineTerms extends OpenLineEvents {
  readonly address: string
  /** True when every slot must be checked for the node of the line. */
  readonly isForSlots: boolean
}

/** How long a proof is valid: slightly longer than the interval between proofs. */
const PROVEN_FOR_MS = 3000

/** Error codes of a server that temporarily accepts no commands, or none for this slot. */
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

/** Error codes of a primary that temporarily rejects writes: it still is a primary. */
const OF_PRIMARIES = new Set(['NOREPLICAS', 'MISCONF'])

export class OpenLine {
  readonly address: string
  readonly #isForSlots: boolean
  readonly #lines: Lines
  readonly #events: OpenLineEvents
  readonly #line: Promise<Line>
  /** Confirmed channels, each with a new object per confirmation. */
  readonly #carried = new Map<string, object>()
  /** Questions that the server always rejects. The line then passes that part of the proof. */
  readonly #refused = new Set<'touch' | 'leadsTo'>()
  readonly #pulse = new Pulse(() => this.#line.then((line) => line.ping()))
  #asking: Promise<Whereabouts> | null = null
  #provenAt = -Infinity
  #isGone = false
  #end = (): void => undefined

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

  /** True while the line certainly receives the messages published to its channels. */
  get isProven(): boolean {
    return !this.#isGone && !this.#pulse.isLate && performance.now() - this.#provenAt < PROVEN_FOR_MS
  }

  /** True from the server's confirmation of the channel until its slot leaves the node. */
  carries(channel: string): boolean {
    return !this.#isGone && this.#carried.has(channel)
  }

  /** Resolves once the server has confirmed; rejects with the errors of the port, at the time limit at the latest. */
  async subscribe(channel: string): Promise<void> {
    await this.#send((line) => line.subscribe(channel), 'SUBSCRIBE')
    this.#carried.set(channel, {})
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#carried.delete(channel)
    await this.#send((line) => line.unsubscribe(channel), 'UNSUBSCRIBE')
  }

  /** Determines whether this is the right line for these channels; checks only the first when one is enough for all. */
  async prove(channels: readonly string[]): Promise<Whereabouts> {
    this.#asking ??= this.#ask(this.#isForSlots ? channels : channels.slice(0, 1)).finally(() => {
      this.#asking = null
    })
    const found = await inTime(this.#asking, 'proof').catch(() => 'unknown' as const)
    this.#provenAt = found === 'here' ? performance.now() : -Infinity
    return found
  }

  /** Sends a PING, or closes the line when the answer to one is overdue. */
  feelPulse(): void {
    if (!this.#pulse.feel()) this.close()
  }

  close(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#end()
    this.#events.onGone()
  }

  #open(): Promise<Line> {
    const opening = this.#lines.open(this.address, {
      onOpening: (end) => {
        this.#end = end
        if (this.#isGone) end()
      },
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
    return inTime(opening, 'connect')
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
      // If the channel was left in the meantime, the result says nothing about the line.
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

  /** Undefined when the server rejects this question, now or always. Rejects when there is no answer now. */
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
