// Counters that Redis counts, over a table of SQLite for each side. They are the same ones in all histories, which have
// ids of their own.

import Database from 'libsql'
import {
  type Counted,
  type Counters,
  type CounterValue,
  type IncrementItem,
  type Perilune,
  PeriluneError,
} from 'perilune'
import { sqlite } from 'perilune/sqlite'
import { type Items, NAMES, sqliteItems } from '../../server/testing/items.ts'
import { found, Refused } from './outcome.ts'
import { TENANT } from './requests.ts'
import type { Pair, Part, Sides } from './sides.ts'

/** Of a row that every table has, close to the end of 64 bits. */
const FULL = 8
const KNOWN = 7

type TableOf = Items & { readonly file: string }

/** The tables of both sides. */
export interface CounterTables extends Pair<TableOf>, AsyncDisposable {
  /** For the service. */
  readonly entries: object
  /** Of the library. */
  open(redis: Perilune): Readonly<Record<string, Counters>>
}

export async function openTables(): Promise<CounterTables> {
  const here = await sqliteItems()
  const there = await sqliteItems()
  for (const { run } of [here, there]) await run(`INSERT INTO items VALUES (${FULL}, 9223372036854775800)`)
  const place = { ...there.entry, project: TENANT, fsyncGrace: '0s', flushEvery: false }
  const database = new Database(here.file)
  const open = (redis: Perilune, name: string, missing: 'create' | 'refuse'): Counters =>
    redis.counters(name, { sink: sqlite(database, { ...NAMES, missing }), fsyncGrace: '0s' })
  return {
    here,
    there,
    entries: {
      votes: { ...place, name: 'votes' },
      known: { ...place, name: 'known', missing: 'refuse' },
    },
    open: (redis) => ({ votes: open(redis, 'votes', 'create'), known: open(redis, 'known', 'refuse') }),
    async [Symbol.asyncDispose]() {
      database.close()
      await Promise.all([here.close(), there.close()])
    },
  }
}

interface World {
  readonly sides: Sides
  readonly counters: Readonly<Record<string, Counters>>
  /** Of the counters of this history. */
  readonly ids: readonly number[]
}

/** `at`: the number of the history. */
export function counterPart(sides: Sides, at: number, tables: CounterTables): Part {
  const ids = [0, 1, 2].map((nth) => 1000 + at * 10 + nth)
  const world: World = { sides, counters: tables.open(sides.redis), ids }
  return {
    steps: [
      () => increment(world),
      () => increment(world),
      () => increment(world),
      () => incrementMany(world),
      () => incrementMany(world),
      () => incrementWrongly(world),
      () => flush(world),
      () => reconcile(world),
      () => clear(world),
    ],
    looks: [() => read(world), () => readMany(world), () => inspect(world)],
    contents: (redis) => (redis === sides.redis ? tables.here : tables.there).votes(),
  }
}

/** One of the rows that exist from the start is close to the end of 64 bits. */
function drawCounter({ sides: { dice }, ids }: World): { name: string; id: number } {
  if (dice.chance(0.7)) return { name: 'votes', id: dice.oneOf([...ids, FULL]) }
  return { name: 'known', id: dice.oneOf([KNOWN, 999_999]) }
}

function drawItem({ sides: { dice } }: World, id: number): IncrementItem {
  return {
    id: dice.chance(0.5) ? id : String(id),
    ...(dice.chance(0.7) && { by: dice.oneOf([1, -3, 5, 2 ** 53 - 1]) }),
    ...(dice.chance(0.3) && { idempotencyKey: `${id} ${dice.upTo(3)}` }),
  }
}

/** Greater than the labels of ids and tokens elsewhere: in two pieces it is compared to the last digit. */
function exactly(value: CounterValue | null): string | null {
  return value === null ? null : String(value).replace(/(\d{9})$/, ' $1')
}

function urlOf(name: string): string {
  return `/counters/${name}`
}

async function increment(world: World): Promise<void> {
  const { sides, counters } = world
  const { name, id } = drawCounter(world)
  const item = drawItem(world, id)
  await sides.same(
    `increment ${name} ${JSON.stringify(item)}`,
    async () => {
      const { by, idempotencyKey } = item
      const options = idempotencyKey === undefined ? {} : { idempotencyKey }
      const value = await countersOf(counters, name).increment(item.id, by, options)
      return { id: String(id), value: exactly(value) }
    },
    async () => {
      const { counted, ...answer } = (await sides.http.post(`${urlOf(name)}/increments`, item)) as Counted
      // The library returns it only for several increments.
      if (typeof counted !== 'boolean') throw new Error('the answer does not say whether it was counted')
      return { ...answer, value: exactly(answer.value) }
    },
  )
}

