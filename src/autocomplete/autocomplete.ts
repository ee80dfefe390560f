import { type AddAnswer, add, clear, inspect, type RemoveAnswer, remove } from '../generated/autocomplete.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import { type Codec, codecOr, jsonOf } from '../runtime/values/codec.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { inGroups } from '../runtime/iteration/in-groups.ts'
import { errorOfPart } from '../runtime/iteration/in-parts.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'
import {
  type AddOptions,
  CALL,
  checkEntry,
  checkId,
  type NewEntry,
  type OutgoingEntry,
  outgoingOf,
} from './entry.ts'
import { Suggester, type SuggestOptions } from './suggest.ts'
import type { Suggestion } from './suggestion.ts'

export interface AutocompleteOptions<Payload> {
  /** How payloads become bytes; default JSON. */
  codec?: Codec<Payload>
}

/** How many entries were new, and how many took the place of one that was there. */
export interface Added {
  readonly added: number
  readonly replaced: number
}

/** A picture of an index; for people, for it may be old when it arrives. */
export interface AutocompleteInspection {
  /** Those too that have expired and are not removed yet. */
  readonly entries: number
  /** Word starts of all entries. */
  readonly words: number
  /** Prefixes that many words begin with, and behind which these part. */
  readonly hot: number
  /** Entries that expire. */
  readonly expiring: number
  /** Entries that have expired and are not removed yet. */
  readonly expired: number
  /** Of the payloads; null where nothing was ever added. */
  readonly codec: string | null
}

/**
 * Texts that are suggested while someone types. A query matches a text that goes on as it does at the start of any
 * of its words; case and accents do not count. The greatest score comes first.
 */
export class Autocomplete<Payload = unknown> {
  readonly name: string
  readonly #unit: Unit
  readonly #codec: Codec<Payload>
  readonly #asking: Suggester<Payload>

  constructor(runtime: Runtime, name: string, options: AutocompleteOptions<Payload> = {}) {
    checkOptions('options', options, ['codec'])
    this.name = checkName('name', name)
    this.#codec = codecOr(options.codec, () => jsonOf<Payload>('payload'))
    this.#unit = new Unit(runtime, { structure: 'autocomplete', name: this.name, since: '6.2.0' })
    this.#asking = new Suggester(this.#unit, this.#codec)
  }

  /**
   * Adds a text, or replaces the entry with its id: text, score, payload and expiry. `replaced` tells whether there
   * was one. Throws InvalidArgumentError for what cannot be stored.
   */
  async add(text: string, options: AddOptions<Payload> = {}): Promise<{ readonly replaced: boolean }> {
    checkOptions('options', options, ['score', 'payload', 'id', 'ttl'])
    const checked = checkEntry(this.#codec, { ...options, text })
    const { replaced } = await this.#add([...outgoingOf([checked])])
    return { replaced: replaced === 1 }
  }

  /**
   * As `add`, for many, up to 100 a script call, and fewer where they have many words. Nothing is added when one of them is
   * wrong. Those of one call appear together, all of them only one call after the other. Resolves to how many were added and
   * how many replaced. Throws InvalidArgumentError, or AmbiguousError when a call fails and those before it did not.
   */
  async addMany(entries: readonly NewEntry<Payload>[]): Promise<Added> {
    checkList('entries', entries)
    const checked = entries.map((entry, at) => checkEntry(this.#codec, entry, `entries[${at}]`))
    const sum = { added: 0, replaced: 0 }
    await inCalls('additions', outgoingOf(checked), checked.length, async (rest) => {
      const { added, replaced, taken } = await this.#add(rest)
      sum.added += added
      sum.replaced += replaced
      return taken
    })
    return sum
  }

  /** Removes the entry with this id; by default that is its text. Resolves to false when there was none. */
  async remove(id: string): Promise<boolean> {
    return (await this.#remove([checkId(id)])).removed === 1
  }

  /**
   * Removes many, up to 100 a script call. Resolves to how many there were. Throws InvalidArgumentError, or AmbiguousError
   * when a call fails and those before it did not.
   */
  async removeMany(ids: readonly string[]): Promise<number> {
    checkList('ids', ids)
    const checked = ids.map((id, at) => ({ id: checkId(id, `ids[${at}]`), bytes: 1 }))
    let sum = 0
    await inCalls('removals', checked, checked.length, async (rest) => {
      const { removed, taken } = await this.#remove(rest.map(({ id }) => id))
      sum += removed
      return taken
    })
    return sum
  }

  /**
   * The first entries that match what was typed, the greatest score first, of the same score the oldest first. An
   * empty query matches all. Throws InvalidArgumentError for what is no query, and DriverError `busy` where so much has
   * expired at once that it is not removed by the deadline: ask again.
   */
  suggest(query: string, options: SuggestOptions = {}): Promise<Suggestion<Payload>[]> {
    return this.#asking.ask(query, options)
  }

  /** A read-only picture. */
  async inspect(): Promise<AutocompleteInspection> {
    const { status: _, codec, ...rest } = await this.#unit.run(inspect, {})
    return { ...rest, codec: codec === '' ? null : codec }
  }

  /** Removes all entries. Resolves to false when nothing was ever added. */
  async clear(): Promise<boolean> {
    return (await this.#unit.run(clear, {})).existed
  }

  #add(added: readonly OutgoingEntry[]): Promise<AddAnswer> {
    return this.#unit.runOnce(add, ({ caller, call }) => ({ codec: this.#codec.name, caller, call, added }))
  }

  #remove(gone: readonly string[]): Promise<RemoveAnswer> {
    return this.#unit.runOnce(remove, ({ caller, call }) => ({ caller, call, gone }))
  }
}

/** Calls until all are taken: a script takes as many as one call has work for, and one at least. */
async function inCalls<Item extends { readonly bytes: number }>(
  what: string,
  items: Iterable<Item>,
  count: number,
  call: (rest: readonly Item[]) => Promise<number>,
): Promise<void> {
  let done = 0
  for (const group of inGroups(items, CALL)) {
    for (let rest: readonly Item[] = group; rest.length > 0; ) {
      const taken = await call(rest).catch((error: unknown) => {
        throw errorOfPart(what, done, count, error)
      })
      done += taken
      rest = rest.slice(taken)
    }
  }
}

function checkList(argument: string, value: unknown): void {
  if (!Array.isArray(value)) throw new InvalidArgumentError(argument, 'must be a list')
}

export type { AddOptions, NewEntry } from './entry.ts'
export { fold } from './fold.ts'
export type { SuggestOptions } from './suggest.ts'
export type { Suggestion } from './suggestion.ts'
