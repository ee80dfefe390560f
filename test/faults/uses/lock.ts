import type { Lease, Lock, SetLease } from 'perilune'
import { lockWorks } from './lock-works.ts'
import { errorOf, notKnownOf, type Place, reaches, type Step, type Use } from './use.ts'

function steps(place: Place): readonly Step[] {
  return [...aloneSteps(place), ...sharedSteps(place), ...serveSteps(place), ...otherSteps(place)]
}

/** A waiter. */
interface Waiter {
  lease?: Promise<Lease>
}

/** Makes an attempt that stands in line as the last of so many. */
async function stand(waiter: Waiter, lock: Lock, count: number, lease: Promise<Lease>): Promise<void> {
  lease.catch(() => undefined)
  waiter.lease = lease
  await reaches(async () => (await lock.inspect()).waiting === count, lease)
}

/** Makes a waiter give up, and waits until so many are left. */
async function giveUp(waiter: Waiter, lock: Lock, left: number, aborter: AbortController): Promise<string> {
  aborter.abort(new Error('enough'))
  const error = await errorOf(waiter.lease ?? Promise.resolve())
  await reaches(async () => (await lock.inspect()).waiting === left)
  return error
}

const PATIENT = { wait: '20s' } as const

async function seen(lock: Lock): Promise<unknown> {
  const { mode, holders, waiting, line } = await lock.inspect()
  return [mode, holders.length, waiting, line.map(({ shared }) => shared)]
}

function aloneSteps({ redis, name }: Place): readonly Step[] {
  const lock = redis.lock(name)
  const barging = redis.lock(name, { fair: false })
  const aborter = new AbortController()
  const { signal } = aborter
  const [next, gone, passing]: [Waiter, Waiter, Waiter] = [{}, {}, {}]
  let lease: Lease | undefined
  const handOver = async (to: Waiter): Promise<boolean> => {
    const before = lease?.token ?? 0
    await lease?.release()
    lease = await to.lease
    return (lease?.token ?? 0) > before
  }
  return [
    ['acquire', 'refuses', async () => void (lease = await lock.acquire())],
    ['extend', 'serves', async () => lease?.extend('1m')],
    ['acquire', 'serves', () => lock.tryAcquire()],
    ['acquire', 'serves', () => barging.tryAcquire()],
    ['acquire', 'refuses', () => stand(next, lock, 1, lock.acquire(PATIENT))],
    ['acquire', 'refuses', () => stand(gone, lock, 2, lock.acquire({ ...PATIENT, signal }))],
    ['inspect', 'serves', () => seen(lock)],
    ['abandon', 'serves', () => giveUp(gone, lock, 1, aborter)],
    ['release', 'serves', () => handOver(next)],
    ['acquire', 'refuses', () => stand(passing, lock, 1, barging.acquire(PATIENT))],
    ['release', 'unasked', () => handOver(passing)],
    ['release', 'serves', async () => lease?.release()],
    ['release', 'serves', () => notKnownOf(lock.byToken.release(1))],
    ['inspect', 'serves', () => seen(lock)],
  ]
}

function sharedSteps({ redis, name }: Place): readonly Step[] {
  const lock = redis.lock(name)
  const aborter = new AbortController()
  const { signal } = aborter
  const [writer, gone]: [Waiter, Waiter] = [{}, {}]
  const readers: Lease[] = []
  const enter = async (): Promise<void> => void readers.push(await lock.shared.acquire())
  return [
    ['acquire-shared', 'refuses', enter],
    ['acquire-shared', 'refuses', enter],
    ['extend-shared', 'serves', async () => readers[0]?.extend('1m')],
    ['acquire', 'refuses', () => stand(writer, lock, 1, lock.acquire(PATIENT))],
    ['acquire-shared', 'refuses', () => lock.shared.tryAcquire()],
    ['acquire-shared', 'refuses', () => stand(gone, lock, 2, lock.shared.acquire({ ...PATIENT, signal }))],
    ['inspect', 'serves', () => seen(lock)],
    ['abandon-shared', 'serves', () => giveUp(gone, lock, 1, aborter)],
    ['release-shared', 'serves', async () => readers[0]?.release()],
    ['release-shared', 'serves', async () => readers[1]?.release()],
    ['release', 'serves', async () => (await writer.lease)?.release()],
    ['inspect', 'serves', () => seen(lock)],
  ]
}

/** A reader is first in line when the lock becomes free: another script lets it in. */
function serveSteps({ redis, name }: Place): readonly Step[] {
  const lock = redis.lock(name)
  const reader: Waiter = {}
  let lease: Lease | undefined
  const letIn = async (): Promise<unknown> => {
    await lease?.release()
    return (await reader.lease)?.signal.aborted
  }
  return [
    ['acquire', 'refuses', async () => void (lease = await lock.acquire())],
    ['acquire-shared', 'refuses', () => stand(reader, lock, 1, lock.shared.acquire(PATIENT))],
    ['serve', 'serves', letIn],
    ['release-shared', 'serves', async () => (await reader.lease)?.release()],
  ]
}

function otherSteps({ redis, name }: Place): readonly Step[] {
  const set = redis.locks(['a', 'b'], { group: name })
  const alone = redis.lock('a', { group: name })
  const fenced = redis.fenced<string>(name)
  let leases: SetLease | null = null
  return [
    ['acquire-all', 'refuses', async () => void (leases = await set.tryAcquire())],
    ['acquire', 'serves', () => alone.tryAcquire()],
    ['acquire-all', 'serves', () => set.tryAcquire()],
    ['extend', 'serves', async () => leases?.extend('1m')],
    ['release', 'serves', async () => leases?.release()],
    ['fenced-set', 'refuses', () => fenced.set('new', 7)],
    ['fenced-set', 'serves', () => fenced.set('stale', 6)],
    ['fenced-get', 'serves', () => fenced.get()],
    // Whether there was something to delete, a repetition cannot know.
    ['clear', 'serves', async () => void (await alone.clear())],
    ['inspect', 'serves', () => seen(alone)],
  ]
}

export const use: Use = { steps, works: lockWorks }
