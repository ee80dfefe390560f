// Each structure has a maker in its own entry, which opens it on a connection; `perilune()` is a connection too.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { DriverError, InvalidArgumentError, perilune } from 'perilune'
import { autocomplete, autocompleteScripts } from 'perilune/autocomplete'
import { cache, cacheScripts } from 'perilune/cache'
import { collection, collectionScripts } from 'perilune/collection'
import { type Connection, connect } from 'perilune/connection'
import { counters, countersScripts } from 'perilune/counters'
import { feed, feedScripts } from 'perilune/feed'
import { ioredis } from 'perilune/ioredis'
import { election, fenced, lock, lockScripts, locks } from 'perilune/lock'
import { once, onceScripts } from 'perilune/once'
import { queue, queueScripts } from 'perilune/queue'
import { rateLimit, rateLimitScripts } from 'perilune/rate-limit'
import { semaphore, semaphoreScripts } from 'perilune/semaphore'
import { expect, inject, onTestFinished, test } from 'vitest'
import contract from '../lua/contract.json' with { type: 'json' }
import { guildNames } from './scripts/generated/redis.ts'

const NAMESPACE = 'makers-test'

function client(): Redis {
  const made = new Redis(inject('redisPort'))
  onTestFinished(() => made.disconnect())
  return made
}

function connected(): Connection {
  const connection = connect(ioredis(client()), { namespace: NAMESPACE })
  onTestFinished(() => connection.close())
  return connection
}

const sink = {
  prepare: () => Promise.resolve(),
  apply: () => Promise.resolve('applied' as const),
} as never

type Make = (connection: Connection, name: string, options: object) => unknown

/** Every maker, with options that are right. */
const MAKERS: [name: string, make: Make, options: object][] = [
  ['autocomplete', autocomplete, {}],
  ['cache', cache, {}],
  ['collection', collection as Make, { kind: 'list' }],
  ['counters', counters as Make, { sink }],
  ['election', election, {}],
  ['feed', feed, {}],
  ['fenced', fenced, {}],
  ['lock', lock, {}],
  ['locks', (connection, name, options) => locks(connection, [name], options), {}],
  ['once', once, {}],
  ['queue', queue, {}],
  ['rateLimit', rateLimit as Make, { limit: 5, window: '1m' }],
  ['semaphore', semaphore as Make, { limit: 2 }],
]

test('every method of perilune() that opens a public structure has a maker', () => {
  const shop = perilune(ioredis(client()))
  const others = new Set(['constructor', 'catalog', 'preload'])
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(shop)).filter((name) => !others.has(name))

  expect(MAKERS.map(([name]) => name)).toEqual(methods.toSorted())
})

test.each(MAKERS)('%s: the maker opens the same structure as perilune()', (method, make, options) => {
  const shop = perilune(ioredis(client()), { namespace: NAMESPACE })
  const asMethod = (shop as unknown as Record<string, (name: unknown, given: object) => object>)[method]
  const opened = asMethod?.call(shop, method === 'locks' ? ['a'] : 'a', options)

  expect(make(connected(), 'a', options)).toBeInstanceOf(opened?.constructor)
  expect(make(shop, 'a', options), 'on an instance').toBeInstanceOf(opened?.constructor)
})

test.each(MAKERS)('%s: wrong arguments are rejected by name', (_name, make, options) => {
  const connection = connected()

  for (const wrong of [undefined, null, client(), ioredis(client()), {}]) {
    expect(() => make(wrong as never, 'a', options)).toThrow(
      new InvalidArgumentError('connection', 'must be what connect() or perilune() returned'),
    )
  }
  expect(() => make(connection, '', options)).toThrow(InvalidArgumentError)
  expect(() => make(connection, 'a', { ...options, lenght: 1 })).toThrow(/lenght/)
})

test('a lock that a connection acquired is held for an instance, and for another connection', async () => {
  const [name, connection] = [randomUUID(), connected()]
  const shop = perilune(ioredis(client()), { namespace: NAMESPACE })
  onTestFinished(() => shop.close())

  const lease = await lock(connection, name).acquire()

  expect(await shop.lock(name).tryAcquire()).toBeNull()
  expect(await lock(shop, name).tryAcquire()).toBeNull()
  await lease.release()
  expect(await lock(shop, name).tryAcquire()).not.toBeNull()
})

test('a connection closes like an instance: leases are given back, calls are rejected', async () => {
  const [name, connection] = [randomUUID(), connected()]
  await lock(connection, name).acquire()
  expect(connection.healthy()).toBe(true)

  await connection.close()

  expect(connection.healthy()).toBe(false)
  await expect(lock(connection, name).tryAcquire()).rejects.toThrow(DriverError)
  expect(await lock(connected(), name).tryAcquire()).not.toBeNull()
})

test('a connection and an instance take the same options', () => {
  for (const start of [connect, perilune]) {
    const driver = ioredis(client())
    expect(() => start(driver, { namespce: 'shop' } as never)).toThrow(/options\.namespce/)
    expect(() => start(driver, { deadline: 'soon' as never })).toThrow(/deadline/)
    expect(() => start(driver, { namespace: '' })).toThrow(/namespace/)
    expect(() => start(client() as never)).toThrow(/driver/)
    expect(() => start(driver, null as never)).toThrow(/options/)
  }
})

test('modules of users run on a connection', async () => {
  const names = guildNames(connected(), randomUUID())

  expect(await names.add({ member: 'ada' })).toHaveProperty('status')
})

const SCRIPTS = [
  autocompleteScripts,
  cacheScripts,
  collectionScripts,
  countersScripts,
  feedScripts,
  lockScripts,
  onceScripts,
  queueScripts,
  rateLimitScripts,
  semaphoreScripts,
]

test('the scripts of a structure are all its operations', () => {
  for (const { structure, scripts } of SCRIPTS) {
    const operations = Object.keys(contract.operations).filter((path) => path.startsWith(`${structure}/`))
    expect(
      scripts()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(operations.toSorted())
  }
})

test.each([connect, perilune])('preload loads the given scripts, and nothing else', async (start) => {
  const [driver, loaded] = [ioredis(client()), new Set<string>()]
  const load = driver.load.bind(driver)
  driver.load = async (script) => {
    loaded.add(script.name.replace(/\/.*/, ''))
    return load(script)
  }

  await start(driver, { namespace: NAMESPACE }).preload([lockScripts, onceScripts])

  expect([...loaded].toSorted()).toEqual(['lock', 'once'])
})

test('preload rejects by name anything but the scripts of a structure', async () => {
  const connection = connected()

  for (const wrong of [undefined, [], lockScripts, 'lock'])
    await expect(connection.preload(wrong as never)).rejects.toThrow(/^structures must/)
  for (const wrong of ['lock', lock, null, {}])
    await expect(connection.preload([lockScripts, wrong] as never)).rejects.toThrow(/^structures\[1\] must/)
})
