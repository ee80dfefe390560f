// The subscriptions of one driver, over as few connections ("lines") as the server allows.
//
//   WAITING ── placed ──► UP ◄──────────── placed and proven ─────────────┐
//      │                  │ proves itself about once a second             │
//      │                  │                                               │
//      │                  └── its line has gone (onLost) ──► LOST ────────┘ onGap
//      └── refused: the subscription fails                    │ tried again, after 20 ms at first, after 1 s at last
//                                                             └── until the last listener leaves
//
// A channel is placed on a line to the node where the commands for it run, and up once the server has confirmed. A line goes
// when it breaks, when a slot leaves its node, or when it cannot prove itself (open-line.ts): all of its channels are lost.

import { ConnectionLostError, type Listener, ServerReplyError, type Subscription } from '../driver.ts'
import type { Lines } from './line.ts'
import { OpenLine, type Whereabouts } from './open-line.ts'
import { Rounds } from './rounds.ts'
import { inTime } from './time-limit.ts'

interface Channel {
  readonly name: string
  readonly members: Set<{ listener: Listener }>
  placed: Promise<void>
  line: OpenLine | undefined
  up: boolean
}

interface Placing {
  readonly channel: Channel
  readonly onlyFirst: boolean
  /** Whether a line on which the channel is confirmed will do. */
  suits(found: Whereabouts): boolean
}

const MOST_TRIES = 12
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 1000
const IDLE_LINE_MS = 5000
/** On a cluster a line has channels of many slots: so many of them are looked at in a round, in turn. */
const CHANNELS_A_ROUND = 5

/** Errors of commands after which a line may be at the wrong node. */
const DOUBTFUL = new Set(['READONLY', 'MOVED', 'CLUSTERDOWN', 'MASTERDOWN', 'LOADING'])

export class Channels {
  readonly #lines: Lines
  readonly #open = new Map<string, OpenLine>()
  readonly #channels = new Map<string, Channel>()
  readonly #rounds: Rounds
  /** How to wake those who pause before they try to place a channel again. */
  readonly #sleeping = new Set<() => void>()
  #round = 0
  #learning: Promise<unknown> | null = null
  #closed = false

  constructor(lines: Lines) {
    this.#lines = lines
    this.#rounds = new Rounds({ isNeeded: () => this.#channels.size > 0, look: () => this.#look() })
  }

