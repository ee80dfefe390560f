// The environment that the driver test suite needs.

import type { Driver } from '../driver.ts'

export interface OpenedDriver {
  readonly driver: Driver
  /** Sends a PING to the server with the client itself, bypassing the driver; rejects when that fails. */
  ping(): Promise<unknown>
  /** Closes the driver, and then the client passed to it. */
  close(): Promise<void>
}

export interface DriverContext {
  readonly kind: 'single' | 'sentinel' | 'cluster'
  /** A driver on a connected client of its own. */
  open(): Promise<OpenedDriver>
  /** Text that no other test uses, without braces. */
  uniqueTag(): string
  /** Sends a command to every primary, on separate connections; resolves to one answer each. */
  command(...words: string[]): Promise<unknown[]>
  /** Kills the server that serves the key with kill -9. */
  crash?(key: string): Promise<void>
  /** Restarts the server that `crash` killed, without data and scripts. */
  revive?(): Promise<void>
  /** Moves the slot of the key to another primary. */
  moveSlot?(key: string): Promise<void>
  /** Kills the primary; resolves once a replica has taken over. */
  failover?(): Promise<void>
  /**
   * A planned failover of the primary of the key: resolves once a replica has taken over. The old primary stays alive.
   */
  switchover?(key: string): Promise<void>
  /** Makes existing subscriber connections silent without closing them. New connections work. */
  halfOpenSubscribers?(): Promise<void>
}

/** The kind of environment that a case needs, or the operation that it must offer. */
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

/** The cases that can run in an environment that offers this. */
export function casesFor(suite: readonly DriverCase[], offers: readonly Need[]): DriverCase[] {
  return suite.filter(({ needs }) => needs === undefined || offers.includes(needs))
}

/** Opens a driver, passes it to `use`, and always closes it. */
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
