// Languages mix on live data: a Python worker does jobs that TypeScript enqueues, by the contract alone, and its
// unfinished jobs come back.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, inject, onTestFinished, test } from 'vitest'
import { setup, until } from '../queue-fixture.ts'

const WORKER = fileURLToPath(new URL('queue_worker.py', import.meta.url))

interface Claimed {
  readonly number: number
  readonly token: number
  readonly attempt: number
  readonly payload: unknown
}

interface Python {
  claim(lease: { lease_ms: number }): Promise<Claimed[]>
  extend(job: { number: number; token: number; lease_ms: number }): Promise<unknown[]>
  /** Resolves to those that were refused, and why. */
  ack(job: { number: number; token: number }): Promise<unknown[]>
  kill(): Promise<void>
}

/** Needs Debian's python3-redis. */
function startPython(name: string): Python {
  const child = spawn('/usr/bin/python3', ['-B', WORKER, `${inject('redisPort')}`, 'queue-test', name], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const order = async (what: object): Promise<never> => {
    child.stdin.write(`${JSON.stringify(what)}\n`)
    const { value } = await lines.next()
    return JSON.parse(value as string) as never
  }
  return {
    claim: (lease) => order({ do: 'claim', ...lease }),
    extend: (job) => order({ do: 'extend', ...job }),
    ack: (job) => order({ do: 'ack', ...job }),
    kill: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

test('languages mix on live data: a late ack of a killed Python worker is rejected', async () => {
  const { queue } = await setup({ clock: 'real' })
  await queue.settings.set({ retention: { count: 10 } })
  const first = await queue.enqueue('mail', { to: 'ada' })
  const second = await queue.enqueue('mail', { to: 'bob' })
  const python = startPython(queue.name)

  const [job] = await python.claim({ lease_ms: 1000 })
  expect(job).toMatchObject({ number: Number(first.id), attempt: 1, payload: { to: 'ada' } })
  const { number = 0, token = 0 } = job ?? {}
  expect(await python.extend({ number, token, lease_ms: 60_000 })).toEqual([])
  expect(await python.ack({ number, token })).toEqual([])
  expect(await queue.jobs.get(first.id)).toMatchObject({ state: 'done', result: 'by python', token })

  const [left] = await python.claim({ lease_ms: 500 })
  expect(left).toMatchObject({ number: Number(second.id), attempt: 1 })
  await python.kill()
  expect(await queue.jobs.get(second.id)).toMatchObject({ state: 'claimed', token: left?.token })

  await until(async () => (await queue.inspect()).overdue === 1)
  const [again] = await queue.claim({ lease: '1m' })
  expect(again).toMatchObject({ id: second.id, attempt: 2, payload: { to: 'bob' } })

  const late = startPython(queue.name)
  const stale = { number: left?.number ?? 0, token: left?.token ?? 0 }
  expect(await late.ack(stale)).toEqual([{ at: 0, why: 'lost' }])
  expect(await late.extend({ ...stale, lease_ms: 60_000 })).toEqual([{ at: 0, why: 'lost' }])

  await again?.ack('by typescript')
  expect(await queue.jobs.get(second.id)).toMatchObject({ state: 'done', result: 'by typescript' })
  expect(await queue.inspect()).toMatchObject({ enqueued: 2, acked: 2, reclaimed: 1, claimed: 0 })
})
