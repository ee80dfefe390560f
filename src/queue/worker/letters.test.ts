import type { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { instance } from '../../../test/instance.ts'
import { setup, until } from '../../../test/queue-fixture.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'

const to = 'customer'
/** Shorter than the polling interval of a worker. */
const WOKEN = { timeout: 8000 }

function gate(): { opened: Promise<void>; open(): void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

/** Resolves to the channel and the name of a worker once it is idle and subscribed. */
async function channelOf(client: Redis, prefix: string): Promise<[channel: string, id: string]> {
  for (;;) {
    const [worker = ''] = await client.zrange(`${prefix}:idle`, '0', '0')
    const [id = '', process = ''] = /^([^.]*)[^:]*/.exec(worker) ?? []
    const [channel] = (await client.pubsub('CHANNELS', `*:${process}`)) as string[]
    if (process !== '' && channel !== undefined) return [channel, id]
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

describe('an idle worker', () => {
  test('gets a job with the letter that wakes it up, claimed when it was enqueued', async () => {
    const { queue, client, name } = await setup({ clock: 'real' })
    const begun: unknown[] = []
    await using _worker = queue.work((job) => {
      // Both are the server's time in microseconds.
      begun.push([job.name, job.payload, job.attempt, job.token - Number(job.id)])
    })
    await channelOf(client, `queue-test:{queue:${name}}`)

    await queue.enqueue('mail', { to: 'Zoë\n' })
    await until(() => begun.length === 1)
    await until(async () => (await queue.settings.inspect()).acked === 1)

    expect(begun).toEqual([['mail', { to: 'Zoë\n' }, 1, 0]])
    await until(async () => (await queue.settings.inspect()).idle === 1)
    expect(await queue.settings.inspect()).toMatchObject({ claimed: 0, ready: 0 })
  })

  test("keeps a job that comes after the server's clock has stepped back", async () => {
    const { queue, clock } = await setup()
    const begun: string[] = []
    await using _worker = queue.work({ mail: ({ payload }) => void begun.push(payload.to) }, { lease: '5s' })
    await until(async () => (await queue.settings.inspect()).idle === 1)

    await clock.advance(-3_600_000)
    await queue.enqueue('mail', { to })

    await until(async () => (await queue.settings.inspect()).acked === 1)
    expect(begun).toEqual([to])
  })

  test('keeps a job that arrives before the answer that makes it idle', async () => {
    const { redis, client, name, slowly } = instance()
    const queue = redis.queue<{ mail: { to: string } }>(name)
    slowly('queue/ack-and-claim', 300)
    const begun: number[] = []
    await using _worker = queue.work((job) => void begun.push(job.token - Number(job.id)))
    await channelOf(client, `instance-test:{queue:${name}}`)

    await queue.enqueue('mail', { to })
    await until(() => begun.length === 1)

    expect(begun).toEqual([0])
  })

  test('asks again once it is subscribed, despite answers that were under way before', WOKEN, async () => {
    const { redis, driver, calls, name } = instance()
    const other = instance()
    const [heard, answered] = [gate(), gate()]
    const { run, subscribe } = driver
    driver.subscribe = (...args) => heard.opened.then(() => subscribe(...args))
    driver.run = async (call) => {
      const reply = await run(call)
      if (call.script.name === 'queue/ack-and-claim') await answered.opened
      return reply
    }
    const begun: unknown[] = []
    await using _worker = redis.queue(name).work((job) => void begun.push(job.payload))
    await until(() => calls.includes('queue/ack-and-claim'))
    const queue = other.redis.queue(name)
    await until(async () => (await queue.inspect()).idle === 1)

    // The server considers it idle, but its wake-up is lost.
    await queue.enqueue('mail', { to })
    heard.open()
    await new Promise((resolve) => setTimeout(resolve, 200))
    answered.open()
    await until(() => begun.length === 1)

    expect(begun).toEqual([{ to }])
  })

  test('asks again when it left while a call was under way', WOKEN, async () => {
    const { redis, driver, name } = instance()
    const other = instance().redis.queue(name)
    const { run } = driver
    const [asked, answered] = [gate(), gate()]
    let claims = 0
    driver.run = async (call) => {
      const reply = await run(call)
      if (call.script.name !== 'queue/ack-and-claim' || !Array.isArray(reply)) return reply
      claims += 1
      // It is to poll soon, when the next call is under way.
      if (claims === 1) return reply.with(4, 500)
      if (claims === 2) {
        asked.open()
        await answered.opened
      }
      return reply
    }
    const begun: unknown[] = []
    const end = gate()
    const handler = async ({ payload }: ClaimedJob): Promise<void> => (begun.push(payload), await end.opened)
    await using _worker = redis.queue(name).work(handler, { concurrency: 2 })
    await until(async () => (await other.inspect()).idle === 1)

    await other.enqueue('mail', 'first')
    await asked.opened
    await until(async () => (await other.inspect()).idle === 0)
    answered.open()
    await new Promise((resolve) => setTimeout(resolve, 200))
    await other.enqueue('mail', 'second')
    await until(() => begun.length === 2)

    expect(begun).toEqual(['first', 'second'])
    end.open()
  })

  test('gets the next job as well while it is at work', async () => {
    const { queue } = await setup({ clock: 'real' })
    const begun: string[] = []
    let end = (): void => undefined
    const ended = new Promise<void>((resolve) => (end = resolve))
    await using _worker = queue.work({ mail: async ({ payload }) => (begun.push(payload.to), await ended) })
    for (const each of ['1', '2', '3']) {
      await until(async () => (await queue.settings.inspect()).idle === 1)
      await queue.enqueue('mail', { to: each })
    }
    await until(() => begun.length === 3)

    expect(begun).toEqual(['1', '2', '3'])
    end()
    await until(async () => (await queue.settings.inspect()).acked === 3)
  })

  test('releases a job that arrives by letter while it closes', async () => {
    const { queue } = await setup({ clock: 'real' })
    for (let round = 0; round < 30; round++) {
      const worker = queue.work({ mail: () => new Promise(() => undefined) })
      await until(async () => (await queue.settings.inspect()).idle === 1)

      const enqueued = queue.enqueue('mail', { to })
      for (let turn = 0; turn < round % 5; turn++) await new Promise(setImmediate)
      await worker.close({ within: '0ms' })
      await enqueued

      expect(await queue.settings.inspect()).toMatchObject({ claimed: 0, ready: 1, idle: 0 })
      await queue.clear()
    }
  })

  test('releases a job that arrives by letter when it has no room', async () => {
    const { queue, client, name } = await setup({ clock: 'real' })
    await queue.enqueueMany(['1', '2'].map((each) => ({ name: 'mail', payload: { to: each } })))
    const held = await queue.claim({ limit: 2 })
    const begun: string[] = []
    const ends: (() => void)[] = []
    const handler = async ({ payload }: ClaimedJob<{ to: string }>): Promise<void> => {
      begun.push(payload.to)
      await new Promise<void>((resolve) => ends.push(resolve))
    }
    await using _worker = queue.work({ mail: handler }, { concurrency: 1 })
    const [channel, id] = await channelOf(client, `queue-test:{queue:${name}}`)

    for (const { number, token, payload } of held) {
      const head = `job ${id} ${number} ${token} ${Date.now() + 10_000}`
      await client.publish(channel, `${head}\nmail\n${JSON.stringify(payload)}`)
    }
    await until(async () => {
      const { claimed, ready } = await queue.settings.inspect()
      return claimed === 1 && ready === 1
    })

    expect(begun).toEqual(['1'])
    ends.shift()?.()
    await until(() => begun.length === 2)
    ends.shift()?.()
    await until(async () => (await queue.settings.inspect()).acked === 2)
  })
})
