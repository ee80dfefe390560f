// A connection: one namespace of one Redis, on which all structures are opened.

import type { Driver, Script } from '../../driver.ts'
import type { HasRuntime } from './access.ts'
import type { Shares } from '../calls/answers-due.ts'
import { checkOptions } from '../values/arguments.ts'
import { type Duration, toMs } from '../values/duration.ts'
import { InvalidArgumentError } from '../errors/errors.ts'
import { checkNamespace } from '../values/keys.ts'
import { Runtime } from './runtime.ts'

export interface ConnectionOptions {
  /** The prefix of every key of this instance; default `perilune`. */
  namespace?: string
  /** How long a call may wait for its answer before it fails, at most 9 minutes; default 5 seconds. */
  deadline?: Duration
  /**
   * @internal Whose calls share bandwidth fairly when answers are large; default: those of each unit. For the service.
   */
  shares?: Shares
}

/** The scripts of one structure, as `preload` takes them: `lockScripts` of `perilune/lock`. */
export interface StructureScripts {
  readonly structure: string
  scripts(): readonly Script[]
}

/** Structures are opened on it: `lock(connection, 'deploy')`. */
export class Connection implements AsyncDisposable, HasRuntime {
  readonly #runtime: Runtime

  /** Use `connect`. Throws InvalidArgumentError. */
  constructor(driver: Driver, options: ConnectionOptions) {
    checkOptions('options', options, ['namespace', 'deadline', 'shares'])
    const { namespace = 'perilune', deadline = '5s', shares } = options
    this.#runtime = new Runtime(
      driver,
      checkNamespace(namespace),
      toMs('deadline', deadline, { max: '9m' }),
      shares,
    )
  }

  /** @internal For structures, and for modules written by `perilune generate`. */
  get runtime(): Runtime {
    return this.#runtime
  }

  /**
   * Loads all scripts of these structures on every primary, so that no first call pays for loading:
   * `connection.preload([lockScripts, queueScripts])`. Throws InvalidArgumentError, or DriverError when a primary
   * cannot be reached or rejects the load.
   */
  async preload(structures: readonly StructureScripts[]): Promise<void> {
    return this.#runtime.preload(checkStructures(structures).flatMap((structure) => structure.scripts()))
  }

  /** False while a required connection is down, and from the call of `close` on. */
  healthy(): boolean {
    return this.#runtime.healthy()
  }

  /**
   * Closes this instance within one second. At once, new calls fail (`DriverError` with `closed`), waits end, the
   * signals of leases abort, and calls under way settle. Running work has half a second to end; then held leases and
   * jobs are given back. The driver is closed with its last instance. The Redis client stays open: closing it is up to
   * you.
   */
  close(): Promise<void> {
    return this.#runtime.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/**
 * Opens the connection for structures: `connect(ioredis(client), { namespace: 'shop' })`. Opens no network connection
 * itself. Throws InvalidArgumentError, also for a driver that was closed with its last instance.
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
