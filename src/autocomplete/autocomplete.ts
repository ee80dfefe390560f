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
  /** How payloads become bytes; it is stored with the index, and another codec is rejected. Default: JSON. */
  codec?: Codec<Payload>
}

/** The numbers of new entries and of replaced entries. */
export interface Added {
  /** The number of new entries. */
  readonly added: number
  /** The number of entries that were replaced. */
  readonly replaced: number
}

/** The state of an index when it was read, for monitoring: it may be outdated when it arrives. */
export interface AutocompleteInspection {
  /** The number of entries, including expired ones that are not removed yet. */
  readonly entries: number
  /** The number of indexed word starts of all entries. */
  readonly words: number
  /** The number of hot prefixes: those with many words, where the words diverge. */
  readonly hot: number
  /** The number of entries with a TTL. */
  readonly expiring: number
  /** The number of expired entries that are not removed yet. */
  readonly expired: number
  /** The name of the codec of the payloads; null when nothing was ever added. */
  readonly codec: string | null
}

/**
 * Suggests texts while a user types. A query matches a text if it is a prefix of the text from the start of any word;
 * case and accents are ignored. Suggestions are sorted by score, greatest first.
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
   * Adds a text, or replaces the entry with the same id: text, score, payload and expiry. `replaced` is true when
   * such an entry existed. Throws InvalidArgumentError for a value that cannot be stored.
   */
  async add(text: string, options: AddOptions<Payload> = {}): Promise<{ readonly replaced: boolean }> {
    checkOptions('options', options, ['score', 'payload', 'id', 'ttl'])
    const checked = checkEntry(this.#codec, { ...options, text })
    const { replaced } = await this.#add([...outgoingOf([checked])])
    return { replaced: replaced === 1 }
  }

  /**
   * Adds many entries, up to 100 per script call, fewer for texts with many words. If one entry is invalid, nothing
   * is added. Entries of one call appear together, those of several calls one call after the other. Resolves to the
   * numbers of added and replaced entries. Throws InvalidArgumentError, or AmbiguousError when a call fails after
   * earlier ones succeeded.
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

  /**
   * Removes the entry with this id, which is the text unless it was added with another. Resolves to false when there
   * was none.
   */
  async remove(id: string): Promise<boolean> {
    return (await this.#remove([checkId(id)])).removed === 1
  }

  /**
   * Removes many entries, up to 100 per script call. Resolves to the number of removed entries. Throws
   * InvalidArgumentError, or AmbiguousError when a call fails after earlier ones succeeded.
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
   * The first entries that match the query, the greatest score first, equal scores in order of age, the oldest first.
   * An empty query matches all entries. Throws InvalidArgumentError for an invalid query. Throws DriverError `busy`
   * when so many entries have expired at once that they cannot be removed before the deadline: retry.
   */
  suggest(query: string, options: SuggestOptions = {}): Promise<Suggestion<Payload>[]> {
    return this.#asking.ask(query, options)
  }

  /** Reads the state of the index. */
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

/** Calls until all items are processed: one call takes as many as its bounds allow, at least one. */
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
