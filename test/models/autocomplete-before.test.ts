// Random histories of texts that begin alike, played by the scripts of the last release and by those of this tree, each
// on an index of its own: their suggestions must be the same, however they are stored. The data that this tree stores
// is checked against the promises of its scripts. A failure prints the seed and the shortest failing history.
// PERILUNE_LONG=1 plays twenty times as many.

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { type Autocomplete, perilune, text as plainText, type Suggestion } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import { fold, markWords } from '../../src/autocomplete/fold.ts'
import { runOperation } from '../../src/testing/run-operation.ts'
import { START_US, setTestClock, withTestClock } from '../../src/testing/test-clock.ts'
import { readContract } from '../conformance/files.ts'
import { countOf, SEED, tell } from '../proof.ts'
import { checkStored, readEntries, entryOf as storedEntry } from './autocomplete-stored.ts'

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)
const before = readContract('../released/contract.json')
const now = readContract()
const redis = perilune(withTestClock(driver, now.clock ?? ''), { namespace: 'now' })

afterAll(async () => {
  await redis.close()
  client.disconnect()
})

const EXPIRE_MS = 2000

interface Entry {
  readonly id: string
  readonly text: string
  readonly score: number
  readonly expires: boolean
  readonly payload: string
}

type Step =
  | { do: 'add'; entries: readonly Entry[] }
  | { do: 'add again'; from: number; count: number; by: number }
  | { do: 'remove'; from: number; count: number }
  | { do: 'remove the first'; cut: number; count: number }
  | { do: 'suggest'; of: string; from: number; cut: number; limit: number; fuzzy: boolean }
  | { do: 'advance'; ms: number }

// The texts differ at various places: within a word, at its end, after the 64 bytes that are compared, and at a byte
// that two characters share.
const BEGINNINGS = [
  'the long common beginning of every title ',
  'the long common beginning of every tile ',
  'the long common way to begin ',
  'a long common beginning of every title ',
  'long common ',
  'common beginning of every title that goes on behind what counts of it, with ',
  'to to to to to to ',
  'a'.repeat(59),
  'Über die Höhe der Höfe ',
  'über die Häuser ',
]

const text = (beginnings: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(...beginnings),
      fc.nat(500),
      fc.constantFrom(2, 10),
      fc.integer({ min: 0, max: 4 }),
    )
    .map(([beginning, number, base, dice]) => {
      const one = `${beginning}${number.toString(base)}`
      return dice === 0 ? `${one} ${beginning.slice(0, 9)}${number}` : one
    })

const entryOf = (beginnings: readonly string[]): fc.Arbitrary<Entry> =>
  fc.record({
    id: fc.nat(600).map((number) => `e${number}`),
    text: text(beginnings),
    score: fc.oneof(fc.nat(5), fc.nat(1000), fc.nat(2 ** 40)),
    expires: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
    payload: fc.constantFrom('', 'p', 'a payload of some length', 'x'.repeat(600)),
  })

const entriesOf = (beginnings: readonly string[]): fc.Arbitrary<Entry[]> =>
  fc.array(entryOf(beginnings), { minLength: 1, maxLength: 250, size: 'max' })

const step: fc.Arbitrary<Step> = fc.oneof(
  // All of one kind, so that each of their words is one that all of them have.
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      entries: fc.constantFrom(...BEGINNINGS).chain((beginning) => entriesOf([beginning])),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      entries: entriesOf(BEGINNINGS),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('add again' as const),
      from: fc.nat(600),
      count: fc.integer({ min: 1, max: 150 }),
      by: fc.constantFrom(0, 0, 1, -3, 500),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('remove' as const),
      from: fc.nat(600),
      count: fc.integer({ min: 1, max: 300 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('remove the first' as const),
      cut: fc.nat(45),
      count: fc.integer({ min: 1, max: 100 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('suggest' as const),
      of: text(BEGINNINGS),
      from: fc.nat(12),
      cut: fc.nat(70),
      limit: fc.oneof(fc.constant(10), fc.integer({ min: 1, max: 100 })),
      fuzzy: fc.integer({ min: 0, max: 3 }).map((dice) => dice === 0),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 700, 3000) }),
  },
)

/** An index that is asked in the words of a contract, whatever it answers besides. */
class Scripted {
  readonly prefix: string
  readonly #contract: typeof now

  constructor(namespace: string, name: string, contract: typeof now) {
    this.prefix = `${namespace}:{autocomplete:${name}}`
    this.#contract = contract
  }

  /** Resolves to how many new, how many replaced, and how many of them were taken. */
  async add(entries: readonly Entry[]): Promise<[added: number, replaced: number, taken: number]> {
    const added = entries.map(({ id, text: each, score, expires, payload }) => {
      const marked = markWords(fold(each))
      return { id, text: each, marked, score, ttl_ms: expires ? EXPIRE_MS : 0, payload }
    })
    const args = { codec: 'text', caller: '', call: '0', added }
    const [, created, replaced, taken = entries.length] = await this.#run('add', args)
    return [Number(created), Number(replaced), Number(taken)]
  }

  async remove(gone: readonly string[]): Promise<[removed: number, taken: number]> {
    const [, removed, taken = gone.length] = await this.#run('remove', { caller: '', call: '0', gone })
    return [Number(removed), Number(taken)]
  }

