import assert from 'node:assert/strict'
import { ServerReplyError } from '../driver.ts'
import { callOf, failureOf, scriptOf, WRITE } from './driver-calls.ts'
import { type DriverCase, withDriver } from './driver-context.ts'

export const readCases: DriverCase[] = [
  {
    title: 'reads of several slots keep their order and return Buffers',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const tag = context.uniqueTag()
        const keys = Array.from({ length: 40 }, (_, n) => `${tag}:${n}`)
        await Promise.all(
          driver.runMany(keys.map((key, n) => callOf(WRITE, [key], [Buffer.from([n, 0xff])]))),
        )

        const mixed = [keys[3] ?? '', `${tag}:missing`, ...keys]
        const [one, none, many] = await Promise.all(
          driver.read([
            { command: 'GET', args: [keys[5] ?? ''] },
            { command: 'get', args: [Buffer.from(`${tag}:missing`)] },
            { command: 'MGET', args: mixed },
          ]),
        )

        assert.deepEqual(one, Buffer.from([5, 0xff]))
        assert.equal(none, null)
        assert.deepEqual(many, [Buffer.from([3, 0xff]), null, ...keys.map((_, n) => Buffer.from([n, 0xff]))])
      }),
  },
  {
    title: 'a read of a hash is a flat list, and a failing read fails alone',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const key = context.uniqueTag()
        await driver.run(callOf(scriptOf("return redis.call('HSET', KEYS[1], 'field', 'value')"), [key]))

        const [all, wrong] = driver.read([
          { command: 'HGETALL', args: [key] },
          { command: 'GET', args: [key] },
        ])
        const [fields, failure] = await Promise.all([all, failureOf(wrong ?? Promise.resolve())])

        assert.deepEqual(fields, [Buffer.from('field'), Buffer.from('value')])
        assert.ok(failure instanceof ServerReplyError && failure.word === 'WRONGTYPE')
      }),
  },
  {
    title: 'a plain write takes text, numbers and bytes, and returns its reply or the error',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const key = context.uniqueTag()
        const bytes = Buffer.from([0, 0xff, 0x0d, 0x0a])

        const size = await driver.write({ command: 'RPUSH', args: [key, 'text', 7, bytes] })
        const refused = await failureOf(driver.write({ command: 'SADD', args: [key, 'text'] }))
        const [stored] = await Promise.all(driver.read([{ command: 'LRANGE', args: [key, 0, -1] }]))

        assert.equal(size, 3)
        assert.deepEqual(stored, [Buffer.from('text'), Buffer.from('7'), bytes])
        assert.ok(refused instanceof ServerReplyError && refused.word === 'WRONGTYPE')
      }),
  },
  {
    title: 'info reports the engine, the version, and whether the server is a cluster',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const info = await driver.info()

        assert.match(info.version, /^\d+\.\d+\.\d+/)
        assert.equal(info.cluster, context.kind === 'cluster')
        assert.equal(
          info.shardedChannels,
          context.kind === 'cluster' && Number.parseInt(info.version, 10) >= 7,
        )
        assert.ok(['redis', 'valkey', 'other'].includes(info.engine))
      }),
  },
  {
    title: 'wait counts the replicas that have the last write',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const key = context.uniqueTag()
        await driver.run(callOf(WRITE, [key], ['x']))

        const wanted = context.kind === 'sentinel' ? 1 : 0
        const confirmed = await driver.wait(key, wanted, 5000)

        assert.ok(confirmed >= wanted, `${confirmed} confirmed`)
      }),
  },
]
