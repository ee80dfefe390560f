// `onSettled`: called once for each attempt that the handler has begun, by the worker or by its handler.

import { batch } from 'perilune'
import { expect, test } from 'vitest'
import { type Payloads, setup, until } from '../../../test/queue-fixture.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import type { WorkOptions } from './worker.ts'
import type { Handlers } from './attempts.ts'

const mails = [1, 2].map((to) => ({ name: 'mail' as const, payload: { to: String(to) } }))

const aborted = ({ signal }: ClaimedJob): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve))

/** The jobs that `onSettled` got from a worker with two jobs when it is closed. */
async function reportedOf(
  handlers: Handlers<Payloads>,
  isBegun: () => boolean,
  options: WorkOptions<Payloads> = {},
) {
  const { queue } = await setup({ clock: 'real' })
  const reported: ClaimedJob[] = []
  await queue.enqueueMany(mails)
  const worker = queue.work(handlers, { onSettled: (job) => reported.push(job), ...options })
  await until(isBegun)
  await worker.close({ within: '0ms' })
  return { reported, queue }
}

const outcomesOf = (jobs: readonly ClaimedJob[]): unknown[] => jobs.map(({ outcome }) => outcome)

test.each<[string, (job: ClaimedJob) => Promise<unknown>]>([
  ['heed their signals', aborted],
  ['ignore their signals', () => new Promise((resolve) => setTimeout(resolve, 50))],
  ['never end', () => new Promise(() => undefined)],
])('jobs whose handlers %s are reported as released when their worker closes', async (_, work) => {
  let begun = 0
  const handler = (job: ClaimedJob): Promise<unknown> => {
    begun += 1
    return work(job)
  }
  const { reported } = await reportedOf(handler, () => begun === 2)
  await new Promise((resolve) => setTimeout(resolve, 100))

  expect(outcomesOf(reported)).toEqual(['released', 'released'])
  expect(new Set(reported).size).toBe(2)
})

test.each<[string, (job: ClaimedJob) => Promise<unknown>, string]>([
  ['ack', (job) => job.ack(), 'acked'],
  ['retry', (job) => job.retry(), 'retried'],
  ['fail', (job) => job.fail(), 'dead'],
  ['release', (job) => job.release({ delay: '1h' }), 'released'],
  ['ackAndEnqueue', (job) => job.ackAndEnqueue({ queue: 'other', name: 'x', payload: 0 }), 'acked'],
])('a job whose handler does not await its `%s` is reported once', async (_, settle, outcome) => {
  const outcomes: unknown[] = []
  let begun = 0
  const each = (job: ClaimedJob): void => {
    begun += 1
    settle(job).catch((error: unknown) => outcomes.push(error))
  }
  const options: WorkOptions<Payloads> = { onSettled: (job) => outcomes.push(job.outcome) }
  await reportedOf(each, () => begun === 2 && outcomes.length === 2, options)
  const together = batch<unknown>({ size: 2 }, (jobs) => jobs.forEach(each))
  await reportedOf({ mail: together }, () => begun === 4 && outcomes.length === 4, options)

  expect(outcomes).toEqual(Array.from({ length: 4 }, () => outcome))
})

test('a job that is acked along with a claim by hand is reported', async () => {
  const { queue } = await setup({ clock: 'real' })
  const reported: ClaimedJob[] = []
  await queue.enqueueMany(mails)
  await using _worker = queue.work(
    { mail: async (job) => void (await queue.claim({ acks: [job] })) },
    { concurrency: 1, onSettled: (job) => reported.push(job) },
  )

  await until(() => reported.length === 2)

  expect(outcomesOf(reported)).toEqual(['acked', 'acked'])
})

test('jobs that no handler has begun are not reported when they are released', async () => {
  let begun = 0
  const handler = (): Promise<unknown> => {
    begun += 1
    return new Promise(() => undefined)
  }
  const { reported, queue } = await reportedOf({ mail: handler }, () => begun === 1, {
    concurrency: 1,
    prefetch: 1,
  })

  expect(outcomesOf(reported)).toEqual(['released'])
  expect(await queue.inspect()).toMatchObject({ ready: 2, claimed: 0 })
})
