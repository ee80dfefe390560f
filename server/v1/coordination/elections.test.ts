import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const newElection = (): string => `/v1/elections/${randomUUID()}`
const lockOf = (election: string): string => election.replace('elections', 'locks')
const stand = (election: string, body: object = {}, query = ''): Promise<HttpAnswer> =>
  api.call('POST', `${election}/terms${query}`, { body })
const leaderOf = async (election: string): Promise<unknown> => (await api.call('GET', election)).json.leader

test('one candidate leads until it steps down, then the next one in line', async () => {
  const election = newElection()
  expect(await leaderOf(election)).toBe(null)
  const first = await stand(election, { lease: '1m', holder: 'ada' })
  expect([first.status, first.json.leaseMs]).toEqual([201, 60_000])
  const { token, expiresAtMs } = first.json
  expect(await leaderOf(election)).toEqual({ token, expiresAtMs, holder: 'ada' })

  const second = stand(election, { holder: 'bob' }, '?wait=25s')
  while ((await api.call('GET', lockOf(election))).json.waiting !== 1) await sleep(5)
  expect((await api.call('DELETE', first.headers.get('location') ?? '')).status).toBe(204)
  expect((await second).json.token).toBeGreaterThan(token)
  expect(await leaderOf(election)).toMatchObject({ holder: 'bob' })
})

test('a candidate that does not wait gets the end of the term', async () => {
  const election = newElection()
  await stand(election)
  const { status, headers, json } = await stand(election)
  expect([status, json.code, headers.get('retry-after')]).toEqual([409, 'held', '30'])
})

test('a term is extended by its token, and lost when the election is cleared', async () => {
  const election = newElection()
  const { json } = await stand(election)
  const place = `${election}/terms/${json.token}`
  expect((await api.call('PATCH', place, { body: { lease: '2m' } })).json.leaseMs).toBe(120_000)
  await api.call('DELETE', lockOf(election))
  for (const method of ['PATCH', 'DELETE']) {
    const lost = await api.call(method, place)
    expect([lost.status, lost.json.code]).toEqual([410, 'lease-lost'])
  }
})

test('candidates of the library and of the service share one election', async () => {
  const election = newElection()
  const { json } = await stand(election)
  const name = `v1:test/${election.split('/').at(-1)}`
  expect(await api.perilune.election(name).leader()).toMatchObject({ token: json.token })
})

test('an invalid argument is rejected by its name', async () => {
  const wrong = [
    ['lease', { lease: 'long' }, ''],
    ['fair', { fair: false }, ''],
    ['shared', { shared: true }, ''],
    ['wait', {}, '?wait=soon'],
    ['all', {}, '?all=true'],
  ] as const
  for (const [argument, body, query] of wrong) {
    const { status, json } = await stand(newElection(), body, query)
    expect([status, json.argument]).toEqual([400, argument])
  }
  const { status, json } = await api.call('DELETE', `${newElection()}/terms/1?shared=true`)
  expect([status, json.argument]).toEqual([400, 'shared'])
})
