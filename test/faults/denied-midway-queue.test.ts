// A command that a call of a queue meets in its middle is denied for a moment: the call is refused before anything has
// changed that is seen, or it has happened as a whole. Then every job is done once, and nothing is left that does not
// agree.

import type { Redis } from 'ioredis'
import type { Queue } from 'perilune'
import { expect, test } from 'vitest'
import { operationOf } from '../../src/testing/vector-contract.ts'
import { audit } from '../audit/audit.ts'
import { readContract } from '../conformance/files.ts'
import { setup } from '../denied-fixture.ts'
import { type Case, claims, enqueues, hold, HOUR, type Jobs, passes, put } from './denied-queue-calls.ts'
import { changes, ends } from './denied-queue-ends.ts'

const contract = readContract()
const cases: Record<string, Case> = { ...claims, ...ends, ...enqueues, ...changes }

/** The commands of a script, as its text has them. */
function commandsOf(operations: Case['of']): string[] {
  const texts = operations.map((operation) => operationOf(contract, operation).source)
  const found = texts.flatMap((text) => [...text.matchAll(/redis\.p?call\(\s*'([A-Z]+)'/g)])
  return [...new Set(found.map(([, name = '']) => name.toLowerCase()))].toSorted()
}

test.each(Object.entries(cases))('%s is done as a whole, or not at all', async (_, asked) => {
  const { redis, name, admin, without } = await setup()
  const wrong: unknown[] = []
  for (const command of commandsOf(asked.of)) {
    const queue = redis.queue<Jobs>(`${name} ${command}`, asked.options)
    const given = (await asked.prepare(queue)) as never
    const before = await seen(queue)

    if (await without(command, () => asked.call(queue, given))) {
      const after = await seen(queue)
      if (String(after) !== String(before)) wrong.push([command, 'changed', before.join(), after.join()])
      await asked.call(queue, given)
    }

    const met = await workOn(queue, asked.done.length).catch((error: unknown) => [String(error)])
    const dead = (await queue.jobs.list('dead')).jobs.map((job) => job.name)
    const expected = [asked.done, asked.dead ?? ''].join('/')
    const found = [met.toSorted().join(''), dead.toSorted().join('')].join('/')
    if (found !== expected) wrong.push([command, 'done', found])
    await cancelAll(queue)
    const left = (await seen(queue)).slice(0, 6)
    if (left.some((count) => count > 0)) wrong.push([command, 'left', left.join()])
    await faultsOf(admin).then((faults) => wrong.push(...faults.map((fault) => [command, fault])))
    await queue.clear()
  }
  expect(wrong).toEqual([])
})

test('a job that returned before there were groups is claimed, even after a rejected claim', async () => {
  const { redis, name, without } = await setup()
  const queue = redis.queue<Jobs>(name)
  const [job] = await hold(queue, 'ab')
  await job?.release()
  await put(queue, 'c', { group: 'ada' })

  expect(await without('llen', () => queue.claim({ limit: 3 }))).toBe(true)

  const names = (await queue.claim({ limit: 3 })).map((each) => each.name)
  expect(names.toSorted().join('')).toBe('abc')
})

test('a resumed queue runs its recurring jobs, even after a rejected resume', async () => {
  const { redis, name, without } = await setup()
  const queue = redis.queue<Jobs>(name)
  await queue.settings.pause()
  await queue.recurring.set('again', { name: 'r', payload: 1, every: '1s' })
  // A worker looks for jobs while it is paused.
  await queue.claim({ wait: '1100ms' })

  expect(await without('hdel', () => queue.settings.resume())).toBe(true)
  await queue.settings.resume()

  expect(await queue.claim({ wait: '3s' })).toMatchObject([{ name: 'r' }])
})

async function seen(queue: Queue<Jobs>): Promise<number[]> {
  const inspection = await queue.settings.inspect()
  const states = [
    inspection.ready,
    inspection.scheduled,
    inspection.blocked,
    inspection.claimed,
    inspection.dead,
    inspection.done,
  ]
  return [
    ...states,
    inspection.enqueued,
    inspection.acked,
    inspection.retried,
    inspection.failed,
    inspection.reclaimed,
    inspection.cancelled,
  ]
}

/** Does all pending work. Leases of the call under test expire. */
async function workOn(queue: Queue<Jobs>, count: number): Promise<string[]> {
  const met: string[] = []
  for (let round = 0; round < 40; round += 1) {
    const jobs = await queue.claim({ limit: 10, lease: HOUR })
    for (const job of jobs) await job.ack()
    met.push(...jobs.map((job) => job.name))
    if (jobs.length === 0 && met.length >= count) return met
    if (jobs.length === 0) await passes(5)
  }
  return met
}

async function cancelAll(queue: Queue<Jobs>): Promise<void> {
  for (const state of ['dead', 'done', 'scheduled'] as const) {
    const { jobs } = await queue.jobs.list(state)
    if (jobs.length > 0) await queue.jobs.cancel(jobs.map(({ id }) => id))
  }
}

async function faultsOf(admin: Redis): Promise<string[]> {
  return (await audit(admin, 'perilune')).map((fault) => fault.replace(/^.*?: /, ''))
}
