// Claims of a call that is answered after its deadline, because the server stalled, or whose answer is lost in an
// outage.

import { type Perilune, perilune } from 'perilune'
import { ConnectionLostError } from '../../src/driver.ts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { instance } from '../instance.ts'
import { until } from '../queue-fixture.ts'

interface Payloads {
  mail: string
}

const textOf = (reply: unknown): string => (Array.isArray(reply) ? reply.map(textOf).join() : String(reply))

const OUTAGE_MS = 600

/** A process whose first claim that brings jobs is answered after its deadline, or never, and another one. */
function scene(how: 'late' | 'lost'): { late: Perilune; other: Perilune; name: string } {
  const { redis: other, driver, name } = instance()
  let isFirst = true
  let isAway = false
  const { run } = driver
  driver.run = async (call) => {
    if (isAway) throw new ConnectionLostError('the server is away', false)
    const reply = await run(call)
    if (!isFirst || !textOf(reply).includes('a late one')) return reply
    isFirst = false
    const over = new Promise((resolve) => setTimeout(resolve, OUTAGE_MS))
    if (how === 'late') await over
    else {
      isAway = true
      void over.then(() => (isAway = false))
      throw new ConnectionLostError('its answer is lost', true)
    }
    return reply
  }
  const late = perilune(driver, { namespace: 'instance-test', deadline: '300ms' })
  onTestFinished(() => late.close())
  return { late, other, name }
}

describe.each([
  ['is answered too late', 'late'],
  ['has lost its answer in an outage', 'lost'],
] as const)('a claim by a call that %s is given back, and costs no attempt', (_, how) => {
  test('for a worker', async () => {
    const { late, other, name } = scene(how)
    const attempts: number[] = []
    await other.queue<Payloads>(name).enqueue('mail', 'a late one', { maxAttempts: 1 })

    const mail = ({ attempt }: { attempt: number }): void => void attempts.push(attempt)
    const worker = late.queue<Payloads>(name).work({ mail }, { lease: '10m' })
    await until(async () => attempts.length > 0)
    await worker.close()

    expect(attempts).toEqual([1])
  })

  test('for a caller that claims by hand', async () => {
    const { late, other, name } = scene(how)
    const queue = other.queue<Payloads>(name)
    await queue.enqueue('mail', 'a late one', { maxAttempts: 1 })

    await expect(late.queue(name).claim({ lease: '10m' })).rejects.toMatchObject({ code: 'ambiguous' })

    await until(async () => (await queue.inspect()).ready === 1)
    expect(await queue.claim()).toMatchObject([{ payload: 'a late one', attempt: 1 }])
  })

  test('for a caller that claims by hand from partitions', async () => {
    const { late, other, name } = scene(how)
    const queue = other.queue<Payloads>(name, { partitions: 2 })
    await queue.enqueue('mail', 'a late one', { maxAttempts: 1 })

    const claiming = late.queue<Payloads>(name, { partitions: 2 }).claim({ lease: '10m' })
    await expect(claiming).rejects.toMatchObject({ code: 'ambiguous' })

    await until(async () => (await queue.inspect()).ready === 1)
    expect(await queue.claim()).toMatchObject([{ payload: 'a late one', attempt: 1 }])
  })

  test('for a caller that claims messages of a feed', async () => {
    const { late, other, name } = scene(how)
    const feed = other.feed<string>(name)
    await feed.append('a late one')

    await expect(late.feed(name).claim({ lease: '10m' })).rejects.toMatchObject({ code: 'ambiguous' })

    await until(async () => (await feed.inspect()).claimed === 0)
    expect((await feed.claim())?.messages).toMatchObject([{ body: 'a late one', claims: 1 }])
  })
})
