// Shared by all calls on a collection: its unit, the form of its items, and its TTL.

import type { Operation } from '../runtime/calls/operation.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { type UnitIdentity, Unit } from '../runtime/connection/unit.ts'
import type { Form } from './forms.ts'

export interface CollectionSource<Item, Key> {
  readonly unit: Unit
  readonly form: Form<Item, Key>
  readonly ttlMs: number
  /** The greatest number of items; 0: no limit. */
  readonly limit: number
}

/** The bounds of one script call. */
export const ONE_CALL = { items: 1000, bytes: 1_048_576 }

export function placeOf(name: string): UnitIdentity {
  return { structure: 'collection', name, since: '6.2.0' }
}

/** The collection with the build of one writer, which has a key of its own. */
export class BuildUnit extends Unit {
  readonly #id: string

  constructor(runtime: Runtime, place: UnitIdentity, id: string) {
    super(runtime, place)
    this.#id = id
  }

  /** The key of the build. */
  get key(): string {
    return `${this.#part}-${this.#id}`
  }

  get #part(): string {
    return `${this.beginning}build`
  }

  override keysOf(operation: Operation<never, unknown>): string[] {
    return super.keysOf(operation).map((key) => (key === this.#part ? this.key : key))
  }
}
