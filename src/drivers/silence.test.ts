import { expect, onTestFinished, test } from 'vitest'
import type { ConnectionLostError } from '../driver.ts'
import type { Line } from './line.ts'
import { PendingRuns } from './pending.ts'
import { Silence } from './silence.ts'

const answering: Line = {
  runId: Promise.resolve(undefined),
  subscribe: async () => undefined,
  unsubscribe: async () => undefined,
  ping: async () => 'PONG',
  touch: async () => 0,
  close: () => undefined,
}

test('a call that the client library has forgotten costs one connection, and is sent again', async () => {
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
