// State that all structures of one `perilune(driver)` share, and how it is closed.
//
// OPEN ──close──► CLOSING ──all is given back, or one second has passed──► CLOSED
//
// CLOSING: calls under way settle, new calls are rejected, and all waits end at once. Then each owner gives back what
// this instance holds: the keeper its leases, workers their jobs, loaders their loads. Only calls that give something
// back are sent.
// CLOSED: leases that could not be given back in time expire. The driver is closed unless another instance uses it.

import { type Driver, type Script, ServerReplyError } from '../../driver.ts'
import type { Shares } from '../calls/answers-due.ts'
import { Batcher, type BatchTerms, type SendBatch } from '../calls/batcher.ts'
import { CallIds } from '../calls/call-ids.ts'
import { checkDriver } from '../calls/check-driver.ts'
import { Clearings } from '../calls/clearings.ts'
import { leaveDriver, useDriver } from '../calls/driver-users.ts'
import { inTime, within } from '../time/in-time.ts'
import { unitPrefix } from '../values/keys.ts'
import { LeaseKeeper } from '../keeper/lease-keeper.ts'
import { Mailbox } from '../subscriptions/mailbox.ts'
import { closed, Runner } from '../calls/runner.ts'
import { toLastError } from '../calls/script-errors.ts'
import { Server } from '../calls/server.ts'
import { ServerClock } from '../time/server-clock.ts'
import { Subscriptions } from '../subscriptions/subscriptions.ts'
import { Wakes } from '../subscriptions/wake.ts'

/** Closing waits no longer than this for a server that does not answer. */
const CLOSING_MS = 1000
/** How long running work may still end by itself; the rest of CLOSING_MS is for giving back. */
export const LAST_WORK_MS = 500

const LOAD = { script: { name: 'SCRIPT LOAD' } } as const

/** Ends something when the instance closes. */
type End = () => Promise<unknown> | void

export class Runtime {
  readonly namespace: string
  readonly runner: Runner
  readonly server: Server
  readonly clock: ServerClock = new ServerClock()
  readonly subscriptions: Subscriptions
  readonly wakes: Wakes
  readonly mailbox: Mailbox
  readonly keeper: LeaseKeeper = new LeaseKeeper(() => this.server.info?.cluster ?? false)
  readonly clearings: Clearings = new Clearings(() => this.server.info?.cluster ?? false)
  readonly callIds: CallIds = new CallIds()
  readonly #batchers = new Map<string, unknown>()
  readonly #ends = new Set<End>()
  #closing: Promise<void> | null = null

  /** Throws InvalidArgumentError when the driver is closed. */
  constructor(driver: Driver, namespace: string, deadlineMs: number, shares?: Shares) {
    useDriver(checkDriver(driver))
    this.namespace = namespace
    this.runner = new Runner(driver, deadlineMs, shares)
    this.server = new Server(driver)
    this.subscriptions = new Subscriptions(driver)
    this.wakes = new Wakes(this.subscriptions)
    this.mailbox = new Mailbox(this.subscriptions)
  }

  prefix(structure: string, name: string, unit?: string): string {
    return unitPrefix(this.namespace, structure, name, unit)
  }

  /** The batcher for `key` that is under way, so that short-lived handles of one unit share it. */
  batcher<Item, Result>(
    key: string,
    terms: BatchTerms,
    send: SendBatch<Item, Result>,
  ): Batcher<Item, Result> {
    const known = this.#batchers.get(key)
    if (known !== undefined) return known as Batcher<Item, Result>
    const { deadlineMs, deadlines, driver, lastDeadlines } = this.runner
    const time = { deadlineMs, driver, deadlines: terms.givesBack === true ? lastDeadlines : deadlines }
    const batcher = new Batcher<Item, Result>(send, terms, time, () => this.#batchers.delete(key))
    this.#batchers.set(key, batcher)
    return batcher
  }

  /** Loads scripts on every primary. Throws DriverError when one cannot be reached or rejects the load. */
  async preload(scripts: readonly Script[]): Promise<void> {
    if (this.runner.closed) throw closed()
    const loads = scripts.map((script) => this.#load(script))
    const { deadlines, deadlineMs, driver } = this.runner
    await inTime(Promise.all(loads), performance.now() + deadlineMs, deadlines, driver)
  }

  async #load(script: Script): Promise<void> {
    try {
      await this.runner.driver.load(script)
    } catch (error) {
      throw error instanceof ServerReplyError ? toLastError(error, LOAD) : error
    }
  }

  /**
   * Calls `end` when the instance closes, or soon if it is closing already, unless the returned function was called
   * before. Closing waits for the promise of `end` within its time limit and ignores its errors.
   */
  atClose(end: End): () => void {
    if (this.runner.closed) {
      Promise.resolve()
        .then(end)
        .catch(() => undefined)
    } else this.#ends.add(end)
    return () => this.#ends.delete(end)
  }

  healthy(): boolean {
    return !this.runner.closed && this.runner.driver.healthy()
  }

  /** Resolves within a second; a second call returns the same promise. Rejects only if the driver's `close` does. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.runner.beginClosing()
    this.subscriptions.refuse()
    this.wakes.close()
    this.mailbox.endWaits()
    // When no server answers, leases expire by themselves.
    await within(this.#giveBack(), CLOSING_MS).catch(() => undefined)
    this.runner.close()
    this.mailbox.close()
    // Let the calls that end now settle for their callers first.
    await new Promise((resolve) => setImmediate(resolve))
    const leaving = leaveDriver(this.runner.driver)
    this.subscriptions.close()
    await leaving
  }

  async #giveBack(): Promise<void> {
    const ends = [...this.#ends].map(async (end) => end())
    await Promise.allSettled([...ends, this.keeper.close(closed(), LAST_WORK_MS)])
    await this.runner.untilQuiet()
  }
}
