import { EventEmitter } from 'node:events'
import type { FastifyReply } from 'fastify'
import { expect, test } from 'vitest'
import { Waits } from './waits.ts'

/** The parts of an answer that waits use. */
class Answer extends EventEmitter {
  destroyed = false

  get reply(): FastifyReply {
    return { raw: this } as unknown as FastifyReply
  }

  leave(): void {
    this.destroyed = true
    this.emit('close')
  }
}

test('a wait whose client has left before it began is over, and leaves nothing', async () => {
  const waits = new Waits(1000)
  const answer = new Answer()
  answer.leave()

  const signal = waits.begin(answer.reply)
  await waits.during(answer.reply, async (waiting) => waiting.throwIfAborted())

  expect([signal.aborted, waits.count, answer.listenerCount('close')]).toEqual([true, 0, 0])
})

test('a wait whose client leaves meanwhile is over, and leaves nothing', () => {
  const waits = new Waits(1000)
  const answer = new Answer()
  const signal = waits.begin(answer.reply)
  expect([signal.aborted, waits.count]).toEqual([false, 1])

  answer.leave()

  expect([signal.aborted, waits.count]).toEqual([true, 0])
})

test('waits that begin after the service has closed are over', () => {
  const waits = new Waits(1000)
  const answer = new Answer()
  const before = waits.begin(answer.reply)

  waits.close()

  const after = waits.begin(new Answer().reply)
  expect([before.aborted, after.aborted, waits.count]).toEqual([true, true, 1])
  answer.leave()
  expect(waits.count).toBe(0)
})
