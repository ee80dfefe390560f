import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { sqliteEvents } from 'perilune/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { setup } from '../../test/shown-fixture.ts'
import type { EventSource, RolledUp, RollUp } from './count-source.ts'
import { SinkError } from './errors.ts'

/** The source with another function in place of its roll-up. */
function rollingUp(source: EventSource, rollUp: (asked: RollUp) => Promise<RolledUp>): EventSource {
  return Object.assign(Object.create(source) as EventSource, { rollUp })
}

describe('derived counters', () => {
  test('show the values of the database, and notes, at once', async () => {
    const { votes, insert, vote, stored } = await setup()
    insert(1, 3)
    expect(await votes.getMany([1, 2])).toEqual([3, 0])

    expect(await vote(1)).toBe(4)
    expect(await votes.get(1)).toBe(4)
    expect(stored(1)).toBeUndefined()

    expect(await votes.flush()).toEqual({ events: 4 })
    expect(stored(1)).toBe(4)
    expect(await votes.get(1)).toBe(4)
    expect(await votes.inspect()).toEqual({
      values: 2,
      noted: 0,
      waiting: 0,
      lagMs: null,
      versions: [expect.any(Number)],
    })
  })

  test('show a vote without a note after the next round', async () => {
    const { votes, insert } = await setup()
    await votes.get(1)
    insert(1)
    expect(await votes.get(1)).toBe(0)

    await votes.flush()

    expect(await votes.get(1)).toBe(1)
  })

  test('correct a note without a row', async () => {
    const { votes, insert } = await setup()
    insert(1, 2)
    await votes.get(1)
    expect(await votes.optimisticAdd(1, 5)).toBe(7)

    expect(await votes.flush()).toEqual({ events: 2 })

    expect(await votes.get(1)).toBe(2)
    await votes.optimisticAdd(1, -1)
    await votes.optimisticAdd(1, 1)
    expect(await votes.inspect()).toMatchObject({ noted: 1 })
    await votes.flush()
    expect(await votes.inspect()).toMatchObject({ noted: 0 })
  })

  test('answer notes of one tick as if they came one after the other, in one call', async () => {
    const { votes, calls } = await setup()
    await votes.get(1)
    calls.length = 0

    expect(
      await Promise.all([
        votes.optimisticAdd(1),
        votes.optimisticAdd(2),
        votes.optimisticAdd(1, 5),
        votes.optimisticAdd(1),
      ]),
    ).toEqual([1, null, 6, 7])
    expect(calls).toEqual(['counters/note'])
  })

  test('show a note that arrives during a round, and keep it for the next round', async () => {
    const { votes, another, source, insert, vote } = await setup()
    insert(1)
    await votes.get(1)
    const slow = rollingUp(source, async (asked) => {
      const rolled = await source.rollUp(asked)
      await vote(1)
      return rolled
    })

    await another({ events: slow }).flush()
    expect(await votes.get(1)).toBe(2)
    expect(await votes.inspect()).toMatchObject({ noted: 1 })

    await votes.flush()
    expect(await votes.get(1)).toBe(2)
    expect(await votes.inspect()).toMatchObject({ noted: 0 })
  })

  test('are ahead by the rows of a running round until that round ends, and right after it', async () => {
    const { votes, another, source, insert, vote } = await setup()
    insert(1)
    await votes.get(1)
    const slow = rollingUp(source, async (asked) => {
      await vote(1)
      return source.rollUp(asked)
    })

    await another({ events: slow }).flush()
    expect(await votes.get(1)).toBe(3)

    await votes.flush()
    expect(await votes.get(1)).toBe(2)
  })

  test('are counted up to the moment when a flush began, however many rows follow', async () => {
    const { another, source, insert, stored } = await setup()
    insert(1, 6)
    const flood = { rounds: 0 }
    const flooded = rollingUp(source, async (asked) => {
      const rolled = await source.rollUp(asked)
      flood.rounds += 1
      if (flood.rounds < 20) insert(1, 4)
      return rolled
    })

    expect(await another({ events: flooded, batchSize: 2 }).flush()).toEqual({ events: 6 })
    expect(stored(1)).toBe(6)
  })

  test('ask once for all counters with notes when a flush began, however many notes follow', async () => {
    const { votes, another, source } = await setup({ clock: 'real' })
    const noteAll = (from: number): Promise<unknown> =>
      Promise.all(Array.from({ length: 1000 }, (_, at) => votes.optimisticAdd(from + at)))
    for (const from of [0, 1000, 2000, 3000]) await noteAll(from)
    const asked = new Set<string>()
    const flood = { rounds: 0 }
    const flooded = rollingUp(source, async (round) => {
      for (const id of round.ids) asked.add(id)
      flood.rounds += 1
      if (flood.rounds < 40) await noteAll(3000 + flood.rounds * 1000)
      return source.rollUp(round)
    })

    await another({ events: flooded }).flush()

    expect(Array.from({ length: 4000 }, (_, at) => String(at)).filter((id) => !asked.has(id))).toEqual([])
    expect(flood.rounds).toBeLessThan(40)
  })

  test('show the later of two rounds that end in the wrong order', async () => {
    const { votes, another, source, insert, version } = await setup()
    insert(1)
    insert(2)
    await votes.getMany([1, 2])
    let isHeld: () => void = () => undefined
    const held = new Promise<void>((resolve) => (isHeld = resolve))
    let isThere: () => void = () => undefined
    const there = new Promise<void>((resolve) => (isThere = resolve))
    const slow = rollingUp(source, async (asked) => {
      const rolled = await source.rollUp(asked)
      isThere()
      await held
      return rolled
    })
    insert(1)
    const first = another({ events: slow }).flush()
    await there
    insert(2)
    const second = votes.flush()
    isHeld()
    await Promise.all([first, second])

    expect(await votes.getMany([1, 2])).toEqual([2, 2])
    expect((await votes.inspect()).versions).toEqual([version()])
  })

  test('read again what a round counted that ended before it showed the result', async () => {
    const { votes, another, source, insert, stored, version } = await setup()
    await votes.get(1)
    insert(1)
    const dying = rollingUp(source, async (asked) => {
      await source.rollUp(asked)
      throw new SinkError('sink-failed', 'the process ends here')
    })
    await expect(another({ events: dying }).flush()).rejects.toThrow('the process ends here')
    expect(stored(1)).toBe(1)
    expect(await votes.get(1)).toBe(0)

    await votes.flush()

    expect(await votes.get(1)).toBe(1)
    expect(await votes.inspect()).toMatchObject({ versions: [version()], waiting: 0 })
  })

  test('report by the deadline that the database does not return the number of waiting rows', async () => {
    const { source, client } = await setup()
    const redis = perilune(ioredis(client), { namespace: 'shown-test', deadline: '200ms' })
    onTestFinished(() => redis.close())
    const hanging = Object.assign(Object.create(source) as EventSource, {
      waiting: () => new Promise(() => undefined),
    })

    const votes = redis.counters('hanging', { events: hanging })
    await expect(votes.inspect()).rejects.toMatchObject({ code: 'sink-unreachable' })
  })

  test('are read from the database after Redis has lost everything', async () => {
    const { votes, insert, vote, empty } = await setup({ partitions: 3 })
    for (const item of [1, 2, 3, 4]) await vote(item)
    await votes.flush()
    await empty()

    expect(await votes.getMany([1, 2, 3, 4])).toEqual([1, 1, 1, 1])
    await vote(1)
    insert(2)
    await empty()
    await votes.flush()
    expect(await votes.getMany([1, 2, 3, 4])).toEqual([2, 2, 1, 1])
  })

  test('are right after Redis or the database came back with an old copy', async () => {
    const { votes, vote, client, name, database } = await setup()
    await votes.get(1)
    await vote(1)
    await votes.flush()
    const keys = (await client.keys(`*{counters:${name}:0}:*`)).filter((key) => !key.endsWith(':clock'))
    const dumps = await Promise.all(keys.map((key) => client.dumpBuffer(key)))
    await vote(1)
    await votes.flush()
    await Promise.all(keys.map((key, at) => client.restore(key, 0, dumps[at] as Buffer, 'REPLACE')))
    expect(await votes.get(1)).toBe(1)

    await votes.flush()
    expect(await votes.get(1)).toBe(2)

    database.exec(`UPDATE perilune_cursor SET version = 1, reached = 1; UPDATE items SET votes = 1;
      DELETE FROM votes WHERE id = 2`)
    await vote(1)
    await votes.flush()
    await votes.flush()
    expect(await votes.get(1)).toBe(2)
    database.exec(`DELETE FROM votes; UPDATE perilune_cursor SET version = 1; UPDATE items SET votes = 0`)
    await votes.flush()
    expect(await votes.get(1)).toBe(0)
  })

  test('stay for their retention after they were read, and while they have notes', async () => {
    const { votes, vote, client, name, clock } = await setup({ retention: '10s' })
    await votes.getMany([1, 2])
    await vote(2)
    await clock.advance(10_001)
    await votes.flush()

    expect(await client.hkeys(`shown-test:{counters:${name}:0}:shown`)).toEqual(['2'])
    expect(await client.pttl(`shown-test:{counters:${name}:0}:board`)).toBeGreaterThan(0)
    await vote(2)
    expect(await client.pttl(`shown-test:{counters:${name}:0}:board`)).toBe(-1)
  })

  test('are counted while other processes flush in the background', async () => {
    const { votes, another, vote, stored } = await setup({ clock: 'real', partitions: 4, batchSize: 7 })
    {
      await using _one = votes.flushEvery('5ms')
      await using _two = another().flushEvery('5ms')
      await Promise.all(Array.from({ length: 300 }, (_, at) => vote(at % 5)))
    }
    await votes.flush()

    const items = [0, 1, 2, 3, 4]
    expect(items.map(stored)).toEqual([60, 60, 60, 60, 60])
    expect(await votes.getMany(items)).toEqual([60, 60, 60, 60, 60])
  })

  test('resolve a note to null where Redis does not answer, and throw where they must read', async () => {
    const { source, client } = await setup()
    const gone = client.duplicate({ port: 1, retryStrategy: () => null })
    gone.on('error', () => undefined)
    const redis = perilune(ioredis(gone), { namespace: 'shown-test', deadline: '200ms' })
    const votes = redis.counters('votes', { events: source })

    expect(await votes.optimisticAdd(1)).toBeNull()
    await expect(votes.get(1)).rejects.toMatchObject({ name: 'DriverError' })
    await redis.close()
  })

  test('are read through the database of the handle in use, even if other handles were closed', async () => {
    const { client, name, open, insert } = await setup({ clock: 'real' })
    const redis = perilune(ioredis(client), { namespace: 'shown-test' })
    onTestFinished(() => redis.close())
    const closed = open()
    const table = { table: 'votes', id: 'item', target: { table: 'items', value: 'votes' } }
    const [before, after] = [closed, open()].map((database) =>
      redis.counters(name, { events: sqliteEvents(database, table) }),
    )
    insert(1, 2)
    expect(await after?.get(1)).toBe(2)
    expect(await before?.get(1)).toBe(2)
    closed.close()
    insert(2)

    expect(await after?.get(2)).toBe(1)
  })

  test('do not show counters that the database does not have', async () => {
    const { votes, database, insert } = await setup({
      events: { target: { table: 'items', value: 'votes', missing: 'refuse' } },
    })
    database.exec('INSERT INTO items VALUES (1, 0)')
    insert(1)
    insert(2)
    expect(await votes.getMany([1, 2])).toEqual([1, null])
    await votes.optimisticAdd(2)
    await expect(votes.flush()).rejects.toMatchObject({ code: 'sink-refused', refused: [{ id: '2', by: 1 }] })
    expect(await votes.getMany([1, 2])).toEqual([1, null])
    database.exec('DELETE FROM items')
    await expect(votes.reconcile([1])).rejects.toMatchObject({ refused: [{ id: '1', by: 1 }] })
    expect(await votes.get(1)).toBeNull()
  })

  test('settle notes of an id that the database cannot hold', async () => {
    const { votes } = await setup()
    expect(await votes.optimisticAdd('seven')).toBeNull()
    await votes.flush()
    expect(await votes.inspect()).toMatchObject({ noted: 0 })
    await expect(votes.get('seven')).rejects.toThrow('must be an integer')
  })

  test('that the column cannot hold cost the other ids of a read only a few more statements', async () => {
    const { votes, source } = await setup()
    const read = source.read.bind(source)
    let reads = 0
    source.read = (...asked) => {
      reads++
      return read(...asked)
    }
    const ids = Array.from({ length: 200 }, (_, at) => (at === 77 ? 'none' : String(at)))

    const answers = await Promise.allSettled(ids.map((id) => votes.get(id)))

    expect(answers.flatMap(({ status }, at) => (status === 'rejected' ? [ids[at]] : []))).toEqual(['none'])
    expect(reads).toBeLessThan(30)
  })

  test('are recomputed from their rows', async () => {
    const { votes, database, insert } = await setup()
    insert(1, 3)
    await votes.get(1)
    await votes.flush()
    database.exec('UPDATE items SET votes = 77')
    await votes.reconcile([1])
    expect(await votes.get(1)).toBe(3)
  })

  test('delete the shown values, and read them again', async () => {
    const { votes, insert } = await setup()
    insert(1)
    await votes.get(1)
    expect(await votes.clear()).toBe(true)
    expect(await votes.clear()).toBe(false)
    expect(await votes.get(1)).toBe(1)
  })

  test('name an invalid argument', async () => {
    const { votes, source, client } = await setup()
    const redis = perilune(ioredis(client))
    await expect(votes.optimisticAdd(1, 0.5)).rejects.toThrow('by must be a whole number')
    await expect(votes.optimisticAdd('')).rejects.toThrow('id must not be empty')
    await expect(votes.getMany('12' as never)).rejects.toThrow('ids must be an array')
    expect(() => redis.counters('v', { events: {} as never })).toThrow('events must be an event source')
    expect(() => redis.counters('v', { outbox: source as never })).toThrow('outbox must be an event source')
    expect(() => redis.counters('v', { events: source, batchSize: 0 })).toThrow('batchSize must be')
    expect(() => redis.counters('v', { events: source, fsyncGrace: '1s' } as never)).toThrow(
      'options.fsyncGrace',
    )
    expect(() => redis.counters('v', { events: source, sink: {} } as never)).toThrow('must have only one of')
  })
})
