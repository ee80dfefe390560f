// What subscriptions need of a client library.

/** One connection that only listens. It never reconnects by itself. */
export interface Line {
  /** Resolves once the server has confirmed; rejects with the errors of the port. */
  subscribe(channel: string): Promise<void>
  unsubscribe(channel: string): Promise<void>
  /** Settles with whatever the server answers. */
  ping(): Promise<unknown>
  close(): void
}

export interface LineEvents {
  onMessage(channel: string, message: string): void
  /** The line is of no use any more; called at most once. */
  onLost(): void
}

/** Where a channel belongs. */
export interface Place {
  /** The nodes that may carry it, the likeliest first; never empty. */
  readonly addresses: readonly string[]
  /** True when only the first of them is right: what is published reaches the subscribers of one node. */
  readonly onlyFirst: boolean
}

export interface Lines {
  placeOf(channel: string): Promise<Place>
  open(address: string, events: LineEvents): Promise<Line>
  /**
   * Sends a write that changes nothing to the node that takes the commands for the channel's slot. Once it has settled the
   * client knows that node, for all others pass it on or refuse it: a replica answers MOVED or READONLY.
   */
  touch(channel: string): Promise<unknown>
  /** How many connections listen to each of the channels at a node, which says so on a connection for commands. */
  subscribers(address: string, channels: readonly string[]): Promise<number[]>
}
