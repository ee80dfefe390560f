// The module that `perilune generate` writes for test/scripts/fixtures/redis, against real servers.

import { Cluster, Redis } from 'ioredis'
import { AmbiguousError, DriverError, InvalidArgumentError, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { instance } from '../instance.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'
import { type GuildNamesAddAnswer, guildNames, preload, visits } from './generated/redis.ts'

const NAMESPACE = 'instance-test'

test('a handle calls its operations, and answers as their heads declare', async () => {
  const { redis, client, name } = instance()
  const guild = guildNames(redis, `${name}:{7}`)

  expect(await guild.add({ member: 'ada' })).toEqual({ status: 'added', members: 1 })
  expect(await guild.add({ member: 'ada' })).toEqual({ status: 'known' })
  await guild.add({ member: 'adele' })
  await guild.add({ member: 'bob' })
  const added: GuildNamesAddAnswer = await guild.add({ member: 'eve' })
  if (added.status === 'added') expect(added.members).toBe(4)

  expect(await guild.complete({ prefix: 'ad' })).toEqual({ status: 'found', names: ['ada', 'adele'] })
  expect(await guild.complete({ prefix: 'ad', limit: 1 })).toEqual({ status: 'found', names: ['ada'] })
  expect(await client.keys(`*${name}*`)).toEqual([`${NAMESPACE}:{guild-names:${name}%3A%7B7%7D}:members`])
  expect(await guild.clear()).toEqual({ status: 'cleared' })
})

test('records, big numbers and repeated arguments travel both ways', async () => {
  const { redis, name } = instance()
  const before = BigInt(Date.now()) * 1000n

  const answer = await visits(redis, name).addUp({
    weight: 2,
    visits: [
      { place: 'lake', times: 3 },
      { place: 'hill', times: 1 },
    ],
  })

  expect(answer).toMatchObject({ status: 'counted', total: 8 })
  expect(answer.places).toEqual([
    { place: 'lake', times: 3 },
    { place: 'hill', times: 1 },
  ])
  expect(answer.last - before).toBeLessThan(600_000_000n)
})

test('on a cluster each unit lives in a slot of its own, with all its keys', async () => {
  const [port = 0] = inject('clusterPorts')
  const cluster = new Cluster([{ host: '127.0.0.1', port }])
  const redis = perilune(ioredis(cluster))
  onTestFinished(async () => {
    await redis.close()
    cluster.disconnect()
  })
  const numbers = Array.from({ length: 12 }, (_, at) => at)
  await preload(redis)

  const totals = await Promise.all(
    numbers.map(async (at) => {
      await visits(redis, `unit ${at}`).addUp({ weight: 1, visits: [{ place: 'lake', times: 1 }] })
      return visits(redis, `unit ${at}`).addUp({ weight: at, visits: [{ place: 'lake', times: 1 }] })
    }),
  )

  expect(totals.map(({ total }) => total)).toEqual(numbers.map((at) => at + 1))
})

test('a server that has lost the scripts gets their text again', async () => {
  const { redis, client, name } = instance()
  const guild = guildNames(redis, name)
  await guild.add({ member: 'ada' })

  await client.script('FLUSH')

  expect(await guild.add({ member: 'bob' })).toEqual({ status: 'added', members: 2 })
})

test('preload loads every script of the module', async () => {
  const { redis, client, name } = instance()
  await client.script('FLUSH')
  await preload(redis)
  const run = client.evalsha.bind(client)
  const missed: unknown[] = []
  client.evalsha = ((...args: Parameters<typeof run>) =>
    run(...args).catch((error: unknown) => {
      missed.push(error)
      throw error
    })) as typeof run

  await guildNames(redis, name).add({ member: 'ada' })
  await visits(redis, name).addUp({ weight: 1, visits: [] })

  expect(missed).toEqual([])
})

test('an error of Lua names the file and the line of the source', async () => {
  const { redis, name } = instance()
  const guild = guildNames(redis, name)
  await guild.add({ member: 'ada' })

  const error: unknown = await guild.broken().catch((reason: unknown) => reason)

  expect(error).toBeInstanceOf(DriverError)
  expect(String(error)).toMatch(
    /guild-names\/broken: .*not a valid float.*redis\/guild-names\/broken\.lua:10\b/,
  )
})

test('an invalid value found by a script is an error of the argument', async () => {
  const { redis, name } = instance()

  const refused = guildNames(redis, name).add({ member: 'ADA' })

  await expect(refused).rejects.toThrow(InvalidArgumentError)
  await expect(refused).rejects.toThrow('member must be a name in small letters')
})

const WRONG: [problem: string, call: (redis: Perilune, name: string) => Promise<unknown>][] = [
  ['member must be a string', (redis, name) => guildNames(redis, name).add({} as never)],
  ['member must be a string', (redis, name) => guildNames(redis, name).add({ member: '\ud800' })],
  ['arguments must be an object', (redis, name) => guildNames(redis, name).add('ada' as never)],
  [
    'arguments.limits is not known',
    (redis, name) => guildNames(redis, name).complete({ prefix: 'a', limits: 3 } as never),
  ],
  [
    'limit must be a whole number',
    (redis, name) => guildNames(redis, name).complete({ prefix: 'a', limit: 1.5 }),
  ],
  ['visits must be an array', (redis, name) => visits(redis, name).addUp({ weight: 1 } as never)],
  [
    'visits[1].times must be a whole number',
    (redis, name) =>
      visits(redis, name).addUp({
        weight: 1,
        visits: [
          { place: 'lake', times: 1 },
          { place: 'hill', times: Number.NaN },
        ],
      }),
  ],
]

test.each(WRONG)('an impossible argument is rejected before it is sent: %s', async (problem, call) => {
  const { redis, calls, name } = instance()

  const refused = call(redis, name)

  await expect(refused).rejects.toThrow(InvalidArgumentError)
  await expect(refused).rejects.toThrow(problem)
  expect(calls).toEqual([])
})

test('an argument that is undefined counts as omitted', async () => {
  const { redis, name } = instance()

  const answer = await guildNames(redis, name).complete({ prefix: 'a', limit: undefined } as never)

  expect(answer).toEqual({ status: 'found', names: [] })
})

test('a unit needs a name', () => {
  const { redis } = instance()

  expect(() => guildNames(redis, '')).toThrow(InvalidArgumentError)
})

test('a call whose answer was lost is sent again, and counts once', async () => {
  const { redis, proxy, name } = await behindProxy('3s')
  const own = visits(redis, name)
  await own.addUp({ weight: 1, visits: [{ place: 'lake', times: 1 }] })

  proxy.cutReplies(1, /evalsha/i)
  const answer = await own.addUp({ weight: 1, visits: [{ place: 'lake', times: 1 }] })

  expect(proxy.pendingFaults).toBe(0)
  expect(answer).toMatchObject({ total: 2, places: [{ place: 'lake', times: 2 }] })
})

test('a call without an answer until the deadline may have happened', async () => {
  const { redis, proxy, name } = await behindProxy('500ms')
  const own = visits(redis, name)
  await own.addUp({ weight: 1, visits: [] })

  proxy.halfOpen()

  await expect(own.addUp({ weight: 1, visits: [] })).rejects.toThrow(AmbiguousError)
})

async function behindProxy(
  deadline: '3s' | '500ms',
): Promise<{ redis: Perilune; proxy: Proxy; name: string }> {
  const proxy = await startProxy(inject('redisPort'))
  const client = new Redis(proxy.port, { retryStrategy: () => 20 })
  client.on('error', () => undefined)
  const redis = perilune(ioredis(client), { namespace: NAMESPACE, deadline })
  onTestFinished(async () => {
    client.disconnect()
    await redis.close()
    await proxy.stop()
  })
  return { redis, proxy, name: `lost-${proxy.port}` }
}
