// Who is told what became of an attempt: each that the handler has begun, once, whoever said it.

import { batch } from 'perilune'
import { expect, test } from 'vitest'
import { type Payloads, setup, until } from '../../../test/queue-fixture.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import type { WorkOptions } from './worker.ts'
import type { Handlers } from './attempts.ts'

const mails = [1, 2].map((to) => ({ name: 'mail' as const, payload: { to: String(to) } }))

const aborted = ({ signal }: ClaimedJob): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve))

/** What was told of two jobs that a worker had, when it is closed; and what it knows of them. */
async function toldOf(
  handlers: Handlers<Payloads>,
  isBegun: () => boolean,
  options: WorkOptions<Payloads> = {},
) {
  const { queue } = await setup({ clock: 'real' })
  const told: ClaimedJob[] = []
  await queue.enqueueMany(mails)
  const worker = queue.work(handlers, { onSettled: (job) => told.push(job), ...options })
  await until(isBegun)
  await worker.close({ within: '0ms' })
  return { told, queue }
}

const outcomesOf = (jobs: readonly ClaimedJob[]): unknown[] => jobs.map(({ outcome }) => outcome)

test.each<[string, (job: ClaimedJob) => Promise<unknown>]>([
  ['heed their signals', aborted],
  ['ignore their signals', () => new Promise((resolve) => setTimeout(resolve, 50))],
  ['never end', () => new Promise(() => undefined)],
])('jobs whose handlers %s are told as given back when their worker closes', async (_, work) => {
  let begun = 0
  const handler = (job: ClaimedJob): Promise<unknown> => {
    begun += 1
    return work(job)
  }
  const { told } = await toldOf(handler, () => begun === 2)
  await new Promise((resolve) => setTimeout(resolve, 100))

  expect(outcomesOf(told)).toEqual(['released', 'released'])
  expect(new Set(told).size).toBe(2)
})

test.each<[string, (job: ClaimedJob) => Promise<unknown>, string]>([
  ['ack', (job) => job.ack(), 'acked'],
  ['retry', (job) => job.retry(), 'retried'],
  ['fail', (job) => job.fail(), 'dead'],
  ['release', (job) => job.release({ delay: '1h' }), 'released'],
  ['ackAndEnqueue', (job) => job.ackAndEnqueue({ queue: 'other', name: 'x', payload: 0 }), 'acked'],
])('a job whose handler does not wait for its `%s` is told once', async (_, settle, outcome) => {
  const outcomes: unknown[] = []
  let begun = 0
  const each = (job: ClaimedJob): void => {
    begun += 1
    settle(job).catch((error: unknown) => outcomes.push(error))
  }
  const options: WorkOptions<Payloads> = { onSettled: (job) => outcomes.push(job.outcome) }
  await toldOf(each, () => begun === 2 && outcomes.length === 2, options)
  const together = batch<unknown>({ size: 2 }, (jobs) => jobs.forEach(each))
  await toldOf({ mail: together }, () => begun === 4 && outcomes.length === 4, options)

  expect(outcomes).toEqual(Array.from({ length: 4 }, () => outcome))
})

test('a job that is acked along with a claim by hand is told', async () => {
  const { queue } = await setup({ clock: 'real' })
  const told: ClaimedJob[] = []
  await queue.enqueueMany(mails)
  await using _worker = queue.work(
    { mail: async (job) => void (await queue.claim({ acks: [job] })) },
    { concurrency: 1, onSettled: (job) => told.push(job) },
  )

  await until(() => told.length === 2)

  expect(outcomesOf(told)).toEqual(['acked', 'acked'])
})

test('jobs that no handler has begun are not told when they are given back', async () => {
  let begun = 0
  const handler = (): Promise<unknown> => {
    begun += 1
    return new Promise(() => undefined)
  }
  const { told, queue } = await toldOf({ mail: handler }, () => begun === 1, { concurrency: 1, prefetch: 1 })

  expect(outcomesOf(told)).toEqual(['released'])
  expect(await queue.inspect()).toMatchObject({ ready: 2, claimed: 0 })
})
