import { expect, inject, test } from 'vitest'
import { createFastify } from '../../http/fastify.ts'
import { startApp } from '../../testing/test-app.ts'
import { Unsent } from '../../http/answers/unsent.ts'
import { Waits } from '../api/waits.ts'
import { claimJobsTo } from './claims.ts'

test('jobs that were claimed for a client which has left are given back', async () => {
  await using service = await startApp(inject('redisPort'))
  const queue = service.perilune.queue('left')
  await queue.enqueueMany([1, 2].map((payload) => ({ name: 'n', payload })))
  const app = createFastify('silent', { requestTimeoutMs: undefined, unsent: new Unsent() })
  const terms = { limit: 2, lease: '1h' } as const
  let outcome: Promise<unknown> = Promise.resolve('none')
  app.get('/', async (_request, reply) => {
    const claimDetached = async () => {
      const detached = await queue.claimDetached(terms)
      reply.raw.destroy()
      return detached
    }
    const leaving = { claimDetached, byToken: queue.byToken }
    outcome = claimJobsTo(reply, { waits: new Waits(1000) }, { queue: leaving, terms, wait: undefined })
    await outcome
    return reply.hijack()
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })

  await expect(fetch(url)).rejects.toThrow()
  expect(await outcome).toBe(null)
  expect((await queue.claim({ limit: 2 })).map(({ attempt }) => attempt)).toEqual([1, 1])
  await app.close()
})
