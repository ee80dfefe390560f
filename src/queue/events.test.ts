import { randomUUID } from 'node:crypto'
import { Cluster } from 'ioredis'
import { InvalidArgumentError, perilune, type QueueEvent } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { type Setup, setup, until } from '../../test/queue-fixture.ts'
import { startRedis } from '../../test/servers/redis.ts'
import type { EventOptions } from './events.ts'
import { readMessage } from './events.ts'

const to = 'customer'

/** Collects events from now on. */
async function hear(
  { queue, client, name }: Setup,
  options: EventOptions = {},
): Promise<{ heard: QueueEvent[]; kinds: () => string[]; stop: () => Promise<void> }> {
  const heard: QueueEvent[] = []
  const aborter = new AbortController()
  const before = await client.hlen(`queue-test:{queue:${name}}:listeners`)
  const listening = (async () => {
    for await (const event of queue.events({ ...options, signal: aborter.signal })) heard.push(event)
  })().catch((error: unknown) => {
    if (!aborter.signal.aborted) throw error
  })
  const stop = async (): Promise<void> => {
    aborter.abort()
    await listening
  }
  onTestFinished(stop)
  await until(async () => (await client.hlen(`queue-test:{queue:${name}}:listeners`)) > before)
  return { heard, kinds: () => heard.map(({ kind }) => kind), stop }
}

