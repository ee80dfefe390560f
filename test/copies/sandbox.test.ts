// A test runner with a sandbox, such as Jest, gives the library other classes of the language than Node's own modules
// have: their errors are of no class that it knows, nor are the errors, dates and promises of a program outside.

import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type * as ioredisLibrary from 'ioredis'
import type * as library from 'perilune'
import type * as driver from 'perilune/ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failureOf } from '../../src/testing/driver-calls.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { loadInSandbox } from './second-copy.ts'

type Sandboxed = typeof library & typeof driver & Pick<typeof ioredisLibrary, 'Redis'>

let server: RedisServer
let sandboxed: Sandboxed
let client: ioredisLibrary.Redis
let redis: library.Perilune

beforeAll(async () => {
  const names = ['perilune', 'perilune/ioredis']
  const lines = [`export { Redis } from 'ioredis-lowest'`, ...names.map((name) => `export * from '${name}'`)]
  sandboxed = await loadInSandbox<Sandboxed>(lines.join('\n'))
  server = await startRedis()
  client = new sandboxed.Redis({ host: '127.0.0.1', port: server.port })
  redis = sandboxed.perilune(sandboxed.ioredis(client))
})
afterAll(async () => {
  await redis.close()
  client.disconnect()
  await server.stop()
})

test('the realms are different', () => {
  expect(new sandboxed.DriverError('busy', 'x')).not.toBeInstanceOf(Error)
})

describe('the failure of a job', () => {
  const failures: [string, () => unknown, { kind: string; message: RegExp }][] = [
    ['an error of Node', () => readFile('/nowhere'), { kind: 'Error', message: /^Error: ENOENT/ }],
    [
      'an error of the program',
      () => {
        throw new TypeError('odd')
      },
      { kind: 'TypeError', message: /^TypeError: odd\n\s+at / },
    ],
    [
      'an abort',
      () => AbortSignal.abort().throwIfAborted(),
      { kind: 'AbortError', message: /^AbortError: This operation was aborted/ },
    ],
  ]

  test.each(failures)('has kind and stack of %s', async (_, handler, { kind, message }) => {
    const queue = redis.queue(randomUUID())
    const { id } = await queue.enqueue('job', {}, { maxAttempts: 1 })
    const worker = queue.work({ job: handler })

    const ended = await queue.jobs.waitForResult(id, { wait: '10s' })
    await worker.close()

    expect(ended).toMatchObject({ failure: { kind, message: expect.stringMatching(message) } })
  })

  test('of a batch is the error that is its result', async () => {
    const queue = redis.queue(randomUUID())
    const { id } = await queue.enqueue('job', {}, { maxAttempts: 1 })
    const handler = sandboxed.batch({ size: 1 }, (jobs) => jobs.map(() => new RangeError('far')))
    const worker = queue.work({ job: handler })

    const ended = await queue.jobs.waitForResult(id, { wait: '10s' })
    await worker.close()

    expect(ended).toMatchObject({ failure: { kind: 'RangeError' } })
  })
})

test('a schema may be asynchronous', async () => {
  const validate = (): Promise<{ issues: { message: string }[] }> =>
    Promise.resolve({ issues: [{ message: 'odd' }] })
  const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const
  const queue = redis.queue(randomUUID(), { schemas: { job: schema } })

  const refused = await failureOf(queue.enqueue('job', {}))

  expect(refused).toMatchObject({ code: 'invalid-argument', message: expect.stringContaining('odd') })
})

test('a recurring job ends at a date', async () => {
  const { recurring } = redis.queue(randomUUID())
  const until = new Date(Date.now() + 60_000)

  await recurring.set('id', { name: 'job', payload: {}, every: '1m', until })

  expect(await recurring.get('id')).toMatchObject({ untilMs: until.getTime() })
})
