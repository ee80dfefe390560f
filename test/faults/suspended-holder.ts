// A process that holds leases of every kind on a machine that is suspended: `suspend` moves its wall clock, and its
// monotonic clock stays behind, as CLOCK_MONOTONIC of Linux does. Its parent lets the wall clock read `suspendedMs`
// more. It runs the commands that it gets over IPC one after the other, and answers.

import { Redis } from 'ioredis'
import { type Lease, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

declare global {
  var suspendedMs: number
}

export type Order =
  | { does: 'take'; kind: Taken; name: string; lease: '1h' | '30s'; maxHold?: '0s' }
  | { does: 'suspend'; ms: number }
  /** The wall clock goes forward while an extension is under way. */
  | { does: 'suspend while it is extended'; ms: number; looks: boolean }
  | { does: 'look' }
  | { does: 'settle' }

export type Taken = 'lock' | 'reader' | 'permit' | 'set' | 'attempt' | 'claim' | 'job'

/** A holder's view of its lease. */
export interface Seen {
  held: boolean
  remainingMs: number
  /** Null where the lease has no signal. */
  aborted: boolean | null
}

type Held = Pick<Lease, 'assertHeld' | 'extend' | 'remainingMs'> & { readonly signal?: AbortSignal }

const client = new Redis(Number(process.argv[2]), { retryStrategy: () => 20 })
client.on('error', () => undefined)
const redis = perilune(ioredis(client), { namespace: 'suspended', deadline: '1s' })
let held: Held | null = null

process.on('message', (order: Order) => {
  follow(order).then(
    (seen) => process.send?.(seen),
    (error: unknown) => process.send?.({ failed: String(error) }),
  )
})
process.once('disconnect', () => process.exit(0))
process.send?.('ready')

async function follow(order: Order): Promise<Seen> {
  if (order.does === 'take') held = await take(order)
  if (order.does === 'suspend') globalThis.suspendedMs += order.ms
  if (order.does === 'suspend while it is extended') await suspendWhileExtended(order.ms, order.looks)
  if (order.does === 'settle') await settled()
  return look()
}

/** `looks`: the server is asked while the extension is under way, and carries out both in the same millisecond. */
async function suspendWhileExtended(ms: number, looks: boolean): Promise<void> {
  const extending = held?.extend('1h')
  globalThis.suspendedMs += ms
  if (looks) look()
  await extending
}

function look(): Seen {
  if (held === null) throw new Error('nothing is held')
  const { remainingMs, signal } = held
  let isHeld = true
  try {
    held.assertHeld()
  } catch {
    isHeld = false
  }
  return { held: isHeld, remainingMs, aborted: signal?.aborted ?? null }
}

/** Until it is held again, or permanently lost: the server has been asked then. */
async function settled(): Promise<void> {
  while (held !== null && held.remainingMs === 0 && held.signal?.aborted !== true) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function take({ kind, name, lease, maxHold }: Order & { does: 'take' }): Promise<Held> {
  const terms = maxHold === undefined ? { lease } : { lease, maxHold }
  if (kind === 'lock') return redis.lock(name, terms).acquire()
  if (kind === 'reader') return redis.lock(name, terms).shared.acquire()
  if (kind === 'permit') return redis.semaphore(name, { limit: 1, ...terms }).acquire()
  if (kind === 'set') return redis.locks([name, `${name} too`], terms).acquire()
  if (kind === 'attempt') return started(await redis.once(name, terms).begin('key'))
  if (kind === 'claim') return there(await redis.feed(name).claim({ lease }))
  const [job] = await redis.queue(name).claim({ lease })
  return there(job ?? null)
}

function started<Attempt>(begun: { status: string; attempt?: Attempt }): Attempt {
  return there(begun.attempt ?? null)
}

function there<Value>(value: Value | null): Value {
  if (value === null) throw new Error('nothing was free')
  return value
}
