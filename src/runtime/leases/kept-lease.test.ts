import { DriverError, LeaseLostError } from 'perilune'
import { expect, onTestFinished, test } from 'vitest'
import { KeptLease } from './kept-lease.ts'
import { type ExtendedLease, LeaseKeeper, type LeaseKind } from '../keeper/lease-keeper.ts'
import { NestedLease } from './nested-lease.ts'
import { runUnder } from './run-under.ts'
import type { Trace } from '../calls/runner.ts'
import { Abandoned } from '../subscriptions/abandoned.ts'
import { Unit } from '../connection/unit.ts'

interface Setup {
  lease(terms?: {
    leaseMs?: number
    leftMs?: number
    maxHoldMs?: number
    slotName?: string
    name?: string
  }): KeptLease
  keeper: LeaseKeeper
  extended: (readonly ExtendedLease[])[]
  released: number[]
  /** `refuses`: rejects all calls that contain this token. */
  server: { knows: boolean; resent: boolean; answers: boolean; hears: boolean; refuses: number }
}

/** Leases whose server behaves as the test specifies. */
function setup(): Setup {
  const keeper = new LeaseKeeper()
  const abandoned = new Abandoned()
  onTestFinished(() => {
    abandoned.close()
    return keeper.close(new Error('closed'), 0)
  })
  const server = { knows: true, resent: false, answers: true, hears: true, refuses: 0 }
  const extended: (readonly ExtendedLease[])[] = []
  const released: number[] = []
  const extend: LeaseKind['extend'] = async (leases) => {
    extended.push(leases)
    if (!server.answers) throw new Error('no answer')
    if (leases.some(({ token }) => token === server.refuses)) throw new DriverError('forbidden', 'that key')
    return { nowMs: 1000, endsAtMs: leases.map(({ leaseMs }) => (server.knows ? 1000 + leaseMs : 0)) }
  }
  const release = async (token: number, trace: Trace): Promise<boolean> => {
    if (!server.hears) throw new DriverError('unreachable', 'away')
    released.push(token)
    trace.repeated = server.resent
    return server.knows
  }
  let last = 0
  const lease: Setup['lease'] = ({
    leaseMs = 60,
    leftMs = leaseMs,
    maxHoldMs = Infinity,
    slotName = '',
    name = 'lock',
  } = {}) => {
    const askedAt = performance.now()
    const grant = { token: ++last, expiresAtMs: 1000 + leftMs, askedAt, endsAt: askedAt + leftMs }
    const beginning = `unit ${last}`
    const { lastWord } = Unit.prototype
    const runtime = { mailbox: { abandoned } }
    const unit = { beginning, slotName, node: '', runtime, lastWord } as unknown as Unit
    // Each handle has a kind of its own.
    const kind = { name, extend }
    return new KeptLease(grant, { kind, unit, release, resource: 'lock a', leaseMs, maxHoldMs }, keeper)
  }
  return { lease, keeper, extended, released, server }
}

const aborted = ({ signal }: KeptLease): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)))

function stall(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('a lease is extended before it ends, as long as it is held', async () => {
  const { lease, extended } = setup()
  const held = lease({ leaseMs: 1200 })

  while (extended.length < 3) await new Promise((resolve) => setImmediate(resolve))

  held.assertHeld()
  await held.release()
})

test('a grant that must be confirmed is extended to the requested length', async () => {
  const { lease, extended } = setup()
  const held = lease({ leaseMs: 30_000, leftMs: 600 })

  while (extended.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))

  expect(held.remainingMs).toBeGreaterThan(20_000)
})

test('leases of one kind and slot are extended in one call, for any handles', async () => {
  const { lease, extended } = setup()
  // Long enough that all of them may be extended when the first is due, even if they are created slowly.
  for (let n = 0; n < 10; n++) lease({ leaseMs: 3000 })
  lease({ leaseMs: 3000, slotName: 'elsewhere' })
  lease({ leaseMs: 3000, name: 'semaphore' })

  while (extended.flat().length < 12) await new Promise((resolve) => setTimeout(resolve, 10))

  expect(extended.map((leases) => leases.length).slice(0, 3)).toEqual([10, 1, 1])
})

test('a lease that makes the server reject its whole call is found in few calls, and is extended alone from then on', async () => {
  const { lease, extended, server } = setup()
  const leases = Array.from({ length: 64 }, () => lease({ leaseMs: 900 }))
  const refused = leases[40] as KeptLease
  server.refuses = refused.token

  expect(await aborted(refused)).toBeInstanceOf(LeaseLostError)

  for (const other of leases) if (other !== refused) other.assertHeld()
  // One for all, two for each halving; and one for the lease alone at each retry.
  const withOthers = extended.filter(
    (call) => call.length > 1 && call.some(({ token }) => token === refused.token),
  )
  expect(withOthers.map((call) => call.length)).toEqual([64, 32, 16, 8, 4, 2])
})

