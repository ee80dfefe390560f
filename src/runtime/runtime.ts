// What all structures of one `perilune(driver)` share.

import { type Driver, type Script, ServerReplyError } from '../driver.ts'
import { Batcher, type BatchTerms, type Send } from './batcher.ts'
import { CallIds } from './call-ids.ts'
import { checkDriver } from './check-driver.ts'
import { inTime, within } from './in-time.ts'
import { unitPrefix } from './keys.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { Mailbox } from './mailbox.ts'
import { Runner } from './runner.ts'
import { isPassing, toPeriluneError } from './script-errors.ts'
import { Server } from './server.ts'
import { ServerClock } from './server-clock.ts'
import { Wakes } from './wake.ts'

/** A program that ends waits no longer for a server that is away. */
const GIVE_BACK_MS = 500

export class Runtime {
  readonly namespace: string
  readonly runner: Runner
  readonly server: Server
  readonly clock: ServerClock = new ServerClock()
  readonly wakes: Wakes
  readonly mailbox: Mailbox
  readonly keeper: LeaseKeeper = new LeaseKeeper()
  readonly callIds: CallIds = new CallIds()
  readonly #batchers = new Map<string, unknown>()
  readonly #givers = new Set<() => Promise<unknown>>()

  constructor(driver: Driver, namespace: string, deadlineMs: number) {
    this.namespace = namespace
    this.runner = new Runner(checkDriver(driver), deadlineMs)
    this.server = new Server(driver)
    this.wakes = new Wakes(driver)
    this.mailbox = new Mailbox(driver)
  }

  prefix(structure: string, name: string, unit?: string): string {
    return unitPrefix(this.namespace, structure, name, unit)
  }

  /** The batcher under way for `key`, so that short-lived handles of one unit share it. */
  batcher<Item, Result>(key: string, terms: BatchTerms, send: Send<Item, Result>): Batcher<Item, Result> {
    const known = this.#batchers.get(key)
    if (known !== undefined) return known as Batcher<Item, Result>
    const batcher = new Batcher<Item, Result>(send, terms, this.runner, () => this.#batchers.delete(key))
    this.#batchers.set(key, batcher)
    return batcher
  }

  /** Loads scripts on every master. Throws DriverError when one cannot be reached, or refuses. */
  async preload(scripts: readonly Script[]): Promise<void> {
    const loads = scripts.map((script) => this.#load(script))
    await inTime(Promise.all(loads), this.runner.deadlineMs)
  }

  async #load(script: Script): Promise<void> {
    try {
      await this.runner.driver.load(script)
    } catch (error) {
      const isRefusal = error instanceof ServerReplyError && !isPassing(error)
      throw isRefusal ? toPeriluneError(error, { script: { name: 'SCRIPT LOAD' }, lines: [] }) : error
    }
  }

  /** What others would wait for is given back when all is closed, unless the function that is answered was called before. */
  giveBackAtClose(give: () => Promise<unknown>): () => void {
    this.#givers.add(give)
    return () => this.#givers.delete(give)
  }

  async close(): Promise<void> {
    // Where no server answers, leases end by themselves.
    const given = Promise.allSettled([...this.#givers].map((give) => give()))
    await within(given, GIVE_BACK_MS).catch(() => undefined)
    this.runner.close()
    this.keeper.close()
    this.mailbox.close()
    this.wakes.close()
    await this.runner.driver.close()
  }
}
