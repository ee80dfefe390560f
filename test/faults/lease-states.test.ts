// Every step that a lease can take while it is held (src/runtime/leases/kept-lease.ts), for each kind of lease.

import { setTimeout as sleep } from 'node:timers/promises'
import { AmbiguousError, DriverError, LeaseLostError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { begin, extendedByItself, KINDS, lossOf, scene } from '../lease-fixture.ts'
import { someOf } from '../proof.ts'

const LONG = '30s'
const SHORT = '300ms'
const SHORT_MS = 300

describe.each(someOf(Object.entries(KINDS), 2))('%s', (what, kind) => {
  // A set is asked for lock by lock.
  test.skipIf(what === 'a set of locks')(
    'that is granted just before a clear is lost with it, or granted again, though its answer arrived later',
    async () => {
      const { redis, other, name } = await scene()
      await (await kind.take(redis, name, { lease: LONG })).release()

      const [lease] = await Promise.all([kind.take(redis, name, { lease: LONG }), kind.clear(redis, name)])

      // Where the answer to the clear is noted first, the attempt asks again: it has a lease of after the clear.
      if (lease.remainingMs > 0) return lease.extend()
      expect(() => lease.assertHeld()).toThrow(LeaseLostError)
      const next = await kind.takeOver(other, name)
      await sleep(50)
      await next.extend()
    },
  )

  test('that is extended to a longer lease is kept, even beyond that', async () => {
    const { redis, name } = await scene()
    const lease = await kind.take(redis, name, { lease: SHORT })

    await lease.extend('1200ms')

    await extendedByItself(lease)
    expect(lease.remainingMs).toBeGreaterThan(SHORT_MS)
  })

  test('that is extended to a shorter lease is kept, even beyond that', async () => {
    const { redis, name } = await scene()
    const lease = await kind.take(redis, name, { lease: LONG })

    await lease.extend(SHORT)

    await extendedByItself(lease)
    expect(lease.remainingMs).toBeLessThanOrEqual(SHORT_MS)
  })

  test('whose two concurrent extensions were rejected is held as before, and kept', async () => {
    const { redis, name, forbid } = await scene()
    const lease = await kind.take(redis, name, { lease: '6s' })
    await forbid(true)

    const refused = await Promise.allSettled([lease.extend('1s'), lease.extend('2s')])

    for (const each of refused) expect(each).toMatchObject({ reason: { code: 'forbidden' } })
    await forbid(false)
    await extendedByItself(lease)
    expect(lease.remainingMs).toBeGreaterThan(2000)
  })

  test('that was extended to a shorter lease is reported lost at that end, before another holder has it', async () => {
    const { redis, other, name, proxy } = await scene()
    const lease = await kind.take(redis, name, { lease: LONG })
    const { signal } = lease
    await lease.extend(SHORT)
    proxy.halfOpen()

    await kind.takeOver(other, name)
    await sleep(1) // an answer may be read before timers that are due

    expect(signal.reason).toBeInstanceOf(LeaseLostError)
    expect(() => lease.assertHeld()).toThrow(LeaseLostError)
  })

  test('whose extension is rejected is held as before, and kept', async () => {
    const { redis, name, forbid } = await scene()
    const lease = await kind.take(redis, name, { lease: '4s' })
    const { expiresAtMs } = lease
    await forbid(true)

    await expect(lease.extend('1h')).rejects.toMatchObject({ name: 'DriverError', code: 'forbidden' })
    await expect(lease.extend('1s')).rejects.toThrow(DriverError)

    lease.assertHeld()
    expect(lease.expiresAtMs).toBe(expiresAtMs)
    await forbid(false)
    await extendedByItself(lease)
    expect(lease.remainingMs).toBeLessThanOrEqual(4000)
  })

  test('whose shortening was not answered is assumed to end at the earlier time, and kept at that length', async () => {
    const { redis, name, loseAnswers } = await scene()
    const lease = await kind.take(redis, name, { lease: LONG })
    loseAnswers(true)

    const extending = lease.extend('4s')
    expect(lease.remainingMs).toBeLessThanOrEqual(4000)
    await expect(extending).rejects.toThrow(AmbiguousError)
    expect(lease.remainingMs).toBeLessThanOrEqual(4000)
    lease.assertHeld()

    loseAnswers(false)
    await extendedByItself(lease)
    expect(lease.remainingMs).toBeLessThanOrEqual(4000)
  })

  test('whose shortening was not answered is reported lost at that end, before another holder has it', async () => {
    const { redis, other, name, proxy, loseAnswers } = await scene()
    const lease = await kind.take(redis, name, { lease: LONG })
    const { signal } = lease
    loseAnswers(true)
    await expect(lease.extend('600ms')).rejects.toThrow(AmbiguousError)
    proxy.halfOpen()

    await kind.takeOver(other, name)
    await sleep(1) // an answer may be read before timers that are due

    expect(signal.reason).toBeInstanceOf(LeaseLostError)
  })

  test('whose lengthening was not answered is not assumed to last longer, and kept', async () => {
    const { redis, name, loseAnswers } = await scene()
    const lease = await kind.take(redis, name, { lease: '4s' })
    loseAnswers(true)

    await expect(lease.extend('1h')).rejects.toThrow(AmbiguousError)
    expect(lease.remainingMs).toBeLessThanOrEqual(4000)

    loseAnswers(false)
    await extendedByItself(lease)
    expect(lease.remainingMs).toBeLessThanOrEqual(4000)
  })

  test('whose release is rejected is still held, and can be released again', async () => {
    const { redis, other, name, forbid } = await scene()
    const lease = await kind.take(redis, name, { lease: '1h' })
    await forbid(true)

    const releases = await Promise.allSettled([lease.release(), lease.release()])

    for (const release of releases) expect(release).toMatchObject({ reason: { code: 'forbidden' } })
    lease.assertHeld()
    await forbid(false)
    await lease.release()
    expect(lease.remainingMs).toBe(0)
    await kind.takeOver(other, name, '0ms')
  })

  test('whose release was rejected is not extended any more, unless its holder extends it', async () => {
    const { redis, other, name, forbid } = await scene()
    const lease = await kind.take(redis, name, { lease: '1s' })
    await forbid(true)
    await expect(lease.release()).rejects.toThrow(DriverError)
    await forbid(false)

    await lease.extend()
    await extendedByItself(lease)

    await forbid(true)
    await expect(lease.release()).rejects.toThrow(DriverError)
    await forbid(false)
    await kind.takeOver(other, name)
    expect(await lossOf(lease)).toBeInstanceOf(LeaseLostError)
    await expect(lease.release()).rejects.toThrow(LeaseLostError)
  })

  test('whose release was executed and not answered is assumed lost, and can be released again', async () => {
    const { redis, other, name, loseAnswers } = await scene()
    const lease = await kind.take(redis, name, { lease: '1h' })
    loseAnswers(true)

    await expect(lease.release()).rejects.toThrow(AmbiguousError)

    expect(lease.remainingMs).toBe(0)
    expect(() => lease.assertHeld()).toThrow(LeaseLostError)
    await expect(lease.extend()).rejects.toThrow(LeaseLostError)
    const next = await kind.takeOver(other, name, '0ms')
    loseAnswers(false)
    await lease.release()
    expect(lease.signal.aborted).toBe(false)
    await next.extend()
  })

  test('whose release did not arrive can be released again', async () => {
    const { redis, other, name, proxy } = await scene()
    const lease = await kind.take(redis, name, { lease: '1h' })
    proxy.halfOpen()
    await expect(lease.release()).rejects.toThrow(AmbiguousError)
    proxy.heal()
    proxy.resetAll()

    await lease.release()

    await kind.takeOver(other, name, '0ms')
  })

  test('whose release was not answered, and is not repeated, is reported lost when it ends', async () => {
    const { redis, name, proxy } = await scene()
    const lease = await kind.take(redis, name, { lease: '3s' })
    proxy.halfOpen()
    await expect(lease.release()).rejects.toThrow(AmbiguousError)

    expect(await lossOf(lease)).toBeInstanceOf(LeaseLostError)
    // No other attempt may have begun: the server decides about a lapsed attempt.
    const expected = what === 'an attempt of once' ? AmbiguousError : LeaseLostError
    await expect(lease.release()).rejects.toThrow(expected)
  })

  test('that is cleared by its own process is lost at once', async () => {
    const { redis, name } = await scene()
    const lease = await kind.take(redis, name, { lease: LONG })
    const { signal } = lease

    expect(await kind.clear(redis, name)).toBe(true)

    expect(signal.reason).toBeInstanceOf(LeaseLostError)
    expect(() => lease.assertHeld()).toThrow(LeaseLostError)
    await expect(lease.release()).rejects.toThrow(LeaseLostError)
  })

  test('that is cleared by another process is lost at its next extension', async () => {
    const { redis, other, name } = await scene()
    const lease = await kind.take(redis, name, { lease: '1s' })

    await kind.clear(other, name)

    expect(await lossOf(lease)).toBeInstanceOf(LeaseLostError)
    expect(lease.remainingMs).toBe(0)
  })

  test('that is cleared and acquired again by the same process is two leases', async () => {
    const { redis, name } = await scene()
    const lost = await kind.take(redis, name, { lease: LONG })
    await kind.clear(redis, name)
    await lost.release().catch(() => undefined)

    const lease = await kind.take(redis, name, { lease: SHORT })

    await extendedByItself(lease)
    expect(lost.signal.aborted).toBe(true)
    await lease.release()
  })

  test('whose instance was closed is not extended any more, and others get it', async () => {
    const { redis, other, name } = await scene()
    const lease = await kind.take(redis, name, { lease: '1s' })
    await redis.close()

    await expect(lease.extend()).rejects.toThrow(LeaseLostError)
    await expect(lease.release()).rejects.toThrow(LeaseLostError)
    await kind.takeOver(other, name)

    expect(() => lease.assertHeld()).toThrow(LeaseLostError)
    expect(lease.signal.reason).toBeInstanceOf(LeaseLostError)
  })

  test('that was released is over, and a second release does nothing', async () => {
    const { redis, other, name } = await scene()
    const lease = await kind.take(redis, name, { lease: LONG })
    await lease.release()
    const next = await kind.takeOver(other, name, '0ms')

    await lease.release()

    expect(lease.remainingMs).toBe(0)
    expect(() => lease.assertHeld()).toThrow(LeaseLostError)
    await expect(lease.extend()).rejects.toThrow(LeaseLostError)
    expect(lease.signal.aborted).toBe(false)
    await next.extend()
  })

  test('that was lost can be neither extended nor released', async () => {
    const { redis, other, name } = await scene()
    const lease = await kind.take(redis, name, { lease: SHORT, maxHold: '0s' })
    const next = await kind.takeOver(other, name)
    await lossOf(lease)

    await expect(lease.extend()).rejects.toThrow(LeaseLostError)
    await expect(lease.release()).rejects.toThrow(LeaseLostError)
    await next.extend()
  })
})

describe('an attempt of once', () => {
  test('whose completion is rejected can be completed again', async () => {
    const { redis, other, name, forbid } = await scene()
    const attempt = await begin(redis, name, { lease: '1h' })
    await forbid(true)
    await expect(attempt.complete('done')).rejects.toMatchObject({ code: 'forbidden' })
    await forbid(false)

    await attempt.complete('done')

    expect(await other.once(name).get('key')).toMatchObject({ result: 'done', token: attempt.token })
  })

  test('whose completion was not answered can be completed again, and is not lost then', async () => {
    const { redis, other, name, loseAnswers } = await scene()
    const attempt = await begin(redis, name, { lease: '3s' })
    loseAnswers(true)
    await expect(attempt.complete('done')).rejects.toThrow(AmbiguousError)
    loseAnswers(false)

    await attempt.complete('done')

    // Longer than its lease.
    await begin(other, `${name} later`, { lease: '3s', maxHold: '0s' }).then(lossOf)
    expect(attempt.signal.aborted).toBe(false)
    expect(await other.once(name).get('key')).toMatchObject({ result: 'done' })
  })

  test('whose completion was rejected is not freed by the end of its block: the work was done', async () => {
    const { redis, other, name, forbid } = await scene()
    const work = async (): Promise<void> => {
      await using attempt = await begin(redis, name, { lease: '1h' })
      await forbid(true)
      try {
        await attempt.complete('done')
      } finally {
        await forbid(false)
      }
    }

    await expect(work()).rejects.toMatchObject({ code: 'forbidden' })

    expect(await other.once(name).inspect('key')).toMatchObject({ state: 'running' })
  })

  test('whose completion was rejected is freed by a release', async () => {
    const { redis, other, name, forbid } = await scene()
    const attempt = await begin(redis, name, { lease: '1h' })
    await forbid(true)
    await expect(attempt.complete('done')).rejects.toThrow(DriverError)
    await forbid(false)

    await attempt.release()

    expect(await other.once(name).inspect('key')).toMatchObject({ state: 'free' })
  })
})

describe('a claim of a feed', () => {
  test('whose shortening was not answered is assumed to end at the earlier time', async () => {
    const { redis, name, loseAnswers } = await scene()
    const feed = redis.feed(name)
    await feed.append('a message')
    const claim = await feed.claim({ lease: '1h' })
    loseAnswers(true)

    const extending = claim?.extend('10s')
    expect(claim?.remainingMs).toBeLessThanOrEqual(10_000)
    await expect(extending).rejects.toThrow(AmbiguousError)

    expect(claim?.remainingMs).toBeLessThanOrEqual(10_000)
    claim?.assertHeld()
  })

  test('whose extension is rejected is held as before', async () => {
    const { redis, name, forbid } = await scene()
    const feed = redis.feed(name)
    await feed.append('a message')
    const claim = await feed.claim({ lease: '1h' })
    await forbid(true)

    await expect(claim?.extend('10s')).rejects.toThrow(DriverError)

    expect(claim?.remainingMs).toBeGreaterThan(10_000)
  })
})
