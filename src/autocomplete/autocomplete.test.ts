import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import {
  AmbiguousError,
  type Autocomplete,
  type AutocompleteOptions,
  type NewEntry,
  bytes,
  type Driver,
  InvalidArgumentError,
  type Perilune,
  perilune,
  text as plainText,
} from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { counting } from '../../test/counting-driver.ts'
import { type Reply, type ScriptCall, ServerReplyError } from '../driver.ts'
import { START_US, setTestClock, withTestClock } from '../testing/test-clock.ts'

interface Setup<Payload> {
  index: Autocomplete<Payload>
  redis: Perilune
  /** The names of the scripts run so far. */
  calls: string[]
  advance(ms: number): Promise<void>
  readonly driver: Driver
}

const REAP = 'autocomplete/reap'

async function setup<Payload = unknown>(options: AutocompleteOptions<Payload> = {}): Promise<Setup<Payload>> {
  const client = new Redis(inject('redisPort'))
  const calls: string[] = []
  const plain = counting(ioredis(client), calls)
  const driver = withTestClock(plain, contract.clock)
  const redis = perilune(driver, { namespace: 'autocomplete-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const name = randomUUID()
  let us = START_US
  const advance = async (ms: number): Promise<void> => {
    us += ms * 1000
    await setTestClock(plain, `autocomplete-test:{autocomplete:${name}}`, us)
  }
  await advance(0)
  return { index: redis.autocomplete<Payload>(name, options), redis, calls, advance, driver }
}

async function textsOf(index: Autocomplete, query: string): Promise<string[]> {
  return (await index.suggest(query)).map(({ text }) => text)
}

test('an added entry is suggested with its text, score and payload', async () => {
  const { index } = await setup<{ people: number }>()

  expect(await index.add('Reykjavík', { score: 140_000, payload: { people: 140_000 } })).toEqual({
    replaced: false,
  })
  expect(await index.add('Reykjanes', { id: 'r' })).toEqual({ replaced: false })

  expect(await index.suggest('REYKJAVI')).toEqual([
    { id: 'Reykjavík', text: 'Reykjavík', score: 140_000, payload: { people: 140_000 }, edited: false },
  ])
  expect(await index.suggest(' réy ', { limit: 2 })).toEqual([
    expect.objectContaining({ text: 'Reykjavík' }),
    { id: 'r', text: 'Reykjanes', score: 0, payload: null, edited: false },
  ])
})

test.each([1, 6])('expired entries of %i words are removed as fast as others are added', async (words) => {
  const { index, advance } = await setup()
  const wordsOf = (round: number, at: number): string =>
    Array.from({ length: words }, (_, word) => `${word}${at}x${round}`).join(' ')

  for (let round = 0; round < 10; round += 1) {
    await index.addMany(
      Array.from({ length: 100 }, (_, at) => ({ text: wordsOf(round, at), ttl: '1s' as const })),
    )
    await advance(1000)
  }

  expect((await index.inspect()).entries).toBeLessThanOrEqual(200)
})

test('case, accents, width and white space are ignored in queries and texts', async () => {
  const { index } = await setup()
  await index.addMany([{ text: 'São  Paulo' }, { text: 'ＳＡＯ Tomé' }, { text: 'ΟΔΟΣ' }])

  expect(await textsOf(index, 'sao')).toEqual(['São  Paulo', 'ＳＡＯ Tomé'])
  expect(await textsOf(index, 'são p')).toEqual(['São  Paulo'])
  expect(await textsOf(index, 'tome')).toEqual(['ＳＡＯ Tomé'])
  expect(await textsOf(index, 'οδος')).toEqual(['ΟΔΟΣ'])
})

test('adding an id again replaces its entry, and a removed entry is not suggested', async () => {
  const { index } = await setup()
  await index.add('Bob', { id: '7' })

  expect(await index.add('Rob', { id: '7', score: 1 })).toEqual({ replaced: true })
  expect(await textsOf(index, 'b')).toEqual([])
  expect(await textsOf(index, 'r')).toEqual(['Rob'])
  expect(await index.remove('7')).toBe(true)
  expect(await index.remove('7')).toBe(false)
  expect(await textsOf(index, '')).toEqual([])
})

test('more entries than fit one call are added and removed in several', async () => {
  const { index } = await setup()
  const entries = Array.from({ length: 950 }, (_, at) => ({ text: `name ${at}`, score: at }))

  expect(await index.addMany(entries)).toEqual({ added: 950, replaced: 0 })
  expect(await index.addMany(entries.slice(0, 150))).toEqual({ added: 0, replaced: 150 })
  expect(await textsOf(index, 'n')).toEqual(
    [949, 948, 947, 946, 945, 944, 943, 942, 941, 940].map((n) => `name ${n}`),
  )
  expect(await index.inspect()).toMatchObject({ entries: 950, words: 1900, codec: 'json' })
  expect((await index.inspect()).hot).toBeGreaterThan(5)
  expect(await index.removeMany(entries.map(({ text }) => text).slice(100))).toBe(850)
  expect(await textsOf(index, 'n')).toEqual([99, 98, 97, 96, 95, 94, 93, 92, 91, 90].map((n) => `name ${n}`))
})

test('entries are folded just before their call, and wrong ones are found before any call', async () => {
  const { index, driver } = await setup()
  const texts = Array.from({ length: 300 }, (_, at) => `Name ${at}`)
  const lower = vi.spyOn(String.prototype, 'toLowerCase')
  onTestFinished(() => lower.mockRestore())
  const { run } = driver
  const folded: number[] = []
  driver.run = (call) => {
    const these = lower.mock.contexts.filter((text) => texts.includes(String(text)))
    folded.push(new Set(these.map(String)).size)
    return run.call(driver, call)
  }

  expect(await index.addMany(texts.map((text) => ({ text })))).toEqual({ added: 300, replaced: 0 })
  expect(folded[0]).toBeLessThan(150)
  expect(folded.at(-1)).toBe(300)

  const wrong = [...texts.map((text) => ({ text })), { text: ' \u0301' }]
  const before = folded.length
  await expect(index.addMany(wrong)).rejects.toThrow('entries[300].text')
  expect(folded).toHaveLength(before)
})

test('the first of very many entries are complete, like those of few', async () => {
  const { index } = await setup<number>()
  const entries = Array.from({ length: 150 }, (_, at) => ({
    text: at % 2 === 0 ? `Zoë ${at}` : `Zoe ${at}`,
    score: at - 75,
    ...(at % 3 === 0 ? {} : { id: `é${at}` }),
    ...(at % 5 === 0 ? {} : { payload: at }),
  }))
  await index.addMany(entries)
  const suggestion = (at: number): object => {
    const { text, score, id = text, payload = null } = entries[at] as (typeof entries)[number]
    return { id, text, score, payload, edited: false }
  }

  const first = await index.suggest('zoe', { limit: 9 })

  expect(first).toEqual([149, 148, 147, 146, 145, 144, 143, 142, 141].map(suggestion))
  expect(await index.suggest('zoe 149')).toEqual([suggestion(149)])
})

test('the first ten of very many entries need no script after the first query', async () => {
  const { index, calls } = await setup()
  await index.addMany(Array.from({ length: 150 }, (_, at) => ({ text: `Zoe ${at}`, score: at })))
  const first = await index.suggest('zoe', { limit: 10 })
  const before = calls.length

  expect(await index.suggest('zoe', { limit: 10 })).toEqual(first)
  expect(await index.suggest('zoe', { limit: 3 })).toEqual(first.slice(0, 3))

  expect(first.map(({ text }) => text).slice(0, 2)).toEqual(['Zoe 149', 'Zoe 148'])
  expect(calls.slice(before)).toEqual([])
})

test('a hundred are suggested, and the right ones, however many of the first have been removed', async () => {
  const { index } = await setup()
  const texts = Array.from({ length: 400 }, (_, at) => `${at % 8 === 0 ? 'xb' : 'xa'}${at}`)
  await index.addMany(texts.map((text, at) => ({ text, score: at % 8 === 0 ? -at : 1000 - at })))
  const isBetter = (text: string): boolean => text.startsWith('xa')
  const left = [...texts.filter(isBetter), ...texts.filter((text) => !isBetter(text))]

  for (let round = 0; round < 200; round++) {
    await index.remove(left.shift() ?? '')
    const found = await index.suggest('x', { limit: 100 })
    expect(found.map(({ text }) => text)).toEqual(left.slice(0, 100))
  }
})

test('an entry is suggested until it expires, also where hundreds before it have expired', async () => {
  const { index, advance } = await setup()
  const passing = Array.from({ length: 700 }, (_, at) => ({
    text: `a${at}`,
    score: 9,
    ttl: '1s' as const,
  }))
  await index.addMany([...passing, { text: 'as ever' }])
  await advance(999)
  expect(await textsOf(index, 'as')).toEqual(['as ever'])
  expect(await textsOf(index, 'a')).not.toContain('as ever')

  await advance(1)

  expect(await textsOf(index, 'a')).toEqual(['as ever'])
  expect(await textsOf(index, '')).toEqual(['as ever'])
})

test('expired entries that hide others from a query are removed first, however many others have expired', async () => {
  const { index, calls, advance } = await setup()
  const passing = (count: number, start: string): NewEntry<unknown>[] =>
    Array.from({ length: count }, (_, at) => ({ text: `${start}${at}`, score: 9, ttl: '1s' }))
  await index.addMany(passing(2000, 'other'))
  await advance(10)
  await index.addMany([...passing(250, 'a'), { text: 'as ever' }])
  await advance(1000)
  calls.splice(0)

  expect(await textsOf(index, 'A')).toEqual(['as ever'])

  expect(calls.filter((name) => name === REAP).length).toBeLessThan(5)
  expect((await index.inspect()).expired).toBeGreaterThan(1900)
})

test('queries wait until their deadline at most for the removal of expired entries, and share it', async () => {
  const slow = await setup()
  const reaps = { underWay: 0, most: 0 }
  const driver: Driver = Object.create(slow.driver, {
    run: {
      value: (call: ScriptCall) => (call.script.name === REAP ? reapSlowly(call) : slow.driver.run(call)),
    },
    close: { value: async () => undefined },
  })
  const reapSlowly = async (call: ScriptCall): Promise<Reply> => {
    reaps.most = Math.max(reaps.most, (reaps.underWay += 1))
    await new Promise((resolve) => setTimeout(resolve, 100))
    return slow.driver.run(call).finally(() => (reaps.underWay -= 1))
  }
  const hasty = perilune(driver, { namespace: 'autocomplete-test', deadline: '250ms' })
  onTestFinished(() => hasty.close())
  const passing = Array.from({ length: 700 }, (_, at) => ({
    text: `a${at}`,
    score: 9,
    ttl: '1s' as const,
  }))
  await slow.index.addMany([...passing, { text: 'as ever' }])
  await slow.advance(1000)

  const began = performance.now()
  const asked = await Promise.allSettled(
    ['a', 'a', ''].map((query) => hasty.autocomplete(slow.index.name).suggest(query)),
  )

  expect(performance.now() - began).toBeLessThan(1000)
  for (const one of asked) expect(one).toMatchObject({ status: 'rejected', reason: { code: 'busy' } })
  expect(reaps.most).toBe(1)
  await expect
    .poll(() => textsOf(hasty.autocomplete(slow.index.name), 'a').catch(String), { timeout: 5000 })
    .toEqual(['as ever'])
})

test('expired entries that hide others from a fuzzy query are removed first, too', async () => {
  const { index, calls, advance } = await setup()
  const passing = (count: number, start: string): NewEntry<unknown>[] =>
    Array.from({ length: count }, (_, at) => ({ text: `${start}${at}`, score: 9, ttl: '1s' }))
  await index.addMany(passing(2000, 'other'))
  await advance(10)
  await index.addMany([...passing(250, 'able'), { text: 'able as ever' }])
  await advance(1000)
  calls.splice(0)

  expect(await index.suggest('abbe', { fuzzy: true })).toMatchObject([{ text: 'able as ever' }])

  expect(calls.filter((name) => name === REAP).length).toBeLessThan(5)
  expect((await index.inspect()).expired).toBeGreaterThan(1900)
})

test('a fuzzy query finds texts one edit away, after exact matches', async () => {
  const { index } = await setup()
  await index.addMany([{ text: 'Johanna' }, { text: 'Joan', score: 5 }, { text: 'Hans', score: 9 }])

  expect(await index.suggest('joha', { fuzzy: true })).toMatchObject([
    { text: 'Johanna', edited: false },
    { text: 'Joan', edited: true },
  ])
  expect(await index.suggest('jaon')).toEqual([])
})

test('payloads are encoded by the codec', async () => {
  const raw = await setup({ codec: bytes })
  await raw.index.add('a', { payload: Uint8Array.of(0, 255) })
  const words = await setup({ codec: plainText })
  await words.index.add('a', { payload: 'as it is' })

  expect((await raw.index.suggest('a'))[0]?.payload).toEqual(Buffer.from([0, 255]))
  expect((await words.index.suggest('a'))[0]?.payload).toBe('as it is')
  const other = words.redis.autocomplete(words.index.name)
  await expect(other.suggest('a')).rejects.toMatchObject({ argument: 'codec' })
})

test('texts that repeat one word do not match others', async () => {
  const { index } = await setup()
  await index.add('b', { score: 9 })
  const alike = Array.from({ length: 64 }, (_, at) => ({ text: 'a a a a a a a a', id: `${at}` }))

  await index.addMany(alike)

  expect(await textsOf(index, '')).toContain('b')
  expect(await textsOf(index, 'a')).not.toContain('b')
})

test('an index is empty after clear', async () => {
  const { index } = await setup()
  await index.add('a')

  expect(await index.clear()).toBe(true)
  expect(await index.clear()).toBe(false)
  expect(await index.suggest('')).toEqual([])
  expect(await index.inspect()).toEqual({
    entries: 0,
    words: 0,
    hot: 0,
    expiring: 0,
    expired: 0,
    codec: null,
  })
})

test.each<[string, (index: Autocomplete) => Promise<unknown>]>([
  ['text', (index) => index.add('')],
  ['text', (index) => index.add('a\u0001b')],
  ['text', (index) => index.add('\u0301')],
  ['text', (index) => index.add('x'.repeat(513))],
  ['id', (index) => index.add('a', { id: '' })],
  ['score', (index) => index.add('a', { score: 0.5 })],
  ['score', (index) => index.add('a', { score: 2 ** 52 + 1 })],
  ['payload', (index) => index.add('a', { payload: 'x'.repeat(17_000) })],
  ['payload', (index) => index.add('a', { payload: () => 1 })],
  ['ttl', (index) => index.add('a', { ttl: '0s' })],
  ['entries', (index) => index.addMany('a' as never)],
  ['entries[1].text', (index) => index.addMany([{ text: 'a' }, { text: '' }])],
  ['entries[0].scores', (index) => index.addMany([{ text: 'a', scores: 1 } as never])],
  ['options.scores', (index) => index.add('a', { scores: 1 } as never)],
  ['id', (index) => index.remove('')],
  ['ids[0]', (index) => index.removeMany([''])],
  ['query', (index) => index.suggest(1 as never)],
  ['query', (index) => index.suggest('\u0000')],
  ['limit', (index) => index.suggest('a', { limit: 101 })],
  ['limit', (index) => index.suggest('a', { limit: 0 })],
  ['fuzzy', (index) => index.suggest('a', { fuzzy: 1 as never })],
])('a wrong argument is named, and nothing is written: %s', async (argument, call) => {
  const { index } = await setup()

  const error = await call(index).catch((thrown: unknown) => thrown)

  expect(error).toBeInstanceOf(InvalidArgumentError)
  expect(error).toMatchObject({ argument })
  expect(await index.inspect()).toMatchObject({ entries: 0, codec: null })
})

test('when a later call is rejected, the error says that earlier calls were carried out', async () => {
  const client = new Redis(inject('redisPort'))
  const plain = ioredis(client)
  const refused = new ServerReplyError("NOPERM User someone has no permissions to run the 'evalsha' command")
  let passing = 1
  const failing: Driver = Object.assign(counting(plain, []), {
    run: (call: Parameters<Driver['run']>[0]) =>
      call.send === 'source' || passing-- > 0 ? plain.run(call) : Promise.reject(refused),
  })
  const redis = perilune(failing, { namespace: 'autocomplete-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const index = redis.autocomplete(randomUUID())
  const entries = Array.from({ length: 150 }, (_, at) => ({ text: `Zoe ${at}` }))
  const adding = await index.addMany(entries).catch((error: unknown) => error)
  expect(adding).toBeInstanceOf(AmbiguousError)
  expect(String(adding)).toContain('only 87 of 150 additions were carried out')
  passing = 2
  expect(await index.inspect()).toMatchObject({ entries: 87 })
  const removing = await index.removeMany(entries.map(({ text }) => text)).catch((error: unknown) => error)
  expect(removing).toBeInstanceOf(AmbiguousError)
  expect(String(removing)).toContain('only 87 of 150 removals were carried out')
})
