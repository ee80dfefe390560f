import type { QueueEvent } from 'perilune'
import { expect, onTestFinished, test } from 'vitest'
import { Slices } from '../../process/slices.ts'
import { queueEvents } from './events.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('events that end while the client reads slowly cause no unhandled rejection', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  async function* events(): AsyncGenerator<QueueEvent, void, undefined> {
    yield { kind: 'gap' }
    throw new Error('the client has left')
  }
  const stream = queueEvents(events(), AbortSignal.abort(), new Slices())

  const read = [await stream.next(), await stream.next()]
  await turn()

  expect(read.map(({ value }) => value)).toEqual(['retry: 1000\n\n', 'event: gap\ndata: {}\n\n'])
  expect(unhandled).toEqual([])
  expect(await stream.next()).toEqual({ value: undefined, done: true })
})

test('events that are available are written together, for every reader', async () => {
  const events = Array.from({ length: 1000 }, (_, at) => ({ kind: 'enqueued', id: `${at}` }) as QueueEvent)
  const stream = queueEvents(given(events), new AbortController().signal, new Slices())

  const texts: string[] = []
  for await (const text of stream) texts.push(text)

  const ids = [...texts.join('').matchAll(/"id":"(\d+)"/g)].map(([, id]) => Number(id))
  expect(ids).toEqual(events.map((_, at) => at))
  expect(texts.length).toBeLessThan(10)
})

/** All at once, like the events of one message of a queue. */
function given(events: readonly QueueEvent[]): AsyncGenerator<QueueEvent, void, undefined> {
  const rest = events.values()
  const end = (): Promise<IteratorReturnResult<void>> => Promise.resolve({ done: true, value: undefined })
  return {
    next: () => {
      const { done, value } = rest.next()
      return done === true ? end() : Promise.resolve({ done: false, value })
    },
    return: end,
    throw: end,
    [Symbol.asyncIterator]() {
      return this
    },
    [Symbol.asyncDispose]: async () => undefined,
  }
}
