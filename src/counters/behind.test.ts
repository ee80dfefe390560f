// A database that went back to an old copy, or seems to: its reads come from a replica that lags, or the process has
// read values from a time that the database no longer knows.
import { describe, expect, test } from 'vitest'
import { setup } from '../../test/counters-fixture.ts'
import { setup as setupShown } from '../../test/shown-fixture.ts'
import type { EventSource } from './count-source.ts'
import { SinkError } from './errors.ts'
import type { Snapshot } from './sink.ts'
import type { Loss } from './source.ts'

describe('counters whose reads come from a copy that lags', () => {
  async function lagging() {
    const all = await setup()
    const { counters, sink, database } = all
    await counters.increment(1, 5)
    await counters.flush()
    const { read, apply } = sink
    const old = await read({ counters: 'none', partition: 0, epoch: 1 }, ['2'])
    const line = database.prepare('SELECT seq FROM perilune_ledger').get() as { seq: number }
    await counters.increment(1, 100)
    await counters.flush()
    // A batch that is committed, but whose worker has not acknowledged it.
    await counters.increment(1, 1000)
    let goOn = (): void => undefined
    const held = new Promise<void>((resolve) => (goOn = resolve))
    sink.apply = async (batch) => {
      const applied = await apply(batch)
      await held
      return applied
    }
    const flushing = counters.flush()
    while ((all.stored(1) ?? 0) < 1105) await new Promise((resolve) => setTimeout(resolve, 5))
    const stale = (times: number, seq: number | null): void => {
      let left = times
      sink.read = async (...asked): Promise<Snapshot> => (left-- > 0 ? { ...old, seq } : read(...asked))
    }
    return { ...all, stale, seq: line.seq, goOn, flushing }
  }

  test.each(['seq', null] as const)(
    'count nothing twice, and continue once the replica has caught up (%s)',
    async (what) => {
      const { counters, stored, stale, seq, goOn, flushing } = await lagging()

      stale(2, what === null ? null : seq)
      expect(await counters.get(2)).toBe(0)
      expect(await counters.get(1)).toBe(1105)
      goOn()
      await flushing
      await counters.flush()

      expect(stored(1)).toBe(1105)
    },
  )

  test('fail with an error where the replica does not catch up', async () => {
    const { counters, stored, stale, seq, goOn, flushing } = await lagging()

    stale(Infinity, seq)
    await expect(counters.get(2)).rejects.toMatchObject({
      code: 'sink-busy',
      message: 'sqlite: reads lag behind writes',
    })
    goOn()
    await flushing

    expect(stored(1)).toBe(1105)
  })
})

test('batches that reach a database only after it went back are not counted twice', async () => {
  const { counters, another, sink, database, stored } = await setup()
  await counters.increment(1, 0)
  const line = database.prepare('SELECT * FROM perilune_ledger').get() as Record<string, string | number>
  const { apply } = sink
  const late: (() => void)[] = []
  const stalling = another()
  /** The next batch stays on its way. */
  const stall = (): Promise<unknown> => {
    const waiting = new Promise<void>((resolve) => {
      sink.apply = (batch) => {
        sink.apply = apply
        resolve()
        return new Promise((done) => late.push(() => done(apply(batch))))
      }
    })
    const flushed = another().flush()
    return waiting.then(() => ({ flushed }))
  }
  await counters.increment(1, 5)
  await stall()
  await stalling.flush()
  await counters.increment(1, 100)
  await stall()
  database
    .prepare('UPDATE perilune_ledger SET seq = ?, batch = ?')
    .run(Number(line['seq']), String(line['batch']))
  database.exec('UPDATE items SET votes = 0')

  expect(await counters.get(2)).toBe(0)
  for (const arrive of late) arrive()
  await counters.flush()

  expect(stored(1)).toBe(100)
  expect(await counters.get(1)).toBe(100)
})

test('a slow flusher does not end the epoch in which the others go on', async () => {
  const { counters, another, sink, database, stored } = await setup()
  await counters.increment(1, 1)
  const { apply } = sink
  let goOn = (): void => undefined
  const waiting = new Promise<void>((resolve) => {
    sink.apply = (batch) => {
      sink.apply = apply
      resolve()
      return new Promise((done) => (goOn = () => done(apply(batch))))
    }
  })
  const slow = another().flush()
  await waiting
  await counters.flush()
  await counters.increment(1, 10)
  await counters.flush()

  goOn()
  await slow
  expect(database.prepare('SELECT seq FROM perilune_ledger').all()).toEqual([{ seq: 2 }])
  await counters.increment(1, 100)
  await counters.flush()

  expect(database.prepare('SELECT seq FROM perilune_ledger').all()).toEqual([{ seq: 3 }])
  expect(stored(1)).toBe(111)
})

