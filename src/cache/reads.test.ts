import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import type { Driver, ReadCall, Reply } from '../driver.ts'
import { Runtime } from '../runtime/connection/runtime.ts'
import { Reads } from './reads.ts'

test('reads of one tick are MGETs of up to 64 keys, and a single read is a GET', async () => {
  const { reads, sent, client, prefix } = await setup()
  const keys = Array.from({ length: 129 }, (_, n) => `${prefix}${n}`)
  await client.mset(Object.fromEntries(keys.filter((_, n) => n % 2 === 0).map((key) => [key, `of ${key}`])))

  const found = await Promise.all([...keys, ...keys].map((key) => reads.get(key, 5000)))
  await reads.get(keys[0] ?? '', 5000)

  const expected = keys.map((key, n) => (n % 2 === 0 ? `of ${key}` : undefined))
  expect(found.map((value) => value?.toString())).toEqual([...expected, ...expected])
  expect(sent.map(({ command, args }) => [command, args.length])).toEqual([
    ['MGET', 64],
    ['MGET', 64],
    ['GET', 1],
    ['GET', 1],
  ])
})

test('reads that may take longer do not share a command with others, whose time they would decide', async () => {
  const { reads, sent, prefix } = await setup()

  await Promise.all([50, 5000, 50, 5000].map((withinMs, n) => reads.get(`${prefix}${n}`, withinMs)))

  const asked = sent.map(({ args }) => args.map((arg) => String(arg).slice(-1)).join(' '))
  expect(asked.toSorted()).toEqual(['0 2', '1 3'])
})

test('large values are read at most 2 MiB at a time, however many are requested', async () => {
  const { reads, sent, client, prefix } = await setup()
  const keys = Array.from({ length: 60 }, (_, n) => `${prefix}${n}`)
  const large = Buffer.alloc(500_000, 1)
  await client.mset(Object.fromEntries(keys.map((key) => [key, large])))

  const found = await Promise.all(keys.map((key) => reads.getValue(key, 5000)))

  expect(found.every((value) => value?.equals(large))).toBe(true)
  expect(sent.map(({ args }) => args.length)).toEqual(Array.from({ length: 15 }, () => 4))
})

test('large values stored after their keys were absent are not read all at once, either', async () => {
  const { reads, sent, client, prefix } = await setup()
  const keys = Array.from({ length: 60 }, (_, n) => `${prefix}${n}`)
  await Promise.all(keys.map((key) => reads.getValue(key, 5000)))
  const large = Buffer.alloc(500_000, 1)
  await client.mset(Object.fromEntries(keys.map((key) => [key, large])))
  for (const key of keys) reads.stored(key, large.length)
  sent.splice(0)

  const found = await Promise.all(keys.map((key) => reads.getValue(key, 5000)))

  expect(found.every((value) => value?.equals(large))).toBe(true)
  expect(sent.every(({ args }) => args.length <= 4)).toBe(true)
})

test('while it is unknown whether the server is a cluster, and in a cluster, each read is a GET', async () => {
  const { reads, sent, runtime } = await setup({ isCluster: true })
  await Promise.all([reads.get('a', 5000), reads.get('b', 5000)])
  expect(runtime.server.info?.cluster).toBe(true)
  expect(sent.map(({ command }) => command)).toEqual(['GET', 'GET'])

  const other = await setup({ asked: false })
  await Promise.all([other.reads.get('a', 5000), other.reads.get('b', 5000)])
  expect(other.sent.map(({ command }) => command)).toEqual(['GET', 'GET'])
})

test('reads are retried separately after a lost connection', async () => {
  const { reads, sent, client, prefix } = await setup({ breaks: true })
  await client.set(`${prefix}a`, '1')

  const found = await Promise.all([reads.get(`${prefix}a`, 5000), reads.get(`${prefix}b`, 5000)])

  expect(found.map((value) => value?.toString())).toEqual(['1', undefined])
  expect(sent.map(({ command }) => command).slice(0, 3)).toEqual(['MGET', 'GET', 'GET'])
})

