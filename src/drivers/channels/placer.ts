// Finds the line for a channel: one to the node that runs its commands, as far as the client knows.

import { ConnectionLostError, ServerReplyError } from '../../driver.ts'
import type { Lines } from '../wire/line.ts'
import { OpenLine, type Whereabouts } from './open-line.ts'
import { inTime } from '../wire/time-limit.ts'

export interface Placing {
  readonly channel: string
  /** False once the channel has no listener. */
  isWanted(): boolean
  /** This line is tried now, and no other. */
  onTry(line: OpenLine): void
  /** Whether a line with this result is acceptable once the channel is confirmed on it. */
  suits(found: Whereabouts): boolean
  /** Called in the same turn in which the line was alive. A later loss is reported by `onGone`. */
  onPlaced(): void
}

export interface PlacerEvents {
  onMessage(line: OpenLine, channel: string, message: string): void
  /** The slot of the channel has left the node of the line. */
  onLeft(line: OpenLine, channel: string): void
  onGone(line: OpenLine): void
}

const MOST_TRIES = 12

export class Placer {
  readonly #lines: Lines
  readonly #events: PlacerEvents
  /** Keyed by address. */
  readonly #open = new Map<string, OpenLine>()
  #learning: Promise<unknown> | null = null

  constructor(lines: Lines, events: PlacerEvents) {
    this.#lines = lines
    this.#events = events
  }

  /** Subscribes at one node after the other; MOVED names the next one to try. Rejects with the errors of the port. */
  async place(placing: Placing): Promise<void> {
    const { addresses: likely, onlyFirst } = await this.#lines.placeOf(placing.channel)
    let addresses = onlyFirst ? likely : this.#openFirst(likely)
    let failure: unknown = new ConnectionLostError('no node to subscribe on is known', false)
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const [address, ...others] = addresses
      if (address === undefined || !placing.isWanted()) break
      try {
        return await this.#placeAt(this.#lineTo(address, onlyFirst), placing)
      } catch (error) {
        failure = error
        const next = movedTo(error)
        if (next !== undefined) addresses = [next, ...others]
        else if (error instanceof ServerReplyError && error.word !== 'MOVED') throw error
        else addresses = onlyFirst ? await this.#otherThan(address, placing.channel) : others
      }
    }
    throw failure
  }

  close(): void {
    for (const line of this.#open.values()) line.close()
  }

  async #placeAt(line: OpenLine, { channel, onTry, suits, onPlaced }: Placing): Promise<void> {
    onTry(line)
    await line.subscribe(channel)
    const found = line.isProven ? 'here' : await line.prove([channel])
    if (found === 'elsewhere') line.close()
    if (!suits(found)) throw new ConnectionLostError('the connection leads to another node', true)
    if (!line.carries(channel)) throw new ConnectionLostError('the connection was lost', true)
    onPlaced()
  }

  /** The current owner of the slot, unless it is the node where placing the channel failed. */
  async #otherThan(address: string, channel: string): Promise<readonly string[]> {
    this.#learning ??= this.#lines.touch(channel).finally(() => {
      this.#learning = null
    })
    await inTime(this.#learning, 'the owner of the slot').catch(() => undefined)
    const [first, ...others] = (await this.#lines.placeOf(channel)).addresses
    return first === undefined || first === address ? [] : [first, ...others]
  }

  #openFirst(addresses: readonly string[]): string[] {
    const isOpen = (address: string): boolean => this.#open.has(address)
    return [...addresses.filter(isOpen), ...addresses.filter((address) => !isOpen(address))]
  }

  #lineTo(address: string, isForSlots: boolean): OpenLine {
    const known = this.#open.get(address)
    if (known !== undefined) return known
    const line = new OpenLine(this.#lines, {
      address,
      isForSlots,
      onMessage: (channel, message) => this.#events.onMessage(line, channel, message),
      onLeft: (channel) => this.#events.onLeft(line, channel),
      onGone: () => {
        if (this.#open.get(address) === line) this.#open.delete(address)
        this.#events.onGone(line)
      },
    })
    this.#open.set(address, line)
    return line
  }
}

function movedTo(error: unknown): string | undefined {
  if (!(error instanceof ServerReplyError) || error.word !== 'MOVED') return undefined
  return error.message.split(' ')[2]
}
