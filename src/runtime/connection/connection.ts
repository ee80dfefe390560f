// One namespace of one Redis: what all structures are opened on.

import type { Driver, Script } from '../../driver.ts'
import type { HasRuntime } from './access.ts'
import type { Shares } from '../calls/answers-due.ts'
import { checkOptions } from '../values/arguments.ts'
import { type Duration, toMs } from '../values/duration.ts'
import { InvalidArgumentError } from '../errors/errors.ts'
import { checkNamespace } from '../values/keys.ts'
import { Runtime } from './runtime.ts'

export interface ConnectionOptions {
  /** Begins all our keys; default `perilune`. */
  namespace?: string
  /** When a call that has no answer yet is given up; default 5 seconds. */
  deadline?: Duration
  /** @internal Whose calls take turns where answers are large; default: those of each unit. For the service. */
  shares?: Shares
}

/** The scripts of one structure, which `preload` takes: `lockScripts` of `perilune/lock`. */
export interface StructureScripts {
  readonly structure: string
  scripts(): readonly Script[]
}

/** What structures are opened on: `lock(connection, 'deploy')`. */
export class Connection implements AsyncDisposable, HasRuntime {
  readonly #runtime: Runtime

  /** Use `connect`. Throws InvalidArgumentError. */
  constructor(driver: Driver, options: ConnectionOptions) {
    checkOptions('options', options, ['namespace', 'deadline', 'shares'])
    const { namespace = 'perilune', deadline = '5s', shares } = options
    this.#runtime = new Runtime(driver, checkNamespace(namespace), toMs('deadline', deadline), shares)
  }

  /** @internal For structures, and for modules written by `perilune generate`. */
  get runtime(): Runtime {
    return this.#runtime
  }

  /**
   * Loads all scripts of these structures on every master, so that no first call pays for it:
   * `connection.preload([lockScripts, queueScripts])`. Throws InvalidArgumentError, or DriverError when a master cannot be
   * reached or refuses.
   */
  async preload(structures: readonly StructureScripts[]): Promise<void> {
    return this.#runtime.preload(checkStructures(structures).flatMap((structure) => structure.scripts()))
  }

  /** False while a connection that is needed is down, and once this instance closes. */
  healthy(): boolean {
    return this.#runtime.healthy()
  }

  /**
   * Ends this instance within one second. At once calls under way settle, others are refused (`DriverError` with `closed`),
   * what waits ends, and the signals of leases abort. What is at work has half a second to end; what is held then is given
   * back. The driver is closed with its last instance; the client stays yours to close.
   */
  close(): Promise<void> {
    return this.#runtime.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/**
 * The connection that structures are opened on: `connect(ioredis(client), { namespace: 'shop' })`. Opens nothing itself. Throws
 * InvalidArgumentError, also for a driver that was closed with its last instance.
 */
export function connect(driver: Driver, options: ConnectionOptions = {}): Connection {
  return new Connection(driver, options)
}

/** The scripts of the generated operations of a structure. */
export function scriptsOf(
  structure: string,
  operations: Readonly<Record<string, { readonly script: Script }>>,
): StructureScripts {
  return { structure, scripts: () => Object.values(operations).map(({ script }) => script) }
}

function checkStructures(structures: readonly StructureScripts[]): readonly StructureScripts[] {
  if (!Array.isArray(structures) || structures.length === 0) {
    throw new InvalidArgumentError('structures', 'must be a list of scripts, such as [lockScripts]')
  }
  for (const [at, structure] of structures.entries()) {
    if (typeof structure?.scripts !== 'function') {
      throw new InvalidArgumentError(
        `structures[${at}]`,
        'must be the scripts of a structure, such as lockScripts of perilune/lock',
      )
    }
  }
  return structures
}