describe('derived counters whose database came back with an old copy', () => {
  /** Values read from a roll-up that was never shown, and that the database has lost since. */
  async function aheadOfAll() {
    const all = await setupShown()
    const { votes, insert, database, source, another, stored } = all
    insert(1)
    insert(2)
    await votes.flush()
    for (const table of ['items', 'votes', 'perilune_cursor'])
      database.exec(`CREATE TABLE ${table}_copy AS SELECT * FROM ${table}`)
    insert(1, 2)
    insert(3)
    const dying: EventSource = Object.assign(Object.create(source) as EventSource, {
      rollUp: async (asked: Parameters<typeof source.rollUp>[0]) => {
        await source.rollUp(asked)
        throw new SinkError('sink-failed', 'it dies after its commit')
      },
    })
    await expect(another({ events: dying }).flush()).rejects.toThrow('it dies')
    expect(stored(1)).toBe(3)
    expect(await votes.getMany([1, 2, 3])).toEqual([3, 1, 1])
    for (const table of ['items', 'votes', 'perilune_cursor'])
      database.exec(`DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM ${table}_copy`)
    return all
  }

  test('show what it has after a round that counts rows', async () => {
    const { votes, insert } = await aheadOfAll()
    insert(2)

    await votes.flush()

    expect(await votes.getMany([1, 2, 3])).toEqual([1, 2, 0])
  })

  test('show its values after a round that finds nothing to count, and after a recount', async () => {
    const { votes } = await aheadOfAll()
    await votes.flush()
    expect(await votes.getMany([1, 2, 3])).toEqual([1, 1, 0])
    const { votes: others } = await aheadOfAll()
    await others.reconcile([1])
    expect(await others.getMany([1, 2, 3])).toEqual([1, 1, 0])
  })

  test('keep the shown values where only a lagging replica has older ones', async () => {
    const { votes, insert, source, calls } = await setupShown()
    insert(1)
    await votes.flush()
    await votes.getMany([1, 2])
    const { rollUp } = source
    const lagging = { version: 0, since: 0, values: new Map(), events: 0, more: false, until: '' }
    source.rollUp = async (asked) => (asked.isSure === true ? rollUp.call(source, asked) : lagging)

    await votes.flush()
    calls.length = 0

    expect(await votes.getMany([1, 2])).toEqual([1, 0])
    expect(calls).toEqual(['counters/shown'])
  })

  test('keep values that were read ahead of the round that is about to show them', async () => {
    const { votes, insert, source, calls } = await setupShown()
    insert(1)
    await votes.flush()
    insert(1)
    const { rollUp } = source
    source.rollUp = async (asked) => {
      const rolled = await rollUp.call(source, asked)
      source.rollUp = rollUp
      await votes.getMany([1, 2])
      return rolled
    }
    await votes.flush()
    calls.length = 0

    expect(await votes.getMany([1, 2])).toEqual([2, 0])
    expect(calls).toEqual(['counters/shown'])
  })
})

test('counters count nothing twice where the database went back, and Redis went back further', async () => {
  const losses: Loss[] = []
  const { counters, another, client, name, database, stored } = await setup({
    onLoss: (loss) => losses.push(loss),
  })
  await counters.increment(1, 10)
  await counters.flush()
  database.exec('CREATE TABLE copy AS SELECT * FROM perilune_ledger')
  await counters.increment(1, 5)
  await counters.flush()
  await counters.increment(1, 7)
  const keys = (await client.keys(`counters-test:{counters:${name}:0}:*`)).filter(
    (key) => !key.endsWith('clock'),
  )
  const dumps = await Promise.all(keys.map((key) => client.dumpBuffer(key)))
  database.exec(`UPDATE items SET votes = 10; DELETE FROM perilune_ledger;
    INSERT INTO perilune_ledger SELECT * FROM copy`)
  await counters.flush()
  expect(stored(1)).toBe(17)

  for (const key of await client.keys(`counters-test:{counters:${name}:0}:*`))
    if (!key.endsWith('clock')) await client.del(key)
  for (const [at, key] of keys.entries()) await client.restore(key, 0, dumps[at] as Buffer)
  const other = another({ onLoss: (loss) => losses.push(loss) })
  expect(await other.get(2)).toBe(0)
  await other.increment(1, 100)
  await other.flush()

  expect(stored(1)).toBe(117)
  expect(losses).toEqual([{ partition: 0, counters: 1, why: 'old copy of Redis' }])
})