test('an invalid reply drops the connection, and the read is sent again', async () => {
  const odd: [count: number, reply: Reply][] = [
    [1, [Buffer.from('of another call')]],
    [1, 7],
    [2, Buffer.from('of another call')],
    [2, [Buffer.from('of another call')]],
    [2, [Buffer.from('of another call'), 7]],
  ]
  for (const [count, reply] of odd) {
    const { reads, client, prefix, dropped } = await setup({ reply })
    const keys = Array.from({ length: count }, (_, n) => `${prefix}${n}`)
    await client.mset(Object.fromEntries(keys.map((key) => [key, `of ${key}`])))

    const found = await Promise.all(keys.map((key) => reads.get(key, 5000)))

    expect(found.map(String)).toEqual(keys.map((key) => `of ${key}`))
    expect(dropped).toEqual([keys[0]])
  }
})

test('a key of another type is not a value', async () => {
  const { reads, client, prefix } = await setup()
  await client.set(`${prefix}a`, '1')
  await client.sadd(`${prefix}b`, '1')
  const found = await Promise.all([reads.get(`${prefix}a`, 5000), reads.get(`${prefix}b`, 5000)])
  expect(found.map((value) => value?.toString())).toEqual(['1', undefined])
  await expect(reads.get(`${prefix}b`, 5000)).rejects.toMatchObject({ name: 'DriverError' })
})

test('reads of the tick in which the instance closes are rejected and not sent', async () => {
  const { reads, runtime, sent } = await setup()
  const reading = [reads.get('a', 60_000), reads.get('b', 60_000)]
  for (const each of reading) each.catch(() => undefined)

  await runtime.close()

  for (const each of reading) await expect(each).rejects.toMatchObject({ code: 'closed' })
  expect(sent).toEqual([])
})

test('large values of a silent node do not block those of another', async () => {
  const { reads, client, prefix } = await setup({ isSilent: (key) => key.endsWith('silent') })
  await client.set(`${prefix}well`, 'well')

  const late = Array.from({ length: 20 }, (_, n) => reads.getValue(`${prefix}${n}:silent`, 500))
  for (const each of late) each.catch(() => undefined)

  expect(String(await reads.getValue(`${prefix}well`, 5000))).toBe('well')
})

interface Scene {
  readonly reads: Reads
  readonly runtime: Runtime
  readonly client: Redis
  readonly prefix: string
  /** The reads sent to the server. */
  readonly sent: ReadCall[]
  /** Keys whose connections were dropped. */
  readonly dropped: string[]
}

interface Terms {
  asked?: boolean
  isCluster?: boolean
  /** The connection is lost when the first read is sent. */
  breaks?: boolean
  /** Keys of a separate node that does not answer. */
  isSilent?: (key: string) => boolean
  /** The reply to the first read. */
  reply?: Reply
}

async function setup({
  asked = true,
  isCluster = false,
  breaks = false,
  isSilent = () => false,
  reply,
}: Terms = {}): Promise<Scene> {
  const dropped: string[] = []
  const client = new Redis(inject('redisPort'))
  const sent: ReadCall[] = []
  const plain = ioredis(client)
  const driver: Driver = Object.assign(Object.create(plain) as Driver, {
    read(calls: readonly ReadCall[]) {
      const isFirst = sent.length === 0
      sent.push(...calls)
      if (calls.some(({ args }) => isSilent(String(args[0]))))
        return calls.map(() => new Promise(() => undefined))
      const replies = plain.read(calls)
      if (breaks && isFirst) client.stream.destroy()
      return reply !== undefined && isFirst ? [Promise.resolve(reply)] : replies
    },
    placeOf: (key: string) => (isSilent(key) ? 'silent' : 'well'),
    reconnect: (key: string) => void dropped.push(key),
    info: async () => ({ ...(await plain.info()), cluster: isCluster }),
    close: () => plain.close(),
  })
  const runtime = new Runtime(driver, 'reads-test', 5000)
  if (asked) await runtime.server.ask()
  onTestFinished(async () => {
    await runtime.close()
    client.disconnect()
  })
  const prefix = `reads-test:${randomUUID()}:`
  return { reads: new Reads(runtime, 'reads-test'), runtime, client, prefix, sent, dropped }
}