describe('events', () => {
  // qless: test_put, test_track_popped, test_track_completed, test_fail, test_stalled, test_timeout, test_cancel_*.
  test('report what happens to jobs: put, popped, completed, failed, stalled and cancelled', async () => {
    const place = await setup()
    const { queue, clock } = place
    const { heard, kinds } = await hear(place)
    const { id } = await queue.enqueue('mail', { to }, { id: 'mail', priority: 1, backoff: 'none' })
    const claim = async () => (await queue.claim({ lease: '1s' }))[0]
    await (await claim())?.retry({ kind: 'Odd' })
    await (await claim())?.release()
    const job = await claim()
    await job?.progress(1)
    await job?.log('one\ttwo % 3')
    await clock.advance(1000)
    await (await claim())?.fail({ kind: 'Bad' })
    await queue.jobs.requeue([id])
    await queue.jobs.reprioritize([id], 3)
    await (await claim())?.ack()
    const other = await queue.enqueue('image', { url: 'a' })
    await queue.jobs.cancel([other.id])

    await until(() => heard.length === 17)
    expect(kinds().join(' ')).toBe(
      'enqueued claimed retried claimed released claimed progress logged reclaimed claimed dead requeued ' +
        'reprioritized claimed acked enqueued cancelled',
    )
    expect(heard[7]).toMatchObject({ more: 'one\ttwo % 3', attempt: 2 })
    expect(heard[10]).toMatchObject({ id: 'mail', name: 'mail', more: 'Bad' })
  })

  test('are the same for all listeners of one process', async () => {
    const place = await setup()
    const [one, other] = [await hear(place), await hear(place, { kinds: ['enqueued'] })]

    await place.queue.enqueueMany(
      Array.from({ length: 3 }, () => ({ name: 'mail' as const, payload: { to } })),
    )

    await until(() => one.heard.length === 3 && other.heard.length === 3)
    for (const [at, event] of one.heard.entries()) expect(other.heard[at]).toBe(event)
    expect(one.heard.every(Object.isFrozen)).toBe(true)
  })

  test('reach all listeners, filtered for each', async () => {
    const place = await setup()
    const { queue } = place
    const all = await hear(place)
    const images = await hear(place, { names: ['image'], kinds: ['enqueued', 'acked'] })
    const own = await hear(place, { ids: ['own'] })
    await queue.enqueueMany([
      { name: 'mail', payload: { to }, id: 'own' },
      { name: 'image', payload: { url: 'a' } },
    ])
    for (const job of await queue.claim({ limit: 2 })) await job.ack()

    await until(() => all.heard.length === 6 && images.heard.length === 2 && own.heard.length === 3)
    expect(images.kinds()).toEqual(['enqueued', 'acked'])
    expect(own.kinds()).toEqual(['enqueued', 'claimed', 'acked'])
    expect(own.heard[1]).toMatchObject({ id: 'own', name: 'mail', attempt: 1, isTracked: false, more: '' })
    expect(own.heard[0]).toMatchObject({ attempt: null, token: null })
  })

  test('are published only while there is a listener', async () => {
    const place = await setup()
    const { queue, client, name } = place
    const messages: string[] = []
    const spy = client.duplicate()
    onTestFinished(() => spy.disconnect())
    spy.on('message', (_, message: string) => messages.push(message))
    await spy.subscribe(`queue-test:{queue:${name}}:events`)
    const { stop, heard } = await hear(place)
    await queue.enqueueMany(Array.from({ length: 3 }, () => ({ name: 'mail' as const, payload: { to } })))
    await until(() => heard.length === 3)
    await stop()
    expect(await client.hkeys(`queue-test:{queue:${name}}:listeners`)).not.toContainEqual(
      expect.stringMatching(/^l/),
    )

    await queue.enqueue('mail', { to })
    await queue.claim({ limit: 9 })
    await client.publish(`queue-test:{queue:${name}}:events`, 'end')
    await until(() => messages.at(-1) === 'end')
    expect(messages).toHaveLength(2)
    expect(readMessage(messages[0] ?? '', { partition: null })).toMatchObject({
      number: 1,
      events: { length: 3 },
    })
  })

  test('are delivered on a cluster', async () => {
    const cluster = new Cluster(inject('clusterPorts').map((port) => ({ host: '127.0.0.1', port })))
    const redis = perilune(ioredis(cluster), { namespace: 'queue-test' })
    onTestFinished(async () => {
      await redis.close()
      cluster.disconnect()
    })
    const queue = redis.queue(randomUUID())
    const events = queue.events({ kinds: ['enqueued'] })
    const first = events.next()
    let isHeard = false
    void first.then(() => (isHeard = true))
    await until(async () => {
      await queue.enqueue('mail', { to })
      return isHeard
    })
    expect((await first).value).toMatchObject({ kind: 'enqueued', name: 'mail' })
    await events.return()
  })

  test('that were missed are reported as a gap', async () => {
    const place = await setup()
    const { queue, client, name } = place
    const { heard, kinds } = await hear(place, { kinds: ['acked'] })
    // Simulates a lost message.
    await client.hincrby(`queue-test:{queue:${name}}:listeners`, 'number', 1)
    await queue.enqueue('mail', { to })
    await (await queue.claim())[0]?.ack()

    await until(() => heard.length === 2)
    expect(kinds()).toEqual(['gap', 'acked'])
  })

  test('that were missed with nothing after them are reported as a gap at the next renewal', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
    onTestFinished(() => void vi.useRealTimers())
    const place = await setup()
    const { client, name, calls } = place
    const { kinds } = await hear(place)
    const renewed = async (): Promise<void> => {
      const before = calls.length
      await until(async () => {
        // Its timer may be set only after this.
        await vi.advanceTimersByTimeAsync(20_000)
        return calls.length > before
      })
    }
    // Simulates the loss of the last message.
    await client.hincrby(`queue-test:{queue:${name}}:listeners`, 'number', 1)

    await renewed()
    expect(kinds()).toEqual([])
    await renewed()
    await until(() => kinds().length === 1)
    expect(kinds()).toEqual(['gap'])
    await renewed()
    expect(kinds()).toEqual(['gap'])
  })

  test('that may have been missed while the connection was lost are reported as a gap, and the stream continues', async () => {
    // On a server of its own, because all its listeners lose their connections.
    const server = await startRedis()
    onTestFinished(() => server.stop())
    const place = await setup({ clock: 'real', port: server.port })
    const { queue, client } = place
    const { heard, kinds } = await hear(place)
    const list = String(await client.client('LIST'))
    const listening = list
      .split('\n')
      .filter((line) => / (sub|ssub)=[1-9]/.test(line) && line.includes('sub'))
    for (const line of listening) await client.client('KILL', 'ID', /id=(\d+)/.exec(line)?.[1] ?? '')
    await until(() => kinds().includes('gap'))
    await until(async () => {
      await queue.enqueue('mail', { to })
      return kinds().includes('enqueued')
    })
    expect(heard.length).toBeGreaterThan(1)
  })

  test('of a loop that is too slow are dropped, and reported as a gap', async () => {
    const place = await setup()
    const { queue, client, name } = place
    const aborter = new AbortController()
    const events = queue.events({ signal: aborter.signal })
    const first = events.next()
    await until(async () => (await client.exists(`queue-test:{queue:${name}}:listeners`)) === 1)
    const jobs = Array.from({ length: 1000 }, () => ({ name: 'mail' as const, payload: { to } }))
    for (let time = 0; time < 20; time += 1) await queue.enqueueMany(jobs)
    await client.ping()
    await first
    const kinds: string[] = []
    for await (const { kind } of events) {
      kinds.push(kind)
      if (kind === 'gap') break
    }
    expect(kinds.length).toBeGreaterThan(9000)
    expect(kinds.at(-1)).toBe('gap')
    aborter.abort()
  })

  test('continue when the queue is cleared', async () => {
    const place = await setup()
    const { queue } = place
    const { kinds } = await hear(place)
    await queue.enqueue('mail', { to })
    await until(() => kinds().length === 1)
    expect(await queue.clear()).toBe(true)
    // At once: listeners need no renewal for it.
    await queue.enqueue('mail', { to })
    await until(() => kinds().length === 3)
    expect(kinds()).toEqual(['enqueued', 'cleared', 'enqueued'])
  })

  test('need no existing queue; a queue that is only listened to can be cleared once', async () => {
    const place = await setup()
    const { queue, client, name } = place
    const { heard, stop } = await hear(place)
    await queue.enqueue('mail', { to })

    expect(await queue.clear()).toBe(true)
    expect(await queue.clear()).toBe(false)
    await until(() => heard.length === 3)
    await stop()
    await until(async () => (await client.keys(`queue-test:{queue:${name}}:*`)).length <= 1)
    expect(await client.keys(`queue-test:{queue:${name}}:*`)).toEqual([`queue-test:{queue:${name}}:clock`])
  })

  test('report more dependents of a dead job in another queue than one call settles', async () => {
    const place = await setup({ clock: 'real' })
    const { queue, another } = place
    const [dead, dependency] = await queue.enqueueMany([
      { name: 'image', payload: { url: 'a' } },
      { name: 'image', payload: { url: 'b' } },
    ])
    const [first, second] = await queue.claim({ limit: 2 })
    await first?.fail()
    const dependent = {
      name: 'mail' as const,
      payload: { to },
      dependsOn: [dependency?.id ?? ''],
      resultTtl: '1h' as const,
    }
    const dependents = await queue.enqueueMany(Array.from({ length: 150 }, () => dependent))
    const { heard } = await hear(place)
    const waiting = dependents.map(({ id }) => queue.jobs.waitForResult(id, { wait: '10s' }))
    await second?.fail()
    const other = await another()
    await other.enqueue('mail', { to }, { dependsOn: [{ queue: queue.name, id: dead?.id ?? '' }] })

    const ends = await Promise.all(waiting)
    await until(() => heard.filter(({ kind }) => kind === 'dead').length === 151)
    expect(new Set(ends.map((end) => end?.state))).toEqual(new Set(['dead']))
    expect(heard.map(({ kind }) => kind)).not.toContain('gap')
  })

  test('end with their signal and with the library, and reject unknown filters', async () => {
    const { queue, redis } = await setup()
    await expect(queue.events({ signal: AbortSignal.abort(new Error('enough')) }).next()).rejects.toThrow(
      'enough',
    )
    const wrong = async (options: object): Promise<unknown> => queue.events(options).next()
    await expect(wrong({ kinds: ['odd'] })).rejects.toBeInstanceOf(InvalidArgumentError)
    await expect(wrong({ names: 'mail' })).rejects.toBeInstanceOf(InvalidArgumentError)
    await expect(wrong({ tracked: 1 })).rejects.toBeInstanceOf(InvalidArgumentError)
    await redis.close()
    await expect(queue.events().next()).rejects.toThrow()
  })

  test('yields nothing more once the instance closes', async () => {
    const { queue, client, redis, name } = await setup({ clock: 'real' })
    const events = queue.events()
    const first = events.next()
    await until(async () => (await client.hlen(`queue-test:{queue:${name}}:listeners`)) > 0)
    await queue.enqueueMany(Array.from({ length: 50 }, () => ({ name: 'mail', payload: { to } })))
    await first

    await redis.close()

    await expect(events.next()).rejects.toMatchObject({ code: 'closed' })
  })
})
