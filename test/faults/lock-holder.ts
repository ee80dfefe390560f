// A process of its own that holds a lock or waits for one, controlled over IPC. For tests that stop,
// stall or kill it.

import { Cluster, Redis } from 'ioredis'
import { type Duration, LeaseLostError, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

interface Order {
  port: number
  name: string
  lease: Duration
  /** The number of waiters in line in this process. */
  waiters: number
  cluster: boolean
  /** They want to read. */
  reads?: boolean
  barging?: boolean
  group?: string
}

const order = JSON.parse(process.argv[2] ?? '{}') as Order
// By its name the test knows its connections.
const named = { connectionName: order.name }
const client = order.cluster
  ? new Cluster([{ host: '127.0.0.1', port: order.port }], { redisOptions: named })
  : new Redis(order.port, named)
const redis = perilune(ioredis(client), { namespace: 'lock-test' })
const lock = redis.lock(order.name, {
  lease: order.lease,
  fair: order.barging !== true,
  ...(order.group === undefined ? {} : { group: order.group }),
})
const awaited = order.reads ? lock.shared : lock

process.on('unhandledRejection', (error) => say({ unhandled: String(error) }))
process.on('disconnect', () => process.exit(0))

function say(word: object): void {
  process.send?.(word)
}

/** Blocks the process as a long computation does. */
function stall(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

function tryTo(act: () => void): string {
  try {
    act()
    return 'held'
  } catch (error) {
    return error instanceof LeaseLostError ? 'lost' : String(error)
  }
}

/** Holds the lock until it is asked whether it still does. */
async function hold(): Promise<void> {
  const outcome = await lock
    .run(
      async (lease) => {
        say({ token: lease.token })
        const stallMs = await new Promise<number>((resolve) => process.once('message', resolve))
        stall(stallMs)
        say({ afterwards: tryTo(() => lease.assertHeld()), aborted: lease.signal.aborted })
      },
      { wait: '20s' },
    )
    .then(
      () => 'released',
      (error: unknown) => (error instanceof LeaseLostError ? 'lost' : String(error)),
    )
  say({ outcome })
}

if (order.waiters === 0) await hold()
for (let n = 0; n < order.waiters; n++) void awaited.acquire({ wait: '1h' }).catch(() => undefined)
