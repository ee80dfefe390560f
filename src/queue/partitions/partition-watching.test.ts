// Observing a partitioned queue: events, histories, results, tags and statistics.

import type { QueueEvent } from 'perilune'
import { describe, expect, test, vi } from 'vitest'
import { groupsFor, mails, type Setup, setup } from '../../../test/partitioned-queue-fixture.ts'
import { until } from '../../../test/queue-fixture.ts'

/** Listens until the test ends; resolves when every partition publishes. */
async function hear(
  place: Setup,
  options: object = {},
): Promise<{ heard: QueueEvent[]; stop(): Promise<void> }> {
  const { queue } = place
  const heard: QueueEvent[] = []
  const aborter = new AbortController()
  const loop = (async () => {
    for await (const event of queue.events({ ...options, signal: aborter.signal })) heard.push(event)
  })()
  const ended = loop.catch(() => undefined)
  const stop = async (): Promise<void> => {
    aborter.abort()
    await ended
  }
  await allTell(place, heard)
  heard.length = 0
  return { heard, stop }
}

/** Resolves once an event of every partition has arrived from now on. */
async function allTell({ queue, redis, name }: Setup, heard: readonly QueueEvent[]): Promise<void> {
  const before = heard.length
  await until(async () => {
    const marks = await redis
      .queue(name, { partitions: queue.partitions })
      .enqueueMany(markers(queue.partitions))
    await queue.jobs.cancel(marks.map(({ id }) => id))
    const since = heard.slice(before).flatMap((event) => ('id' in event ? [event.id[0]] : []))
    return new Set(since).size === queue.partitions
  })
}

const markers = (count: number) =>
  groupsFor(count).map((group) => ({ name: 'mark', payload: null, group, tags: ['mark'] }))

const isOf = (kind: string) => (event: QueueEvent) =>
  event.kind === kind && 'name' in event && event.name === 'mail'

describe('events of partitions', () => {
  test('come from all of them with assigned ids, in the order of each', async () => {
    const place = setup()
    const { queue } = place
    const { heard, stop } = await hear(place)

    const ids = (await queue.enqueueMany(mails(8))).map(({ id }) => id).toSorted()
    for (const job of await queue.claim({ limit: 8 })) await job.ack()
    await until(() => heard.filter(isOf('acked')).length === 8)
    await stop()

    for (const kind of ['enqueued', 'claimed', 'acked']) {
      const those = heard.filter(isOf(kind)).map((event) => ('id' in event ? event.id : ''))
      expect(those.toSorted()).toEqual(ids)
    }
    for (const id of ids) {
      const kinds = heard.filter((event) => 'id' in event && event.id === id).map(({ kind }) => kind)
      expect(kinds).toEqual(['enqueued', 'claimed', 'acked'])
    }
  })

  test('are filtered by job, and report a clear once', async () => {
    const place = setup()
    const { queue } = place
    const { heard, stop } = await hear(place)
    const [first] = await queue.enqueueMany(mails(8))
    const listening = queue.events({ ids: [first?.id ?? ''] })
    const next = listening.next()
    await until(async () => {
      await queue.jobs.log(first?.id ?? '', 'a line')
      return (await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 20))])) !== undefined
    })
    expect((await next).value).toMatchObject({ id: first?.id })
    await listening.return()

    await queue.clear()
    await until(() => heard.some(({ kind }) => kind === 'cleared'))
    await allTell(place, heard)
    await stop()

    expect(heard.filter(({ kind }) => kind === 'cleared')).toHaveLength(1)
  })

  test('are rejected for a client with another partition count', async () => {
    const { queue, again } = setup()
    await queue.enqueue('mail', { to: 'ada' })

    await expect(again(8).events().next()).rejects.toThrow(/partitions/)
    expect(() => queue.events({ kinds: ['odd' as never] })).toThrow(/kinds/)
  })
})

