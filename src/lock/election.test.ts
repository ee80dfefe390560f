import { getEventListeners } from 'node:events'
import { type Campaign, type Election, LeaseLostError, type Term } from 'perilune'
import { expect, onTestFinished, test } from 'vitest'
import { instance } from '../../test/instance.ts'
import { ServerReplyError } from '../driver.ts'

/** Candidates that lead until their term ends; `terms` are those begun so far. */
function stand(election: Election, count: number): { campaigns: Campaign[]; terms: Term[] } {
  const terms: Term[] = []
  const lead = async (term: Term): Promise<void> => {
    terms.push(term)
    await ended(term)
  }
  const campaigns = Array.from({ length: count }, () => election.campaign(lead))
  onTestFinished(async () => {
    await Promise.all(campaigns.map((campaign) => campaign.close()))
  })
  return { campaigns, terms }
}

function ended({ signal }: Term): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

test('one of many candidates leads', async () => {
  const { redis, name } = instance()
  const election = redis.election(name)
  const { campaigns, terms } = stand(election, 5)

  await expect.poll(() => terms.length).toBe(1)

  expect(campaigns.filter(({ leading }) => leading)).toHaveLength(1)
  expect((await election.leader())?.token).toBe(terms[0]?.token)
})

test('a reader of the lock with the same name does not lead', async () => {
  const { redis, name } = instance()
  await using _ = await redis.lock(name).shared.acquire()

  expect(await redis.election(name).leader()).toBeNull()
})

test('when the leader steps down another candidate leads, with a greater token', async () => {
  const { redis, name } = instance()
  const { campaigns, terms } = stand(redis.election(name), 2)
  await expect.poll(() => terms.length).toBe(1)

  for (const campaign of campaigns) campaign.stepDown()
  await expect.poll(() => terms.length).toBe(2)

  expect(terms[1]?.token).toBeGreaterThan(terms[0]?.token ?? 0)
  expect(terms[0]?.signal.aborted).toBe(true)
})

test('a leader whose task has ended gives up leadership', async () => {
  const { redis, name } = instance()
  const election = redis.election(name)
  let terms = 0
  const campaign = election.campaign(() => void (terms += 1))
  await expect.poll(() => terms).toBeGreaterThanOrEqual(2)

  await campaign.close()

  expect(await election.leader()).toBeNull()
})

test('the signal of a leader that lost leadership aborts, and assertLeading throws at once', async () => {
  const { redis, name } = instance()
  const election = redis.election(name, { lease: '2s' })
  const { campaigns, terms } = stand(election, 1)
  await expect.poll(() => terms.length).toBe(1)

  await redis.lock(name).clear()
  await expect.poll(() => terms[0]?.signal.aborted).toBe(true)

  expect(terms[0]?.signal.reason).toBeInstanceOf(LeaseLostError)
  expect(() => terms[0]?.assertLeading()).toThrow(LeaseLostError)
  await expect.poll(() => terms.length).toBe(2)
  expect(campaigns[0]?.leading).toBe(true)
})

test('a task error is reported, and the process becomes a candidate again', async () => {
  const { redis, name } = instance()
  const errors: unknown[] = []
  let terms = 0
  const campaign = redis.election(name).campaign(
    () => {
      terms += 1
      if (terms === 1) throw new Error('the first term failed')
    },
    { onError: (error) => errors.push(error) },
  )
  await expect.poll(() => terms, { timeout: 5000 }).toBeGreaterThanOrEqual(2)
  await campaign.close()

  expect(errors).toHaveLength(1)
  expect(errors[0]).toMatchObject({ message: 'the first term failed' })
})

test('the process becomes a candidate again also when its task used a closed instance', async () => {
  const { redis, name } = instance()
  const other = instance().redis
  await other.close()
  let terms = 0
  const campaign = redis.election(name).campaign(async () => {
    terms += 1
    await other.lock(name).inspect()
  })

  await expect.poll(() => terms, { timeout: 5000 }).toBeGreaterThanOrEqual(2)
  await campaign.close()
})

test('a task error is reported also when the lock cannot be released', async () => {
  const { redis, driver, name } = instance()
  const run = driver.run.bind(driver)
  driver.run = async (call) => {
    if (call.script.name === 'lock/release') throw new ServerReplyError('NOPERM no')
    return run(call)
  }
  const errors: unknown[] = []
  const campaign = redis.election(name, { lease: '1s' }).campaign(
    () => {
      throw new Error('the task failed')
    },
    { onError: (error) => errors.push(error) },
  )

  await expect.poll(() => errors).toMatchObject([{ message: 'the task failed' }])
  await campaign.close()
})