function countersOf(counters: World['counters'], name: string): Counters {
  return found(counters[name] ?? null)
}

async function incrementMany(world: World): Promise<void> {
  const { sides, counters, ids } = world
  const name = sides.dice.oneOf(['votes', 'votes', 'known'])
  const known = name === 'votes' ? [...ids, FULL] : [KNOWN, 999_999]
  const increments = Array.from({ length: 1 + sides.dice.upTo(3) }, () =>
    drawItem(world, sides.dice.oneOf(known)),
  )
  await sides.same(
    `increment ${name} ${JSON.stringify(increments)}`,
    async () => {
      const answer = await countersOf(counters, name).incrementMany(increments)
      return answer.map((each, at) => (each instanceof Error ? refusal(increments[at], each) : shown(each)))
    },
    async () => {
      const answer = (await sides.http.post(`${urlOf(name)}/increments`, { increments })) as {
        increments: ({ id: string; code: string } | Counted)[]
      }
      return answer.increments.map((each) =>
        'code' in each ? { id: each.id, code: each.code } : shown(each),
      )
    },
  )
}

function refusal(item: IncrementItem | undefined, error: Error): object {
  if (!(error instanceof PeriluneError)) throw error
  return { id: String(item?.id), code: error.code }
}

function shown({ id, value, counted }: Counted): object {
  return { id, value: exactly(value), counted }
}

async function incrementWrongly({ sides, counters }: World): Promise<void> {
  const wrong = sides.dice.oneOf([
    { by: 1.5 },
    { by: 2 ** 53 },
    { id: '' },
    { id: 1.5 },
    { idempotencyKey: '' },
    { step: 1 },
  ])
  const increments = [
    { id: KNOWN, by: 0 },
    { id: KNOWN, ...wrong },
  ]
  await sides.same(
    `increment ${JSON.stringify(wrong)}`,
    () => countersOf(counters, 'votes').incrementMany(increments),
    () => sides.http.post(`${urlOf('votes')}/increments`, { increments }),
  )
}

async function flush({ sides, counters }: World): Promise<void> {
  const name = sides.dice.oneOf(['votes', 'known'])
  await sides.same(
    `flush ${name}`,
    () => countersOf(counters, name).flush(),
    () => sides.http.post(`${urlOf(name)}/flush`),
  )
}

async function reconcile(world: World): Promise<void> {
  const { sides, counters } = world
  const { name, id } = drawCounter(world)
  await sides.same(
    `reconcile ${name} ${id}`,
    () => countersOf(counters, name).reconcile([id]),
    () => sides.http.post(`${urlOf(name)}/reconcile`, { ids: [id] }),
  )
}

async function clear({ sides, counters }: World): Promise<void> {
  const name = sides.dice.oneOf(['votes', 'known'])
  if (!sides.dice.chance(0.3)) return
  await sides.same(
    `clear ${name}`,
    async () => void (await countersOf(counters, name).clear()),
    () => sides.http.delete(urlOf(name)),
  )
}

async function read(world: World): Promise<void> {
  const { sides, counters } = world
  const { name, id } = drawCounter(world)
  await sides.same(
    `read ${name} ${id}`,
    async () => {
      const value = await countersOf(counters, name).get(id)
      if (value === null) throw new Refused('unknown-counter')
      return { id: String(id), value: exactly(value) }
    },
    async () => {
      const answer = (await sides.http.get(`${urlOf(name)}/values/${id}`)) as Counted
      return { ...answer, value: exactly(answer.value) }
    },
  )
}

async function readMany({ sides, counters, ids }: World): Promise<void> {
  const name = sides.dice.oneOf(['votes', 'known'])
  const asked = [...ids, KNOWN, 999_999].map(String)
  await sides.same(
    `read all of ${name}`,
    async () => {
      const values = await countersOf(counters, name).getMany(asked)
      return values.map((value, at) => ({ id: asked[at], value: exactly(value) }))
    },
    async () => {
      const { values } = (await sides.http.get(`${urlOf(name)}/values`, { ids: asked })) as {
        values: Counted[]
      }
      return values.map(({ value, ...of }) => ({ ...of, value: exactly(value) }))
    },
  )
}

/** The answer says whether increments wait; how long they wait is not compared. */
async function inspect({ sides, counters }: World): Promise<void> {
  const name = sides.dice.oneOf(['votes', 'known'])
  await sides.same(
    `inspect ${name}`,
    async () => ({ name, ...(await countersOf(counters, name).inspect()) }),
    () => sides.http.get(urlOf(name)),
  )
}