describe('single jobs of partitions', () => {
  test('have their history, log, tags and tracking, by either id', async () => {
    const { queue } = setup()
    const [first, , , group] = groupsFor(4)
    const given = (await queue.enqueue('mail', { to: 'ada' }, { group: first as string })).id
    await queue.enqueue('mail', { to: 'bob' }, { id: 'own', group: group as string })

    for (const id of [given, 'own']) {
      expect((await queue.jobs.history(id))?.entries).toMatchObject([{ what: 'enqueued' }])
      expect(await queue.jobs.log(id, 'seen')).toBe(true)
      expect(await queue.jobs.tag(id, ['a', 'b'])).toEqual(['a', 'b'])
      expect(await queue.jobs.untag(id, ['a'])).toEqual(['b'])
      expect(await queue.jobs.track(id)).toBe(true)
      expect(await queue.jobs.get(id)).toMatchObject({
        isTracked: true,
        tags: ['b'],
        log: [{ line: 'seen' }],
      })
    }
    expect((await queue.jobs.tracked()).jobs).toHaveLength(1)
    const { next } = await queue.jobs.tracked()
    const all = await queue.jobs.tracked({ after: next ?? '', limit: 5 })
    expect(all.jobs).toHaveLength(1)
    expect([await queue.jobs.untrack(given), await queue.jobs.untrack('absent')]).toEqual([true, false])
    expect(await queue.jobs.history('absent')).toBeNull()
    expect(await queue.jobs.tag('absent', ['a'])).toBeNull()
    expect(await queue.jobs.log('absent', 'x')).toBe(false)
  })

  test('have tags counted that are common in all partitions but rare in each', async () => {
    const { queue } = setup()
    for (const [at, group] of groupsFor(4).entries()) {
      await queue.enqueueMany(mails(3, { group, tags: [`only ${at}`] }))
      await queue.enqueueMany(mails(2, { group, tags: ['everywhere'] }))
    }

    expect(await queue.jobs.tags({ limit: 1 })).toEqual([{ tag: 'everywhere', count: 8 }])
    expect(await queue.jobs.tags()).toHaveLength(5)
    await expect(queue.jobs.tags({ limit: 0 })).rejects.toThrow(/limit/)
  })

  test('have many tags counted without keeping all of them in memory', async () => {
    const { queue } = setup({ partitions: 2 })
    const groups = groupsFor(2)
    const tagsOf = (at: number, group: number): string[] =>
      Array.from({ length: 19 }, (_, tag) => `${at % 2 === group ? 'é' : '😀'} ${at} ${tag}`)
    for (const [group, name] of groups.entries()) {
      const jobs = Array.from(
        { length: 80 },
        (_, at) => mails(1, { group: name, tags: [...tagsOf(at, group), 'ﬁrst'] })[0],
      )
      await queue.enqueueMany(jobs as never)
    }
    const sorted: number[] = []
    const { toSorted } = Array.prototype
    const spied = vi.spyOn(Array.prototype, 'toSorted').mockImplementation(function (
      this: unknown[],
      compare,
    ) {
      sorted.push(this.length)
      return toSorted.call(this, compare)
    })

    const most = await queue.jobs.tags({ limit: 1 })
    spied.mockRestore()
    expect(most).toEqual([{ tag: 'ﬁrst', count: 160 }])
    expect(Math.max(...sorted)).toBeLessThan(1100)
    expect(await queue.jobs.tags({ limit: 1000 })).toHaveLength(1000)
  })

  test('can be waited for by either id, also when they have ended', async () => {
    const { queue, again } = setup()
    const [, , group] = groupsFor(4)
    const options = { group: group as string, resultTtl: '1m' } as const
    const given = (await queue.enqueue('mail', { to: 'ada' }, options)).id
    await queue.enqueue('mail', { to: 'bob' }, { ...options, id: 'own' })
    const waits = [given, 'own'].map((id) => again().jobs.waitForResult(id, { wait: '30s' }))
    expect(await queue.jobs.waitForResult(given)).toBeNull()

    for (const job of await queue.claim({ limit: 2 })) await job.ack({ sent: job.id })

    expect(await Promise.all(waits)).toMatchObject([{ result: { sent: given } }, { result: { sent: 'own' } }])
    expect(await queue.jobs.waitForResult(given)).toMatchObject({ state: 'done' })
    expect(await queue.jobs.waitForResult('own', { wait: '1s' })).toMatchObject({ state: 'done' })
    expect(await queue.jobs.waitForResult('absent', { wait: '1s' })).toMatchObject({ state: 'absent' })
    await expect(queue.jobs.waitForResult('own', { wait: 'x' as never })).rejects.toThrow(/wait/)
  })
})

test('statistics are those of all partitions together', async () => {
  const { queue } = setup()
  const groups = groupsFor(4)
  for (const [at, group] of groups.entries()) await queue.enqueueMany(mails(at + 1, { group }))
  await queue.enqueue('image', { url: 'x' })
  for (const job of await queue.claim({ limit: 11 })) await job.ack()

  const { total, periods } = await queue.stats({ last: 60 })

  expect(total).toMatchObject({ enqueued: 11, acked: 11, wait: { count: 11 }, run: { count: 11 } })
  expect(periods).toHaveLength(60)
  expect(periods.reduce((sum, { acked }) => sum + acked, 0)).toBe(11)
  expect((await queue.stats({ name: 'mail' })).total).toMatchObject({ enqueued: 10, run: { count: 10 } })
  expect((await queue.names()).toSorted()).toEqual(['image', 'mail'])
  await expect(queue.stats({ last: 121 })).rejects.toThrow(/last/)
})
