// What the subscriptions need from a client library.

import type { WriteCall } from '../../driver.ts'

/** A connection for subscriptions only. It never reconnects by itself. */
export interface Line {
  /** Resolves once the server has confirmed; rejects with the errors of the port. */
  subscribe(channel: string): Promise<void>
  /** Rejects with the errors of the port, for example when the slot has moved to another node. */
  unsubscribe(channel: string): Promise<void>
  /** Settles on any answer of the server. */
  ping(): Promise<unknown>
  /**
   * Sends a write to this key's slot that changes nothing. Settles with the server's answer, or rejects with the errors
   * of the port.
   */
  touch(key: string): Promise<unknown>
  /**
   * The id of the server process, asked before any subscription; undefined when it has none. Rejects with the errors of
   * the port.
   */
  readonly runId: Promise<string | undefined>
}

export interface LineEvents {
  /** The line has begun to connect; `end` gives that up, and ends the line later. */
  onOpening(end: () => void): void
  onMessage(channel: string, message: string): void
  /** The slot of this channel has left the node, and the channel is lost. The others continue. */
  onLeft(channel: string): void
  /** The line is no longer usable; called at most once. */
  onLost(): void
}

/** Where a channel belongs. */
export interface ChannelPlace {
  /** The nodes that may carry it, the likeliest first; never empty. */
  readonly addresses: readonly string[]
  /** True when only the first node is right: published messages reach the subscribers of one node only. */
  readonly onlyFirst: boolean
}

/** A write to a channel's slot that changes nothing; the ACL of every structure allows it. */
export function touchOf(channel: string): WriteCall {
  return { command: 'HDEL', args: [channel, 'perilune:no-such-field'] }
}

export interface Lines {
  placeOf(channel: string): Promise<ChannelPlace>
  open(address: string, events: LineEvents): Promise<Line>
  /**
   * Sends a write that changes nothing to the node that runs commands for the channel's slot. When it has settled, the
   * client knows that node, because any other node redirects or rejects it: a replica answers MOVED or READONLY.
   */
  touch(channel: string): Promise<unknown>
  /**
   * Whether commands for the channel, sent to the node at this address, reach the node of the line, as far as the
   * server can be asked. Rejects with the errors of the port.
   */
  leadsTo(line: Line, address: string, channel: string): Promise<boolean>
}
