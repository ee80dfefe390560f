// Claims that ack the jobs before them.

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import { startFeedApi } from '../../testing/feed-api.ts'

test('completed acks are reported, also if their claim ends because the service closes', async () => {
  const closing = await startFeedApi(inject('redisPort'))
  const queue = '/v1/queues/acked'
  await closing.call('POST', `${queue}/jobs`, { body: { id: 'first', name: 'n', payload: 1 } })
  const [{ id, token }] = (await closing.call('POST', `${queue}/claims`)).json.jobs
  const waiting = closing.call('POST', `${queue}/claims?wait=50s`, { body: { acks: [{ id, token }] } })
  while ((await closing.call('GET', queue)).json.idle !== 1) await sleep(5)
  await closing[Symbol.asyncDispose]()
  const { status, json } = await waiting
  expect([status, json]).toEqual([200, { jobs: [], acked: [{ id, token, outcome: 'acked' }] }])
})