test('a campaign whose signal aborts ends and leaves the line', async () => {
  const { redis, name } = instance()
  const aborter = new AbortController()
  await using _leader = await redis.lock(name).acquire()
  const campaign = redis.election(name).campaign(() => undefined, { signal: aborter.signal })
  await expect.poll(async () => (await redis.lock(name).inspect()).waiting).toBe(1)

  aborter.abort(new Error('enough'))
  await campaign.close()

  await expect.poll(async () => (await redis.lock(name).inspect()).waiting).toBe(0)
})

test('a leader that steps down no longer leads from that moment on', async () => {
  const { redis, name } = instance()
  const { campaigns, terms } = stand(redis.election(name), 1)
  await expect.poll(() => terms.length).toBe(1)
  const [term] = terms as [Term]
  term.assertLeading()

  campaigns[0]?.stepDown()

  expect(campaigns[0]?.leading).toBe(false)
  expect(() => term.assertLeading()).toThrow(LeaseLostError)
})

test('a leader that closes its campaign no longer leads from that moment on', async () => {
  const { redis, name } = instance()
  const { campaigns, terms } = stand(redis.election(name), 1)
  await expect.poll(() => terms.length).toBe(1)

  const closing = campaigns[0]?.close()

  expect(campaigns[0]?.leading).toBe(false)
  expect(() => terms[0]?.assertLeading()).toThrow(LeaseLostError)
  await closing
})

test.each(['stepDown', 'close'] as const)(
  'a leader whose task continues after %s keeps the lock no longer than its lease',
  async (end) => {
    const { redis, name } = instance()
    const election = redis.election(name, { lease: '1s' })
    let finish = (): void => undefined
    const task = new Promise<void>((resolve) => (finish = resolve))
    let leads = false
    const stubborn = election.campaign(() => {
      leads = true
      return task
    })
    await expect.poll(() => leads).toBe(true)
    const { terms } = stand(election, 1)

    const leaving = stubborn[end]()

    await expect.poll(() => terms.length).toBe(1)
    finish()
    await stubborn.close()
    await leaving
  },
)

test('a candidate elected while its campaign ends does not begin a term, and releases the lock', async () => {
  const { redis, slowly, name } = instance()
  const election = redis.election(name)
  await election.leader()
  const aborter = new AbortController()
  slowly('lock/acquire', 100)
  let terms = 0
  const campaign = election.campaign(() => void (terms += 1), { signal: aborter.signal })
  await expect.poll(async () => (await redis.lock(name).inspect()).mode).toBe('held')

  aborter.abort()
  await campaign.close()

  expect(terms).toBe(0)
  await expect.poll(async () => (await redis.lock(name).inspect()).mode).toBe('free')
})

test('after a step-down no candidate is elected while the task runs and the lease lasts', async () => {
  const { redis, name } = instance()
  const election = redis.election(name, { lease: '1h' })
  const leading: string[] = []
  const work = async (who: string, { signal }: Term): Promise<void> => {
    leading.push(`${who} begins`)
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    await new Promise((resolve) => setTimeout(resolve, 50))
    leading.push(`${who} ends`)
  }
  await using first = election.campaign((term) => work('first', term))
  await expect.poll(() => leading.length).toBe(1)
  await using _second = election.campaign((term) => work('second', term))
  await expect.poll(async () => (await redis.lock(name).inspect()).waiting).toBe(1)

  first.stepDown()

  await expect.poll(() => leading).toContain('second begins')
  expect(leading.slice(0, 3)).toEqual(['first begins', 'first ends', 'second begins'])
})

test('a closed campaign leaves no listener on the signal of its caller', async () => {
  const { redis, name } = instance()
  const { signal } = new AbortController()
  await redis.election(name).leader()

  for (let n = 0; n < 3; n++)
    await redis
      .election(name)
      .campaign(() => undefined, { signal })
      .close()

  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('many campaigns share one signal without a warning', async () => {
  const { redis, name } = instance()
  const aborter = new AbortController()
  const warnings: Error[] = []
  const note = (warning: Error): void => void warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  await redis.election(name).leader()

  const campaigns = Array.from({ length: 20 }, (_, n) =>
    redis.election(`${name}:${n}`).campaign(() => undefined, { signal: aborter.signal }),
  )
  aborter.abort()
  await Promise.all(campaigns.map((campaign) => campaign.close()))
  await new Promise((resolve) => setImmediate(resolve))

  expect(warnings).toEqual([])
})

test('closing the instance aborts the signal of a leader like that of every lease', async () => {
  const { redis, name } = instance()
  const { terms } = stand(redis.election(name), 1)
  await expect.poll(() => terms.length).toBe(1)

  await redis.close()

  const { reason } = terms[0]?.signal ?? {}
  expect(reason).toBeInstanceOf(LeaseLostError)
  expect(reason).toHaveProperty('cause.code', 'closed')
})
