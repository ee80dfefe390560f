// What subscriptions need of a client library.

import type { WriteCall } from '../../driver.ts'

/** One connection that only listens. It never reconnects by itself. */
export interface Line {
  /** Resolves once the server has confirmed; rejects with the errors of the port. */
  subscribe(channel: string): Promise<void>
  /** Rejects with the errors of the port: the node refuses it for a slot that is no longer its own. */
  unsubscribe(channel: string): Promise<void>
  /** Settles with whatever the server answers. */
  ping(): Promise<unknown>
  /** Sends a write of this key's slot that changes nothing; settles as the server answers, or rejects with the errors of the port. */
  touch(key: string): Promise<unknown>
  /** The id of the server's process, asked before anything was subscribed to; undefined where it has none. Rejects with the errors of the port. */
  readonly runId: Promise<string | undefined>
  close(): void
}

export interface LineEvents {
  onMessage(channel: string, message: string): void
  /** The slot of this channel has left the node, and the channel with it. The others are heard as before. */
  onLeft(channel: string): void
  /** The line is of no use any more; called at most once. */
  onLost(): void
}

/** Where a channel belongs. */
export interface ChannelPlace {
  /** The nodes that may carry it, the likeliest first; never empty. */
  readonly addresses: readonly string[]
  /** True when only the first of them is right: what is published reaches the subscribers of one node. */
  readonly onlyFirst: boolean
}

/** A write of a channel's slot that changes nothing; the rights of every structure allow it. */
export function touchOf(channel: string): WriteCall {
  return { command: 'HDEL', args: [channel, 'perilune:no-such-field'] }
}

export interface Lines {
  placeOf(channel: string): Promise<ChannelPlace>
  open(address: string, events: LineEvents): Promise<Line>
  /**
   * Sends a write that changes nothing to the node that takes the commands for the channel's slot. Once it has settled the
   * client knows that node, for all others pass it on or refuse it: a replica answers MOVED or READONLY.
   */
  touch(channel: string): Promise<unknown>
  /**
   * Whether commands for the channel, which are sent to the node at this address, get to the one that the line leads to, as
   * far as the server can be asked. Rejects with the errors of the port.
   */
  leadsTo(line: Line, address: string, channel: string): Promise<boolean>
}
