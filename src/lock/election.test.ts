import { type Campaign, type Election, LeaseLostError, type Term } from 'perilune'
import { expect, onTestFinished, test } from 'vitest'
import { instance } from '../../test/instance.ts'

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

test('of many candidates one leads', async () => {
  const { redis, name } = instance()
  const election = redis.election(name)
  const { campaigns, terms } = stand(election, 5)

  await expect.poll(() => terms.length).toBe(1)

  expect(campaigns.filter(({ leading }) => leading)).toHaveLength(1)
  expect((await election.leader())?.token).toBe(terms[0]?.token)
})

test('when the leader steps down another follows, with a greater token', async () => {
  const { redis, name } = instance()
  const { campaigns, terms } = stand(redis.election(name), 2)
  await expect.poll(() => terms.length).toBe(1)

  for (const campaign of campaigns) campaign.stepDown()
  await expect.poll(() => terms.length).toBe(2)

  expect(terms[1]?.token).toBeGreaterThan(terms[0]?.token ?? 0)
  expect(terms[0]?.signal.aborted).toBe(true)
})

test('a leader whose task is done gives the office up', async () => {
  const { redis, name } = instance()
  const election = redis.election(name)
  let terms = 0
  const campaign = election.campaign(() => void (terms += 1))
  await expect.poll(() => terms).toBeGreaterThanOrEqual(2)

  await campaign.close()

  expect(await election.leader()).toBeNull()
})

test('a leader that lost the office is told by its signal, and knows at once when asked', async () => {
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

test('a task that throws is reported, and the process stands again', async () => {
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

test('a campaign whose signal aborts ends, and leaves the line', async () => {
  const { redis, name } = instance()
  const aborter = new AbortController()
  await using _leader = await redis.lock(name).acquire()
  const campaign = redis.election(name).campaign(() => undefined, { signal: aborter.signal })
  await expect.poll(async () => (await redis.lock(name).inspect()).waiting).toBe(1)

  aborter.abort(new Error('enough'))
  await campaign.close()

  await expect.poll(async () => (await redis.lock(name).inspect()).waiting).toBe(0)
})