test('a lease of thirty days without renewals is watched with timers within the limit of Node', async () => {
  const { lease } = setup()
  const warnings: Error[] = []
  const note = (warning: Error): void => void warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))

  const held = lease({ leaseMs: 30 * 86_400_000, maxHoldMs: 0 })
  await new Promise((resolve) => setTimeout(resolve, 50))

  expect(warnings).toEqual([])
  held.assertHeld()
})

test('a lease is due after a third of its length, and may be renewed together with others after a sixth', () => {
  const { lease } = setup()
  const before = performance.now()
  const { dueAt, mayExtendAt } = lease({ leaseMs: 60_000 })
  const took = performance.now() - before

  expect(dueAt - before).toBeGreaterThanOrEqual(20_000 - took)
  expect(dueAt - before).toBeLessThanOrEqual(20_000 + took)
  expect(mayExtendAt - before).toBeGreaterThanOrEqual(10_000 - took)
  expect(mayExtendAt - before).toBeLessThanOrEqual(10_000 + took)
})

test('a lease is not extended if that would not make it longer', () => {
  const { lease } = setup()

  expect(lease({ leaseMs: 60_000, maxHoldMs: 50_000 }).mayExtendAt).toBe(Infinity)
  expect(lease({ leaseMs: 60_000, maxHoldMs: 65_000 }).mayExtendAt).not.toBe(Infinity)
})

test('a lease that the server does not know is lost', async () => {
  const { lease, server } = setup()
  const held = lease()
  server.knows = false

  expect(await aborted(held)).toBeInstanceOf(LeaseLostError)
  expect(held.remainingMs).toBe(0)
  await expect(held.release()).rejects.toThrow(LeaseLostError)
  await expect(held.extend()).rejects.toThrow(LeaseLostError)
})

test("a lease without answers is lost when it ends by this process's clock", async () => {
  const { lease, server } = setup()
  const held = lease()
  server.answers = false

  expect(await aborted(held)).toBeInstanceOf(LeaseLostError)
})

test('a lease is not extended beyond its maximum hold time', async () => {
  const { lease } = setup()
  const held = lease({ leaseMs: 60, maxHoldMs: 100 })

  expect(await aborted(held)).toBeInstanceOf(LeaseLostError)
})

test('after a stall the first call reports the loss, before any timer does', () => {
  const { lease } = setup()
  const held = lease({ leaseMs: 20 })
  stall(40)

  expect(held.remainingMs).toBe(0)
  expect(() => held.assertHeld()).toThrow(LeaseLostError)
  expect(held.signal.aborted).toBe(true)
})

test('a repeated release of an unknown lease was a release', async () => {
  const { lease, server } = setup()
  const held = lease()
  Object.assign(server, { knows: false, resent: true })

  await held.release()

  expect(held.signal.aborted).toBe(false)
})

test('a single release of an unknown lease is a loss', async () => {
  const { lease, server } = setup()
  const held = lease()
  server.knows = false

  await expect(held.release()).rejects.toThrow(LeaseLostError)
  expect(held.signal.aborted).toBe(true)
})

test('a lease whose release got no answer is given back once the server is reachable', async () => {
  const { lease, released, server } = setup()
  const ended = lease({ leaseMs: 600_000 })
  server.hears = false
  await expect(runUnder(ended, () => 'done')).rejects.toThrow('away')

  server.hears = true

  await expect.poll(() => released).toEqual([ended.token])
  expect(ended.signal.aborted).toBe(false)
})

test('a lease that its holder could not give back is left to the holder', async () => {
  const { lease, released, server } = setup()
  const byHand = lease({ leaseMs: 600_000 })
  const inBlock = lease({ leaseMs: 600_000 })
  server.hears = false
  await expect(byHand.release()).rejects.toThrow('away')
  await expect(inBlock[Symbol.asyncDispose]()).rejects.toThrow('away')

  server.hears = true

  await expect.poll(() => released).toEqual([inBlock.token])
  byHand.assertHeld()
})

test('a second release has no effect', async () => {
  const { lease, released } = setup()
  const held = lease()

  await held.release()
  await held.release()

  expect(released).toEqual([held.token])
})

test('a nested lease leaves the outer one unchanged', async () => {
  const { lease, released } = setup()
  const outer = lease({ leaseMs: 60_000 })

  await new NestedLease(new NestedLease(outer)).release()

  expect(released).toEqual([])
  outer.assertHeld()
})

