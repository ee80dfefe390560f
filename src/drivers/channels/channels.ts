// The subscriptions of one driver, over as few connections ("lines") as the server allows.
//
//   WAITING ── placed ──► UP ◄──────────── placed and proven ─────────────┐
//      │                  │ verified about once a second                  │
//      │                  │                                               │
//      │                  └── its line is lost (onLost) ──► LOST ─────────┘ onGap
//      └── rejected: the subscription fails                   │ retried, first after 20 ms, later once a second
//                                                             └── until the last listener leaves
//
// A channel is placed on a line to the node that runs its commands, and is UP once the server has confirmed. A line is
// lost when it breaks, or when it cannot be verified (open-line.ts): all of its channels are lost. When a slot leaves
// its node, the channels in that slot are lost, and the line keeps the others.

import { ConnectionLostError, type Listener, ServerReplyError, type Subscription } from '../../driver.ts'
import type { Lines } from '../wire/line.ts'
import type { OpenLine, Whereabouts } from './open-line.ts'
import { Pauses } from '../wire/pauses.ts'
import { Placer } from './placer.ts'
import { proveAll } from './proofs.ts'
import { Rounds } from './rounds.ts'

interface Channel {
  readonly name: string
  readonly members: Set<{ listener: Listener }>
  placed: Promise<void>
  line: OpenLine | undefined
  up: boolean
}

const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 1000
const IDLE_LINE_MS = 5000
/** Error codes after which a line may lead to the wrong node. */
const DOUBTFUL = new Set(['READONLY', 'MOVED', 'CLUSTERDOWN', 'MASTERDOWN', 'LOADING'])

export class Channels {
  readonly #placer: Placer
  readonly #channels = new Map<string, Channel>()
  readonly #rounds: Rounds
  /** Pauses between attempts to place a channel again. */
  readonly #pauses = new Pauses()
  #round = 0
  #closed = false

  constructor(lines: Lines) {
    this.#placer = new Placer(lines, {
      onMessage: (line, name, message) => this.#deliver(line, name, message),
      onLeft: (line, name) => this.#leftNode(line, name),
      onGone: (line) => this.#recover(line),
    })
    this.#rounds = new Rounds({
      isNeeded: () => this.#channels.size > 0,
      look: () => proveAll(this.#namesByLine(), this.#round++),
    })
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

  /** True when every channel is UP, on a line that was verified recently. */
  healthy(): boolean {
    for (const { up, line } of this.#channels.values()) if (!up || line?.isProven !== true) return false
    return true
  }

  /** The client has connected, or has learned of other nodes: verifies all lines and places lost channels now. */
  doubt(): void {
    this.#pauses.endAll()
    this.#rounds.hurry()
  }

  /** Verifies all lines now if the error of a command shows that its node may have changed. */
  doubtAfter(error: Error): void {
    if (error instanceof ServerReplyError && DOUBTFUL.has(error.word)) this.#rounds.hurry()
  }

  close(): void {
    this.#closed = true
    this.#rounds.stop()
    this.#channels.clear()
    this.#pauses.endAll()
    this.#placer.close()
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

  #place(channel: Channel, suits: (found: Whereabouts) => boolean): Promise<void> {
    return this.#placer.place({
      channel: channel.name,
      isWanted: () => this.#isCurrent(channel),
      onTry: (line) => this.#changeLine(channel, line),
      suits,
      onPlaced: () => {
        channel.up = true
      },
    })
  }

  #changeLine(channel: Channel, line: OpenLine): void {
    const before = channel.line
    channel.line = line
    if (before !== undefined && before !== line) void this.#unsubscribe(channel, before)
  }

  /** Messages may still arrive from a line that a channel has left, or from a lost line. */
  #deliver(line: OpenLine, name: string, message: string): void {
    const channel = this.#channels.get(name)
    if (channel === undefined || channel.line !== line || line.isGone) return
    for (const { listener } of channel.members) listener.onMessage(message)
  }

  #recover(gone: OpenLine): void {
    for (const channel of this.#channels.values()) {
      if (channel.up && channel.line === gone) this.#lose(channel)
    }
  }

  #leftNode(line: OpenLine, name: string): void {
    const channel = this.#channels.get(name)
    if (channel?.up !== true || channel.line !== line) return
    channel.line = undefined
    this.#lose(channel)
  }

  #lose(channel: Channel): void {
    channel.up = false
    channel.placed = this.#placeAgain(channel)
    for (const { listener } of channel.members) listener.onLost?.()
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
      if (back) return this.#reportGap(channel)
      await this.#pauses.pause(pause)
    }
  }

  #reportGap(channel: Channel): void {
    for (const { listener } of channel.members) listener.onGap()
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
    // A line that fails here is lost with all of its channels, so no cleanup is needed.
    await line.unsubscribe(channel.name).catch(() => undefined)
    setTimeout(() => this.#closeIfIdle(line), IDLE_LINE_MS).unref()
  }

  #closeIfIdle(line: OpenLine): void {
    for (const channel of this.#channels.values()) if (channel.line === line) return
    line.close()
  }
}

function closedError(): ConnectionLostError {
  return new ConnectionLostError('the driver is closed', false)
}
