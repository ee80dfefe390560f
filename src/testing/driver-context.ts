// What the suite for drivers needs from the place where it runs.

import type { Driver } from '../driver.ts'

export interface OpenedDriver {
  readonly driver: Driver
  /** Asks the server for a PING through the client itself, past the driver; rejects when that fails. */
  ping(): Promise<unknown>
  /** Closes the driver, and then the client that it was given. */
  close(): Promise<void>
}

export interface DriverContext {
  readonly kind: 'single' | 'sentinel' | 'cluster'
  /** A driver on a connected client of its own. */
  open(): Promise<OpenedDriver>
  /** Text that no other test uses, without braces. */
  uniqueTag(): string
  /** Sends a command to every primary, on connections of their own; resolves to one answer each. */
  command(...words: string[]): Promise<unknown[]>
  /** Kills the server that serves the key with kill -9. */
  crash?(key: string): Promise<void>
  /** Starts again what `crash` killed, with no data and no scripts. */
  revive?(): Promise<void>
  /** Moves the slot of the key to another primary. */
  moveSlot?(key: string): Promise<void>
  /** Kills the primary; resolves once a replica has taken over. */
  failover?(): Promise<void>
  /** A planned failover of the primary of the key: resolves once a replica has taken over. The old primary lives on. */
  switchover?(key: string): Promise<void>
  /** Connections that have subscribed to a channel fall silent, and none of them is closed. New ones work. */
  halfOpenSubscribers?(): Promise<void>
}

/** The kind of place that a case needs, or the switch of it. */
export type Need =
  | 'single'
  | 'cluster'
  | 'crash'
  | 'moveSlot'
  | 'failover'
  | 'switchover'
  | 'halfOpenSubscribers'

export interface DriverCase {
  readonly title: string
  readonly needs?: Need
  run(context: DriverContext): Promise<void>
}

/** The cases that can run in a place that offers this. */
export function casesFor(suite: readonly DriverCase[], offers: readonly Need[]): DriverCase[] {
  return suite.filter(({ needs }) => needs === undefined || offers.includes(needs))
}

/** Opens a driver, hands it over, and closes it whatever happens. */
export async function withDriver(
  context: DriverContext,
  use: (opened: OpenedDriver) => Promise<void>,
): Promise<void> {
  const opened = await context.open()
  try {
    await use(opened)
  } finally {
    await opened.close()
  }
}