test('a released nested lease has no time left, while the outer one has', async () => {
  const { lease } = setup()
  const outer = lease({ leaseMs: 60_000 })
  const nested = new NestedLease(outer)
  expect(nested.remainingMs).toBeGreaterThan(0)

  await nested.release()

  expect(nested.remainingMs).toBe(0)
  expect(outer.remainingMs).toBeGreaterThan(0)
})

test('the error of a task takes precedence over the loss of its lease', async () => {
  const { lease, server } = setup()
  server.knows = false

  await expect(
    runUnder(lease(), () => {
      throw new Error('of the task')
    }),
  ).rejects.toThrow('of the task')
})

test('a task that outlived its lease gets an error, although it is done', async () => {
  const { lease, server } = setup()
  server.knows = false

  await expect(runUnder(lease({ leaseMs: 20 }), () => stall(40))).rejects.toThrow(LeaseLostError)
})

test('a task that exceeds the closing time gets the loss of its lease, with the cause', async () => {
  const { lease, keeper, released } = setup()
  const held = lease({ leaseMs: 60_000 })
  const cause = new Error('closed')
  let end = (): void => undefined
  const running = runUnder(held, () => new Promise<void>((resolve) => (end = resolve)))

  await keeper.close(cause, 10)
  end()

  await expect(running).rejects.toMatchObject({ name: 'LeaseLostError', cause })
  await expect(held.extend()).rejects.toThrow(LeaseLostError)
  expect(() => held.assertHeld()).toThrow(LeaseLostError)
  expect(held.remainingMs).toBe(0)
  expect(released).toEqual([held.token])
})

test('a release during that of the keeper reports that the lease is lost', async () => {
  const { lease, keeper, released } = setup()
  const held = lease({ leaseMs: 60_000 })

  const closing = keeper.close(new Error('closed'), 500)

  await expect(held.release()).rejects.toThrow(LeaseLostError)
  await closing
  expect(released).toEqual([held.token])
})

test('a task that ends within the closing time has released its lease', async () => {
  const { lease, keeper, released } = setup()
  const held = lease({ leaseMs: 60_000 })
  const running = runUnder(
    held,
    ({ signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve('done'))
      }),
  )

  await keeper.close(new Error('closed'), 60_000)

  expect(await running).toBe('done')
  expect(released).toEqual([held.token])
})

test('after a stall the signal reports the loss when it is first read, also that of a nested lease', () => {
  const { lease } = setup()
  const held = lease({ leaseMs: 20 })
  const nested = new NestedLease(held)
  nested.heed(new AbortController().signal)
  const { signal } = nested
  stall(40)

  expect(nested.signal.aborted).toBe(true)
  expect(signal.reason).toBeInstanceOf(LeaseLostError)
  expect(held.signal.aborted).toBe(true)
})

test('of two concurrent extensions the longer succeeds and the shorter is rejected: the lease keeps the longer one', async () => {
  const { lease, server, extended } = setup()
  const held = lease({ leaseMs: 600 })
  const longer = held.extend('3s')
  server.refuses = held.token
  const shorter = held.extend('1s')

  await longer
  await expect(shorter).rejects.toThrow(DriverError)
  server.refuses = 0
  const before = extended.length
  while (extended.length === before) await new Promise((resolve) => setTimeout(resolve, 5))

  expect(extended.at(-1)).toMatchObject([{ leaseMs: 3000 }])
})

test('a lease that is lost with an unanswered extension is eventually given back', async () => {
  const { lease, server, released } = setup()
  const held = lease({ leaseMs: 60, maxHoldMs: 0 })
  server.answers = false
  await expect(held.extend('10m')).rejects.toThrow('no answer')

  expect(await aborted(held)).toBeInstanceOf(LeaseLostError)

  await expect.poll(() => released).toEqual([held.token])
  await expect(held.release()).rejects.toThrow(LeaseLostError)
})

test('a lease that is lost while no server is reachable is given back once one is', async () => {
  const { lease, server, released } = setup()
  const held = lease({ leaseMs: 60, maxHoldMs: 0 })
  server.answers = false
  server.hears = false
  await held.extend('10m').catch(() => undefined)
  await aborted(held)

  expect(released).toEqual([])
  server.hears = true

  await expect.poll(() => released).toEqual([held.token])
})

test('a lease that is over is given back once, in case the clock of the server has stepped back', async () => {
  const { lease, released } = setup()
  const held = lease({ leaseMs: 40, maxHoldMs: 0 })

  await aborted(held)
  await new Promise((resolve) => setTimeout(resolve, 50))

  expect(released).toEqual([held.token])
})
