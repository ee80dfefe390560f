import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import type { ConnectionLostError } from '../../driver.ts'
import type { Line } from './line.ts'
import { PendingRuns } from './pending-runs.ts'
import { Silence } from './silence.ts'

const answering: Line = {
  runId: Promise.resolve(undefined),
  subscribe: async () => undefined,
  unsubscribe: async () => undefined,
  ping: async () => 'PONG',
  touch: async () => 0,
}

afterEach(() => void vi.useRealTimers())

test('a successor is looked for while a slow answer keeps its connection', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] })
  const client = {}
  const done: string[] = []
  const pending = new PendingRuns(client, String as never, () => undefined)
  const silence = new Silence(pending, {
    patience: 3,
    placeOf: () => client,
    over: () => client,
    patienceWith: () => 60,
    sent: () => 0,
    signs: () => ({ of: client, read: 0 }),
    open: () => Promise.reject(new Error('none is opened')),
    drop: () => void done.push('dropped'),
    away: () => void done.push('looked'),
  })
  onTestFinished(() => silence.close())
  const never = new Promise(() => undefined)
  pending.follow(never, { key: 'a', written: true, isLarge: true }).catch(() => undefined)

  await vi.advanceTimersByTimeAsync(3000)
  expect(done).toEqual([])
  await vi.advanceTimersByTimeAsync(5000)
  expect(done).toContain('looked')
  expect(done).not.toContain('dropped')
})

test('a call that the client library has forgotten costs one connection and is retried', async () => {
  let drops = 0
  const client = {}
  const pending = new PendingRuns(
    client,
    (error) => error as ConnectionLostError,
    () => undefined,
  )
  const silence = new Silence(pending, {
    patience: 3,
    placeOf: () => client,
    over: () => client,
    patienceWith: () => 3,
    sent: () => 0,
    signs: () => ({ of: client, read: 0 }),
    open: async () => answering,
    drop: () => void drops++,
    away: () => undefined,
  })
  onTestFinished(() => silence.close())
  const forget = (): Promise<unknown> =>
    pending.follow(new Promise(() => undefined), { key: 'a', written: true })

  const forgotten = Promise.allSettled([forget(), forget()])

  expect(await forgotten).toMatchObject([{ reason: { sent: true } }, { reason: { sent: true } }])
  expect(drops).toBe(1)
})
