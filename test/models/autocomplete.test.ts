// Random histories of one index on real scripts and on the model, which must suggest the same; the stored data is
// checked against the promises of the scripts. A failure prints the seed and the shortest failing history.
// PERILUNE_LONG=1 plays twenty times as many.

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { type Autocomplete, type NewEntry, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { START_US, setTestClock, withTestClock } from '../../src/testing/test-clock.ts'
import { countOf, SEED, tell } from '../proof.ts'
import { learning } from './autocomplete-calls.ts'
import { AutocompleteModel } from './autocomplete-model.ts'
import { checkStored } from './autocomplete-stored.ts'

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)
let learn: (taken: number) => Promise<void> = async () => {}
const redis = perilune(
  learning(withTestClock(driver, contract.clock), (taken) => learn(taken)),
  { namespace: 'model' },
)

afterAll(async () => {
  await redis.close()
  client.disconnect()
})

type Step =
  | { do: 'add'; texts: readonly string[]; from: number; scores: number; expires: boolean }
  | { do: 'add again'; from: number; count: number; expires: boolean }
  | { do: 'remove'; from: number; count: number }
  | { do: 'remove the first'; query: string; count: number }
  | { do: 'suggest'; query: string; limit: number; fuzzy: boolean }
  | { do: 'advance'; ms: number }

// Few letters, so that many words begin alike; a long word, so that one path has no branches.
const word = fc.oneof(
  { weight: 8, arbitrary: fc.stringMatching(/^[ab]{1,3}$/) },
  { weight: 2, arbitrary: fc.stringMatching(/^[a-e]{1,5}$/) },
  { weight: 1, arbitrary: fc.constantFrom('aaaaaaaaaaaaaaaaaaaa', 'b') },
)
const words = fc.array(word, { minLength: 1, maxLength: 4 }).map((each) => each.join(' '))
const query = fc.oneof(fc.constant(''), fc.stringMatching(/^[ab]{1,4}$/), words)
const from = fc.nat(900)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      texts: fc.array(words, { minLength: 1, maxLength: 300, size: 'max' }),
      from,
      scores: fc.constantFrom(1, 5, 1000, 2 ** 40),
      expires: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('add again' as const),
      from,
      count: fc.integer({ min: 1, max: 300 }),
      expires: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('remove' as const),
      from,
      count: fc.integer({ min: 1, max: 300 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('remove the first' as const),
      query,
      count: fc.integer({ min: 1, max: 100 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('suggest' as const),
      query,
      limit: fc.integer({ min: 1, max: 100 }),
      fuzzy: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 500, 3000, -200) }),
  },
)

/** One history: the writes to the index and the model. */
class History {
  readonly #name = randomUUID()
  readonly #prefix = `model:{autocomplete:${this.#name}}`
  readonly #index: Autocomplete = redis.autocomplete(this.#name)
  readonly #model = new AutocompleteModel(START_US / 1000)

  /** Resolves to how many steps it had. */
  async play(steps: readonly Step[]): Promise<number> {
    await this.#advance(0)
    for (const each of steps) {
      await this.#step(each)
      await this.#forgetExpired()
    }
    for (const text of ['', 'a', 'b', 'aa', 'ab', 'ba', 'bb', 'c', 'abc'])
      await this.#suggest(text, 100, true)
    await this.#forgetExpired()
    await checkStored(client, this.#prefix, [...this.#model.entries.values()])
    await this.#index.clear()
    return steps.length
  }

  async #step(each: Step): Promise<void> {
    if (each.do === 'advance') await this.#advance(each.ms)
    else if (each.do === 'add') await this.#add(each)
    else if (each.do === 'add again') await this.#addAgain(each)
    else if (each.do === 'remove') {
      await this.#remove(Array.from({ length: each.count }, (_, at) => `e${each.from + at}`))
    } else if (each.do === 'remove the first') {
      await this.#remove(this.#model.suggest(each.query, each.count, false).map(([id]) => id))
    } else await this.#suggest(each.query, each.limit, each.fuzzy)
  }

  async #advance(ms: number): Promise<void> {
    this.#model.nowMs += ms
    await setTestClock(driver, this.#prefix, this.#model.nowMs * 1000)
  }

  async #add({ texts, from: first, scores, expires }: Extract<Step, { do: 'add' }>): Promise<void> {
    await this.#addAll(
      texts.map((each, at) => ({
        text: each,
        id: `e${first + at}`,
        score: (at * 7919) % scores,
        ...(expires && at % 3 === 0 ? { ttl: '2s' as const } : {}),
      })),
    )
  }

  /** The same texts and scores, which keep their places. */
  async #addAgain({ from: first, count, expires }: Extract<Step, { do: 'add again' }>): Promise<void> {
    const known = Array.from({ length: count }, (_, at) => this.#model.entries.get(`e${first + at}`))
    await this.#addAll(
      known
        .filter((entry) => entry !== undefined)
        .map(({ id, text, score }) => ({
          id,
          text,
          score,
          ...(expires ? { ttl: '2s' as const } : {}),
        })),
    )
  }

  async #addAll(entries: readonly NewEntry<unknown>[]): Promise<void> {
    let [rest, replaced] = [entries, 0]
    this.#learn(async (taken) => {
      const some = rest.slice(0, taken)
      replaced += some.filter(({ id = '', text: each, score = 0, ttl }) =>
        this.#model.add(id, each, score, ttl === undefined ? 0 : 2000),
      ).length
      rest = rest.slice(taken)
    })
    const added = await this.#index.addMany(entries)
    expect(added).toEqual({ added: entries.length - replaced, replaced })
    expect(rest).toEqual([])
  }

  /** One script call after the other: each may remove what has expired. */
  #learn(ofCall: (taken: number) => Promise<void>): void {
    learn = async (taken) => {
      await ofCall(taken)
      await this.#forgetExpired()
    }
  }

  async #remove(ids: readonly string[]): Promise<void> {
    let [rest, removed] = [ids, 0]
    this.#learn(async (taken) => {
      removed += rest.slice(0, taken).filter((id) => this.#model.remove(id)).length
      rest = rest.slice(taken)
    })
    const answered = await this.#index.removeMany(ids)
    expect(answered).toBe(removed)
    expect(rest).toEqual([])
  }

  async #suggest(text: string, limit: number, fuzzy: boolean): Promise<void> {
    const suggested = await this.#index.suggest(text, { limit, fuzzy })
    const shown = suggested.map(({ id, edited }) => [id, edited])
    expect(shown, `suggest '${text}', ${limit}, ${fuzzy}`).toEqual(this.#model.suggest(text, limit, fuzzy))
  }

  async #forgetExpired(): Promise<void> {
    const stored = await client.hkeysBuffer(`${this.#prefix}:entries`)
    this.#model.forgetExpired(new Set(stored.map((field) => field.readDoubleBE(0))))
  }
}

test('an index suggests as the model does, whatever its history', { timeout: 3_600_000 }, async () => {
  const history = fc.array(step, { minLength: 1, maxLength: 25, size: 'max' })
  const numRuns = countOf(1000, 30)
  let played = 0

  await fc.assert(
    fc.asyncProperty(history, async (steps) => void (played += await new History().play(steps))),
    { numRuns, seed: SEED, endOnFailure: true },
  )

  const summary = `${numRuns} random histories of one index, ${played} steps`
  tell(`autocomplete: ${summary}, answered as the model does, seed ${SEED}`)
})
