// A refusal of the database is reported once, also where the flush that wrote the batch failed for another reason.
import { SinkError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup } from '../../test/counters-fixture.ts'
import { setup as setupShown } from '../../test/shown-fixture.ts'
import type { AppliedInPart } from './sink.ts'

const REFUSE_ONE = `CREATE TRIGGER judge BEFORE INSERT ON items WHEN NEW.id = 1
  BEGIN SELECT RAISE(ABORT, 'not this one'); END`
const named = { code: 'sink-refused', refused: [{ id: '1', by: 5 }] }

describe('a refusal', () => {
  test('is reported by the next flush where another partition fails', async () => {
    const { counters, sink, database, stored } = await setup({ partitions: 4 })
    database.exec(REFUSE_ONE)
    await counters.increment(1, 5)
    for (let id = 2; id < 20; id++) await counters.increment(id)
    const { apply } = sink
    sink.apply = async (batch) => {
      if (batch.changes.some(({ id }) => id === '1')) return apply(batch)
      throw new SinkError('sink-failed', 'it is broken')
    }
    await expect(counters.flush()).rejects.toThrow('it is broken')
    sink.apply = apply

    await expect(counters.flush()).rejects.toMatchObject(named)
    expect(stored(19)).toBe(1)
    await counters.increment(2)
    expect(await counters.flush()).toEqual({ batches: 1, counters: 1 })
  })

  test('is reported by a worker that finds its batch in the database', async () => {
    const { counters, another, sink, database } = await setup()
    database.exec(REFUSE_ONE)
    await counters.increment(1, 5)
    await counters.increment(2, 7)
    const { apply } = sink
    sink.apply = async (batch) => {
      expect((await apply(batch)) as AppliedInPart).toMatchObject({ refused: [{ id: '1' }] })
      throw new SinkError('sink-failed', 'no refusal was reported')
    }
    await expect(counters.flush()).rejects.toThrow('no refusal was reported')
    sink.apply = apply

    await expect(another().flush()).rejects.toMatchObject(named)
    expect(await counters.flush()).toEqual({ batches: 0, counters: 0 })
  })

  test('of rows is reported by the next flush where a later round fails', async () => {
    const { votes, source, database, insert } = await setupShown({ batchSize: 5 })
    database.exec(REFUSE_ONE)
    insert(1, 5)
    insert(2, 7)
    const rollUp = source.rollUp.bind(source)
    let rounds = 0
    source.rollUp = (asked) => {
      rounds += 1
      return rounds === 2 ? Promise.reject(new SinkError('sink-failed', 'it is broken')) : rollUp(asked)
    }
    await expect(votes.flush()).rejects.toThrow('it is broken')

    await expect(votes.flush()).rejects.toMatchObject(named)
    expect(await votes.flush()).toEqual({ events: 0 })
  })

  test('of rows is reported by the next flush where the roll-up ended after its own flush', async () => {
    const { votes, source, database, insert, stored } = await setupShown({ deadline: '300ms' })
    await votes.prepare()
    database.exec(REFUSE_ONE)
    insert(1, 5)
    insert(2, 7)
    const rollUp = source.rollUp.bind(source)
    let end: () => void = () => undefined
    const late = new Promise<void>((resolve) => (end = resolve))
    source.rollUp = async (asked) => {
      const rolled = await rollUp(asked)
      await late
      return rolled
    }
    await expect(votes.flush()).rejects.toMatchObject({ code: 'sink-unreachable' })
    expect(stored(2)).toBe(7)
    end()

    await expect(votes.flush()).rejects.toMatchObject(named)
    expect(await votes.flush()).toEqual({ events: 0 })
  })

  test('is reported by the next flush where the caller of this one has aborted', async () => {
    const { votes, source, database, insert } = await setupShown()
    database.exec(REFUSE_ONE)
    insert(1, 5)
    const leaving = new AbortController()
    const rollUp = source.rollUp.bind(source)
    source.rollUp = async (asked) => {
      const rolled = await rollUp(asked)
      leaving.abort(new Error('left'))
      return rolled
    }
    await expect(votes.flush({ signal: leaving.signal })).rejects.toThrow('left')
    source.rollUp = rollUp

    await expect.poll(() => votes.flush().catch((error: unknown) => error)).toMatchObject(named)
  })
})