  async subscribe(name: string, listener: Listener): Promise<Subscription> {
    if (this.#closed) throw closedError()
    const channel = this.#channels.get(name) ?? this.#add(name)
    const member = { listener }
    channel.members.add(member)
    try {
      await channel.placed
      if (!this.#isCurrent(channel)) throw closedError()
    } catch (error) {
      await this.#leave(channel, member)
      throw error
    }
    return { close: () => this.#leave(channel, member) }
  }

  /** Every channel is up, on a line that has proved itself lately. */
  healthy(): boolean {
    for (const { up, line } of this.#channels.values()) if (!up || line?.isProven !== true) return false
    return true
  }

  /** The client has connected, or has learned of other nodes: lines prove themselves now, and what is lost is placed now. */
  doubt(): void {
    this.#wakePlacers()
    this.#rounds.hurry()
  }

  /** Lines prove themselves now if the error of a command says that its node is another one. */
  doubtAfter(error: Error): void {
    if (error instanceof ServerReplyError && DOUBTFUL.has(error.word)) this.#rounds.hurry()
  }

  close(): void {
    this.#closed = true
    this.#rounds.stop()
    this.#channels.clear()
    this.#wakePlacers()
    for (const line of this.#open.values()) line.close()
  }

  #add(name: string): Channel {
    const channel: Channel = {
      name,
      members: new Set(),
      placed: Promise.resolve(),
      line: undefined,
      up: false,
    }
    this.#channels.set(name, channel)
    channel.placed = this.#place(channel, (found) => found !== 'elsewhere')
    this.#rounds.start()
    return channel
  }

  #isCurrent(channel: Channel): boolean {
    return this.#channels.get(channel.name) === channel
  }

  /** Asks one node after the other to take the channel; MOVED names the one to ask next. */
  async #place(channel: Channel, suits: Placing['suits']): Promise<void> {
    const { addresses: likely, onlyFirst } = await this.#lines.placeOf(channel.name)
    let addresses = likely
    let failure: unknown = new ConnectionLostError('no node to subscribe on is known', false)
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const [address, ...others] = addresses
      if (address === undefined || !this.#isCurrent(channel)) break
      try {
        return await this.#placeAt(address, { channel, onlyFirst, suits })
      } catch (error) {
        failure = error
        const next = movedTo(error)
        if (next !== undefined) addresses = [next, ...others]
        else if (error instanceof ServerReplyError && error.word !== 'MOVED') throw error
        else addresses = onlyFirst ? await this.#otherThan(address, channel) : others
      }
    }
    throw failure
  }

  async #placeAt(address: string, { channel, onlyFirst, suits }: Placing): Promise<void> {
    const line = this.#lineTo(address, onlyFirst ? null : channel.name)
    const before = channel.line
    channel.line = line
    if (before !== undefined && before !== line) void this.#unsubscribe(channel, before)
    await line.subscribe(channel.name)
    const found = line.isProven ? 'here' : await line.prove([channel.name])
    if (found === 'elsewhere') line.close()
    if (!suits(found))
      throw new ConnectionLostError('the connection leads to a node that takes no commands', true)
    if (line.isGone) throw new ConnectionLostError('the connection was lost', true)
    channel.up = true
  }

  /** Where commands lead by now, if that is not where the channel could not be placed. */
  async #otherThan(address: string, channel: Channel): Promise<readonly string[]> {
    this.#learning ??= this.#lines.touch(channel.name).finally(() => {
      this.#learning = null
    })
    await inTime(this.#learning, 'the owner of the slot').catch(() => undefined)
    const [first, ...others] = (await this.#lines.placeOf(channel.name)).addresses
    return first === undefined || first === address ? [] : [first, ...others]
  }

  #lineTo(address: string, own: string | null): OpenLine {
    const known = this.#open.get(address)
    if (known !== undefined) return known
    const line = new OpenLine(this.#lines, {
      address,
      own,
      onMessage: (name, message) => this.#deliver(line, name, message),
      onGone: () => {
        if (this.#open.get(address) === line) this.#open.delete(address)
        this.#recover(line)
      },
    })
    this.#open.set(address, line)
    return line
  }

  /** A line that a channel has left, or one that has gone, may still say something. */
  #deliver(line: OpenLine, name: string, message: string): void {
    const channel = this.#channels.get(name)
    if (channel === undefined || channel.line !== line || line.isGone) return
    for (const { listener } of channel.members) listener.onMessage(message)
  }

  #recover(gone: OpenLine): void {
    for (const channel of this.#channels.values()) {
      if (!channel.up || channel.line !== gone) continue
      channel.up = false
      channel.placed = this.#placeAgain(channel)
      for (const { listener } of channel.members) listener.onLost?.()
    }
  }

  async #placeAgain(channel: Channel): Promise<void> {
    for (
      let pause = FIRST_PAUSE_MS;
      this.#isCurrent(channel);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    ) {
      const back = await this.#place(channel, (found) => found === 'here').then(
        () => true,
        () => false,
      )
      if (back) return this.#tellOfGap(channel)
      await this.#sleep(pause)
    }
  }

  /** Until `doubt` or `close` at the latest. */
  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#sleeping.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, ms).unref()
      this.#sleeping.add(wake)
    })
  }

  #wakePlacers(): void {
    for (const wake of this.#sleeping) wake()
  }

  #tellOfGap(channel: Channel): void {
    for (const { listener } of channel.members) listener.onGap()
  }

  /** All lines prove themselves. Resolves to whether they could. */
  async #look(): Promise<boolean> {
    this.#round++
    const found = await Promise.all(
      Array.from(this.#namesByLine(), ([line, names]) => this.#lookAt(line, inTurn(names, this.#round))),
    )
    return found.every((whereabouts) => whereabouts === 'here')
  }

  async #lookAt(line: OpenLine, names: readonly string[]): Promise<Whereabouts> {
    line.feelPulse()
    const found = await line.prove(names)
    if (found === 'elsewhere') line.close()
    return found
  }

  #namesByLine(): Map<OpenLine, string[]> {
    const names = new Map<OpenLine, string[]>()
    for (const { name, up, line } of this.#channels.values()) {
      if (!up || line === undefined) continue
      const others = names.get(line)
      if (others === undefined) names.set(line, [name])
      else others.push(name)
    }
    return names
  }

  async #leave(channel: Channel, member: { listener: Listener }): Promise<void> {
    channel.members.delete(member)
    if (channel.members.size > 0 || !this.#isCurrent(channel)) return
    this.#channels.delete(channel.name)
    if (channel.line !== undefined) await this.#unsubscribe(channel, channel.line)
  }

  async #unsubscribe(channel: Channel, line: OpenLine): Promise<void> {
    // A line that fails now is lost, and everything on it with it: nothing is left to be done.
    await line.unsubscribe(channel.name).catch(() => undefined)
    setTimeout(() => this.#closeIfIdle(line), IDLE_LINE_MS).unref()
  }

  #closeIfIdle(line: OpenLine): void {
    for (const channel of this.#channels.values()) if (channel.line === line) return
    line.close()
  }
}

/** Some of the names, others in each round. */
function inTurn(names: readonly string[], round: number): string[] {
  const count = Math.min(names.length, CHANNELS_A_ROUND)
  return Array.from({ length: count }, (_, n) => names[(round * count + n) % names.length] ?? '')
}

function movedTo(error: unknown): string | undefined {
  if (!(error instanceof ServerReplyError) || error.word !== 'MOVED') return undefined
  return error.message.split(' ')[2]
}

function closedError(): ConnectionLostError {
  return new ConnectionLostError('the driver is closed', false)
}
