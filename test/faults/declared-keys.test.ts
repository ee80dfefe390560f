// What the compiler proves of the text, a server confirms: MONITOR shows each command that a script runs,
// and every key among its arguments must be one of the call's KEYS.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { type Feed, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'

test('no script touches a key that its call does not declare', async () => {
  const server = await startRedis()
  const client = new Redis(server.port)
  const monitor = await new Redis(server.port).monitor()
  const redis = perilune(ioredis(client), { namespace: 'watched' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
    monitor.disconnect()
    await server.stop()
  })
  const seen: { source: string; words: string[] }[] = []
  monitor.on('monitor', (_time: string, words: string[], source: string) => seen.push({ source, words }))

  await everyOperation(redis.feed(randomUUID(), { maxClaims: 1, keep: 20, origin: 'me' }))
  await everyCatalogOperation(redis.catalog(randomUUID()))
  await client.echo('the end')
  while (!seen.some(({ words }) => words[1] === 'the end')) await once(monitor, 'monitor')

  const undeclared: string[] = []
  const operations = new Set<string>()
  let declared = new Set<string>()
  for (const { source, words } of seen) {
    if (/^eval(sha)?$/i.test(words[0] ?? '')) {
      declared = new Set(words.slice(3, 3 + Number(words[2])))
      operations.add(words[1] ?? '')
    } else if (source === 'lua') {
      const touched = words.slice(1).filter((word) => word.startsWith('watched:'))
      undeclared.push(...touched.filter((key) => !declared.has(key) && !key.endsWith('wake')))
    }
  }
  expect(undeclared).toEqual([])
  expect(seen.filter(({ source }) => source === 'lua').length).toBeGreaterThan(100)
  expect(operations.size).toBeGreaterThanOrEqual(20)
})

async function everyOperation(feed: Feed<unknown>): Promise<void> {
  await feed.appendMany([
    { body: 1 },
    { body: 2, expireAfter: '1h', idempotencyKey: 'k' },
    { body: 3, expireAfter: '2h' },
    { body: 4, delay: '20ms' },
    { body: 5, delay: '1h' },
    { body: 6, expireAfter: '1ms' },
  ])
  await feed.read({ wait: '50ms', after: 'end', echo: false, includeClaimed: false, includeDelayed: true })
  const subscriber = feed.subscriber('ada', { protect: true })
  await subscriber.advance((await subscriber.page()).next)
  const claim = await feed.claim({ limit: 3, grace: '3h' })
  await feed.findClaim(claim?.token ?? 1)
  await feed.read({ includeClaimed: false })
  await claim?.extend('1m', { grace: '4h' })
  const [first, second] = claim?.messages ?? []
  await claim?.ack([first?.id ?? ''])
  await claim?.release([second?.id ?? ''])
  await claim?.release()
  await feed.claim({ limit: 5 })
  await feed.get(['1', second?.id ?? ''])
  await feed.remove([second?.id ?? '', '5'], { evenClaimed: true })
  await feed.appendMany(Array.from({ length: 30 }, (_, body) => ({ body })))
  await feed.deadLetters.read()
  await feed.inspect()
  await subscriber.forget()
  await feed.clear()
}

async function everyCatalogOperation(
  catalog: ReturnType<ReturnType<typeof perilune>['catalog']>,
): Promise<void> {
  await catalog.put('a', { n: 1 })
  await catalog.put('a', { n: 1 })
  await catalog.get('a')
  await catalog.update('a', () => ({ n: 2 }))
  await catalog.list()
  await catalog.remove('a')
}
