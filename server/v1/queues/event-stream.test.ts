import type { QueueEvent } from 'perilune'
import { expect, onTestFinished, test } from 'vitest'
import { queueEvents } from './event-stream.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('events that end while the client reads slowly are no unhandled rejection', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  async function* events(): AsyncGenerator<QueueEvent, void, undefined> {
    yield { kind: 'gap' }
    throw new Error('the client has left')
  }
  const stream = queueEvents(events(), AbortSignal.abort())

  const read = [await stream.next(), await stream.next()]
  await turn()

  expect(read.map(({ value }) => value)).toEqual(['retry: 1000\n\n', 'event: gap\ndata: {}\n\n'])
  expect(unhandled).toEqual([])
  expect(await stream.next()).toEqual({ value: undefined, done: true })
})
