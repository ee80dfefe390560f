// The subscriptions of one driver, over as few connections ("lines") as the server allows.
//
// A channel is waiting (being placed on a line for the first time), up (the server has confirmed),
// or lost (its line broke, or its slot moved: it is being placed again until it succeeds or nobody
// listens any more). Up → lost calls every listener's onLost, lost → up its onGap. Lines never reconnect by themselves.

import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionLostError, type Listener, ServerReplyError, type Subscription } from '../driver.ts'

/** One connection that only listens. */
export interface Line {
  /** Resolves once the server has confirmed; rejects with the errors of the port. */
  subscribe(channel: string): Promise<void>
  unsubscribe(channel: string): Promise<void>
  close(): void
}

export interface LineEvents {
  onMessage(channel: string, message: string): void
  /** The line is of no use any more; called at most once. */
  onLost(): void
}

/** What the channels need of a client library. */
export interface Lines {
  /** The nodes where a channel may be placed, the likeliest first. */
  addressesFor(channel: string): Promise<string[]>
  open(address: string, events: LineEvents): Promise<Line>
}

interface Channel {
  readonly name: string
  readonly members: Set<{ listener: Listener }>
  placed: Promise<void>
  address: string | undefined
  up: boolean
}

const MOST_TRIES = 12
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 1000
const IDLE_LINE_MS = 5000

export class Channels {
  readonly #lines: Lines
  readonly #open = new Map<string, Promise<Line>>()
  readonly #channels = new Map<string, Channel>()
  #closed = false

  constructor(lines: Lines) {
    this.#lines = lines
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

  healthy(): boolean {
    for (const channel of this.#channels.values()) if (!channel.up) return false
    return true
  }

  close(): void {
    this.#closed = true
    this.#channels.clear()
    for (const address of this.#open.keys()) this.#closeLine(address)
  }

  #add(name: string): Channel {
    const channel: Channel = {
      name,
      members: new Set(),
      placed: Promise.resolve(),
      address: undefined,
      up: false,
    }
    this.#channels.set(name, channel)
    channel.placed = this.#place(channel)
    return channel
  }

  #isCurrent(channel: Channel): boolean {
    return this.#channels.get(channel.name) === channel
  }

  /** Asks one node after the other to take the channel; MOVED names the one to ask next. */
  async #place(channel: Channel): Promise<void> {
    const addresses = await this.#lines.addressesFor(channel.name)
    let failure: unknown = new ConnectionLostError('no node to subscribe on is known', false)
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const address = addresses.shift()
      if (address === undefined || !this.#isCurrent(channel)) break
      try {
        return await this.#placeAt(address, channel)
      } catch (error) {
        failure = error
        const next = movedTo(error)
        if (next !== undefined) addresses.unshift(next)
        else if (error instanceof ServerReplyError) throw error
      }
    }
    throw failure
  }

  async #placeAt(address: string, channel: Channel): Promise<void> {
    channel.address = address
    const line = this.#lineTo(address)
    await (await line).subscribe(channel.name)
    if (this.#open.get(address) !== line) throw new ConnectionLostError('the connection was lost', true)
    channel.up = true
  }

  #lineTo(address: string): Promise<Line> {
    const known = this.#open.get(address)
    if (known !== undefined) return known
    const forget = () => {
      if (this.#open.get(address) === line) this.#open.delete(address)
    }
    const line = this.#lines.open(address, {
      onMessage: (name, message) => this.#deliver(name, message),
      onLost: () => {
        forget()
        this.#recover(address)
      },
    })
    this.#open.set(address, line)
    line.catch(forget)
    return line
  }

  #deliver(name: string, message: string): void {
    const members = this.#channels.get(name)?.members ?? []
    for (const { listener } of members) listener.onMessage(message)
  }

  #recover(address: string): void {
    for (const channel of this.#channels.values()) {
      if (!channel.up || channel.address !== address) continue
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
      const back = await this.#place(channel).then(
        () => true,
        () => false,
      )
      if (back) return this.#tellOfGap(channel)
      await sleep(pause)
    }
  }

  #tellOfGap(channel: Channel): void {
    for (const { listener } of channel.members) listener.onGap()
  }

  async #leave(channel: Channel, member: { listener: Listener }): Promise<void> {
    channel.members.delete(member)
    if (channel.members.size > 0 || !this.#isCurrent(channel)) return
    this.#channels.delete(channel.name)
    const { address } = channel
    if (address === undefined) return
    // A line that fails now is lost, and everything on it with it: nothing is left to be done.
    await this.#open
      .get(address)
      ?.then((line) => line.unsubscribe(channel.name))
      .catch(() => {})
    setTimeout(() => this.#closeIfIdle(address), IDLE_LINE_MS).unref()
  }

  #closeIfIdle(address: string): void {
    for (const channel of this.#channels.values()) if (channel.address === address) return
    this.#closeLine(address)
  }

  #closeLine(address: string): void {
    const line = this.#open.get(address)
    this.#open.delete(address)
    line?.then(
      (opened) => opened.close(),
      () => {},
    )
  }
}

function movedTo(error: unknown): string | undefined {
  if (!(error instanceof ServerReplyError) || error.word !== 'MOVED') return undefined
  return error.message.split(' ')[2]
}

function closedError(): ConnectionLostError {
  return new ConnectionLostError('the driver is closed', false)
}
