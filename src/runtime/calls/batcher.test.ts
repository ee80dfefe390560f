import { setImmediate as nextTick } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Batcher, type BatchTerms } from './batcher.ts'
import { Deadlines } from '../time/deadlines.ts'
import { AmbiguousError } from '../errors/errors.ts'
import { inTime } from '../time/in-time.ts'

interface Sent {
  items: number[]
  by: number
  answer(results: string[]): void
  fail(error: Error): void
}

function setup(
  limits: Partial<Omit<BatchTerms, 'name'>> = {},
  deadlineMs = 10_000,
): {
  batcher: Batcher<number, string>
  sent: Sent[]
  idle: () => number
  deadlines: Deadlines
} {
  const sent: Sent[] = []
  const deadlines = new Deadlines()
  let idle = 0
  const batcher = new Batcher<number, string>(
    (items, by) => new Promise((answer, fail) => sent.push({ items, by, answer, fail })),
    { name: 'test/write', items: 100, bytes: 1000, underWay: 2, waiting: 1000, ...limits },
    { driver: {}, deadlineMs, deadlines },
    () => (idle += 1),
  )
  return { batcher, sent, idle: () => idle, deadlines }
}

/** For a call without an answer: it fails at its deadline, after the test. */
function unheeded(adding: Promise<string[]>): void {
  adding.catch(() => undefined)
}

test('items added in one tick are sent together, and each caller gets its own results', async () => {
  const { batcher, sent, idle } = setup()

  const results = Promise.all([batcher.add([1], 1), batcher.add([2, 3], 1), batcher.add([4], 1)])
  await nextTick()
  await nextTick()
  sent[0]?.answer(['a', 'b', 'c', 'd'])

  expect(sent.map(({ items }) => items)).toEqual([[1, 2, 3, 4]])
  expect(await results).toEqual([['a'], ['b', 'c'], ['d']])
  expect(idle()).toBe(1)
})

test('the number of batches under way is limited, and waiting groups are sent together', async () => {
  const { batcher, sent } = setup({ underWay: 1 })
  unheeded(batcher.add([1], 1))
  await nextTick()
  await nextTick()
  unheeded(batcher.add([2], 1))
  await nextTick()
  unheeded(batcher.add([3], 1))
  await nextTick()
  expect(sent).toHaveLength(1)

  sent[0]?.answer(['a'])
  await nextTick()
  await nextTick()

  expect(sent[1]?.items).toEqual([2, 3])
})

test('a gathering batcher sends a few groups only when nothing is under way, and many at any time', async () => {
  const { batcher, sent } = setup({ gathers: true })
  const addEach = async (...items: number[]): Promise<void> => {
    for (const item of items) unheeded(batcher.add([item], 1))
    await nextTick()
    await nextTick()
  }
  await addEach(1)
  await addEach(2, 3, 4)
  expect(sent).toHaveLength(1)

  sent[0]?.answer(['a'])
  await addEach()
  expect(sent[1]?.items).toEqual([2, 3, 4])

  await addEach(5, 6, 7, 8, 9, 10, 11)
  expect(sent).toHaveLength(2)
  await addEach(12)

  expect(sent[2]?.items).toEqual([5, 6, 7, 8, 9, 10, 11, 12])
})

test('a batch stays below its size limit, and a group is never split', async () => {
  const { batcher, sent } = setup({ items: 3, bytes: 10 })

  unheeded(batcher.add([1, 2], 2))
  unheeded(batcher.add([3, 4], 2))
  unheeded(batcher.add([5], 9))
  await nextTick()
  await nextTick()

  expect(sent.map(({ items }) => items)).toEqual([
    [1, 2],
    [3, 4],
  ])
})

test('a failed batch fails its own groups only', async () => {
  const { batcher, sent } = setup({ items: 1 })
  const first = batcher.add([1], 1)
  const second = batcher.add([2], 1)
  await nextTick()
  await nextTick()

  sent[0]?.fail(new Error('no'))
  sent[1]?.answer(['b'])

  await expect(first).rejects.toThrow('no')
  expect(await second).toEqual(['b'])
})

test('groups beyond the limit of waiting items are rejected at once', async () => {
  const { batcher } = setup({ waiting: 2 })

  unheeded(batcher.add([1, 2], 1))

  await expect(batcher.add([3], 1)).rejects.toMatchObject({ code: 'overloaded' })
})

test('a group that waits for a hanging batch is rejected at its deadline and never sent', async () => {
  const { batcher, sent } = setup({ underWay: 1 }, 50)
  const hanging = batcher.add([1], 1)
  await nextTick()
  await nextTick()
  const waiting = batcher.add([2], 1)

  const [first, second] = await Promise.allSettled([hanging, waiting])
  expect(first).toMatchObject({ reason: { code: 'ambiguous' } })
  expect(second).toMatchObject({ reason: { code: 'unreachable' } })

  sent[0]?.answer(['too late'])
  await nextTick()
  expect(sent).toHaveLength(1)
})

test('a group that waited has the rest of its time, and its call has that of the newest group', async () => {
  const { batcher, sent } = setup({ underWay: 1 }, 2000)
  unheeded(batcher.add([1], 1))
  await nextTick()
  await nextTick()
  const older = batcher.add([2], 1)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const addedAt = performance.now()
  const younger = batcher.add([3], 1)
  sent[0]?.answer(['a'])

  await expect(older).rejects.toThrow(AmbiguousError)
  sent[1]?.answer(['b', 'c'])

  expect(await younger).toEqual(['c'])
  expect(sent[1]?.items).toEqual([2, 3])
  expect(sent[1]?.by).toBeGreaterThanOrEqual(addedAt + 2000)
})

test('when all is given up, each group settles at once, and no deadline remains', async () => {
  const { batcher, deadlines } = setup({ underWay: 1 })
  const sent = batcher.add([1], 1)
  await nextTick()
  await nextTick()
  const waiting = batcher.add([2], 1)
  const reason = new Error('closed')

  deadlines.giveUpAll(reason)

  const [first, second] = await Promise.allSettled([sent, waiting])
  expect(first).toMatchObject({ reason: { code: 'ambiguous', cause: reason } })
  expect(second).toMatchObject({ reason })
})

test('the error of a call that is given up with its group takes precedence', async () => {
  const { batcher, sent, deadlines } = setup()
  const carried = batcher.add([1], 1)
  await nextTick()
  await nextTick()

  deadlines.giveUpAll(new Error('closed'))
  sent[0]?.fail(new Error('it was not sent'))

  await expect(carried).rejects.toThrow('it was not sent')
})

test('after a stall beyond the deadline, the result of the call takes precedence too', async () => {
  const deadlines = new Deadlines()
  const batcher = new Batcher<number, string>(
    (_, by) => inTime(new Promise<string[]>(() => undefined), by, deadlines),
    { name: 'test/write', items: 100, bytes: 1000, underWay: 2, waiting: 1000 },
    { driver: {}, deadlineMs: 50, deadlines },
    () => undefined,
  )
  const adding = batcher.addOne(1, 1)
  await nextTick()
  await nextTick()

  const until = performance.now() + 100
  while (performance.now() < until);

  await expect(adding).rejects.toMatchObject({ code: 'unreachable' })
})
