import { EventEmitter } from 'node:events'
import type { FastifyReply } from 'fastify'
import { DriverError } from 'perilune'
import { expect, inject, test } from 'vitest'
import { createFastify } from '../../http/fastify.ts'
import { startApp } from '../../testing/test-app.ts'
import { Unsent } from '../../http/answers/unsent.ts'
import { feedLimits } from './limits.ts'
import { Waits } from './waits.ts'
import { askWaiting, leaseTo } from './leases.ts'

test('a lease that was granted to a client which has left is given back', async () => {
  await using service = await startApp(inject('redisPort'))
  const { perilune } = service
  const lock = perilune.lock('left', { lease: '1h' })
  const app = createFastify('silent', { requestTimeoutMs: undefined, unsent: new Unsent() })
  const parts = { perilune, waits: new Waits(1000), limits: feedLimits }
  let outcome: Promise<unknown> = Promise.resolve('none')
  app.get('/', async (_request, reply) => {
    const acquireDetached = async () => {
      const leased = await lock.acquireDetached()
      reply.raw.destroy()
      return leased
    }
    const leases = { acquireDetached, byToken: lock.byToken }
    outcome = leaseTo(reply, parts, { leases, wait: undefined })
    await outcome
    return reply.hijack()
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })

  await expect(fetch(url)).rejects.toThrow()
  expect(await outcome).toBe(null)
  const { mode, token } = await lock.inspect()
  expect([mode, token]).toEqual(['free', expect.any(Number)])
  await app.close()
})

test('a request without room for its answer continues to wait, and reports that once its time is over', async () => {
  const noRoom = new DriverError('overloaded', 'the deadline passed before there was room for its answer')
  const reply = { raw: new EventEmitter() } as unknown as FastifyReply
  const waits = new Waits(60_000)
  let asked = 0
  const ask = async (): Promise<string> => {
    asked += 1
    if (asked < 3) throw noRoom
    return 'the answer'
  }

  expect(await askWaiting(reply, { waits, wait: '40s' }, ask)).toBe('the answer')
  await expect(askWaiting(reply, { waits, wait: '1ms' }, () => Promise.reject(noRoom))).rejects.toBe(noRoom)
})
