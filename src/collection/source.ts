// What every call on a collection needs: its unit, its items' form, and how long it lives.

import type { Operation } from '../runtime/calls/operation.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { type UnitIdentity, Unit } from '../runtime/connection/unit.ts'
import type { Form } from './forms.ts'

export interface CollectionSource<Item, Key> {
  readonly unit: Unit
  readonly form: Form<Item, Key>
  readonly ttlMs: number
  /** How many items there may be; 0: any number. */
  readonly limit: number
}

/** The most that a script takes. */
export const ONE_CALL = { items: 1000, bytes: 1_048_576 }

export function placeOf(name: string): UnitIdentity {
  return { structure: 'collection', name, since: '6.2.0' }
}

/** The collection as one builder sees it: what it builds has a key of its own. */
export class BuildUnit extends Unit {
  readonly #id: string

  constructor(runtime: Runtime, place: UnitIdentity, id: string) {
    super(runtime, place)
    this.#id = id
  }

  /** Where it builds. */
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