  async reapAll(): Promise<void> {
    // The last release knew of no query, for which what hides others goes first.
    const declared = this.#contract.operations['autocomplete/reap']?.arguments ?? []
    const args = declared.length === 0 ? {} : { query: 't', fuzzy: false }
    while ((await this.#run('reap', args)).at(-1) === true);
  }

  /** Null where expired entries hide some. */
  async suggest(query: string, limit: number, fuzzy: boolean): Promise<unknown> {
    const [, short, ...rows] = await this.#run('suggest', { codec: 'text', query, limit, fuzzy })
    return short === true ? null : rows.at(-1)
  }

  #run(name: string, args: Record<string, unknown>): ReturnType<typeof runOperation> {
    return runOperation(driver, this.#contract, `autocomplete/${name}`, `${this.prefix}:`, args)
  }
}

class History {
  readonly #name = randomUUID()
  readonly #before = new Scripted('before', this.#name, before)
  readonly #now = new Scripted('now', this.#name, now)
  readonly #index: Autocomplete<string> = redis.autocomplete(this.#name, { codec: plainText })
  readonly #entries = new Map<string, Entry>()
  #ms = START_US / 1000

  async play(steps: readonly Step[]): Promise<number> {
    await this.#advance(0)
    for (const each of steps) await this.#step(each)
    for (const beginning of BEGINNINGS) {
      for (const cut of [0, 1, 4, 9, 30, 60]) await this.#suggest(fold(beginning).slice(0, cut), 10, false)
    }
    await this.#reapAll()
    const stored = await readEntries(client, this.#now.prefix)
    const entries = [...stored].map(([number, record]) => storedEntry(number, record))
    await checkStored(client, this.#now.prefix, entries, 'text')
    await this.#index.clear()
    await client.del((await client.keys(`${this.#before.prefix}:*`)).concat('none'))
    return steps.length
  }

  async #step(each: Step): Promise<void> {
    if (each.do === 'advance') await this.#advance(each.ms)
    else if (each.do === 'add') await this.#add(each.entries)
    else if (each.do === 'add again') {
      const known = idsFrom(each.from, each.count).flatMap((id) => this.#entries.get(id) ?? [])
      await this.#add(known.map((one) => ({ ...one, score: Math.max(0, one.score + each.by) })))
    } else if (each.do === 'remove') await this.#remove(idsFrom(each.from, each.count))
    else if (each.do === 'remove the first') {
      const query = fold(BEGINNINGS[each.cut % BEGINNINGS.length] ?? '').slice(0, each.cut)
      await this.#remove((await this.#suggest(query, each.count, false)).map(({ id }) => id))
    } else await this.#suggest(queryOf(each), each.limit, each.fuzzy)
  }

  async #advance(ms: number): Promise<void> {
    this.#ms += ms
    for (const { prefix } of [this.#before, this.#now]) await setTestClock(driver, prefix, this.#ms * 1000)
  }

  /** The entries of one call to this tree go to the release in one call; after each, both have removed expired entries. */
  async #add(entries: readonly Entry[]): Promise<void> {
    for (let rest = entries; rest.length > 0; ) {
      const [added, replaced, taken] = await this.#now.add(rest.slice(0, 100))
      const some = rest.slice(0, taken)
      expect(await this.#before.add(some)).toEqual([added, replaced, taken])
      for (const one of some) this.#entries.set(one.id, one)
      rest = rest.slice(taken)
      await this.#reapAll()
    }
  }

  async #remove(ids: readonly string[]): Promise<void> {
    for (let rest = ids; rest.length > 0; ) {
      const [removed, taken] = await this.#now.remove(rest.slice(0, 100))
      expect(await this.#before.remove(rest.slice(0, taken))).toEqual([removed, taken])
      rest = rest.slice(taken)
      await this.#reapAll()
    }
  }

  async #reapAll(): Promise<void> {
    await this.#before.reapAll()
    await this.#now.reapAll()
  }

  /** Asked of both, and twice of the library, which reads a front when it asks again. */
  async #suggest(query: string, limit: number, fuzzy: boolean): Promise<Suggestion<string>[]> {
    const what = `suggest '${query}', ${limit}, ${fuzzy}`
    const suggested = await this.#index.suggest(query, { limit, fuzzy })
    expect(await this.#index.suggest(query, { limit, fuzzy }), what).toEqual(suggested)
    const asked = suggested.map(({ id, text: each, score, payload, edited }) => [
      id,
      each,
      score,
      payload ?? '',
      edited,
    ])
    const expected =
      (await this.#before.suggest(fold(query), limit, fuzzy)) ?? (await this.#again(query, limit, fuzzy))
    expect(asked, what).toEqual(expected)
    return suggested
  }

  async #again(query: string, limit: number, fuzzy: boolean): Promise<unknown> {
    await this.#reapAll()
    return this.#before.suggest(fold(query), limit, fuzzy)
  }
}

function idsFrom(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `e${from + at}`)
}

/** The text from one of its words on, up to some character. */
function queryOf({ of, from, cut }: Extract<Step, { do: 'suggest' }>): string {
  const words = markWords(fold(of)).split('\u0001')
  return words
    .slice(from % words.length)
    .join('')
    .slice(0, cut)
}

test('texts that begin alike are suggested as by the last release, whatever the history', {
  timeout: 3_600_000,
}, async () => {
  const history = fc.array(step, { minLength: 1, maxLength: 20, size: 'max' })
  const numRuns = countOf(400, 12)
  let played = 0

  await fc.assert(
    fc.asyncProperty(history, async (steps) => void (played += await new History().play(steps))),
    { numRuns, seed: SEED, endOnFailure: true },
  )

  const summary = `${numRuns} random histories of texts that begin alike, ${played} steps`
  tell(`autocomplete: ${summary}, suggested as by the last release, seed ${SEED}`)
})
